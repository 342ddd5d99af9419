#ifndef LOCALAUTH_DETECTOR_H
#define LOCALAUTH_DETECTOR_H

#include <cstddef>
#include <cstdint>
#include <istream>
#include <memory>
#include <streambuf>
#include <string>
#include <vector>

namespace localauth {

struct memory_buffer : std::streambuf {
    memory_buffer(const uint8_t *bytes, size_t count) {
        char *start = const_cast<char *>(reinterpret_cast<const char *>(bytes));
        setg(start, start, start + count);
    }
};

// Inclusive edges, in pixels.
struct box {
    long left, top, right, bottom;
};

/*
 * dlib's detector of frontal faces, which takes most of the time of a look at a frame.
 *
 * AVX saves a third of that time, so detector-body.h is compiled twice: with AVX and without.
 * Both add in the same order and find the same faces.
 */
class detector {
  public:
    virtual ~detector() = default;
    // Reads bytes that written() returned. Returns false if they are damaged; find() is then
    // unusable.
    virtual bool read(const uint8_t *bytes, size_t count) = 0;
    virtual std::string written() const = 0;
    virtual std::vector<box> find(const uint8_t *grey, long width, long height) = 0;
};

// Returns a detector that finds faces only after read().
std::unique_ptr<detector> make_detector_for_any();
std::unique_ptr<detector> make_detector_for_avx();
bool has_avx();

// Serializes dlib's own detector as written() does. Unpacking it takes 0.7 s.
std::string trained_detector();

} // namespace localauth

#endif
