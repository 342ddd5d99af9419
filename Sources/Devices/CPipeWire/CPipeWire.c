#include "CPipeWire.h"

#include <unistd.h>

#ifndef LOCALAUTH_FACE

int32_t cpipewire_open(int socket, const struct cpipewire_events *events, void *context,
                       struct cpipewire **connection) {
    (void)events;
    (void)context;
    *connection = NULL;
    close(socket);
    return CPIPEWIRE_NOT_BUILT;
}
void cpipewire_close(struct cpipewire *connection) { (void)connection; }
int cpipewire_descriptor(const struct cpipewire *connection) { return (void)connection, -1; }
void cpipewire_serve(struct cpipewire *connection) { (void)connection; }
int32_t cpipewire_sync(struct cpipewire *connection) { return (void)connection, -1; }
int32_t cpipewire_ask(struct cpipewire *connection, uint32_t node) {
    return (void)connection, (void)node, CPIPEWIRE_NOT_BUILT;
}
int32_t cpipewire_start(struct cpipewire *connection, uint32_t node, size_t largest) {
    return (void)connection, (void)node, (void)largest, CPIPEWIRE_NOT_BUILT;
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <linux/dma-buf.h>
#include <linux/magic.h>
#include <pipewire/impl.h>
#include <pipewire/pipewire.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>

// MARK: The library

// Functions looked up in the library. All other functions of the headers are inline.
#define FUNCTIONS(use)                                                                              \
    use(pw_init) use(pw_loop_new) use(pw_loop_destroy) use(pw_properties_new_dict)                  \
    use(pw_context_new) use(pw_context_destroy) use(pw_context_load_module)                         \
    use(pw_context_connect_fd) use(pw_core_disconnect) use(pw_proxy_destroy) use(pw_stream_new)     \
    use(pw_stream_destroy) use(pw_stream_add_listener) use(pw_stream_connect)                       \
    use(pw_stream_update_params) use(pw_stream_get_node_id) use(pw_stream_dequeue_buffer)           \
    use(pw_stream_queue_buffer)

#define MEMBER(name) __typeof__(&name) name;
static struct { FUNCTIONS(MEMBER) int is_loaded; } library;

#define FIND(name)                                                                                  \
    library.name = (__typeof__(library.name))dlsym(handle, #name);                                  \
    if (!library.name) return;

static void load(void) {
    void *handle = dlopen("libpipewire-0.3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return;
    FUNCTIONS(FIND)
    library.pw_init(NULL, NULL);
    library.is_loaded = 1;
}

static struct pw_properties *properties(const struct spa_dict_item *items, uint32_t count) {
    const struct spa_dict dict = SPA_DICT_INIT(items, count);
    return library.pw_properties_new_dict(&dict);
}

// MARK: The connection

struct cpipewire {
    struct cpipewire_events events;
    void *context;
    struct pw_loop *loop;
    struct pw_context *pipewire;
    struct pw_core *core;
    struct pw_proxy *registry, *node, *link;
    struct pw_stream *stream;
    struct spa_hook core_hook, registry_hook, node_hook, link_hook, stream_hook;
    uint32_t source;
    uint8_t *copy;
    size_t largest;
};

static void tell(struct cpipewire *self, uint32_t id, const struct spa_dict *dict) {
    const struct spa_dict_item *item;
    if (!dict) return;
    spa_dict_for_each(item, dict) {
        if (item->key && item->value) self->events.property(self->context, id, item->key, item->value);
    }
}

static void fail(struct cpipewire *self, const char *message) {
    self->events.failed(self->context, message ? message : "");
}

static void on_done(void *data, uint32_t id, int sequence) {
    struct cpipewire *self = data;
    if (id == PW_ID_CORE) self->events.synchronized(self->context, sequence);
}

static void on_error(void *data, uint32_t id, int sequence, int result, const char *message) {
    struct cpipewire *self = data;
    (void)sequence;
    // The core reports only the end of the connection; other objects report their failure.
    if (id != PW_ID_CORE) return fail(self, message);
    if (result == -EPIPE) self->events.ended(self->context);
}

static const struct pw_core_events core_events = {
    PW_VERSION_CORE_EVENTS,
    .done = on_done,
    .error = on_error,
};

static void on_global(void *data, uint32_t id, uint32_t permissions, const char *type,
                      uint32_t version, const struct spa_dict *props) {
    struct cpipewire *self = data;
    (void)permissions;
    (void)version;
    int32_t kind = 0;
    if (type && !strcmp(type, PW_TYPE_INTERFACE_Client)) kind = CPIPEWIRE_CLIENT;
    if (type && !strcmp(type, PW_TYPE_INTERFACE_Node)) kind = CPIPEWIRE_NODE;
    if (!kind) return;
    self->events.object(self->context, id, kind);
    tell(self, id, props);
}

static void on_global_remove(void *data, uint32_t id) {
    struct cpipewire *self = data;
    self->events.removed(self->context, id);
}

static const struct pw_registry_events registry_events = {
    PW_VERSION_REGISTRY_EVENTS,
    .global = on_global,
    .global_remove = on_global_remove,
};

static void on_node(void *data, const struct pw_node_info *info) {
    struct cpipewire *self = data;
    if (info->change_mask & PW_NODE_CHANGE_MASK_PROPS) tell(self, info->id, info->props);
    // Ignore an error from before the link exists: it may be over.
    if (self->link && info->change_mask & PW_NODE_CHANGE_MASK_STATE &&
        info->state == PW_NODE_STATE_ERROR) {
        fail(self, info->error);
    }
}

static const struct pw_node_events node_events = {PW_VERSION_NODE_EVENTS, .info = on_node};

static int start_up(struct cpipewire *self, int socket) {
    // Read no configuration file and load no optional parts. The modules below are sufficient.
    const struct spa_dict_item items[] = {
        SPA_DICT_ITEM_INIT(PW_KEY_CONFIG_NAME, "null"),
        SPA_DICT_ITEM_INIT("support.dbus", "false"),
        // Log errors only: the library warns about the parts left out here.
        SPA_DICT_ITEM_INIT("log.level", "1"),
    };
    const char *const modules[] = {
        "libpipewire-module-protocol-native",
        "libpipewire-module-client-node",
    };
    self->loop = library.pw_loop_new(NULL);
    if (self->loop) {
        // Stay in the loop while it lives. Otherwise the library runs events of its other threads
        // on those threads.
        pw_loop_enter(self->loop);
        self->pipewire = library.pw_context_new(self->loop, properties(items, 3), 0);
    }
    if (!self->pipewire) return close(socket), CPIPEWIRE_FAILED;
    for (size_t i = 0; i < SPA_N_ELEMENTS(modules); ++i) {
        if (!library.pw_context_load_module(self->pipewire, modules[i], NULL, NULL)) {
            return close(socket), CPIPEWIRE_NOT_INSTALLED;
        }
    }
    // From here on the library owns the socket, even after a failure.
    self->core = library.pw_context_connect_fd(self->pipewire, socket, NULL, 0);
    if (!self->core) return CPIPEWIRE_FAILED;
    pw_core_add_listener(self->core, &self->core_hook, &core_events, self);
    self->registry = (struct pw_proxy *)pw_core_get_registry(self->core, PW_VERSION_REGISTRY, 0);
    if (!self->registry) return CPIPEWIRE_FAILED;
    pw_registry_add_listener((struct pw_registry *)self->registry, &self->registry_hook,
                             &registry_events, self);
    return CPIPEWIRE_OK;
}

int32_t cpipewire_open(int socket, const struct cpipewire_events *events, void *context,
                       struct cpipewire **connection) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *connection = NULL;
    if (!library.is_loaded) return close(socket), CPIPEWIRE_NOT_INSTALLED;
    struct cpipewire *self = calloc(1, sizeof *self);
    if (!self) return close(socket), CPIPEWIRE_FAILED;
    self->events = *events;
    self->context = context;
    // Block all signals: the library's threads inherit the mask, and the program's own thread
    // handles signals.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int result = start_up(self, socket);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result == CPIPEWIRE_OK) {
        *connection = self;
    } else {
        cpipewire_close(self);
    }
    return result;
}

void cpipewire_close(struct cpipewire *self) {
    if (!self) return;
    if (self->stream) library.pw_stream_destroy(self->stream);
    if (self->link) library.pw_proxy_destroy(self->link);
    if (self->node) library.pw_proxy_destroy(self->node);
    if (self->registry) library.pw_proxy_destroy(self->registry);
    if (self->core) library.pw_core_disconnect(self->core);
    if (self->pipewire) library.pw_context_destroy(self->pipewire);
    if (self->loop) {
        pw_loop_leave(self->loop);
        library.pw_loop_destroy(self->loop);
    }
    free(self->copy);
    free(self);
}

int cpipewire_descriptor(const struct cpipewire *self) { return pw_loop_get_fd(self->loop); }

void cpipewire_serve(struct cpipewire *self) {
    // The limit keeps a talkative daemon from blocking the caller; the rest is read next time.
    for (int round = 0; round < 32 && pw_loop_iterate(self->loop, 0) > 0; ++round) {}
}

int32_t cpipewire_sync(struct cpipewire *self) { return pw_core_sync(self->core, PW_ID_CORE, 0); }

int32_t cpipewire_ask(struct cpipewire *self, uint32_t node) {
    if (self->node) library.pw_proxy_destroy(self->node);
    self->node = pw_registry_bind((struct pw_registry *)self->registry, node, PW_TYPE_INTERFACE_Node,
                                  PW_VERSION_NODE, 0);
    if (!self->node) return CPIPEWIRE_FAILED;
    spa_zero(self->node_hook);
    pw_node_add_listener((struct pw_node *)self->node, &self->node_hook, &node_events, self);
    return CPIPEWIRE_OK;
}

// MARK: The stream

static const struct { uint32_t theirs; int32_t ours; } formats[] = {
    // Ordered by the work they need, least first. The first is preferred.
    {SPA_VIDEO_FORMAT_YUY2, CPIPEWIRE_YUYV}, {SPA_VIDEO_FORMAT_NV12, CPIPEWIRE_NV12},
    {SPA_VIDEO_FORMAT_I420, CPIPEWIRE_I420}, {SPA_VIDEO_FORMAT_RGB, CPIPEWIRE_RGB},
    {SPA_VIDEO_FORMAT_BGR, CPIPEWIRE_BGR},   {SPA_VIDEO_FORMAT_RGBx, CPIPEWIRE_RGBX},
    {SPA_VIDEO_FORMAT_BGRx, CPIPEWIRE_BGRX}, {SPA_VIDEO_FORMAT_RGBA, CPIPEWIRE_RGBX},
    {SPA_VIDEO_FORMAT_BGRA, CPIPEWIRE_BGRX}, {SPA_VIDEO_FORMAT_GRAY8, CPIPEWIRE_GREY},
};

static void on_link(void *data, const struct pw_link_info *info) {
    if (info->state == PW_LINK_STATE_ERROR) fail(data, info->error);
}

static const struct pw_link_events link_events = {PW_VERSION_LINK_EVENTS, .info = on_link};

// Links the camera to this stream without a session manager, so that none can choose the camera.
static void make_link(struct cpipewire *self) {
    char output[16], input[16];
    const uint32_t own = library.pw_stream_get_node_id(self->stream);
    if (self->link || own == SPA_ID_INVALID) return;
    snprintf(output, sizeof output, "%u", self->source);
    snprintf(input, sizeof input, "%u", own);
    const struct spa_dict_item items[] = {
        SPA_DICT_ITEM_INIT(PW_KEY_LINK_OUTPUT_NODE, output),
        SPA_DICT_ITEM_INIT(PW_KEY_LINK_INPUT_NODE, input),
    };
    const struct spa_dict dict = SPA_DICT_INIT_ARRAY(items);
    self->link = pw_core_create_object(self->core, "link-factory", PW_TYPE_INTERFACE_Link,
                                       PW_VERSION_LINK, &dict, 0);
    if (!self->link) return fail(self, "");
    pw_link_add_listener((struct pw_link *)self->link, &self->link_hook, &link_events, self);
}

static void on_state(void *data, enum pw_stream_state old, enum pw_stream_state state,
                     const char *error) {
    struct cpipewire *self = data;
    (void)old;
    switch (state) {
    case PW_STREAM_STATE_ERROR: fail(self, error); break;
    case PW_STREAM_STATE_PAUSED: make_link(self); break;
    case PW_STREAM_STATE_STREAMING: self->events.streaming(self->context); break;
    default: break;
    }
}

static void on_format(void *data, uint32_t id, const struct spa_pod *param) {
    struct cpipewire *self = data;
    struct spa_video_info info = {0};
    if (id != SPA_PARAM_Format || !param) return;
    int32_t format = 0;
    struct spa_rectangle size = {0, 0};
    if (spa_format_parse(param, &info.media_type, &info.media_subtype) < 0) return fail(self, "");
    if (info.media_subtype == SPA_MEDIA_SUBTYPE_mjpg) {
        format = CPIPEWIRE_MJPG;
    } else if (info.media_subtype == SPA_MEDIA_SUBTYPE_raw &&
               spa_format_video_raw_parse(param, &info.info.raw) >= 0) {
        for (size_t i = 0; i < SPA_N_ELEMENTS(formats); ++i) {
            if (formats[i].theirs == info.info.raw.format) format = formats[i].ours;
        }
        size = info.info.raw.size;
        // Refuse layouts of a particular graphics card; modifier 0 means line after line.
        if (info.info.raw.flags & SPA_VIDEO_FLAG_MODIFIER && info.info.raw.modifier) format = 0;
    }
    self->events.format(self->context, format, size.width, size.height);
    // Ask for a single block. libcamera's plugin offers dma-bufs where they are accepted. If they
    // are not, it labels them MemFd.
    uint8_t space[512];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(space, sizeof space);
    const struct spa_pod *wish = spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
        SPA_POD_CHOICE_RANGE_Int(4, 2, 16), SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1),
        SPA_PARAM_BUFFERS_dataType,
        SPA_POD_CHOICE_FLAGS_Int((1 << SPA_DATA_MemPtr) | (1 << SPA_DATA_MemFd) |
                                 (1 << SPA_DATA_DmaBuf)));
    library.pw_stream_update_params(self->stream, &wish, 1);
}

