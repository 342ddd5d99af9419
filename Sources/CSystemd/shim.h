// What Swift's Glibc module leaves out, and libsystemd.
#ifndef CSYSTEMD_SHIM_H
#define CSYSTEMD_SHIM_H

// Not _GNU_SOURCE: types would then differ from those of the Glibc module.
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-id128.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>

#ifndef __USE_GNU
/// Who is at the other end of a socket: what SO_PEERCRED and SCM_CREDENTIALS carry.
struct ucred {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};
#endif

/// Forbids others of the same user to trace this process or to dump its memory; 0: done.
/// prctl is variadic, and Swift imports no variadic functions.
static inline int forbid_tracing(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

#ifndef SCM_CREDENTIALS
#define SCM_CREDENTIALS 0x02
#endif

#endif
