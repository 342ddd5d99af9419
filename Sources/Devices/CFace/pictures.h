#pragma once

#include <cstdint>
#include <vector>

#include "cface.h"

namespace localauth {

// Reads a picture as a camera gives it: red, green and blue of each pixel, line by line, and its
// size; false: it is no picture, or has no size that is looked at.
bool read_picture(const cface_frame &frame, std::vector<uint8_t> &pixels, int &width, int &height);

} // namespace localauth
