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

// Edges that are still inside.
struct box {
    long left, top, right, bottom;
};

/*
 * dlib's detector of faces that look ahead. Most of a look is spent in it. With AVX it
 * takes two thirds of the time, so detector-body.h is compiled twice: for every processor, and for
 * those with AVX. Both add in the same order and find the same.
 */
class detector {
  public:
    virtual ~detector() = default;
    // From what written() gave; false: damaged, and nothing can be found.
    virtual bool read(const uint8_t *bytes, size_t count) = 0;
    virtual std::string written() const = 0;
    virtual std::vector<box> find(const uint8_t *grey, long width, long height) = 0;
};

// Empty until it has read.
std::unique_ptr<detector> make_detector_for_any();
std::unique_ptr<detector> make_detector_for_avx();
bool has_avx();

// What dlib brings, as written() gives it. Unpacking it takes 0.7 s.
std::string trained_detector();

} // namespace localauth

#endif
