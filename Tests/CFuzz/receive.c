#define _GNU_SOURCE

#include "CFuzz.h"
#include "CReceive.h"
#include "../../Sources/CReceive/fields.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void require(int holds) {
    if (!holds) abort();
}

enum { MOST_PLACES = 200 };

/* sd-bus, which reads what a watched connection receives. */
struct reader {
    struct receive_watch *watch;
    int socket;
    /* Everything that was sent, as far as it was given. */
    const uint8_t *sent;
    size_t given;
    /* How many bytes are still to come of the message. */
    uint64_t rest;
    /* What came with the message, and whether the watch leaves it to sd-bus to close. */
    int descriptors[256];
    size_t count;
    int is_mine;
    /* Whether calls may be left out, so that what is given isn't all that was sent. */
    int has_gaps;
    /* Where the bytes end that descriptors were sent with, and how many of these have come. */
    size_t places[MOST_PLACES], placed, come;
    /* Whether descriptors were taken without room for them, or are too many to be noted: how many have
       come isn't known then. */
    int is_unsure;
};

static void forget_descriptors(struct reader *reader) {
    for (size_t index = 0; reader->is_mine && index < reader->count; index++)
        require(close(reader->descriptors[index]) == 0);
    reader->count = 0;
    reader->is_mine = 0;
}

static void keep_descriptors(struct reader *reader, struct msghdr *message) {
    struct cmsghdr *part = CMSG_FIRSTHDR(message);
    for (; part != NULL; part = CMSG_NXTHDR(message, part)) {
        require(part->cmsg_type == SCM_RIGHTS);
        size_t size = part->cmsg_len - CMSG_LEN(0);
        require(reader->count == 0 && size <= sizeof reader->descriptors);
        memcpy(reader->descriptors, CMSG_DATA(part), size);
        reader->count = size / sizeof(int);
    }
}

/* Descriptors come with the message that their bytes end in, if they were there when it began; else
   they are closed. */
static void check_descriptors(struct reader *reader, uint64_t size) {
    while (reader->come < reader->placed && reader->places[reader->come] <= reader->given)
        reader->come++;
    uint64_t header = reader->given + fields_end(reader->sent + reader->given);
    size_t least = reader->come, most = reader->come;
    while (least < reader->placed && reader->places[least] <= header) least++;
    while (most < reader->placed && reader->places[most] <= reader->given + size) most++;
    reader->come += reader->count;
    require(reader->come >= least && reader->come <= most);
}

/* Receives once, at most so many bytes; 1: there was something. */
static int receive(struct reader *reader, size_t room, int has_control, int follows, int hands) {
    static unsigned char bytes[1 << 16];
    union {
        char bytes[CMSG_SPACE(256 * sizeof(int))];
        struct cmsghdr aligned;
    } control;
    struct iovec place = {bytes, room};
    struct msghdr message = {.msg_iov = &place, .msg_iovlen = 1};
    if (has_control) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control;
    }
    if (follows) {
        receive_watch_follow(reader->watch);
        reader->is_mine = 1;
    } else {
        receive_watch_begin(reader->watch);
    }
    int begins = reader->rest == 0;
    ssize_t count = recvmsg(reader->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count > 0) {
        if (begins) reader->rest = receive_watch_size(reader->watch);
        require((uint64_t)count <= reader->rest && (size_t)count <= room);
        keep_descriptors(reader, &message);
        if (begins && !has_control) reader->is_unsure = 1;
        if (begins && !reader->is_unsure && !reader->has_gaps)
            check_descriptors(reader, reader->rest);
        if (!reader->has_gaps) {
            require(memcmp(bytes, reader->sent + reader->given, (size_t)count) == 0);
        }
        reader->given += (size_t)count;
        reader->rest -= (uint64_t)count;
        if (reader->rest == 0 && hands) {
            size_t handed = receive_watch_hand_over(reader->watch);
            require(handed == (reader->is_mine ? 0 : reader->count));
            reader->is_mine = 1;
        }
    } else if (count < 0) {
        require(errno == EAGAIN);
    }
    int has_more = receive_watch_end(reader->watch);
    /* What was dropped is closed by whom it belongs to. */
    if (reader->rest == 0) forget_descriptors(reader);
    return count > 0 || has_more;
}

int fuzz_receive(const uint8_t *data, size_t size) {
    int sockets[2], ends[2];
    require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
    require(pipe(ends) == 0);
    uint8_t *sent = malloc(size + 1);
    require(sent != NULL);
    size_t length = 0, at = 0;
    struct reader reader = {.socket = sockets[0], .sent = sent};
    reader.watch = receive_watch_new(sockets[0]);
    require(reader.watch != NULL);
    while (at + 2 <= size) {
        unsigned int what = data[at++], number = data[at++];
        if (what & 1) {
            size_t count = size - at < number ? size - at : number;
            int descriptor = what & 2 ? ends[1] : -1;
            if (count > 0 && fuzz_send(sockets[1], data + at, count, descriptor)) {
                memcpy(sent + length, data + at, count);
                length += count;
                if (descriptor >= 0 && reader.placed < MOST_PLACES)
                    reader.places[reader.placed++] = length;
                else if (descriptor >= 0)
                    reader.is_unsure = 1;
            }
            at += count;
        } else if (what & 2) {
            char name[16];
            snprintf(name, sizeof name, ":1.%u", number & 15);
            receive_watch_leave_out(reader.watch, name, !(what & 4));
            reader.has_gaps = 1;
        } else {
            receive(&reader, 1 + number, what & 4, what & 8, what & 16);
        }
    }
    close(sockets[1]);
    while (receive(&reader, 4096, 1, 0, 1)) continue;
    require(reader.given <= length);
    /* All of it was given but for a header that isn't whole. */
    size_t missing = length - reader.given;
    if (!reader.has_gaps && missing >= FIELDS_FIXED)
        require(reader.rest == 0 && missing < fields_end(sent + reader.given));
    forget_descriptors(&reader);
    receive_watch_free(reader.watch);
    /* No descriptor is left of those that were sent. */
    close(ends[1]);
    struct pollfd left = {.fd = ends[0], .events = POLLIN};
    require(poll(&left, 1, 0) == 1 && (left.revents & POLLHUP));
    close(ends[0]);
    close(sockets[0]);
    free(sent);
    return 0;
}
