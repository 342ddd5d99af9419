#ifndef LOCALAUTH_LANDMARKS_H
#define LOCALAUTH_LANDMARKS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dlib-settings.h"

#include <dlib/image_processing/shape_predictor.h>

namespace localauth {

// dlib's predictor of five landmarks, read directly from its model file.
//
// dlib's own reader takes a number at a time from a stream, and allocates each of 120,000 leaves
// separately. The arithmetic is dlib's.
class landmarks {
  public:
    static constexpr int points = 5;

    // Returns false if the bytes are another model.
    bool read(const uint8_t *bytes, size_t count);

    template <typename Image>
    dlib::full_object_detection find(const Image &image, const dlib::rectangle &face) const {
        shape present = first;
        std::vector<float> pixels;
        for (const stage &stage : stages) {
            dlib::impl::extract_feature_pixel_values(image, face, present, first, stage.anchors,
                                                     stage.offsets, pixels);
            add_trees(stage, pixels, present);
        }
        const auto in_image = dlib::impl::unnormalizing_tform(face);
        std::vector<dlib::point> parts;
        for (int i = 0; i < points; ++i)
            parts.push_back(in_image(dlib::impl::location(present, static_cast<unsigned long>(i))));
        return {face, parts};
    }

  private:
    using shape = dlib::matrix<float, 0, 1>;
    // Compares the difference of two pixels with a limit to choose the next branch.
    struct split {
        uint32_t one, other;
        float limit;
    };
    struct stage {
        // Splits and leaves of all trees, concatenated. All trees are equally large.
        std::vector<split> splits;
        std::vector<float> leaves;
        // The landmark nearest to each pixel, and the pixel's offset from it.
        std::vector<unsigned long> anchors;
        std::vector<dlib::vector<float, 2>> offsets;
    };

    void add_trees(const stage &stage, const std::vector<float> &pixels, shape &present) const;

    shape first;
    std::vector<stage> stages;
    size_t splits_a_tree = 0;
};

} // namespace localauth

#endif
