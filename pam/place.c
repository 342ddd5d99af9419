#include "place.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-login.h>
#include <unistd.h>

/* Whether logind runs, or is about to. */
static bool has_logind(void) { return access("/run/systemd/seats", F_OK) == 0; }

/* Whether a terminal belongs to this machine: a virtual terminal, or the name of an X display. */
static bool is_display(const char *terminal) {
    if (strncmp(terminal, "/dev/", 5) == 0) terminal += 5;
    if (terminal[0] == ':') terminal += 1;
    else if (strncmp(terminal, "tty", 3) == 0) terminal += 3;
    else return false;
    return terminal[0] >= '0' && terminal[0] <= '9';
}

/* Whether sd-login's result means "in no session" or "of no user". */
static bool is_none(int result) { return result == -ENODATA || result == -ENXIO; }

/* Sets `session` to the process's session, or to NULL. The caller frees it. */
static enum place place_of_process(pid_t process, uid_t user, char **session) {
    *session = NULL;
    const int result = sd_pid_get_session(process, session);
    if (result >= 0) {
        uid_t owner = (uid_t)-1;
        const bool is_local = sd_session_is_remote(*session) == 0;
        const bool is_own = sd_session_get_uid(*session, &owner) >= 0 && owner == user;
        return is_local && is_own ? PLACE_HERE : PLACE_REFUSED;
    }
    if (!is_none(result)) return PLACE_REFUSED;
    uid_t owner = (uid_t)-1;
    const int owned = sd_pid_get_owner_uid(process, &owner);
    if (owned >= 0) return owner == user ? PLACE_AT_DISPLAY : PLACE_REFUSED;
    return is_none(owned) ? PLACE_OF_SYSTEM : PLACE_REFUSED;
}

/* Whether this process runs in the unit of the machine's display manager. */
static bool is_display_manager(void) {
    char target[PATH_MAX], *unit = NULL;
    const ssize_t length =
        readlink("/etc/systemd/system/display-manager.service", target, sizeof target - 1);
    if (length <= 0 || sd_pid_get_unit(getpid(), &unit) < 0) return false;
    target[length] = '\0';
    const char *slash = strrchr(target, '/');
    const bool is_it = strcmp(unit, slash ? slash + 1 : target) == 0;
    free(unit);
    return is_it;
}

/* Finds the agent that started polkit's helper: the peer of the helper's socket, or its parent.
   Newer helpers run as system services, so their own session says nothing. */
static pid_t polkit_agent(void) {
    struct ucred peer = {0};
    struct sockaddr_un name = {0};
    socklen_t size = sizeof peer, length = sizeof name;
    if (getsockname(STDIN_FILENO, (struct sockaddr *)&name, &length) == 0 &&
        name.sun_family == AF_UNIX &&
        getsockopt(STDIN_FILENO, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
        return peer.pid;
    return getppid();
}

enum place place_of(uid_t user, const char *service, const char *terminal, char **session) {
    *session = NULL;
    if (!has_logind()) return PLACE_HERE;
    const bool is_polkit = strcmp(service, "polkit-1") == 0;
    if (is_polkit) {
        const pid_t agent = polkit_agent();
        const enum place place = agent > 1 ? place_of_process(agent, user, session) : PLACE_REFUSED;
        if (place != PLACE_HERE) return place == PLACE_AT_DISPLAY ? place : PLACE_REFUSED;
    }
    char *own = NULL;
    const enum place place = place_of_process(getpid(), user, &own);
    free(own);
    if (place != PLACE_OF_SYSTEM) return place;
    /* Refuse a setuid program that a user's job started, for example from cron. Refuse a service
       too, because it may act for a remote user, as a mail server does. */
    if (getauxval(AT_SECURE)) return PLACE_REFUSED;
    if (is_polkit || is_display(terminal)) return PLACE_HERE;
    /* SDDM names the display only after the password was right. */
    const bool is_sddm = strcmp(service, "sddm") == 0 && terminal[0] == '\0';
    return is_sddm && is_display_manager() ? PLACE_GREETER : PLACE_REFUSED;
}
