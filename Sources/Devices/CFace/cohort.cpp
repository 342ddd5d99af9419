// The cohort: descriptors of pictures of people who do not exist.

#include "cface.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace {

// In 256ths, which changes a distance by less than 0.001. Made by scripts/face-figures --cohort.
constexpr int8_t cohort[][CFACE_NUMBERS] = {
#include "cohort.inc"
};

} // namespace

extern "C" float cface_cohort_distance(const float *numbers) {
    float nearest = INFINITY;
    for (const auto &face : cohort) {
        float one[CFACE_NUMBERS];
        std::transform(face, face + CFACE_NUMBERS, one,
                       [](int8_t value) { return float(value) / 256; });
        nearest = std::min(nearest, cface_distance(numbers, one));
    }
    return nearest;
}
