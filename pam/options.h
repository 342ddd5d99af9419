/* What stands behind the module in its line. */
#pragma once

#include <security/pam_modules.h>
#include <stdbool.h>

struct options {
    /* Where the service is, for tests; NULL: on the system bus. Never from the environment. */
    const char *bus;
    /* How long the sensors look, in seconds. */
    unsigned timeout;
    /* How long a service that is not there, or hangs, keeps anybody from the password, in seconds. */
    unsigned wait;
    bool debug;
    /* No password is asked for here: GNOME and KDE have another service for it. */
    bool biometry_only;
    /* A success of the modules after this one is no password: nothing is told of it. */
    bool no_report;
};

struct options options_parse(pam_handle_t *pamh, int argc, const char **argv);
