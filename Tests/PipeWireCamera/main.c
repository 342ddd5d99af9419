// A PipeWire camera for tests: a node with the pictures of a clip, or with counted pictures. On command, it
// gives wrong values about them.
//
//   pipewire-camera SOCKET NAME FORMAT WIDTHxHEIGHT[,WIDTHxHEIGHT] CLIP|- [KEY=VALUE...]
//
// FORMAT is mjpg, yuyv, nv12, i420, rgb, bgrx or grey. With `own:FORMAT` the camera allocates the memory itself,
// with `dma:FORMAT` as a dma-buf of /dev/udmabuf. With `fake:FORMAT` ordinary memory is labelled as a dma-buf.
// The first of two sizes is preferred. Without a clip, each byte of a picture is the picture's number.
//
// Commands are lines on standard input. `offset N`, `size N`, `stride N` and `corrupt` set wrong values, which
// stay until `sane`. `cut` truncates the camera's own memory, and `hold` stops pictures until `go`. `modifier N`
// sets a graphics card's layout for later formats, and `format FORMAT` changes the format. The camera prints
// `ready` when other programs can find it.

#include <stdio.h>

#ifndef LOCALAUTH_FACE

int main(void) {
    fputs("pipewire-camera: built without the package's trait Face\n", stderr);
    return 1;
}

#else

#include <fcntl.h>
#include <jpeglib.h>
#include <linux/udmabuf.h>
#include <pipewire/pipewire.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

struct picture {
    uint8_t *bytes;
    size_t count;
    // The decoded picture is cached for a format, because a busy machine decodes slowly.
    const char *format;
    uint8_t *drawn;
    size_t size;
};

static struct {
    struct pw_main_loop *loop;
    struct pw_stream *stream;
    struct spa_source *timer;
    const char *format;
    // The type of memory that the camera allocates, or 0.
    uint32_t owns;
    // Whether that memory really is a dma-buf.
    int is_true;
    int width, height, second_width, second_height, holds, is_announced;
    struct picture *clip;
    size_t pictures, next;
    // Wrong values; -1 means the right value.
    int64_t offset, size, stride, modifier;
    int corrupts;
    int files[64];
    int count;
} own = {.offset = -1, .size = -1, .stride = -1, .modifier = -1};

static void give_up(const char *what) {
    fprintf(stderr, "pipewire-camera: %s\n", what);
    exit(1);
}

// MARK: Pictures

static size_t stride_of(const char *format) {
    const size_t width = (size_t)own.width;
    if (!strcmp(format, "mjpg")) return 0;
    if (!strcmp(format, "yuyv")) return width * 2;
    if (!strcmp(format, "rgb")) return width * 3;
    if (!strcmp(format, "bgrx")) return width * 4;
    return width;
}

static size_t size_of(const char *format) {
    const size_t lines = (size_t)own.height;
    if (!strcmp(format, "mjpg")) return (size_t)own.width * lines * 2;
    if (!strcmp(format, "nv12") || !strcmp(format, "i420")) return (size_t)own.width * lines * 3 / 2;
    return stride_of(format) * lines;
}

static void read_clip(const char *path) {
    static uint8_t content[16 << 20];
    FILE *file = fopen(path, "rb");
    if (!file) give_up("no clip");
    const size_t count = fread(content, 1, sizeof content, file);
    fclose(file);
    // The file is a sequence of JPEG pictures. The clips of tests have no embedded thumbnails.
    for (size_t start = 0; start + 4 < count;) {
        size_t end = start + 2;
        while (end + 3 < count && memcmp(content + end, "\xFF\xD9\xFF\xD8", 4)) ++end;
        end = end + 3 < count ? end + 2 : count;
        own.clip = realloc(own.clip, (own.pictures + 1) * sizeof *own.clip);
        uint8_t *bytes = malloc(end - start);
        memcpy(bytes, content + start, end - start);
        own.clip[own.pictures++] = (struct picture){.bytes = bytes, .count = end - start};
        start = end;
    }
}

// Returns three bytes per pixel.
static uint8_t *decoded(const struct picture *picture, J_COLOR_SPACE space) {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    info.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, picture->bytes, picture->count);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = space;
    jpeg_start_decompress(&info);
    if ((int)info.output_width != own.width || (int)info.output_height != own.height) {
        give_up("the clip has another size");
    }
    uint8_t *pixels = malloc((size_t)own.width * (size_t)own.height * 3);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = pixels + (size_t)info.output_scanline * (size_t)own.width * 3;
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return pixels;
}