// Marks the start or end of an access, so that the processor sees the camera's writes.
static int sync_dma_buf(int file, uint64_t phase) {
    struct dma_buf_sync sync = {.flags = phase | DMA_BUF_SYNC_READ};
    for (int try = 0; try < 8; ++try) {
        if (ioctl(file, DMA_BUF_IOCTL_SYNC, &sync) == 0) return 1;
        if (errno != EINTR && errno != EAGAIN) return 0;
    }
    return 0;
}

// SAFETY: a dma-buf must be mapped, because it cannot be read as a file. Any other file could be
// truncated while it is mapped, but a dma-buf never changes its size. fstatfs() proves the type.
static int copy_dma_buf(int file, uint64_t start, uint8_t *to, size_t count, size_t most) {
    struct statfs kind;
    if (fstatfs(file, &kind) < 0 || kind.f_type != DMA_BUF_MAGIC) return 0;
    const off_t size = lseek(file, 0, SEEK_END);
    const uint64_t end = start + count;
    if (size < 0 || end > (uint64_t)size || end > most) return 0;
    // A limit is needed: a writer that never finishes would block this thread for ever.
    struct pollfd writer = {.fd = file, .events = POLLIN};
    if (poll(&writer, 1, 100) != 1 || !(writer.revents & POLLIN)) return 0;
    // Map from offset 0: some drivers ignore the offset and map the start.
    uint8_t *bytes = mmap(NULL, end, PROT_READ, MAP_SHARED, file, 0);
    if (bytes == MAP_FAILED) return 0;
    const int is_ready = sync_dma_buf(file, DMA_BUF_SYNC_START);
    if (is_ready) {
        memcpy(to, bytes + start, count);
        sync_dma_buf(file, DMA_BUF_SYNC_END);
    }
    munmap(bytes, end);
    return is_ready;
}

