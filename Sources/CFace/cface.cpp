// Everything of dlib and libjpeg behind the C functions of cface.h.

#include "cface.h"
#include "resnet.h"

#include <cmath>

extern "C" float cface_distance(const float *one, const float *other) {
    double sum = 0;
    for (int i = 0; i < CFACE_NUMBERS; ++i) {
        const double difference = double(one[i]) - double(other[i]);
        sum += difference * difference;
    }
    return float(std::sqrt(sum));
}

extern "C" int cface_is_optimised(void) {
#ifdef __OPTIMIZE__
    return 1;
#else
    return 0;
#endif
}

#ifndef LOCALAUTH_FACE

// Without the trait Face: nothing of dlib, and every call says so.

extern "C" int cface_is_built(void) { return 0; }

extern "C" int cface_open(const uint8_t *, size_t, int, const uint8_t *, size_t, int,
                          cface_engine **) {
    return CFACE_NOT_BUILT;
}
extern "C" void cface_close(cface_engine *) {}
extern "C" int cface_used_detector(const cface_engine *) { return 0; }
extern "C" size_t cface_detector(const cface_engine *, uint8_t *, size_t) { return 0; }
extern "C" int cface_look(cface_engine *, const cface_frame *, float, int, cface_sight *) {
    return CFACE_NOT_BUILT;
}

#else

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <dlib/image_transforms.h>
#include <jpeglib.h>

#include "detector.h"
#include "landmarks.h"

extern "C" void openblas_set_num_threads(int count);

