#include "program.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static bool is_single_threaded(void) {
    struct stat folder;
    return stat("/proc/self/task", &folder) == 0 && folder.st_nlink == 3;
}

enum terminal { NONE, BACKGROUND, FOREGROUND };

static enum terminal own_terminal(void) {
    const int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (terminal < 0) return NONE;
    const bool is_foreground = tcgetpgrp(terminal) == getpgrp();
    close(terminal);
    return is_foreground ? FOREGROUND : BACKGROUND;
}

static bool is_display_port(in_port_t port) { return ntohs(port) >= 6000 && ntohs(port) < 6064; }

/* Whether a socket may lead to a display server. A peer without a name may be one, because
   compositors start programs with such a socket (WAYLAND_SOCKET). */
static bool may_be_display(int descriptor) {
    union {
        struct sockaddr any;
        struct sockaddr_un local;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } peer = {.any.sa_family = AF_UNSPEC};
    socklen_t length = sizeof peer - 1;
    if (getpeername(descriptor, &peer.any, &length) != 0) return false;
    switch (peer.any.sa_family) {
    case AF_INET: return is_display_port(peer.four.sin_port);
    case AF_INET6: return is_display_port(peer.six.sin6_port);
    case AF_UNIX: break;
    default: return false;
    }
    if (length <= offsetof(struct sockaddr_un, sun_path)) return true;
    /* An abstract name begins with a NUL. */
    const char *path = peer.local.sun_path[0] ? peer.local.sun_path : peer.local.sun_path + 1;
    const char *slash = strrchr(path, '/');
    return strstr(path, "/.X11-unix/") || strncmp(slash ? slash + 1 : path, "wayland", 7) == 0;
}

/* Whether a child process could break a connection to a display server by sharing it. */
static bool may_have_display(void) {
    DIR *descriptors = opendir("/proc/self/fd");
    if (!descriptors) return true;
    bool has_one = false;
    for (struct dirent *entry; !has_one && (entry = readdir(descriptors));)
        if (isdigit((unsigned char)entry->d_name[0])) {
            const int descriptor = atoi(entry->d_name);
            has_one = descriptor > STDERR_FILENO && may_be_display(descriptor);
        }
    closedir(descriptors);
    return has_one;
}

/* Whether sudo may ask through another program. Reads the original environment, because sudo
   clears its own. */
static bool has_askpass(void) {
    static const char name[] = "SUDO_ASKPASS=";
    FILE *variables = fopen("/proc/self/environ", "re");
    if (!variables) return false;
    char *line = NULL;
    size_t size = 0;
    bool is_found = false;
    while (!is_found && getdelim(&line, &size, '\0', variables) > 0)
        is_found = strncmp(line, name, sizeof name - 1) == 0;
    free(line);
    fclose(variables);
    return is_found;
}

/* Whether the program asks on its terminal or through another program. */
static bool asks_elsewhere(bool is_setuid) {
    const enum terminal terminal = own_terminal();
    /* sudo reads its terminal even if standard input is something else. */
    if (is_setuid) return terminal != NONE || has_askpass();
    return terminal == FOREGROUND && isatty(STDIN_FILENO);
}

struct program program_of(const char *service) {
    const bool is_setuid = getauxval(AT_SECURE) != 0, is_single = is_single_threaded();
    if (strcmp(service, "polkit-1") == 0)
        return (struct program){.is_polkit = true, .takes_copies = is_single};
    const bool has_display = may_have_display(), asks = asks_elsewhere(is_setuid);
    const bool is_read = (is_setuid || asks) && !isatty(STDOUT_FILENO);
    return (struct program){
        .may_be_lock_screen = geteuid() == 0 && !is_setuid,
        .takes_copies = is_single && asks && !has_display,
        .looks_after_enter = !is_setuid || has_display,
        .is_silent = is_read && !isatty(STDERR_FILENO),
        .speaks_on_errors = is_read && isatty(STDERR_FILENO),
    };
}
