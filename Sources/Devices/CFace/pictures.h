#pragma once

#include <cstdint>
#include <vector>

#include "cface.h"

namespace localauth {

// Converts a camera's picture to RGB pixels, line by line, and sets its size. Returns false if the
// bytes are no picture or the size is out of range.
bool read_picture(const cface_frame &frame, std::vector<uint8_t> &pixels, int &width, int &height);

} // namespace localauth