namespace {

using colours = dlib::matrix<dlib::rgb_pixel>;

// MARK: Frames to pictures

// Twice the size that is looked at costs four times as much and finds nothing more.
constexpr int longest_searched = 960;

struct jpeg_failure {
    jpeg_error_mgr base;
    std::jmp_buf place;
};

void jpeg_give_up(j_common_ptr info) {
    std::longjmp(reinterpret_cast<jpeg_failure *>(info->err)->place, 1);
}

// Any warning is a broken picture: a camera that is pulled out leaves half of one, which libjpeg
// fills up with grey. Reading on would only cost time.
void jpeg_warn(j_common_ptr info, int level) {
    if (level < 0) jpeg_give_up(info);
}

// Nothing with a destructor lives in here: longjmp would pass it by.
bool decode_jpeg(const cface_frame &frame, std::vector<uint8_t> &pixels, int &width, int &height) {
    jpeg_decompress_struct info;
    jpeg_failure failure;
    info.err = jpeg_std_error(&failure.base);
    failure.base.error_exit = jpeg_give_up;
    failure.base.emit_message = jpeg_warn;
    if (setjmp(failure.place)) {
        jpeg_destroy_decompress(&info);
        return false;
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, frame.bytes, frame.count);
    jpeg_read_header(&info, TRUE);
    if (info.image_width > CFACE_LONGEST_SIDE || info.image_height > CFACE_LONGEST_SIDE ||
        info.image_width < 16 || info.image_height < 16 ||
        // Each scan goes over the whole picture, and a few bytes are one: minutes of work in a
        // frame. No camera sends more than one, nor arithmetic coding.
        info.progressive_mode || info.arith_code || jpeg_has_multiple_scans(&info)) {
        jpeg_destroy_decompress(&info);
        return false;
    }
    if (info.image_width > longest_searched || info.image_height > longest_searched)
        info.scale_denom = 2;
    info.out_color_space = JCS_RGB;
    info.dct_method = JDCT_IFAST;
    jpeg_start_decompress(&info);
    width = int(info.output_width);
    height = int(info.output_height);
    pixels.resize(size_t(width) * size_t(height) * 3);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = pixels.data() + size_t(info.output_scanline) * size_t(width) * 3;
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return true;
}

uint8_t clamp(int value) { return uint8_t(value < 0 ? 0 : value > 255 ? 255 : value); }

// One pixel of luma and chroma, as cameras mean it.
struct converter {
    int red, green, blue;
    converter(int u, int v)
        : red((359 * (v - 128)) >> 8), green((88 * (u - 128) + 183 * (v - 128)) >> 8),
          blue((454 * (u - 128)) >> 8) {}
    void put(int light, uint8_t *out) const {
        out[0] = clamp(light + red);
        out[1] = clamp(light - green);
        out[2] = clamp(light + blue);
    }
};

// Luma in whole size, then chroma in half: NV12 and I420.
bool unpack_planes(const cface_frame &frame, std::vector<uint8_t> &pixels, int &width,
                   int &height) {
    const bool is_planar = frame.format == CFACE_I420;
    if (frame.width < 16 || frame.height < 16 || frame.width > CFACE_LONGEST_SIDE ||
        frame.height > CFACE_LONGEST_SIDE || frame.stride < frame.width ||
        frame.stride > CFACE_LONGEST_SIDE * 8 || frame.width % 2 || frame.height % 2 ||
        frame.stride % 2) {
        return false;
    }
    const size_t stride = size_t(frame.stride), lines = size_t(frame.height);
    // Of the last line no more than its pixels has to be there.
    const size_t last = is_planar ? size_t(frame.width) / 2 : size_t(frame.width);
    const size_t chroma = is_planar ? stride / 2 : stride;
    const size_t planes = is_planar ? 2 : 1;
    if (frame.count < stride * lines + chroma * (lines / 2 * planes - 1) + last) return false;
    width = frame.width;
    height = frame.height;
    pixels.resize(size_t(width) * lines * 3);
    uint8_t *out = pixels.data();
    const uint8_t *blue = frame.bytes + stride * lines;
    const uint8_t *red = is_planar ? blue + chroma * (lines / 2) : blue + 1;
    const int step = is_planar ? 1 : 2;
    for (int y = 0; y < height; ++y) {
        const uint8_t *in = frame.bytes + size_t(y) * stride;
        const size_t line = size_t(y / 2) * chroma;
        for (int x = 0; x < width; x += 2, out += 6) {
            const size_t place = line + size_t(x / 2 * step);
            const converter colour(blue[place], red[place]);
            colour.put(in[x], out);
            colour.put(in[x + 1], out + 3);
        }
    }
    return true;
}

int bytes_a_pixel_of(int format) {
    switch (format) {
    case CFACE_YUYV: return 2;
    case CFACE_RGB:
    case CFACE_BGR: return 3;
    case CFACE_RGBX:
    case CFACE_BGRX: return 4;
    default: return 1;
    }
}

bool unpack(const cface_frame &frame, std::vector<uint8_t> &pixels, int &width, int &height) {
    const int bytes_a_pixel = bytes_a_pixel_of(frame.format);
    const int red = frame.format == CFACE_BGR || frame.format == CFACE_BGRX ? 2 : 0;
    if (frame.width < 16 || frame.height < 16 || frame.width > CFACE_LONGEST_SIDE ||
        frame.height > CFACE_LONGEST_SIDE || frame.stride < frame.width * bytes_a_pixel ||
        frame.stride > CFACE_LONGEST_SIDE * 8 ||
        frame.count < size_t(frame.stride) * size_t(frame.height - 1) +
                          size_t(frame.width) * size_t(bytes_a_pixel)) {
        return false;
    }
    width = frame.width & ~1;
    height = frame.height;
    pixels.resize(size_t(width) * size_t(height) * 3);
    uint8_t *out = pixels.data();
    for (int y = 0; y < height; ++y) {
        const uint8_t *in = frame.bytes + size_t(y) * size_t(frame.stride);
        if (frame.format == CFACE_GREY) {
            for (int x = 0; x < width; ++x, out += 3) out[0] = out[1] = out[2] = in[x];
            continue;
        }
        if (frame.format != CFACE_YUYV) {
            for (int x = 0; x < width; ++x, in += bytes_a_pixel, out += 3) {
                out[0] = in[red];
                out[1] = in[1];
                out[2] = in[2 - red];
            }
            continue;
        }
        for (int x = 0; x < width; x += 2, in += 4, out += 6) {
            const converter colour(in[1], in[3]);
            colour.put(in[0], out);
            colour.put(in[2], out + 3);
        }
    }
    return true;
}

// A raw picture above the size at which a JPEG is decoded at half becomes half as large, too.
void halve(std::vector<uint8_t> &pixels, int &width, int &height) {
    if (width <= longest_searched && height <= longest_searched) return;
    const size_t line = size_t(width) * 3;
    width /= 2;
    height /= 2;
    // Written in place: never further on than what is read.
    uint8_t *out = pixels.data();
    for (int y = 0; y < height; ++y) {
        const uint8_t *in = pixels.data() + size_t(y) * 2 * line;
        for (int x = 0; x < width; ++x, in += 6)
            for (size_t c = 0; c < 3; ++c)
                *out++ = uint8_t((in[c] + in[c + 3] + in[line + c] + in[line + c + 3] + 2) / 4);
    }
}

int grey_of(const uint8_t *pixel) { return (77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2]) >> 8; }

} // namespace

