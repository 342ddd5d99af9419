// The detector that runs on every processor.

#ifdef LOCALAUTH_FACE

#include "detector.h"
#include "detector-body.h"

#include <dlib/image_processing/frontal_face_detector.h>

namespace localauth {

std::unique_ptr<detector> make_detector_for_any() { return std::make_unique<fhog_detector>(); }

std::string trained_detector() {
    std::ostringstream stream;
    serialize(dlib::get_frontal_face_detector(), stream);
    return stream.str();
}

} // namespace localauth

#endif
