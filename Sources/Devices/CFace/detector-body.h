// Included by detector.cpp and detector-avx.cpp, which define `dlib` as different namespaces.

#include <dlib/image_processing/object_detector.h>
#include <dlib/image_processing/scan_fhog_pyramid.h>

namespace {

class fhog_detector final : public localauth::detector {
  public:
    bool read(const uint8_t *bytes, size_t count) override {
        if (bytes == nullptr || count == 0) return false;
        try {
            localauth::memory_buffer buffer(bytes, count);
            std::istream stream(&buffer);
            deserialize(trained, stream);
            return true;
        } catch (const dlib::serialization_error &) {
            return false;
        }
    }

    std::string written() const override {
        std::ostringstream stream;
        serialize(trained, stream);
        return stream.str();
    }

    std::vector<localauth::box> find(const uint8_t *grey, long width, long height) override {
        dlib::const_sub_image_proxy<dlib::array2d<unsigned char>> picture;
        picture._data = grey;
        picture._width_step = picture._nc = width;
        picture._nr = height;
        std::vector<localauth::box> found;
        for (const auto &face : trained(picture))
            found.push_back({face.left(), face.top(), face.right(), face.bottom()});
        return found;
    }

  private:
    // The type of dlib::frontal_face_detector.
    dlib::object_detector<dlib::scan_fhog_pyramid<dlib::pyramid_down<6>>> trained;
};

} // namespace
