#ifndef LOCALAUTH_CPIPEWIRE_H
#define LOCALAUTH_CPIPEWIRE_H

/*
 * A connection to a PipeWire daemon: the daemon's objects, and one stream of pictures.
 *
 * The first connection loads PipeWire's library, so no program links to it. No function here waits:
 * the caller polls the descriptor, and callbacks report the events. Use a connection from one thread
 * at a time, and never close it in a callback.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum cpipewire_result {
    CPIPEWIRE_OK = 0,
    /* Built without PipeWire's headers: the package's trait Face is off. */
    CPIPEWIRE_NOT_BUILT = 1,
    /* The library or one of its modules is missing. */
    CPIPEWIRE_NOT_INSTALLED = 2,
    /* Out of memory, or another failure. */
    CPIPEWIRE_FAILED = 3
};

enum cpipewire_kind { CPIPEWIRE_CLIENT = 1, CPIPEWIRE_NODE = 2 };

/* Layouts of pictures. 0 stands for any other layout. */
enum cpipewire_format {
    CPIPEWIRE_MJPG = 1,
    CPIPEWIRE_YUYV = 2,
    CPIPEWIRE_GREY = 3,
    CPIPEWIRE_NV12 = 4,
    CPIPEWIRE_I420 = 5,
    CPIPEWIRE_RGB = 6,
    CPIPEWIRE_BGR = 7,
    CPIPEWIRE_RGBX = 8,
    CPIPEWIRE_BGRX = 9
};

struct cpipewire;

/* Callbacks of cpipewire_serve(). Texts and bytes are valid only during the call. */
struct cpipewire_events {
    /* A client or a node appeared; its properties follow. */
    void (*object)(void *context, uint32_t id, int32_t kind);
    void (*property)(void *context, uint32_t id, const char *key, const char *value);
    /* An object disappeared. */
    void (*removed)(void *context, uint32_t id);
    /* The daemon has answered every request made before this cpipewire_sync(). */
    void (*synchronized)(void *context, int32_t sequence);
    /* The daemon ended the connection. */
    void (*ended)(void *context);
    /* The stream, its link or its node failed; the text may be empty. */
    void (*failed)(void *context, const char *message);
    /* The stream runs. */
    void (*streaming)(void *context);
    /* The format of the pictures that follow. */
    void (*format)(void *context, int32_t format, uint32_t width, uint32_t height);
    /* A picture, checked against its buffer. NULL bytes: a broken picture, or outside its buffer. */
    void (*picture)(void *context, const uint8_t *bytes, size_t count, int32_t stride);
};

/* Connects to a daemon over a connected socket. Owns the socket, and closes it even on failure. */
int32_t cpipewire_open(int socket, const struct cpipewire_events *events, void *context,
                       struct cpipewire **connection);
void cpipewire_close(struct cpipewire *connection);

/* Readable when there is something to serve. */
int cpipewire_descriptor(const struct cpipewire *connection);
/* Handles pending events. */
void cpipewire_serve(struct cpipewire *connection);

/* Returns the sequence number that the synchronized callback will report. */
int32_t cpipewire_sync(struct cpipewire *connection);
/* Requests all properties of a node. */
int32_t cpipewire_ask(struct cpipewire *connection, uint32_t node);
/* Starts a stream of the node's pictures. Pictures above `largest` bytes count as broken. */
int32_t cpipewire_start(struct cpipewire *connection, uint32_t node, size_t largest);

#ifdef __cplusplus
}
#endif

#endif
