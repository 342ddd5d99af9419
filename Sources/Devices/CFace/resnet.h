#ifndef LOCALAUTH_RESNET_H
#define LOCALAUTH_RESNET_H

#include <cstddef>
#include <cstdint>
#include <sys/types.h>
#include <vector>

namespace localauth {

// dlib's face recognition network (29 convolutions), straight from its model file.
//
// dlib would hold all 22 MB of weights, and what every layer gave. Here a layer's weights are read
// when it is their turn: they stay in the kernel's page cache, which it may take back, and a look
// reads them from there in a few milliseconds.
class resnet {
  public:
    static constexpr int side = 150, numbers = 128;

    resnet() = default;
    resnet(const resnet &) = delete;
    resnet &operator=(const resnet &) = delete;
    ~resnet();

    // Finds the weights in the file, whose descriptor is duplicated. False: it is another file.
    bool open(int descriptor);

    // The numbers of a face of side x side pixels of red, green and blue. False: the file can't be
    // read any more.
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

    int file = -1;
    std::vector<layer> layers;
    tensor last = {};
    // Kept from one look to the next.
    std::vector<float> weights, columns;
    planes first, second, state;
};

} // namespace localauth

#endif
