/* A library that tests preload into a program. It records synced files, makes single calls fail, and
 * sets the clocks ahead.
 *
 * $FAULTS names a folder. Its file `synchronised` gets a line with the path of each synced file. While
 * a file `fails` exists, every sync fails. `Tests/TestSupport/Faults.swift` writes the file `plan`,
 * which selects the failing call and its error. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum kind { NONE, DISK, DESCRIPTOR, MEMORY, BARRIER, WATCH, FOLDERS, PLACES, READ };

/* Memory shared by the test and this process. */
struct plan {
    _Atomic int64_t kind;
    /* The number of the failing call, and whether all later calls fail as well. */
    _Atomic int64_t number, lasts;
    /* The errno of the failure; 0 kills the process instead. */
    _Atomic int64_t error;
    /* The number of calls of this kind, and of failed calls. */
    _Atomic int64_t count, failed;
    /* Seconds by which the clocks are ahead. */
    _Atomic int64_t wall, boot;
};

static struct plan *plan(void) {
    static _Atomic(struct plan *) found;
    static _Atomic int looked;
    if (atomic_load(&looked)) return atomic_load(&found);
    const char *folder = getenv("FAULTS");
    char file[4096];
    struct plan *mapped = NULL;
    if (folder != NULL) {
        snprintf(file, sizeof file, "%s/plan", folder);
        int plan = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC);
        /* Use raw system calls, because a sanitizer itself may be the caller. */
        void *at = plan < 0 ? MAP_FAILED
                            : (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE,
                                              MAP_SHARED, plan, 0);
        if (plan >= 0) syscall(SYS_close, plan);
        if (at != MAP_FAILED) mapped = at;
    }
    atomic_store(&found, mapped);
    atomic_store(&looked, 1);
    return mapped;
}

/* Whether this call must fail; sets errno if so. */
static int fails(enum kind kind) {
    struct plan *it = plan();
    if (it == NULL || atomic_load(&it->kind) != kind) return 0;
    int64_t count = atomic_fetch_add(&it->count, 1) + 1, number = atomic_load(&it->number);
    if (count != number && !(atomic_load(&it->lasts) && count > number)) return 0;
    atomic_fetch_add(&it->failed, 1);
    int64_t error = atomic_load(&it->error);
    if (error == 0) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    errno = (int)error;
    return 1;
}

/* ---- Disk */

static int is_file(int descriptor) {
    struct stat status;
    return descriptor > 2 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)
        && status.st_nlink > 0;
}

static int meet(int descriptor, long call) {
    const char *folder = getenv("FAULTS");
    char link[64], file[4096], path[4096] = "";
    if (folder == NULL) return (int)syscall(call, descriptor);
    if (fails(DISK) || fails(BARRIER)) return -1;
    snprintf(file, sizeof file, "%s/fails", folder);
    if (access(file, F_OK) == 0) {
        errno = EIO;
        return -1;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 2);
    snprintf(file, sizeof file, "%s/synchronised", folder);
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
    int log = (int)syscall(SYS_openat, AT_FDCWD, file, flags, 0600);
    if (length > 0 && log >= 0) {
        path[length] = '\n';
        if (syscall(SYS_write, log, path, (size_t)length + 1) < 0) abort();
    }
    if (log >= 0) close(log);
    return (int)syscall(call, descriptor);
}

int fsync(int descriptor) { return meet(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return meet(descriptor, SYS_fdatasync); }

ssize_t write(int descriptor, const void *bytes, size_t count) {
    if (is_file(descriptor) && fails(DISK)) return -1;
    return syscall(SYS_write, descriptor, bytes, count);
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) {
    if (is_file(descriptor) && fails(DISK)) return -1;
    return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}
ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    return pwrite64(descriptor, bytes, count, offset);
}
/* Whether a read of these bytes must fail. A lasting fault makes every read of that place of the disk
 * fail. */
