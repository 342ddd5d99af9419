#ifndef LOCALAUTH_DETECTOR_H
#define LOCALAUTH_DETECTOR_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dlib-settings.h"

#include <dlib/image_processing/object_detector.h>
#include <dlib/image_processing/scan_fhog_pyramid.h>

namespace localauth {

// Inclusive edges, in pixels.
struct box {
    long left, top, right, bottom;
};

// Part of a grey picture. The stride is the width of the whole picture.
struct grey_part {
    const uint8_t *pixels;
    long width, height, stride;
};

// dlib's detector of frontal faces, which takes most of the time of a look at a frame.
class detector {
  public:
    // Reads bytes that written() returned. Returns false if they are damaged; find() is then
    // unusable.
    bool read(const uint8_t *bytes, size_t count);
    std::string written() const;
    // Uses dlib's own detector. Unpacking it takes 0.7 s.
    void use_trained();
    std::vector<box> find(const grey_part &part);

  private:
    // The type of dlib::frontal_face_detector.
    dlib::object_detector<dlib::scan_fhog_pyramid<dlib::pyramid_down<6>>> trained;
};

} // namespace localauth

#endif