struct cface_engine {
    std::unique_ptr<localauth::detector> detector;
    localauth::landmarks landmarks;
    localauth::resnet network;
    bool used_detector = false;
    // Kept from one frame to the next.
    std::vector<uint8_t> pixels;
    dlib::array2d<unsigned char> grey;
    colours picture;
};

namespace {

// The light of the picture, and the picture as dlib wants it.
void take_picture(cface_engine &engine, int width, int height, cface_sight &sight) {
    engine.grey.set_size(height, width);
    engine.picture.set_size(height, width);
    uint64_t sum = 0, dark = 0, bright = 0;
    const uint8_t *in = engine.pixels.data();
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x, in += 3) {
            const int grey = grey_of(in);
            engine.grey[y][x] = static_cast<unsigned char>(grey);
            engine.picture(y, x) = dlib::rgb_pixel(in[0], in[1], in[2]);
            sum += uint64_t(grey);
            dark += grey < 32;
            bright += grey >= 240;
        }
    }
    const double count = double(width) * double(height);
    sight.width = width;
    sight.height = height;
    sight.brightness = float(double(sum) / count / 255);
    sight.darkness = float(double(dark) / count);
    sight.glare = float(double(bright) / count);
}

float brightness(const dlib::array2d<unsigned char> &grey, const dlib::rectangle &face) {
    const auto inside = face.intersect(get_rect(grey));
    if (inside.is_empty()) return 0;
    uint64_t sum = 0;
    for (long y = inside.top(); y <= inside.bottom(); ++y)
        for (long x = inside.left(); x <= inside.right(); ++x) sum += grey[y][x];
    return float(double(sum) / double(inside.area()) / 255);
}

// The five landmarks have the corners of an eye and no lids, so the lids can't be measured. But an
// open eye changes from side to side (skin, white, iris, white), a closed one is lines that lie.
// The patch spans the corners and as much up and down, in steps that don't depend on its size.
float openness(const dlib::array2d<unsigned char> &grey, const float *outer, const float *inner) {
    constexpr int columns = 32, rows = 24, first_row = 8, last_row = 18, first = 2, last = 30;
    const double width = std::hypot(inner[0] - outer[0], inner[1] - outer[1]);
    if (!(width >= 4)) return 0;
    const double right = (inner[0] - outer[0]) / width, down = (inner[1] - outer[1]) / width;
    // Down the face, whichever eye it is.
    const double side = right < 0 ? -1 : 1;
    double patch[rows][columns];
    for (int row = first_row; row < last_row; ++row) {
        for (int column = first; column < last; ++column) {
            const double along = width * (column + 0.5) / columns;
            const double across = side * width * ((row + 0.5) / rows - 0.5);
            const double x = outer[0] + right * along - down * across;
            const double y = outer[1] + down * along + right * across;
            // Also false for what is no number.
            if (!(x >= 0 && y >= 0 && x < grey.nc() - 1 && y < grey.nr() - 1)) return 0;
            const long left = long(x), top = long(y);
            const double h = x - double(left), v = y - double(top);
            patch[row][column] = (grey[top][left] * (1 - h) + grey[top][left + 1] * h) * (1 - v) +
                                 (grey[top + 1][left] * (1 - h) + grey[top + 1][left + 1] * h) * v;
        }
    }
    double across = 0, along = 0;
    for (int row = first_row; row < last_row; ++row)
        for (int column = first + 1; column < last; ++column)
            along += std::abs(patch[row][column] - patch[row][column - 1]);
    for (int row = first_row + 1; row < last_row; ++row)
        for (int column = first; column < last; ++column)
            across += std::abs(patch[row][column] - patch[row - 1][column]);
    along /= (last_row - first_row) * (last - first - 1);
    across /= (last_row - first_row - 1) * (last - first);
    return across > 0 ? float(along / across) : 0;
}

