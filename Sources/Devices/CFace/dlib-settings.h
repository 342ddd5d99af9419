#ifndef LOCALAUTH_DLIB_SETTINGS_H
#define LOCALAUTH_DLIB_SETTINGS_H

// Makes dlib use its own linear algebra, which needs no library at link time. Include this before
// dlib's headers.

#include <dlib/test_for_odr_violations.h>

#undef DLIB_USE_BLAS
#undef DLIB_USE_LAPACK

#endif
