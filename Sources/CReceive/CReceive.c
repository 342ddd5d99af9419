// For syscall().
#define _GNU_SOURCE

#include "CReceive.h"
#include "fields.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    /// More than the kernel keeps for a connection at a time, of messages as small as calls are.
    capacity = 256 * 1024,
    /// After so many bytes that were left out, others than sd-bus get their turn.
    most_left_out = 1024 * 1024,
    /// As many as one message may have.
    most_descriptors = 253,
    most_kept = 2 * most_descriptors,
    places = 1024,
};

struct receive_watch {
    /// The connection's.
    int socket;
    /// Whether messages may be queued by sd-bus now, so that who has a descriptor is not known.
    int counts_nothing;
    /// Whether sd-bus was told that there is nothing, though there may be.
    int has_paused;
    /// What was read, and not given to sd-bus: from `start` to `end`. Nil at first.
    unsigned char *bytes;
    size_t start, end;
    /// How many bytes were read since that was asked.
    size_t news;
    /// How many bytes came before `start`.
    uint64_t position;
    /// How many bytes are still to come of the message that sd-bus is being given.
    uint64_t rest;
    /// How many bytes are still to come of a message that is left out.
    uint64_t left_out;
    /// How many bytes the message has that sd-bus was given last, and its descriptors.
    uint64_t size;
    size_t count;
    int descriptors[most_descriptors];
    /// Descriptors of messages that sd-bus was not given yet, each with the position of a byte of
    /// its message.
    size_t kept;
    struct {
        int descriptor;
        uint64_t position;
    } keeps[most_kept];
    /// The numbers in the unique names of those who are not to be heard, each in the place that its
    /// last bits name.
    uint64_t unheard[places];
};

/// The connection that sd-bus reads from on this thread, if it does.
static _Thread_local struct receive_watch *current;

// MARK: Descriptors

/// Closes all but the first so many of the message that sd-bus has been given.
static void close_beyond(struct receive_watch *watch, size_t first) {
    while (watch->count > first) close(watch->descriptors[--watch->count]);
}

/// Above standard input, output and error, where sd-bus would move it to.
static int moved(int descriptor) {
    if (descriptor > STDERR_FILENO) return descriptor;
    int other = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (other < 0) return descriptor;
    close(descriptor);
    return other;
}

/// Keeps the descriptors that came with the last byte.
///
/// The kernel reads on from a message with descriptors in no case. Where this process has no room
/// for all of them, sd-bus finds the message invalid, as it says how many it has, and drops it
/// alone; had it read from the socket itself, it would have given the connection up.
static void keep_descriptors(struct receive_watch *watch, struct msghdr *message) {
    uint64_t last = watch->position + (watch->end - watch->start) - 1;
    struct cmsghdr *part = CMSG_FIRSTHDR(message);
    for (; part != NULL; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < count; index++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(part) + index * sizeof descriptor, sizeof descriptor);
            if (watch->kept == most_kept) {
                close(descriptor);
                continue;
            }
            watch->keeps[watch->kept].descriptor = moved(descriptor);
            watch->keeps[watch->kept++].position = last;
        }
    }
}

/// Takes the descriptors of messages that end before a position: for sd-bus, or to close them.
static size_t take_descriptors(struct receive_watch *watch, uint64_t end, int *taken, size_t room) {
    size_t count = 0, index = 0;
    for (; index < watch->kept && watch->keeps[index].position < end; index++) {
        if (count < room)
            taken[count++] = watch->keeps[index].descriptor;
        else
            close(watch->keeps[index].descriptor);
    }
    watch->kept -= index;
    memmove(watch->keeps, watch->keeps + index, watch->kept * sizeof watch->keeps[0]);
    return count;
}

// MARK: Bytes