static size_t draw(const struct picture *picture, uint8_t *out) {
    if (picture->count > size_of(own.format)) give_up("a picture that is too large");
    if (!strcmp(own.format, "mjpg")) return memcpy(out, picture->bytes, picture->count), picture->count;
    const int is_rgb = !strcmp(own.format, "rgb") || !strcmp(own.format, "bgrx");
    uint8_t *pixels = decoded(picture, is_rgb ? JCS_RGB : JCS_YCbCr);
    const size_t width = (size_t)own.width, height = (size_t)own.height;
    uint8_t *chroma = out + width * height;
    for (size_t y = 0; y < height; ++y) {
        for (size_t x = 0; x < width; ++x) {
            const size_t i = y * width + x;
            const uint8_t *in = pixels + i * 3;
            if (!strcmp(own.format, "rgb")) memcpy(out + i * 3, in, 3);
            if (!strcmp(own.format, "bgrx")) {
                for (int c = 0; c < 3; ++c) out[i * 4 + (size_t)c] = in[2 - c];
            }
            if (!strcmp(own.format, "yuyv")) out[i * 2] = in[0], out[i * 2 + 1] = in[1 + x % 2];
            if (is_rgb || !strcmp(own.format, "yuyv")) continue;
            out[i] = in[0];
            const size_t place = y / 2 * (width / 2) + x / 2;
            if (x % 2 || y % 2 || !strcmp(own.format, "grey")) continue;
            for (size_t c = 0; c < 2; ++c) {
                const int is_planar = !strcmp(own.format, "i420");
                chroma[is_planar ? place + c * width * height / 4 : place * 2 + c] = in[1 + c];
            }
        }
    }
    free(pixels);
    return size_of(own.format);
}

// MARK: The stream

static const struct spa_pod *offer(struct spa_pod_builder *builder) {
    static const struct { const char *name; uint32_t format; } raw[] = {
        {"yuyv", SPA_VIDEO_FORMAT_YUY2}, {"nv12", SPA_VIDEO_FORMAT_NV12},
        {"i420", SPA_VIDEO_FORMAT_I420}, {"rgb", SPA_VIDEO_FORMAT_RGB},
        {"bgrx", SPA_VIDEO_FORMAT_BGRx}, {"grey", SPA_VIDEO_FORMAT_GRAY8},
        {"none", SPA_VIDEO_FORMAT_Y444},
    };
    struct spa_pod_frame frame;
    uint32_t subtype = SPA_MEDIA_SUBTYPE_mjpg;
    if (strcmp(own.format, "mjpg")) subtype = SPA_MEDIA_SUBTYPE_raw;
    spa_pod_builder_push_object(builder, &frame, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
                        SPA_FORMAT_mediaSubtype, SPA_POD_Id(subtype), 0);
    for (size_t i = 0; i < SPA_N_ELEMENTS(raw); ++i) {
        if (strcmp(own.format, raw[i].name)) continue;
        spa_pod_builder_add(builder, SPA_FORMAT_VIDEO_format, SPA_POD_Id(raw[i].format), 0);
        if (own.modifier < 0) continue;
        spa_pod_builder_add(builder, SPA_FORMAT_VIDEO_modifier, SPA_POD_Long(own.modifier), 0);
    }
    const struct spa_rectangle first = {(uint32_t)own.width, (uint32_t)own.height};
    const struct spa_rectangle second = {(uint32_t)own.second_width, (uint32_t)own.second_height};
    spa_pod_builder_add(builder, SPA_FORMAT_VIDEO_size,
                        SPA_POD_CHOICE_ENUM_Rectangle(3, &first, &first, &second),
                        SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&SPA_FRACTION(30, 1)), 0);
    return spa_pod_builder_pop(builder, &frame);
}

static void on_tick(void *data, uint64_t expirations) {
    (void)data;
    (void)expirations;
    if (!own.holds) pw_stream_trigger_process(own.stream);
}

