#ifdef LOCALAUTH_FACE

#include "detector.h"

#include <istream>
#include <sstream>
#include <streambuf>

#include <dlib/image_processing/frontal_face_detector.h>

namespace localauth {

namespace {

struct memory_buffer : std::streambuf {
    memory_buffer(const uint8_t *bytes, size_t count) {
        char *start = const_cast<char *>(reinterpret_cast<const char *>(bytes));
        setg(start, start, start + count);
    }
};

} // namespace

bool detector::read(const uint8_t *bytes, size_t count) {
    if (bytes == nullptr || count == 0) return false;
    try {
        memory_buffer buffer(bytes, count);
        std::istream stream(&buffer);
        deserialize(trained, stream);
        return true;
    } catch (const dlib::serialization_error &) {
        return false;
    }
}

std::string detector::written() const {
    std::ostringstream stream;
    serialize(trained, stream);
    return stream.str();
}

void detector::use_trained() { trained = dlib::get_frontal_face_detector(); }

std::vector<box> detector::find(const grey_part &part) {
    dlib::const_sub_image_proxy<dlib::array2d<unsigned char>> picture;
    picture._data = part.pixels;
    picture._width_step = part.stride;
    picture._nc = part.width;
    picture._nr = part.height;
    std::vector<box> found;
    for (const auto &face : trained(picture))
        found.push_back({face.left(), face.top(), face.right(), face.bottom()});
    return found;
}

} // namespace localauth

#endif
