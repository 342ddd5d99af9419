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

/* Looks for who makes a call in any bytes that have the lengths that the bus has checked. */
int fuzz_headers(const uint8_t *data, size_t size);

/* Receives any bytes in any pieces, with descriptors and without, as sd-bus does on a connection. */
int fuzz_receive(const uint8_t *data, size_t size);

/* Reads any bytes as a picture of a camera's; without the trait Face there is none. */
int fuzz_frames(const uint8_t *data, size_t size);

/* Sends bytes at once, and with the first of them a descriptor unless it is negative; 1: all went. */
int fuzz_send(int socket, const uint8_t *data, size_t size, int descriptor);

#ifdef __cplusplus
}
#endif

#endif