// SAFETY: the process that makes a picture can change its size and offset at any time. Read both
// once, and require them to lie within the buffer, whose own size comes from the daemon.
static void take(struct cpipewire *self, const struct spa_buffer *buffer) {
    const struct spa_data *data = buffer->datas;
    if (buffer->n_datas != 1 || !data->chunk) return self->events.picture(self->context, NULL, 0, 0);
    const volatile struct spa_chunk *chunk = data->chunk;
    const uint32_t offset = chunk->offset, size = chunk->size;
    const int32_t stride = chunk->stride, flags = chunk->flags;
    const uint8_t *bytes = NULL;
    if (!(flags & SPA_CHUNK_FLAG_CORRUPTED) && size > 0 && size <= self->largest &&
        offset <= data->maxsize && size <= data->maxsize - offset) {
        const uint64_t start = (uint64_t)data->mapoffset + offset;
        if (data->type == SPA_DATA_MemPtr && data->data) {
            memcpy(self->copy, (const uint8_t *)data->data + offset, size);
            bytes = self->copy;
        } else if (data->type == SPA_DATA_MemFd) {
            // SAFETY: not mapped, because the file's creator may truncate it. A read is then only
            // short.
            const ssize_t count = pread((int)data->fd, self->copy, size, (off_t)start);
            if (count == (ssize_t)size) bytes = self->copy;
        } else if (data->type == SPA_DATA_DmaBuf) {
            const size_t most = self->largest * 4;
            if (copy_dma_buf((int)data->fd, start, self->copy, size, most)) bytes = self->copy;
        }
    }
    self->events.picture(self->context, bytes, bytes ? size : 0, stride);
}