static void on_process(void *data) {
    (void)data;
    struct pw_buffer *buffer = pw_stream_dequeue_buffer(own.stream);
    if (!buffer) return;
    struct spa_data *to = &buffer->buffer->datas[0];
    uint8_t *memory = to->data;
    size_t size = size_of(own.format);
    ++own.next;
    if (memory && to->maxsize >= size) {
        if (own.pictures) {
            struct picture *picture = &own.clip[own.next % own.pictures];
            if (picture->format != own.format) {
                picture->drawn = realloc(picture->drawn, size);
                picture->size = draw(picture, picture->drawn);
                picture->format = own.format;
            }
            size = picture->size;
            memcpy(memory, picture->drawn, size);
        } else {
            memset(memory, (int)(own.next % 255) + 1, size);
        }
    }
    to->chunk->offset = own.offset < 0 ? 0 : (uint32_t)own.offset;
    to->chunk->size = own.size < 0 ? (uint32_t)size : (uint32_t)own.size;
    to->chunk->stride = own.stride < 0 ? (int32_t)stride_of(own.format) : (int32_t)own.stride;
    to->chunk->flags = own.corrupts ? SPA_CHUNK_FLAG_CORRUPTED : 0;
    pw_stream_queue_buffer(own.stream, buffer);
}

static void on_state(void *data, enum pw_stream_state old, enum pw_stream_state state,
                     const char *error) {
    (void)data;
    (void)old;
    if (error) fprintf(stderr, "pipewire-camera: %s\n", error);
    struct timespec none = {0, 0}, pace = {0, 33000000};
    const int streams = state == PW_STREAM_STATE_STREAMING;
    pw_loop_update_timer(pw_main_loop_get_loop(own.loop), own.timer, streams ? &pace : &none,
                         streams ? &pace : &none, false);
    if (state == PW_STREAM_STATE_PAUSED && !own.is_announced) {
        own.is_announced = 1;
        puts("ready");
    }
    if (state == PW_STREAM_STATE_UNCONNECTED) pw_main_loop_quit(own.loop);
}

static void on_format(void *data, uint32_t id, const struct spa_pod *param) {
    (void)data;
    struct spa_video_info_raw info = {0};
    if (id != SPA_PARAM_Format || !param) return;
    if (strcmp(own.format, "mjpg") && spa_format_video_raw_parse(param, &info) >= 0) {
        own.width = (int)info.size.width;
        own.height = (int)info.size.height;
    }
    uint8_t space[512];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(space, sizeof space);
    const int type = own.owns ? 1 << own.owns : (1 << SPA_DATA_MemPtr) | (1 << SPA_DATA_MemFd);
    const struct spa_pod *wish = spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
        SPA_POD_CHOICE_RANGE_Int(4, 2, 16), SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1),
        SPA_PARAM_BUFFERS_size, SPA_POD_Int((int)size_of(own.format)), SPA_PARAM_BUFFERS_stride,
        SPA_POD_Int((int)stride_of(own.format)), SPA_PARAM_BUFFERS_dataType,
        SPA_POD_CHOICE_FLAGS_Int(type));
    pw_stream_update_params(own.stream, &wish, 1);
}

// Seals the memory against truncation and rounds its size up to pages, as udmabuf requires.
static int dma_buf(size_t size) {
    const uint64_t pages = (size + 4095) / 4096 * 4096;
    const int memory = memfd_create("camera", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
    if (memory < 0 || device < 0 || ftruncate(memory, (off_t)pages) ||
        fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK)) {
        give_up("no memory for a dma-buf");
    }
    struct udmabuf_create wish = {
        .memfd = (uint32_t)memory, .flags = UDMABUF_FLAGS_CLOEXEC, .size = pages};
    const int file = ioctl(device, UDMABUF_CREATE, &wish);
    if (file < 0) give_up("no dma-buf");
    close(device);
    close(memory);
    return file;
}

static int shared_memory(size_t size) {
    const int file = memfd_create("camera", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)size)) give_up("no memory");
    uint8_t one = 1;
    for (size_t i = 0; i < size; i += 4096) {
        if (pwrite(file, &one, 1, (off_t)i) != 1) give_up("no memory");
    }
    return file;
}

static void on_add_buffer(void *data, struct pw_buffer *buffer) {
    (void)data;
    struct spa_data *to = &buffer->buffer->datas[0];
    const size_t size = size_of(own.format);
    if (!own.owns || own.count >= 64) return;
    const int file = own.is_true ? dma_buf(size) : shared_memory(size);
    own.files[own.count++] = file;
    to->type = own.owns;
    to->flags = SPA_DATA_FLAG_READWRITE;
    to->fd = file;
    to->mapoffset = 0;
    to->maxsize = (uint32_t)size;
    to->data = NULL;
    if (!own.is_true) return;
    to->data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (to->data == MAP_FAILED) give_up("no map of a dma-buf");
}

