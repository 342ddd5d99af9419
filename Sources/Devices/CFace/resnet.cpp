#include "resnet.h"

#ifdef LOCALAUTH_FACE

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace localauth {

namespace {

// Constants of cblas.h.
constexpr int row_major = 101, as_it_is = 111;

struct level {
    int channels, blocks;
};
// The first block of each level halves the picture, except in the first level.
constexpr level levels[] = {{32, 3}, {64, 4}, {128, 3}, {256, 3}, {256, 1}};

static_assert(sizeof(float) == 4 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "the model file has floats of 32 bits, the lowest byte first");

bool read_fully(int file, void *into, size_t count, off_t place) {
    auto *bytes = static_cast<uint8_t *>(into);
    while (count > 0) {
        const ssize_t done = pread(file, bytes, count, place);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        bytes += done;
        place += done;
        count -= size_t(done);
    }
    return true;
}

// dlib writes an integer as its byte count, then the bytes in little-endian order.
bool take_number(const uint8_t *&at, const uint8_t *end, size_t &number) {
    if (at == end || *at > 4 || end - at <= *at) return false;
    const int count = *at++;
    number = 0;
    for (int i = 0; i < count; ++i) number |= size_t(*at++) << (8 * i);
    return true;
}

} // namespace

void resnet::planes::resize(int new_channels, int new_height, int new_width) {
    channels = new_channels;
    height = new_height;
    width = new_width;
    values.resize(size_t(channels) * area());
}

resnet::~resnet() {
    if (file >= 0) close(file);
}

// Finds the layer's next tensor. At most a few hundred bytes lie between two tensors.
bool resnet::find(const char *name, off_t &from, tensor &found) const {
    uint8_t bytes[1024];
    const ssize_t count = pread(file, bytes, sizeof bytes, from);
    if (count <= 0) return false;
    const uint8_t *const end = bytes + count;
    const size_t length = std::strlen(name);
    const uint8_t *at = std::search(static_cast<const uint8_t *>(bytes), end, name, name + length);
    if (at == end) return false;
    at += length;
    size_t number = 0;
    // A fully connected layer starts with its numbers of outputs and inputs.
    for (int skipped = name[0] == 'f' ? 2 : 0; skipped > 0; --skipped)
        if (!take_number(at, end, number)) return false;
    if (!take_number(at, end, number) || number != 2) return false;
    found.count = 1;
    for (int i = 0; i < 4; ++i) {
        if (!take_number(at, end, number) || number == 0 || number > 1 << 20) return false;
        found.count *= number;
        if (found.count > 1 << 20) return false;
    }
    found.place = from + (at - bytes);
    from = found.place + off_t(found.count * sizeof(float));
    return true;
}

bool resnet::find_layer(int inputs, int outputs, int size, int stride, off_t &from) {
    layer made = {inputs, outputs, size, stride, {}, {}};
    if (!find("con_4", from, made.filters) || !find("affine_", from, made.scale)) return false;
    const size_t filters = size_t(outputs) * size_t(inputs * size * size + 1);
    if (made.filters.count != filters || made.scale.count != size_t(outputs) * 2) return false;
    layers.push_back(made);
    return true;
}

bool resnet::open(int descriptor) {
    file = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (file < 0) return false;
    off_t from = 0;
    if (!find_layer(3, 32, 7, 2, from)) return false;
    int inputs = 32;
    for (const level &next : levels) {
        for (int block = 0; block < next.blocks; ++block) {
            const bool halves = block == 0 && &next != levels;
            if (!find_layer(inputs, next.channels, 3, halves ? 2 : 1, from) ||
                !find_layer(next.channels, next.channels, 3, 1, from)) {
                return false;
            }
            inputs = next.channels;
        }
    }
    return find("fc_2", from, last) && last.count == size_t(inputs) * numbers;
}

bool resnet::read(const tensor &what) {
    weights.resize(std::max(weights.size(), what.count));
    return read_fully(file, weights.data(), what.count * sizeof(float), what.place);
}

bool resnet::convolve(const layer &with, const planes &in, planes &out, bool rectifies) {
    const int edge = with.stride == 1 ? with.size / 2 : 0;
    out.resize(with.outputs, 1 + (in.height + 2 * edge - with.size) / with.stride,
               1 + (in.width + 2 * edge - with.size) / with.stride);
    const size_t depth = size_t(with.inputs) * size_t(with.size * with.size);
    columns.resize(std::max(columns.size(), depth * out.area()));
    float *column = columns.data();
    for (int channel = 0; channel < with.inputs; ++channel) {
        const float *plane = in.values.data() + size_t(channel) * in.area();
        for (int row = 0; row < with.size; ++row)
            for (int place = 0; place < with.size; ++place)
                for (int y = 0; y < out.height; ++y, column += out.width) {
                    const int from = y * with.stride + row - edge;
                    if (from < 0 || from >= in.height) {
                        std::fill_n(column, out.width, 0.0f);
                        continue;
                    }
                    const float *const line = plane + from * in.width;
                    // Pad with zeros outside the plane.
                    const int left = std::max(0, edge - place);
                    const int right =
                        std::min(out.width, (in.width - 1 + edge - place) / with.stride + 1);
                    std::fill(column, column + left, 0.0f);
                    for (int x = left; x < right; ++x)
                        column[x] = line[x * with.stride + place - edge];
                    std::fill(column + right, column + out.width, 0.0f);
                }
    }
    if (!read(with.filters)) return false;
    const int area = int(out.area());
    sgemm(row_major, as_it_is, as_it_is, with.outputs, area, int(depth), 1, weights.data(),
          int(depth), columns.data(), area, 0, out.values.data(), area);
    const float *const bias = weights.data() + depth * size_t(with.outputs);
    for (int channel = 0; channel < with.outputs; ++channel)
        for (float *value = &out.values[size_t(channel) * out.area()], *end = value + area;
             value < end; ++value)
            *value += bias[channel];
    if (!read(with.scale)) return false;
    for (int channel = 0; channel < with.outputs; ++channel) {
        const float factor = weights[size_t(channel)];
        const float sum = weights[size_t(with.outputs + channel)];
        for (float *value = &out.values[size_t(channel) * out.area()], *end = value + area;
             value < end; ++value) {
            *value = factor * *value + sum;
            if (rectifies && *value < 0) *value = 0;
        }
    }
    return true;
}

// Runs two convolutions and adds the block's input, halved if they halve it.
bool resnet::add_block(size_t index, planes &state) {
    if (!convolve(layers[index], state, first, true) ||
        !convolve(layers[index + 1], first, second, false)) {
        return false;
    }
    const bool halves = layers[index].stride == 2;
    planes &sum = first;
    const int height = halves ? 1 + (state.height - 2) / 2 : state.height;
    const int width = halves ? 1 + (state.width - 2) / 2 : state.width;
    // Pad the smaller operand with zeros.
    sum.resize(std::max(second.channels, state.channels), std::max(second.height, height),
               std::max(second.width, width));
    float *out = sum.values.data();
    for (int channel = 0; channel < sum.channels; ++channel)
        for (int y = 0; y < sum.height; ++y)
            for (int x = 0; x < sum.width; ++x, ++out) {
                float value = 0;
                if (channel < second.channels && y < second.height && x < second.width)
                    value = second.values[size_t(channel) * second.area() +
                                          size_t(y * second.width + x)];
                if (channel < state.channels && y < height && x < width) {
                    const float *in = state.values.data() + size_t(channel) * state.area();
                    if (halves) {
                        in += 2 * y * state.width + 2 * x;
                        value += (in[0] + in[1] + in[state.width] + in[state.width + 1]) / 4;
                    } else {
                        value += in[y * state.width + x];
                    }
                }
                *out = std::max(value, 0.0f);
            }
    std::swap(state, sum);
    return true;
}

bool resnet::look(const uint8_t *pixels, float *out) {
    constexpr float means[] = {122.782f, 117.001f, 104.298f};
    state.resize(3, side, side);
    for (size_t channel = 0; channel < 3; ++channel)
        for (size_t i = 0; i < state.area(); ++i)
            state.values[channel * state.area() + i] =
                (float(pixels[i * 3 + channel]) - means[channel]) / 256;
    if (!convolve(layers[0], state, first, true)) return false;
    // Max pooling: 3 x 3, stride 2.
    state.resize(first.channels, 1 + (first.height - 3) / 2, 1 + (first.width - 3) / 2);
    float *largest = state.values.data();
    for (int channel = 0; channel < state.channels; ++channel)
        for (int y = 0; y < state.height; ++y)
            for (int x = 0; x < state.width; ++x, ++largest) {
                const float *in = first.values.data() + size_t(channel) * first.area() +
                                  size_t(2 * y * first.width + 2 * x);
                *largest = in[0];
                for (int row = 0; row < 3; ++row)
                    for (int place = 0; place < 3; ++place)
                        *largest = std::max(*largest, in[row * first.width + place]);
            }
    for (size_t index = 1; index < layers.size(); index += 2)
        if (!add_block(index, state)) return false;
    float means_of[256] = {};
    for (int channel = 0; channel < state.channels; ++channel) {
        for (size_t i = 0; i < state.area(); ++i)
            means_of[channel] += state.values[size_t(channel) * state.area() + i];
        means_of[channel] /= float(state.area());
    }
    if (!read(last)) return false;
    sgemm(row_major, as_it_is, as_it_is, 1, numbers, state.channels, 1, means_of, state.channels,
          weights.data(), numbers, 0, out, numbers);
    return true;
}

} // namespace localauth

#endif
