/* Reports contended locks of Swift's Mutex to the thread sanitizer. Linked into its builds.
 *
 * Inlined code of the caller takes and releases a free lock, which the sanitizer sees. A contended lock
 * is handled in Swift's library, which is built without the sanitizer. Without these functions the
 * sanitizer would report a race between threads that take turns. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define SWIFT(name) __attribute__((swiftcall)) name
#define HANDLE __attribute__((swift_context)) void *handle
#define SYMBOL(name) "$s15Synchronization12_MutexHandleV" name

SWIFT(void) wait_for_lock(uint32_t thread, HANDLE) __asm__(SYMBOL("9_lockSlowyys6UInt32VF"));
SWIFT(bool) try_lock(HANDLE) __asm__(SYMBOL("12_tryLockSlowSbyF"));
SWIFT(void) unlock(HANDLE) __asm__(SYMBOL("11_unlockSlowyyF"));

SWIFT(void) wait_for_lock(uint32_t thread, HANDLE) {
    SWIFT(void) (*wait)(uint32_t, HANDLE);
    *(void **)&wait = dlsym(RTLD_NEXT, SYMBOL("9_lockSlowyys6UInt32VF"));
    wait(thread, handle);
    __tsan_acquire(handle);
}

SWIFT(bool) try_lock(HANDLE) {
    SWIFT(bool) (*try)(HANDLE);
    *(void **)&try = dlsym(RTLD_NEXT, SYMBOL("12_tryLockSlowSbyF"));
    bool has_lock = try(handle);
    if (has_lock) __tsan_acquire(handle);
    return has_lock;
}

SWIFT(void) unlock(HANDLE) {
    SWIFT(void) (*wake)(HANDLE);
    *(void **)&wake = dlsym(RTLD_NEXT, SYMBOL("11_unlockSlowyyF"));
    __tsan_release(handle);
    wake(handle);
}
