#ifndef LOCALAUTH_RESNET_H
#define LOCALAUTH_RESNET_H

#include <cstddef>
#include <cstdint>
#include <sys/types.h>
#include <vector>

#include "blas.h"

namespace localauth {

// dlib's face recognition network (29 convolutions), read directly from its model file.
//
// dlib itself would hold all 22 MB of weights and every layer's output. This class reads each
// layer's weights when the layer runs. They stay in the page cache, which the kernel may reclaim,
// and reading them takes a few milliseconds a look.
class resnet {
  public:
    static constexpr int side = 150, numbers = 128;

    explicit resnet(multiply sgemm) : sgemm(sgemm) {}
    resnet(const resnet &) = delete;
    resnet &operator=(const resnet &) = delete;
    ~resnet();

    // Finds the weights in the file and duplicates its descriptor. Returns false for another file.
    bool open(int descriptor);

    // Computes the numbers of a face from side x side RGB pixels. Returns false if the file has
    // become unreadable.
    bool look(const uint8_t *pixels, float *out);

  private:
    struct tensor {
        off_t place;
        size_t count;
    };
    struct planes {
        int channels = 0, height = 0, width = 0;
        std::vector<float> values;
        void resize(int new_channels, int new_height, int new_width);
        size_t area() const { return size_t(height) * size_t(width); }
    };
    struct layer {
        int inputs, outputs, size, stride;
        tensor filters, scale;
    };

    bool find(const char *name, off_t &from, tensor &found) const;
    bool find_layer(int inputs, int outputs, int size, int stride, off_t &from);
    bool read(const tensor &what);
    bool convolve(const layer &with, const planes &in, planes &out, bool rectifies);
    bool add_block(size_t first, planes &state);

    multiply sgemm;
    int file = -1;
    std::vector<layer> layers;
    tensor last = {};
    // Buffers, reused from look to look.
    std::vector<float> weights, columns;
    planes first, second, state;
};

} // namespace localauth

#endif
