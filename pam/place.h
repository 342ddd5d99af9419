/* Finds out where the user of this process is. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum place {
    /* Not at this machine, or unknown: sensors are not used. */
    PLACE_REFUSED,
    /* In front of this process's output. */
    PLACE_HERE,
    /* Outside any logind session, so the output may be remote. The prompt must appear in the
       session where the user sits, through its agent. */
    PLACE_AT_DISPLAY,
    /* At the greeter of SDDM, the display manager, which has no terminal yet. The user types the
       password there, and has no session that could use a sensor. */
    PLACE_GREETER,
    /* This process is a system service, whose user may be anywhere. Internal: place_of never
       returns it. */
    PLACE_OF_SYSTEM,
};

/* Where `user` is, for a process that runs the PAM service `service` on `terminal`. Never
   PLACE_OF_SYSTEM. Sets `session` to the session of polkit's agent, or to NULL. The caller frees
   it. */
enum place place_of(uid_t user, const char *service, const char *terminal, char **session);