void find_faces(cface_engine &engine, bool wants_numbers, cface_sight &sight) {
    const auto faces =
        engine.detector->find(&engine.grey[0][0], engine.grey.nc(), engine.grey.nr());
    sight.faces = int32_t(faces.size());
    if (faces.empty()) return;
    dlib::rectangle largest;
    for (const auto &face : faces) {
        const dlib::rectangle place(face.left, face.top, face.right, face.bottom);
        if (place.area() > largest.area()) largest = place;
    }
    sight.left = float(largest.left());
    sight.top = float(largest.top());
    sight.side = float(largest.width());
    sight.face_brightness = brightness(engine.grey, largest);
    const auto shape = engine.landmarks.find(engine.picture, largest);
    static_assert(localauth::landmarks::points == CFACE_LANDMARKS);
    for (unsigned long i = 0; i < CFACE_LANDMARKS; ++i) {
        sight.landmarks[i * 2] = float(shape.part(i).x());
        sight.landmarks[i * 2 + 1] = float(shape.part(i).y());
    }
    const float *points = sight.landmarks;
    sight.eyes = (openness(engine.grey, points, points + 2) +
                  openness(engine.grey, points + 4, points + 6)) / 2;
    if (!wants_numbers || faces.size() != 1) return;
    colours chip;
    const auto place = get_face_chip_details(shape, localauth::resnet::side, 0.25);
    extract_image_chip(engine.picture, place, chip);
    static_assert(sizeof(dlib::rgb_pixel) == 3 && localauth::resnet::numbers == CFACE_NUMBERS);
    if (!engine.network.look(&chip(0, 0).red, sight.numbers)) return;
    for (const float number : sight.numbers)
        if (!std::isfinite(number)) return;
    sight.has_numbers = 1;
}

} // namespace

extern "C" int cface_open(const uint8_t *landmarks, size_t landmarks_count, int network,
                          const uint8_t *detector, size_t detector_count, int for_any,
                          cface_engine **engine) {
    cface_engine *made = nullptr;
    try {
        // More threads gain nothing on two cores and cost jitter.
        openblas_set_num_threads(1);
        made = new cface_engine;
        if (!made->landmarks.read(landmarks, landmarks_count) || !made->network.open(network)) {
            delete made;
            return CFACE_BAD_MODEL;
        }
        made->detector = localauth::has_avx() && !for_any ? localauth::make_detector_for_avx()
                                                          : localauth::make_detector_for_any();
        made->used_detector = made->detector->read(detector, detector_count);
        if (!made->used_detector) {
            const std::string trained = localauth::trained_detector();
            const auto *bytes = reinterpret_cast<const uint8_t *>(trained.data());
            if (!made->detector->read(bytes, trained.size())) {
                delete made;
                return CFACE_FAILED;
            }
        }
        *engine = made;
        return CFACE_OK;
    } catch (...) {
        delete made;
        return CFACE_FAILED;
    }
}

extern "C" int cface_is_built(void) { return 1; }

extern "C" void cface_close(cface_engine *engine) { delete engine; }

extern "C" int cface_used_detector(const cface_engine *engine) { return engine->used_detector; }

extern "C" size_t cface_detector(const cface_engine *engine, uint8_t *bytes, size_t room) {
    try {
        const std::string text = engine->detector->written();
        if (bytes != nullptr && room >= text.size()) std::memcpy(bytes, text.data(), text.size());
        return text.size();
    } catch (...) {
        return 0;
    }
}

extern "C" int cface_look(cface_engine *engine, const cface_frame *frame, float darkness_limit,
                          int wants_numbers, cface_sight *sight) {
    try {
        if (frame->bytes == nullptr) return CFACE_BAD_FRAME;
        int width = 0, height = 0;
        bool is_picture = false;
        switch (frame->format) {
        case CFACE_MJPG: is_picture = decode_jpeg(*frame, engine->pixels, width, height); break;
        case CFACE_YUYV:
        case CFACE_RGB:
        case CFACE_BGR:
        case CFACE_RGBX:
        case CFACE_BGRX:
        case CFACE_GREY: is_picture = unpack(*frame, engine->pixels, width, height); break;
        case CFACE_NV12:
        case CFACE_I420: is_picture = unpack_planes(*frame, engine->pixels, width, height); break;
        default: break;
        }
        if (!is_picture) return CFACE_BAD_FRAME;
        if (frame->format != CFACE_MJPG) halve(engine->pixels, width, height);
        cface_sight seen = {};
        take_picture(*engine, width, height, seen);
        if (seen.darkness <= darkness_limit) find_faces(*engine, wants_numbers != 0, seen);
        *sight = seen;
        return CFACE_OK;
    } catch (...) {
        return CFACE_FAILED;
    }
}

#endif
