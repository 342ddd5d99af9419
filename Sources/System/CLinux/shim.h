// What Swift's Glibc module leaves out.
#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H

// Not _GNU_SOURCE: types would then differ from those of the Glibc module.
#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#ifndef __USE_GNU
/// An anonymous file in memory; flags are MFD_*.
int memfd_create(const char *name, unsigned int flags);

/// A pipe whose ends no program inherits that is started meanwhile: flags are O_*.
int pipe2(int ends[2], int flags);

/// Who is at the other end of a socket: what SO_PEERCRED and SCM_CREDENTIALS carry.
struct ucred {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

/// The beginning of what is told of a program or library that is in memory.
struct dl_phdr_info {
    ElfW(Addr) dlpi_addr;
    const char *dlpi_name;
    const ElfW(Phdr) * dlpi_phdr;
    ElfW(Half) dlpi_phnum;
};

/// Calls `told` for each of them.
int dl_iterate_phdr(int (*told)(struct dl_phdr_info *info, size_t size, void *data), void *data);
#endif

/// Forbids others of the same user to trace this process or to dump its memory; 0: done.
/// prctl is variadic, and Swift imports no variadic functions.
static inline int forbid_tracing(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/// Has the kernel hand to this process what its children leave running when they end; 0: done.
static inline int adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

/// How many bytes can be read at once; 0: done. ioctl is variadic, too.
static inline int count_unread(int descriptor, int *count) {
    return ioctl(descriptor, FIONREAD, count);
}

/// Gives back the pages of this program's code that are in memory because the start touched them or
/// what lies beside them. They are the file's own: what is needed again is mapped again from the
/// page cache.
static inline void give_back_code(void) {
    extern const char __executable_start[], etext[];
    const uintptr_t page = 4096;
    uintptr_t begin = (uintptr_t)__executable_start & ~(page - 1);
    uintptr_t end = (uintptr_t)etext & ~(page - 1);
    if (end > begin)
        madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/// Gives back the pages of one program or library that only its file writes; for dl_iterate_phdr.
static inline int give_back_unwritten(struct dl_phdr_info *info, size_t size, void *data) {
    const uintptr_t page = 4096;
    (void)size, (void)data;
    // What has no file is the kernel's own.
    if (info->dlpi_name[0] && info->dlpi_name[0] != '/')
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_DYNAMIC)
            continue;
        // Its code was changed when it was loaded: no file has that.
        for (const ElfW(Dyn) *entry = (const void *)(info->dlpi_addr + part->p_vaddr);
             entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_TEXTREL ||
                (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL))
                return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || part->p_flags & PF_W)
            continue;
        uintptr_t begin = (uintptr_t)(info->dlpi_addr + part->p_vaddr) & ~(page - 1);
        uintptr_t end = (uintptr_t)(info->dlpi_addr + part->p_vaddr + part->p_filesz) & ~(page - 1);
        if (end > begin)
            madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
    return 0;
}

/// The same as give_back_code, of all libraries as well: GTK's are ten times the program's own.
static inline void give_back_libraries(void) { dl_iterate_phdr(give_back_unwritten, NULL); }

#ifndef SCM_CREDENTIALS
#define SCM_CREDENTIALS 0x02
#endif

#endif
