#ifndef CRECEIVE_H
#define CRECEIVE_H

#include <stddef.h>
#include <stdint.h>

/// What sd-bus has received on one connection to a bus, and has not handed over yet.
///
/// sd-bus 252 does not say how many descriptors came with a message, never closes those of a
/// message that it finds invalid, and gives up a connection on which descriptors were lost. So
/// `recvmsg` is replaced, and what it returns to sd-bus is watched: see CReceive.c.
///
/// It starts as zeros, at the beginning of a message.
struct receive_watch {
    /// The fixed part of the header of the message that is arriving.
    unsigned char header[16];
    size_t header_size;
    /// How many bytes of it are still to come after the fixed part of its header.
    uint64_t rest;
    /// How many bytes the message that arrived last has.
    uint64_t size;
    /// Whether messages may be queued by sd-bus now, so that who has a descriptor is not known.
    int counts_nothing;
    /// The descriptors that came with it.
    size_t count;
    int descriptors[256];
};

/// From here on, what this thread receives belongs to the watched connection.
void receive_watch_begin(struct receive_watch *watch);

/// The same for a call of sd-bus that waits for one message, and queues those before it.
///
/// Descriptors that come meanwhile are neither counted nor closed.
void receive_watch_follow(struct receive_watch *watch);

/// sd-bus has handed the message over, and closes its descriptors with it: how many there are.
size_t receive_watch_hand_over(struct receive_watch *watch);

/// Ends what `receive_watch_begin` began, and closes what came with a message that sd-bus dropped.
void receive_watch_end(struct receive_watch *watch);

#endif
