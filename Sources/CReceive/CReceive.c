// For syscall().
#define _GNU_SOURCE

#include "CReceive.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The connection that sd-bus reads from on this thread, if it does.
static _Thread_local struct receive_watch *current;

/// Closes all but the first so many.
static void close_beyond(struct receive_watch *watch, size_t first) {
    while (watch->count > first)
        close(watch->descriptors[--watch->count]);
}

/// Whether the last message has arrived as a whole, and no other has begun.
static int is_between_messages(const struct receive_watch *watch) {
    return watch->header_size == 0;
}

static uint32_t number_at(const unsigned char *header, size_t offset) {
    const unsigned char *byte = header + offset;
    if (header[0] == 'B')
        return (uint32_t)byte[0] << 24 | (uint32_t)byte[1] << 16 | (uint32_t)byte[2] << 8 | byte[3];
    return (uint32_t)byte[3] << 24 | (uint32_t)byte[2] << 16 | (uint32_t)byte[1] << 8 | byte[0];
}

/// Follows the bytes of one message; sd-bus never asks for more than those of one.
static void note_bytes(struct receive_watch *watch, const unsigned char *bytes, size_t count) {
    size_t missing = sizeof watch->header - watch->header_size;
    if (missing > 0) {
        size_t taken = count < missing ? count : missing;
        memcpy(watch->header + watch->header_size, bytes, taken);
        watch->header_size += taken;
        count -= taken;
        if (watch->header_size < sizeof watch->header) return;
        uint64_t fields = number_at(watch->header, 12);
        watch->rest = ((fields + 7) & ~(uint64_t)7) + number_at(watch->header, 4);
        watch->size = sizeof watch->header + watch->rest;
    }
    watch->rest -= count < watch->rest ? count : watch->rest;
    if (watch->rest == 0) watch->header_size = 0;
}

/// Above standard input, output and error, where sd-bus would move it to.
static int moved(int descriptor) {
    if (descriptor > STDERR_FILENO) return descriptor;
    int other = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (other < 0) return descriptor;
    close(descriptor);
    return other;
}

/// Remembers the descriptors that came, or takes all of them away when some are missing.
///
/// Without its descriptors sd-bus finds the message invalid and drops it alone. Had it seen that
/// some are missing, it would have given the connection up.
static void note_descriptors(struct receive_watch *watch, struct msghdr *message) {
    struct cmsghdr *part = CMSG_FIRSTHDR(message);
    int is_complete = !(message->msg_flags & MSG_CTRUNC);
    size_t before = watch->count;
    for (; part != NULL; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < count; index++) {
            int descriptor;
            unsigned char *place = CMSG_DATA(part) + index * sizeof descriptor;
            memcpy(&descriptor, place, sizeof descriptor);
            descriptor = moved(descriptor);
            memcpy(place, &descriptor, sizeof descriptor);
            if (watch->counts_nothing) continue;
            if (watch->count < sizeof watch->descriptors / sizeof watch->descriptors[0]) {
                watch->descriptors[watch->count++] = descriptor;
            } else {
                close(descriptor);
                is_complete = 0;
            }
        }
    }
    if (is_complete) return;
    close_beyond(watch, before);
    message->msg_controllen = 0;
    message->msg_flags &= ~MSG_CTRUNC;
}

static void note(struct receive_watch *watch, struct msghdr *message, size_t count) {
    // The one before was dropped: sd-bus reads on without having handed it over.
    if (is_between_messages(watch)) close_beyond(watch, 0);
    if (message->msg_controllen > 0 || message->msg_flags & MSG_CTRUNC)
        note_descriptors(watch, message);
    if (message->msg_iovlen > 0) note_bytes(watch, message->msg_iov[0].iov_base, count);
}

/// In the place of the C library's function of this name, for libsystemd as well.
///
/// It is the same but for what sd-bus receives on a watched connection.
ssize_t recvmsg(int socket, struct msghdr *message, int flags) {
    ssize_t count = syscall(SYS_recvmsg, socket, message, flags);
    if (count > 0 && current != NULL) note(current, message, (size_t)count);
    return count;
}

void receive_watch_begin(struct receive_watch *watch) {
    watch->counts_nothing = 0;
    current = watch;
}

void receive_watch_follow(struct receive_watch *watch) {
    watch->count = 0;
    watch->counts_nothing = 1;
    current = watch;
}

size_t receive_watch_hand_over(struct receive_watch *watch) {
    size_t count = watch->count;
    watch->count = 0;
    return count;
}

void receive_watch_end(struct receive_watch *watch) {
    current = NULL;
    if (is_between_messages(watch)) close_beyond(watch, 0);
}
