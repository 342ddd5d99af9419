/* Preloaded by tests: notes what a program writes through to the disk, and lets that fail.
 *
 * $FAULTS is a folder: each path goes to a line of its `synchronised`, and while there is a
 * file `fails` in it, nothing reaches the disk. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int meet(int descriptor, long call) {
    const char *folder = getenv("FAULTS");
    char link[64], file[4096], path[4096] = "";
    if (folder == NULL) return (int)syscall(call, descriptor);
    snprintf(file, sizeof file, "%s/fails", folder);
    if (access(file, F_OK) == 0) {
        errno = EIO;
        return -1;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 2);
    snprintf(file, sizeof file, "%s/synchronised", folder);
    int log = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (length > 0 && log >= 0) {
        path[length] = '\n';
        if (write(log, path, (size_t)length + 1) < 0) abort();
    }
    if (log >= 0) close(log);
    return (int)syscall(call, descriptor);
}

int fsync(int descriptor) { return meet(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return meet(descriptor, SYS_fdatasync); }