static void on_process(void *data) {
    struct cpipewire *self = data;
    struct pw_buffer *newest = NULL, *next;
    // Keep the newest picture; older ones are stale.
    while ((next = library.pw_stream_dequeue_buffer(self->stream))) {
        if (newest) library.pw_stream_queue_buffer(self->stream, newest);
        newest = next;
    }
    if (!newest) return;
    take(self, newest->buffer);
    library.pw_stream_queue_buffer(self->stream, newest);
}

static const struct pw_stream_events stream_events = {
    PW_VERSION_STREAM_EVENTS,
    .state_changed = on_state,
    .param_changed = on_format,
    .process = on_process,
};

// Prefer 640 x 480: a camera's first size may be its smallest, too small to find a face.
static const struct { struct spa_rectangle from, to; } sizes[] = {
    {{640, 480}, {640, 480}},
    {{640, 480}, {1920, 1920}},
    {{16, 16}, {1920, 1920}},
};

static const struct spa_pod *raw(struct spa_pod_builder *builder, uint32_t format, size_t size) {
    return spa_pod_builder_add_object(
        builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType,
        SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw),
        SPA_FORMAT_VIDEO_format, SPA_POD_Id(format), SPA_FORMAT_VIDEO_size,
        SPA_POD_CHOICE_RANGE_Rectangle(&sizes[0].from, &sizes[size].from, &sizes[size].to),
        SPA_FORMAT_VIDEO_framerate,
        SPA_POD_CHOICE_RANGE_Fraction(&SPA_FRACTION(30, 1), &SPA_FRACTION(0, 1),
                                      &SPA_FRACTION(1000, 1)));
}

