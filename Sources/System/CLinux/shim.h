// Declarations that Swift's Glibc module leaves out.
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

/// A pipe; flags are O_*. With O_CLOEXEC, no program started meanwhile inherits its ends.
int pipe2(int ends[2], int flags);

/// The process at the other end of a socket, as SO_PEERCRED and SCM_CREDENTIALS report it.
struct ucred {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

/// The first fields of a loaded program or library.
struct dl_phdr_info {
    ElfW(Addr) dlpi_addr;
    const char *dlpi_name;
    const ElfW(Phdr) * dlpi_phdr;
    ElfW(Half) dlpi_phnum;
};

/// Calls `told` for each loaded program and library.
int dl_iterate_phdr(int (*told)(struct dl_phdr_info *info, size_t size, void *data), void *data);
#endif

/// Forbids processes of this user to trace this process or dump its memory; returns 0 on success. prctl is variadic,
/// and Swift imports no variadic functions.
static inline int forbid_tracing(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/// Makes this process the parent of processes that its children leave behind; returns 0 on success.
static inline int adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

/// Counts the bytes that can be read at once; returns 0 on success. ioctl is variadic too.
static inline int count_unread(int descriptor, int *count) {
    return ioctl(descriptor, FIONREAD, count);
}

/// Releases pages of the program's code that the start touched. The kernel maps a page that is needed again from the
/// page cache, because the file still has it.
static inline void give_back_code(void) {
    extern const char __executable_start[], etext[];
    const uintptr_t page = 4096;
    uintptr_t begin = (uintptr_t)__executable_start & ~(page - 1);
    uintptr_t end = (uintptr_t)etext & ~(page - 1);
    if (end > begin)
        madvise((void *)begin, end - begin, MADV_DONTNEED);
}

/// Releases pages of a loaded program or library that only its file writes; a callback of dl_iterate_phdr.
static inline int give_back_unwritten(struct dl_phdr_info *info, size_t size, void *data) {
    const uintptr_t page = 4096;
    (void)size, (void)data;
    // An object without a file belongs to the kernel.
    if (info->dlpi_name[0] && info->dlpi_name[0] != '/')
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_DYNAMIC)
            continue;
        // The loader changed this code in memory, so the file has another version.
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

/// As give_back_code, for all libraries too: GTK's code is ten times the program's.
static inline void give_back_libraries(void) { dl_iterate_phdr(give_back_unwritten, NULL); }

#ifndef SCM_CREDENTIALS
#define SCM_CREDENTIALS 0x02
#endif

#endif