static int read_fails(int descriptor, off_t offset, size_t size) {
    static _Atomic int64_t place = -1;
    static _Atomic uint64_t file;
    struct plan *it = plan();
    struct stat status;
    if (it == NULL || atomic_load(&it->kind) != READ || !is_file(descriptor)) return 0;
    if (fstat(descriptor, &status) != 0) return 0;
    int64_t bad = atomic_load(&place), number = atomic_fetch_add(&it->count, 1) + 1;
    if (number == atomic_load(&it->number) && atomic_load(&it->lasts)) {
        atomic_store(&file, status.st_ino);
        atomic_store(&place, bad = offset);
    }
    int is_bad = atomic_load(&file) == status.st_ino && bad >= offset && bad < offset + (off_t)size;
    if (!is_bad && number != atomic_load(&it->number)) return 0;
    atomic_fetch_add(&it->failed, 1);
    errno = (int)atomic_load(&it->error);
    return 1;
}
ssize_t read(int descriptor, void *bytes, size_t count) {
    if (read_fails(descriptor, lseek(descriptor, 0, SEEK_CUR), count)) return -1;
    return syscall(SYS_read, descriptor, bytes, count);
}
ssize_t pread64(int descriptor, void *bytes, size_t count, off_t offset) {
    if (read_fails(descriptor, offset, count)) return -1;
    return syscall(SYS_pread64, descriptor, bytes, count, offset);
}
ssize_t pread(int descriptor, void *bytes, size_t count, off_t offset) {
    return pread64(descriptor, bytes, count, offset);
}
int ftruncate64(int descriptor, off_t length) {
    return fails(DISK) ? -1 : (int)syscall(SYS_ftruncate, descriptor, length);
}
int ftruncate(int descriptor, off_t length) { return ftruncate64(descriptor, length); }
int rename(const char *from, const char *to) {
    return fails(DISK) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* ---- Descriptors

   All functions by which the programs and their libraries get a descriptor, as listed by
   `nm -D --undefined-only`. Functions such as dup2() need no free descriptor, so they are left out. */

static int opened(int folder, const char *path, int flags, mode_t mode) {
    if (fails(DESCRIPTOR) || ((flags & O_CREAT) != 0 && fails(DISK))) return -1;
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

static mode_t mode_of(int flags, va_list rest) {
    return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name, folder, ...)                                                                    \
    int name(__VA_ARGS__, int flags, ...) {                                                        \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode_t mode = mode_of(flags, rest);                                                        \
        va_end(rest);                                                                              \
        return opened(folder, path, flags, mode);                                                  \
    }
OPEN(open, AT_FDCWD, const char *path)
OPEN(open64, AT_FDCWD, const char *path)
OPEN(openat, folder, int folder, const char *path)
OPEN(openat64, folder, int folder, const char *path)

/* The fortified variants, which the compiler calls if no file is created. */
int __open_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return opened(AT_FDCWD, path, flags, 0); }
int __openat_2(int folder, const char *path, int flags) { return opened(folder, path, flags, 0); }
int __openat64_2(int folder, const char *path, int flags) { return opened(folder, path, flags, 0); }

DIR *opendir(const char *path) {
    int flags = O_RDONLY | O_NONBLOCK | O_DIRECTORY | O_CLOEXEC;
    int descriptor = opened(AT_FDCWD, path, flags, 0);
    DIR *folder = descriptor < 0 ? NULL : fdopendir(descriptor);
    if (folder == NULL && descriptor >= 0) close(descriptor);
    return folder;
}

static FILE *opened_stream(const char *name, const char *path, const char *mode) {
    if (fails(DESCRIPTOR) || (*mode != 'r' && fails(DISK))) return NULL;
    FILE *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, name);
    return next(path, mode);
}
FILE *fopen(const char *path, const char *mode) { return opened_stream("fopen", path, mode); }
FILE *fopen64(const char *path, const char *mode) { return opened_stream("fopen64", path, mode); }

