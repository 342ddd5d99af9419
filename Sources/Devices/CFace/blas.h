#ifndef LOCALAUTH_BLAS_H
#define LOCALAUTH_BLAS_H

namespace localauth {

// cblas_sgemm of OpenBLAS.
using multiply = void (*)(int order, int transpose_a, int transpose_b, int rows, int columns,
                          int depth, float alpha, const float *a, int a_stride, const float *b,
                          int b_stride, float beta, float *out, int out_stride);

// Loads OpenBLAS. Returns nullptr if it is missing.
multiply load_multiply();

} // namespace localauth

#endif
