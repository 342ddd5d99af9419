#ifndef CRECEIVE_H
#define CRECEIVE_H

#include <stddef.h>
#include <stdint.h>

/// What came from the bus on one connection, and sd-bus has not handed over yet.
///
/// sd-bus 252 does not say how many descriptors came with a message, never closes those of a
/// message that it finds invalid, and gives up a connection on which descriptors were lost. It also
/// asks the kernel twice for each message, and takes every one, which is more than a service can
/// do for those who only want to keep it busy. So `recvmsg` is replaced: much is read at once, the
/// calls of those who are not to be heard are left out, and the rest is handed to sd-bus message by
/// message. See CReceive.c.
///
/// It begins at the beginning of a message.
struct receive_watch;

/// Nil when there is no memory.
struct receive_watch *receive_watch_new(int socket);

/// Closes and frees what it has, but for the socket.
void receive_watch_free(struct receive_watch *watch);

/// From here on, what this thread receives belongs to the watched connection.
void receive_watch_begin(struct receive_watch *watch);

/// The same for a call of sd-bus that waits for one message, and queues those before it.
///
/// Descriptors that come meanwhile are neither counted nor closed.
void receive_watch_follow(struct receive_watch *watch);

/// sd-bus has handed the message over, and closes its descriptors with it: how many there are.
size_t receive_watch_hand_over(struct receive_watch *watch);

/// How many bytes the message has that came last.
uint64_t receive_watch_size(const struct receive_watch *watch);

/// Ends what was begun, and closes what came with a message that sd-bus dropped.
///
/// 1 if so much was left out that others than sd-bus are to have their turn before more is.
int receive_watch_end(struct receive_watch *watch);

/// Whether all that was read was given to sd-bus.
int receive_watch_is_empty(const struct receive_watch *watch);

/// How many bytes were read since this was asked last.
size_t receive_watch_take_news(struct receive_watch *watch);

/// From here on, calls of the connection with this unique name are left out, or are not.
///
/// Of two whose numbers share a place only one is left out.
void receive_watch_leave_out(struct receive_watch *watch, const char *name, int leaves_out);

#endif
