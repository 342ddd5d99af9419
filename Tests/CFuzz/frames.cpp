#include "CFuzz.h"
#include "../../Sources/Devices/CFace/pictures.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace {

// Enough for lines of every length. A larger limit only costs time.
constexpr size_t most_bytes = 1 << 16;

// Size of the header: format, width, height, bytes of a line, and repetitions of the remaining bytes. The
// repetitions let a short input make a wide picture.
constexpr size_t start = 10;

int number(const uint8_t *data) { return int16_t(data[0] | data[1] << 8); }

} // namespace

int fuzz_frames(const uint8_t *data, size_t size) {
    if (size < start) return 0;
    const size_t part = size - start;
    const size_t count = std::min(part * (size_t(1) + data[8] + size_t(data[9]) * 256), most_bytes);
    // A buffer of the exact size, so that a sanitizer reports a read past its end.
    const std::unique_ptr<uint8_t[]> bytes(new uint8_t[count]);
    for (size_t i = 0; i < count; i += part)
        std::memcpy(&bytes[i], data + start, std::min(part, count - i));
    const cface_frame frame = {number(data),     number(data + 2), number(data + 4),
                               number(data + 6), bytes.get(),      count};
    std::vector<uint8_t> pixels;
    int width = 0, height = 0;
    if (!localauth::read_picture(frame, pixels, width, height)) return 0;
    const bool has_size =
        width > 0 && height > 0 && width <= CFACE_LONGEST_SIDE && height <= CFACE_LONGEST_SIDE;
    if (!has_size || pixels.size() < size_t(width) * size_t(height) * 3) std::abort();
    return 0;
}
