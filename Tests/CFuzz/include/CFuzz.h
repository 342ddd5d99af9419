#ifndef LOCALAUTH_CFUZZ_H
#define LOCALAUTH_CFUZZ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What takes any bytes; 0. */
typedef int (*fuzz_input)(const uint8_t *data, size_t size);

/* libFuzzer's own loop: it is linked into what scripts/fuzz builds, and into nothing else. */
int LLVMFuzzerRunDriver(int *count, char ***words, fuzz_input input);

/* Reads any bytes as a picture of a camera's; without the trait Face there is none. */
int fuzz_frames(const uint8_t *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
