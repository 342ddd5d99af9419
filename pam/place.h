/* Where the person is who is asked. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum place {
    /* Not at this machine's sensors, or nobody can tell: they are not used. */
    PLACE_REFUSED,
    /* In front of what this process shows. */
    PLACE_HERE,
    /* This process is in no session of the login manager: what it shows may be far away, so the
       prompt belongs to the agent of the session that the user sits at. */
    PLACE_AT_DISPLAY,
    /* This process is of SDDM, the display manager, and on no terminal yet: who types the password is in front
       of its greeter, and has no session in which a sensor could be used. */
    PLACE_GREETER,
    /* This process is a service of the system: who is asked may be anywhere. */
    PLACE_OF_SYSTEM,
};

/* Where a user is who is asked by this process, for a service of PAM on a terminal; never
   PLACE_OF_SYSTEM. */
enum place place_of(uid_t user, const char *service, const char *terminal);
