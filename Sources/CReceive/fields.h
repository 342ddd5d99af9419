#ifndef CRECEIVE_FIELDS_H
#define CRECEIVE_FIELDS_H

#include <stddef.h>
#include <stdint.h>

/// What stands in the header of a message, which the bus has found valid.

enum {
    /// How many bytes of each header say how long the rest of it is.
    FIELDS_FIXED = 16,
};

/// How many bytes the whole header has; of its first 16.
uint64_t fields_end(const unsigned char *header);

/// How many bytes come after it; of its first 16.
uint64_t fields_body(const unsigned char *header);

/// The number in the unique name of who makes a call; 0 if it is no call, or nobody's.
uint64_t fields_caller(const unsigned char *header);

/// The number in a unique name such as `:1.23`; 0 if it is none.
uint64_t fields_number(const char *name, size_t length);

#endif