static const struct spa_pod *mjpg(struct spa_pod_builder *builder, size_t size) {
    return spa_pod_builder_add_object(
        builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType,
        SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_mjpg),
        SPA_FORMAT_VIDEO_size,
        SPA_POD_CHOICE_RANGE_Rectangle(&sizes[0].from, &sizes[size].from, &sizes[size].to),
        SPA_FORMAT_VIDEO_framerate,
        SPA_POD_CHOICE_RANGE_Fraction(&SPA_FRACTION(30, 1), &SPA_FRACTION(0, 1),
                                      &SPA_FRACTION(1000, 1)));
}

int32_t cpipewire_start(struct cpipewire *self, uint32_t node, size_t largest) {
    const struct spa_dict_item items[] = {
        SPA_DICT_ITEM_INIT(PW_KEY_MEDIA_TYPE, "Video"),
        SPA_DICT_ITEM_INIT(PW_KEY_MEDIA_CATEGORY, "Capture"),
        SPA_DICT_ITEM_INIT(PW_KEY_MEDIA_ROLE, "Camera"),
    };
    if (self->stream) return CPIPEWIRE_FAILED;
    self->copy = malloc(largest);
    self->largest = largest;
    self->source = node;
    self->stream = library.pw_stream_new(self->core, "localauth-face", properties(items, 3));
    if (!self->copy || !self->stream) return CPIPEWIRE_FAILED;
    library.pw_stream_add_listener(self->stream, &self->stream_hook, &stream_events, self);
    uint8_t space[16384];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(space, sizeof space);
    const struct spa_pod *wishes[SPA_N_ELEMENTS(sizes) * (SPA_N_ELEMENTS(formats) + 1)];
    uint32_t count = 0;
    for (size_t size = 0; size < SPA_N_ELEMENTS(sizes); ++size) {
        for (size_t i = 0; i < SPA_N_ELEMENTS(formats); ++i) {
            wishes[count++] = raw(&builder, formats[i].theirs, size);
        }
    }
    // Offer JPEG last. A hostile camera would attack the decoder, so use it only without raw
    // formats.
    for (size_t size = 0; size < SPA_N_ELEMENTS(sizes); ++size) wishes[count++] = mjpg(&builder, size);
    for (uint32_t i = 0; i < count; ++i) {
        if (!wishes[i]) return CPIPEWIRE_FAILED;
    }
    const int result = library.pw_stream_connect(self->stream, PW_DIRECTION_INPUT, PW_ID_ANY,
                                                 PW_STREAM_FLAG_DONT_RECONNECT, wishes, count);
    return result < 0 ? CPIPEWIRE_FAILED : CPIPEWIRE_OK;
}

#endif
