#ifndef LOCALAUTH_CPIPEWIRE_H
#define LOCALAUTH_CPIPEWIRE_H

/*
 * One connection to a PipeWire daemon: what the daemon has, and one stream of pictures.
 *
 * PipeWire's library is loaded with the first connection; no program depends on it. Nothing here
 * waits or decides: the caller waits for the descriptor, and is told what came. A connection is used
 * by one thread at a time, and not closed by what is called back.
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
    /* The library or one of its modules isn't there. */
    CPIPEWIRE_NOT_INSTALLED = 2,
    /* Memory, or anything else. */
    CPIPEWIRE_FAILED = 3
};

enum cpipewire_kind { CPIPEWIRE_CLIENT = 1, CPIPEWIRE_NODE = 2 };

/* How the pictures of a stream are laid out; 0 is none of these. */
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

/* What is told while the connection is served; texts and bytes are valid during the call. */
struct cpipewire_events {
    /* A client or a node came; its properties follow. */
    void (*object)(void *context, uint32_t id, int32_t kind);
    void (*property)(void *context, uint32_t id, const char *key, const char *value);
    /* Something went. */
    void (*removed)(void *context, uint32_t id);
    /* All that was asked for before cpipewire_sync() has been told. */
    void (*synchronized)(void *context, int32_t sequence);
    /* The daemon ended the connection. */
    void (*ended)(void *context);
    /* The stream, its link or its node can't go on; the text may be empty. */
    void (*failed)(void *context, const char *message);
    /* Pictures come from now on. */
    void (*streaming)(void *context);
    /* Of the pictures that follow. */
    void (*format)(void *context, int32_t format, uint32_t width, uint32_t height);
    /* A picture, within the bounds of its buffer; no bytes: one that says it is elsewhere. */
    void (*picture)(void *context, const uint8_t *bytes, size_t count, int32_t stride);
};

/* Speaks to a daemon over a connected socket, which is closed with the connection, or when this fails. */
int32_t cpipewire_open(int socket, const struct cpipewire_events *events, void *context,
                       struct cpipewire **connection);
void cpipewire_close(struct cpipewire *connection);

/* Readable when there is something to serve. */
int cpipewire_descriptor(const struct cpipewire *connection);
/* Takes what came. */
void cpipewire_serve(struct cpipewire *connection);

/* The sequence that will be told as synchronized. */
int32_t cpipewire_sync(struct cpipewire *connection);
/* Asks for all properties of a node. */
int32_t cpipewire_ask(struct cpipewire *connection, uint32_t node);
/* Has the node's pictures come here, of `largest` bytes at most. */
int32_t cpipewire_start(struct cpipewire *connection, uint32_t node, size_t largest);

#ifdef __cplusplus
}
#endif

#endif
