/* The module's arguments in its PAM configuration line. */
#pragma once

#include <security/pam_modules.h>
#include <stdbool.h>

struct options {
    /* The bus address, for tests; NULL: the system bus. Never from the environment. */
    const char *bus;
    /* Time for the sensors to recognise the user, in seconds. */
    unsigned timeout;
    /* The longest delay of the password prompt by a missing or hanging service, in seconds. */
    unsigned wait;
    bool debug;
    /* No password prompt: GNOME and KDE have a separate PAM service for the password. */
    bool biometry_only;
    /* The program runs as its user and is the lock screen. */
    bool lock_screen;
    /* Do not report a success of later modules, because they check no password. */
    bool no_report;
};

struct options options_parse(pam_handle_t *pamh, int argc, const char **argv);
