// The detector for processors with AVX.

#ifdef LOCALAUTH_FACE

#include "detector.h"

#ifdef __x86_64__

// These are the standard headers that dlib includes. Include them before the target attribute: code
// compiled for AVX has to have names of its own. The linker keeps any of several definitions of an
// inline function, and a processor without AVX could run the AVX version.
#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <chrono>
#include <climits>
#include <cmath>
#include <complex>
#include <cpuid.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <errno.h>
#include <exception>
#include <forward_list>
#include <fstream>
#include <functional>
#include <future>
#include <immintrin.h>
#include <initializer_list>
#include <iomanip>
#include <iosfwd>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <pthread.h>
#include <queue>
#include <set>
#include <sstream>
#include <stack>
#include <stdexcept>
#include <sys/time.h>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#pragma clang attribute push(__attribute__((target("avx"))), apply_to = function)
#define dlib dlib_avx
#define DLIB_HAVE_SSE3
#define DLIB_HAVE_SSE41
#define DLIB_HAVE_AVX
#include "detector-body.h"
#undef dlib
#pragma clang attribute pop

namespace localauth {

bool has_avx() { return __builtin_cpu_supports("avx"); }

std::unique_ptr<detector> make_detector_for_avx() { return std::make_unique<fhog_detector>(); }

} // namespace localauth

#else

namespace localauth {

bool has_avx() { return false; }

std::unique_ptr<detector> make_detector_for_avx() { return make_detector_for_any(); }

} // namespace localauth

#endif

#endif