static const struct pw_stream_events events = {
    PW_VERSION_STREAM_EVENTS,
    .state_changed = on_state,
    .param_changed = on_format,
    .add_buffer = on_add_buffer,
    .process = on_process,
};

// MARK: Orders

static void obey(const char *line) {
    char word[64], text[128] = "";
    if (sscanf(line, "%63s %127[^\n]", word, text) < 1) return;
    if (!strcmp(word, "offset")) own.offset = atoll(text);
    if (!strcmp(word, "size")) own.size = atoll(text);
    if (!strcmp(word, "stride")) own.stride = atoll(text);
    if (!strcmp(word, "corrupt")) own.corrupts = 1;
    if (!strcmp(word, "sane")) own.offset = own.size = own.stride = -1, own.corrupts = 0;
    if (!strcmp(word, "modifier")) own.modifier = atoll(text);
    if (!strcmp(word, "hold")) own.holds = 1;
    if (!strcmp(word, "go")) own.holds = 0;
    if (!strcmp(word, "cut")) {
        for (int i = 0; i < own.count; ++i) {
            if (ftruncate(own.files[i], 0)) give_up("can't cut");
        }
    }
    if (!strcmp(word, "format")) {
        own.format = strdup(text);
        uint8_t space[1024];
        struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(space, sizeof space);
        const struct spa_pod *now = offer(&builder);
        pw_stream_update_params(own.stream, &now, 1);
    }
    puts(word);
}

static void on_input(void *data, int descriptor, uint32_t mask) {
    static char line[256];
    static size_t count;
    (void)data;
    (void)mask;
    char byte;
    if (read(descriptor, &byte, 1) != 1) return (void)pw_main_loop_quit(own.loop);
    if (byte != '\n' && count < sizeof line - 1) {
        line[count++] = byte;
        return;
    }
    line[count] = 0;
    count = 0;
    obey(line);
}

int main(int argc, char **argv) {
    if (argc < 6) give_up("SOCKET NAME FORMAT SIZE[,SIZE] CLIP|- [KEY=VALUE...]");
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *colon = strchr(argv[3], ':');
    own.is_true = !strncmp(argv[3], "dma:", 4);
    own.owns = !colon ? 0 : !strncmp(argv[3], "own:", 4) ? SPA_DATA_MemFd : SPA_DATA_DmaBuf;
    own.format = colon ? colon + 1 : argv[3];
    const int sizes = sscanf(argv[4], "%dx%d,%dx%d", &own.width, &own.height, &own.second_width,
                             &own.second_height);
    if (sizes != 2 && sizes != 4) give_up("no size");
    if (sizes == 2) own.second_width = own.width, own.second_height = own.height;
    if (strcmp(argv[5], "-")) read_clip(argv[5]);
    pw_init(NULL, NULL);
    own.loop = pw_main_loop_new(NULL);
    struct pw_loop *loop = pw_main_loop_get_loop(own.loop);
    own.timer = pw_loop_add_timer(loop, on_tick, NULL);
    pw_loop_add_io(loop, 0, SPA_IO_IN | SPA_IO_HUP, false, on_input, NULL);
    struct pw_properties *properties =
        pw_properties_new(PW_KEY_REMOTE_NAME, argv[1], PW_KEY_NODE_NAME, argv[2], PW_KEY_MEDIA_CLASS,
                          "Video/Source", PW_KEY_MEDIA_ROLE, "Camera", NULL);
    for (int i = 6; i < argc; ++i) {
        char *equal = strchr(argv[i], '=');
        if (!equal) give_up("no KEY=VALUE");
        *equal = 0;
        pw_properties_set(properties, argv[i], equal + 1);
    }
    own.stream = pw_stream_new_simple(loop, argv[2], properties, &events, NULL);
    if (!own.stream) give_up("no connection");
    uint8_t space[1024];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(space, sizeof space);
    const struct spa_pod *format = offer(&builder);
    const enum pw_stream_flags flags =
        PW_STREAM_FLAG_DRIVER | (own.owns ? PW_STREAM_FLAG_ALLOC_BUFFERS : PW_STREAM_FLAG_MAP_BUFFERS);
    if (pw_stream_connect(own.stream, PW_DIRECTION_OUTPUT, PW_ID_ANY, flags, &format, 1) < 0) {
        give_up("no stream");
    }
    pw_main_loop_run(own.loop);
    pw_stream_destroy(own.stream);
    return 0;
}

#endif