int socket(int domain, int type, int protocol) {
    return fails(DESCRIPTOR) ? -1 : (int)syscall(SYS_socket, domain, type, protocol);
}
int socketpair(int domain, int type, int protocol, int ends[2]) {
    return fails(DESCRIPTOR) ? -1 : (int)syscall(SYS_socketpair, domain, type, protocol, ends);
}
int pipe2(int ends[2], int flags) {
    return fails(DESCRIPTOR) ? -1 : (int)syscall(SYS_pipe2, ends, flags);
}
int pipe(int ends[2]) { return pipe2(ends, 0); }
int memfd_create(const char *name, unsigned flags) {
    return fails(DESCRIPTOR) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}
int pidfd_open(pid_t process, unsigned flags) {
    return fails(DESCRIPTOR) ? -1 : (int)syscall(SYS_pidfd_open, process, flags);
}
int dup(int descriptor) { return fails(DESCRIPTOR) ? -1 : (int)syscall(SYS_dup, descriptor); }

/* Descriptors that a program waits on. */
static int watch_fails(void) { return fails(DESCRIPTOR) || fails(WATCH); }

int epoll_create1(int flags) {
    return watch_fails() ? -1 : (int)syscall(SYS_epoll_create1, flags);
}
int eventfd(unsigned value, int flags) {
    return watch_fails() ? -1 : (int)syscall(SYS_eventfd2, value, flags);
}
int timerfd_create(int clock, int flags) {
    return watch_fails() ? -1 : (int)syscall(SYS_timerfd_create, clock, flags);
}
int signalfd(int descriptor, const sigset_t *signals, int flags) {
    /* An existing descriptor only changes its signals. */
    if (descriptor < 0 && watch_fails()) return -1;
    return (int)syscall(SYS_signalfd4, descriptor, signals, 8, flags);
}
int inotify_init1(int flags) {
    return watch_fails() || fails(FOLDERS) ? -1 : (int)syscall(SYS_inotify_init1, flags);
}
int inotify_add_watch(int descriptor, const char *path, uint32_t events) {
    return fails(PLACES) ? -1 : (int)syscall(SYS_inotify_add_watch, descriptor, path, events);
}
int fcntl64(int descriptor, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && fails(DESCRIPTOR)) return -1;
    return (int)syscall(SYS_fcntl, descriptor, command, argument);
}
int fcntl(int descriptor, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    return fcntl64(descriptor, command, argument);
}

/* ---- Memory */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

void *malloc(size_t size) { return fails(MEMORY) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) {
    return fails(MEMORY) ? NULL : __libc_calloc(count, size);
}
void *realloc(void *block, size_t size) {
    return fails(MEMORY) ? NULL : __libc_realloc(block, size);
}
int posix_memalign(void **block, size_t alignment, size_t size) {
    if (fails(MEMORY)) return ENOMEM;
    *block = __libc_memalign(alignment, size);
    return *block == NULL ? ENOMEM : 0;
}
void *aligned_alloc(size_t alignment, size_t size) {
    return fails(MEMORY) ? NULL : __libc_memalign(alignment, size);
}

/* ---- Clocks */

int clock_gettime(clockid_t clock, struct timespec *now) {
    int status = (int)syscall(SYS_clock_gettime, clock, now);
    struct plan *it = plan();
    if (it == NULL || status != 0) return status;
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += it->wall;
    if (clock == CLOCK_BOOTTIME) now->tv_sec += it->boot;
    return status;
}
time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result != NULL) *result = now.tv_sec;
    return now.tv_sec;
}
int gettimeofday(struct timeval *restrict result, void *restrict zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    result->tv_sec = now.tv_sec;
    result->tv_usec = now.tv_nsec / 1000;
    return 0;
}
/* The kernel's own clock is not ahead, so convert absolute times. */
int timerfd_settime(
    int timer, int flags, const struct itimerspec *value, struct itimerspec *former) {
    struct itimerspec real = *value;
    struct plan *it = plan();
    if (it != NULL && (flags & TFD_TIMER_ABSTIME) != 0 && real.it_value.tv_sec > it->boot)
        real.it_value.tv_sec -= it->boot;
    return (int)syscall(SYS_timerfd_settime, timer, flags, &real, former);
}
