// Converts camera frames to RGB pixels.

#include "pictures.h"

#ifndef LOCALAUTH_FACE

bool localauth::read_picture(const cface_frame &, std::vector<uint8_t> &, int &, int &) {
    return false;
}

#else

#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

namespace {

// Searching twice this size costs four times as much and finds no more faces.
constexpr int longest_searched = 960;

struct jpeg_failure {
    jpeg_error_mgr base;
    std::jmp_buf place;
};

void jpeg_give_up(j_common_ptr info) {
    std::longjmp(reinterpret_cast<jpeg_failure *>(info->err)->place, 1);
}

// Treat a warning as a broken picture. A camera that is unplugged leaves half a picture, which
// libjpeg fills with grey. Reading on would only cost time. Bytes between the data and a marker do
// no harm: some cameras (Logitech C270) put a byte into every picture.
void jpeg_warn(j_common_ptr info, int level) {
    if (level < 0 && info->err->msg_code != JWRN_EXTRANEOUS_DATA) jpeg_give_up(info);
}

// Declare no object with a destructor in here: longjmp would skip it.
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
        // Refuse several scans: each one covers the whole picture and takes only a few bytes, so a
        // frame could cost minutes. No camera sends them, or arithmetic coding.
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

// Converts luma and chroma of a pixel to RGB, with the coefficients that cameras use.
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

// Unpacks NV12 and I420: luma at full size, then chroma at half size.
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
    // The last line may lack its padding.
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

// Halves a raw picture above the size at which decode_jpeg() also halves.
void halve(std::vector<uint8_t> &pixels, int &width, int &height) {
    if (width <= longest_searched && height <= longest_searched) return;
    const size_t line = size_t(width) * 3;
    width /= 2;
    height /= 2;
    // SAFETY: the write position never passes the read position.
    uint8_t *out = pixels.data();
    for (int y = 0; y < height; ++y) {
        const uint8_t *in = pixels.data() + size_t(y) * 2 * line;
        for (int x = 0; x < width; ++x, in += 6)
            for (size_t c = 0; c < 3; ++c)
                *out++ = uint8_t((in[c] + in[c + 3] + in[line + c] + in[line + c + 3] + 2) / 4);
    }
}

} // namespace

bool localauth::read_picture(const cface_frame &frame, std::vector<uint8_t> &pixels, int &width,
                             int &height) {
    if (frame.bytes == nullptr) return false;
    switch (frame.format) {
    case CFACE_MJPG: return decode_jpeg(frame, pixels, width, height);
    case CFACE_YUYV:
    case CFACE_RGB:
    case CFACE_BGR:
    case CFACE_RGBX:
    case CFACE_BGRX:
    case CFACE_GREY:
        if (!unpack(frame, pixels, width, height)) return false;
        break;
    case CFACE_NV12:
    case CFACE_I420:
        if (!unpack_planes(frame, pixels, width, height)) return false;
        break;
    default: return false;
    }
    halve(pixels, width, height);
    return true;
}

#endif