/// Reads what the socket has; 0 at its end, -1 when it has nothing, as recvmsg.
static ssize_t fill(struct receive_watch *watch, int flags) {
    if (watch->bytes == NULL) watch->bytes = malloc(capacity);
    if (watch->bytes == NULL) {
        errno = ENOMEM;
        return -1;
    }
    memmove(watch->bytes, watch->bytes + watch->start, watch->end - watch->start);
    watch->end -= watch->start;
    watch->start = 0;
    union {
        char bytes[CMSG_SPACE(most_descriptors * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec place = {watch->bytes + watch->end, capacity - watch->end};
    struct msghdr message = {.msg_iov = &place, .msg_iovlen = 1};
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control;
    ssize_t count = syscall(SYS_recvmsg, watch->socket, &message, flags);
    if (count <= 0) return count;
    watch->end += (size_t)count;
    watch->news += (size_t)count;
    if (message.msg_controllen > 0) keep_descriptors(watch, &message);
    return count;
}

static void advance(struct receive_watch *watch, size_t count) {
    watch->start += count;
    watch->position += count;
}

/// Leaves out what has come of a message, whose descriptors have come with its first byte.
static void leave_out(struct receive_watch *watch) {
    size_t here = watch->end - watch->start;
    size_t count = watch->left_out < here ? (size_t)watch->left_out : here;
    watch->left_out -= count;
    advance(watch, count);
    take_descriptors(watch, watch->position, NULL, 0);
}

static int is_left_out(const struct receive_watch *watch, const unsigned char *header) {
    uint64_t sender = fields_caller(header);
    return sender != 0 && watch->unheard[sender % places] == sender;
}

/// Goes on to the next message that sd-bus is to be given; 1, or what recvmsg would return.
static ssize_t begin_message(struct receive_watch *watch, int flags) {
    uint64_t first = watch->position;
    for (;;) {
        leave_out(watch);
        size_t here = watch->end - watch->start;
        const unsigned char *header = watch->bytes + watch->start;
        uint64_t header_size = here < FIELDS_FIXED ? capacity : fields_end(header);
        if (here >= header_size || here == capacity) {
            uint64_t size = fields_end(header) + fields_body(header);
            if (here < header_size || !is_left_out(watch, header)) {
                watch->rest = watch->size = size;
                return 1;
            }
            watch->left_out = size;
            if (watch->position - first < most_left_out) continue;
            leave_out(watch);
            watch->has_paused = 1;
            errno = EAGAIN;
            return -1;
        }
        ssize_t count = fill(watch, flags);
        if (count <= 0) return count;
    }
}

/// Gives sd-bus the descriptors of the message that begins.
static void give_descriptors(struct receive_watch *watch, struct msghdr *message, size_t room) {
    uint64_t end = watch->position + watch->size;
    watch->count = take_descriptors(watch, end, watch->descriptors, most_descriptors);
    size_t size = watch->count * sizeof watch->descriptors[0];
    if (watch->count == 0 || room < CMSG_SPACE(size)) {
        close_beyond(watch, 0);
        return;
    }
    message->msg_controllen = CMSG_SPACE(size);
    struct cmsghdr *part = CMSG_FIRSTHDR(message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(part), watch->descriptors, size);
    if (watch->counts_nothing) watch->count = 0;
}

static ssize_t give(struct receive_watch *watch, struct msghdr *message, int flags) {
    size_t room = message->msg_controllen;
    ssize_t found = 1;
    if (watch->rest == 0) {
        // The one before was dropped: sd-bus reads on without having handed it over.
        close_beyond(watch, 0);
        found = begin_message(watch, flags);
    } else if (watch->start == watch->end) {
        found = fill(watch, flags);
    }
    if (found <= 0) return found;
    message->msg_controllen = 0;
    message->msg_flags = 0;
    if (watch->rest == watch->size) give_descriptors(watch, message, room);
    size_t count = watch->end - watch->start;
    if (count > watch->rest) count = (size_t)watch->rest;
    if (count > message->msg_iov[0].iov_len) count = message->msg_iov[0].iov_len;
    memcpy(message->msg_iov[0].iov_base, watch->bytes + watch->start, count);
    advance(watch, count);
    watch->rest -= count;
    return (ssize_t)count;
}

/// In the place of the C library's function of this name, for libsystemd as well.
///
/// It is the same but for what sd-bus receives on a watched connection.
ssize_t recvmsg(int socket, struct msghdr *message, int flags) {
    if (current == NULL || current->socket != socket || message->msg_iovlen == 0)
        return syscall(SYS_recvmsg, socket, message, flags);
    return give(current, message, flags);
}

// MARK: For the connection

struct receive_watch *receive_watch_new(int socket) {
    struct receive_watch *watch = calloc(1, sizeof *watch);
    if (watch != NULL) watch->socket = socket;
    return watch;
}

void receive_watch_free(struct receive_watch *watch) {
    close_beyond(watch, 0);
    take_descriptors(watch, UINT64_MAX, NULL, 0);
    free(watch->bytes);
    free(watch);
}

void receive_watch_begin(struct receive_watch *watch) {
    watch->counts_nothing = 0;
    watch->has_paused = 0;
    current = watch;
}

void receive_watch_follow(struct receive_watch *watch) {
    watch->count = 0;
    watch->has_paused = 0;
    watch->counts_nothing = 1;
    current = watch;
}

size_t receive_watch_hand_over(struct receive_watch *watch) {
    size_t count = watch->count;
    watch->count = 0;
    return count;
}

int receive_watch_end(struct receive_watch *watch) {
    current = NULL;
    if (watch->rest == 0) close_beyond(watch, 0);
    return watch->has_paused;
}

uint64_t receive_watch_size(const struct receive_watch *watch) { return watch->size; }

int receive_watch_is_empty(const struct receive_watch *watch) {
    return watch->start == watch->end;
}

size_t receive_watch_take_news(struct receive_watch *watch) {
    size_t news = watch->news;
    watch->news = 0;
    return news;
}

void receive_watch_leave_out(struct receive_watch *watch, const char *name, int leaves_out) {
    uint64_t number = fields_number(name, strlen(name));
    if (number == 0) return;
    uint64_t *place = &watch->unheard[number % places];
    if (leaves_out)
        *place = number;
    else if (*place == number)
        *place = 0;
}
