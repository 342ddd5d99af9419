#ifndef LOCALAUTH_CFUZZ_H
#define LOCALAUTH_CFUZZ_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A target of the fuzzer; always returns 0. */
typedef int (*fuzz_input)(const uint8_t *data, size_t size);

/* libFuzzer's own loop, linked only into the builds of scripts/fuzz. */
int LLVMFuzzerRunDriver(int *count, char ***words, fuzz_input input);

/* Reads any bytes as a camera picture. Needs the trait Face. */
int fuzz_frames(const uint8_t *data, size_t size);

#ifdef __cplusplus
}
#endif

#endif
