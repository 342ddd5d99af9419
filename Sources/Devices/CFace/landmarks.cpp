#ifdef LOCALAUTH_FACE

#include "landmarks.h"

#include <cmath>

namespace localauth {

namespace {

// Decodes dlib's serialization format. After the first error, every value is zero.
class decoder {
  public:
    decoder(const uint8_t *bytes, size_t count) : at(bytes), end(bytes + count) {}

    bool is_good() const { return !is_bad; }

    // A control byte holds the count of bytes and, in its highest bit, the sign. The bytes follow
    // in little-endian order.
    int64_t integer() {
        const int control = at < end ? *at++ : 0, count = control & 0x0f;
        if (is_bad || count < 1 || count > 8 || (control & 0x70) != 0 || end - at < count)
            return fail();
        uint64_t value = 0;
        for (int i = count; i > 0; --i) value = value << 8 | at[i - 1];
        at += count;
        return int64_t(control & 0x80 ? 0 - value : value);
    }

    // A mantissa, then an exponent of two.
    float number() {
        const auto mantissa = integer(), exponent = integer();
        if (exponent < -1000 || exponent > 1000) return float(fail());
        return std::ldexp(float(mantissa), int(exponent));
    }

    size_t integer(size_t least, size_t most) {
        const int64_t value = integer();
        if (value < 0 || size_t(value) < least || size_t(value) > most) return size_t(fail());
        return size_t(value);
    }

  private:
    int64_t fail() {
        is_bad = true;
        return 0;
    }

    const uint8_t *at, *end;
    bool is_bad = false;
};

constexpr size_t most_stages = 100, most_trees = 10'000, most_splits = 255, most_pixels = 10'000;
constexpr size_t numbers = 2 * landmarks::points;

} // namespace

bool landmarks::read(const uint8_t *bytes, size_t count) {
    if (bytes == nullptr) return false;
    decoder from(bytes, count);
    constexpr int64_t version = 1;
    if (from.integer() != version) return false;
    // dlib's newer matrix format stores negated sizes.
    const auto read_shape = [&from](auto put) {
        const auto rows = from.integer(), columns = from.integer();
        constexpr auto height = int64_t(numbers);
        if ((rows != height && rows != -height) || (columns != 1 && columns != -1)) return false;
        for (size_t i = 0; i < numbers; ++i) put(i, from.number());
        return from.is_good();
    };
    first.set_size(long(numbers));
    if (!read_shape([this](size_t i, float value) { first(long(i)) = value; })) return false;
    stages.clear();
    stages.resize(from.integer(1, most_stages));
    splits_a_tree = 0;
    for (stage &stage : stages) {
        const size_t trees = from.integer(1, most_trees);
        for (size_t tree = 0; tree < trees; ++tree) {
            const size_t splits = from.integer(1, most_splits);
            if (splits_a_tree == 0) splits_a_tree = splits;
            if (!from.is_good() || splits != splits_a_tree) return false;
            if (tree == 0) {
                stage.splits.reserve(trees * splits);
                stage.leaves.reserve(trees * (splits + 1) * numbers);
            }
            for (size_t i = 0; i < splits; ++i) {
                const auto one = uint32_t(from.integer(0, most_pixels));
                const auto other = uint32_t(from.integer(0, most_pixels));
                stage.splits.push_back({one, other, from.number()});
            }
            // Require a full tree: otherwise a walk could end outside its leaves.
            if (from.integer(1, splits + 1) != splits + 1 || (splits & (splits + 1)) != 0)
                return false;
            for (size_t i = 0; i <= splits; ++i)
                if (!read_shape([&stage](size_t, float value) { stage.leaves.push_back(value); }))
                    return false;
        }
    }
    if (from.integer(0, most_stages) != stages.size()) return false;
    for (stage &stage : stages) {
        stage.anchors.resize(from.integer(1, most_pixels));
        for (unsigned long &anchor : stage.anchors) anchor = from.integer(0, points - 1);
        for (const split &split : stage.splits)
            if (split.one >= stage.anchors.size() || split.other >= stage.anchors.size())
                return false;
    }
    if (from.integer(0, most_stages) != stages.size()) return false;
    for (stage &stage : stages) {
        stage.offsets.resize(from.integer(0, most_pixels));
        if (stage.offsets.size() != stage.anchors.size()) return false;
        for (auto &offset : stage.offsets) {
            offset.x() = from.number();
            offset.y() = from.number();
        }
    }
    return from.is_good();
}

void landmarks::add_trees(const stage &stage, const std::vector<float> &pixels,
                          shape &present) const {
    const float *leaves = stage.leaves.data();
    for (size_t tree = 0; tree < stage.splits.size(); tree += splits_a_tree) {
        const split *const splits = &stage.splits[tree];
        size_t place = 0;
        while (place < splits_a_tree) {
            const split &at = splits[place];
            place = 2 * place + (pixels[at.one] - pixels[at.other] > at.limit ? 1 : 2);
        }
        const float *const leaf = leaves + (place - splits_a_tree) * numbers;
        for (size_t i = 0; i < numbers; ++i) present(long(i)) += leaf[i];
        leaves += (splits_a_tree + 1) * numbers;
    }
}

} // namespace localauth

#endif
