// Implements cface.h with dlib. No dlib type leaves this unit.

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

// Without the trait Face, dlib is not linked and every call returns CFACE_NOT_BUILT.

extern "C" int cface_is_built(void) { return 0; }

extern "C" int cface_open(const uint8_t *, size_t, int, const uint8_t *, size_t, cface_engine **) {
    return CFACE_NOT_BUILT;
}
extern "C" void cface_close(cface_engine *) {}
extern "C" int cface_used_detector(const cface_engine *) { return 0; }
extern "C" size_t cface_detector(const cface_engine *, uint8_t *, size_t) { return 0; }
extern "C" int cface_look(cface_engine *, const cface_frame *, float, const cface_place *,
                          cface_sight *) {
    return CFACE_NOT_BUILT;
}

#else

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "dlib-settings.h"

#include <dlib/image_transforms.h>

#include "detector.h"
#include "landmarks.h"
#include "pictures.h"

namespace {

using colours = dlib::matrix<dlib::rgb_pixel>;

int grey_of(const uint8_t *pixel) { return (77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2]) >> 8; }

} // namespace

struct cface_engine {
    explicit cface_engine(localauth::multiply sgemm) : network(sgemm) {}

    localauth::detector detector;
    localauth::landmarks landmarks;
    localauth::resnet network;
    bool used_detector = false;
    // Buffers, reused from frame to frame.
    std::vector<uint8_t> pixels;
    dlib::array2d<unsigned char> grey;
    colours picture;
};

namespace {

// Measures the light of the picture and copies it into dlib's image types.
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

// Measures how open an eye is. The five landmarks mark the corners of an eye but not its lids. An
// open eye varies from side to side (skin, white, iris, white); a closed eye is horizontal lines.
// The patch spans the corners and is square. A fixed number of steps makes its size irrelevant.
float openness(const dlib::array2d<unsigned char> &grey, const float *outer, const float *inner) {
    constexpr int columns = 32, rows = 24, first_row = 8, last_row = 18, first = 2, last = 30;
    const double width = std::hypot(inner[0] - outer[0], inner[1] - outer[1]);
    if (!(width >= 4)) return 0;
    const double right = (inner[0] - outer[0]) / width, down = (inner[1] - outer[1]) / width;
    // Keep this axis pointing down the face for both eyes.
    const double side = right < 0 ? -1 : 1;
    double patch[rows][columns];
    for (int row = first_row; row < last_row; ++row) {
        for (int column = first; column < last; ++column) {
            const double along = width * (column + 0.5) / columns;
            const double across = side * width * ((row + 0.5) / rows - 0.5);
            const double x = outer[0] + right * along - down * across;
            const double y = outer[1] + down * along + right * across;
            // The comparison is written so that NaN fails it.
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

// Finds the faces of a part of the picture, the largest first.
std::vector<dlib::rectangle> faces_in(cface_engine &engine, const dlib::rectangle &part) {
    std::vector<dlib::rectangle> faces;
    if (part.is_empty()) return faces;
    const uint8_t *const pixels = &engine.grey[part.top()][part.left()];
    const localauth::grey_part searched = {pixels, long(part.width()), long(part.height()),
                                           engine.grey.nc()};
    for (const auto &face : engine.detector.find(searched))
        faces.push_back(translate_rect(
            dlib::rectangle(face.left, face.top, face.right, face.bottom), part.tl_corner()));
    std::sort(faces.begin(), faces.end(),
              [](const auto &one, const auto &other) { return one.area() > other.area(); });
    return faces;
}

// The surroundings of a face's former place: it moves less than this from frame to frame.
dlib::rectangle around(const cface_place &near, const dlib::rectangle &picture) {
    // The comparison is written so that NaN fails it.
    if (!(std::abs(near.left) < 1e4f && std::abs(near.top) < 1e4f && near.side >= 1 &&
          near.side < 1e4f))
        return {};
    const dlib::rectangle face(long(near.left), long(near.top), long(near.left + near.side),
                               long(near.top + near.side));
    return grow_rect(face, long(near.side * 0.4f)).intersect(picture);
}

void find_faces(cface_engine &engine, const cface_place *near, cface_sight &sight) {
    const auto picture = get_rect(engine.grey);
    std::vector<dlib::rectangle> faces;
    if (near != nullptr) faces = faces_in(engine, around(*near, picture));
    if (faces.empty()) {
        faces = faces_in(engine, picture);
        sight.is_whole = 1;
    }
    sight.faces = int32_t(faces.size());
    if (faces.empty()) return;
    const dlib::rectangle largest = faces[0];
    if (faces.size() > 1)
        sight.rival = float(double(faces[1].width()) / double(largest.width()));
    sight.place = {float(largest.left()), float(largest.top()), float(largest.width())};
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
    if (sight.rival >= CFACE_RIVAL) return;
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
                          const uint8_t *detector, size_t detector_count, cface_engine **engine) {
    const auto sgemm = localauth::load_multiply();
    if (sgemm == nullptr) return CFACE_NO_BLAS;
    cface_engine *made = nullptr;
    try {
        made = new cface_engine(sgemm);
        if (!made->landmarks.read(landmarks, landmarks_count) || !made->network.open(network)) {
            delete made;
            return CFACE_BAD_MODEL;
        }
        made->used_detector = made->detector.read(detector, detector_count);
        if (!made->used_detector) made->detector.use_trained();
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
        const std::string text = engine->detector.written();
        if (bytes != nullptr && room >= text.size()) std::memcpy(bytes, text.data(), text.size());
        return text.size();
    } catch (...) {
        return 0;
    }
}

extern "C" int cface_look(cface_engine *engine, const cface_frame *frame, float darkness_limit,
                          const cface_place *near, cface_sight *sight) {
    try {
        int width = 0, height = 0;
        if (!localauth::read_picture(*frame, engine->pixels, width, height)) return CFACE_BAD_FRAME;
        cface_sight seen = {};
        take_picture(*engine, width, height, seen);
        if (seen.darkness <= darkness_limit) find_faces(*engine, near, seen);
        *sight = seen;
        return CFACE_OK;
    } catch (...) {
        return CFACE_FAILED;
    }
}

#endif
