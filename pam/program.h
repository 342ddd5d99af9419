/* How the program talks to the user. */
#pragma once

#include <stdbool.h>

struct program {
    bool is_polkit;
    /* May run as root in the session of its user, as GDM's lock screen does. Programs that the user
       starts to become root, such as sudo, are none. */
    bool may_be_lock_screen;
    /* The conversation keeps no state in the process, so that a child process may run it. */
    bool takes_copies;
    /* An empty answer may come from a user at a locked screen. Programs such as sudo also get
       answers from scripts. */
    bool looks_after_enter;
    /* Standard output and standard error belong to a command, and are no terminals. */
    bool is_silent;
    /* Standard output belongs to a command; standard error is a terminal. */
    bool speaks_on_errors;
};

/* Describes this process, for a PAM service. */
struct program program_of(const char *service);
