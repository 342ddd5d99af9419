#include "CFuzz.h"
#include "../../Sources/CReceive/fields.h"

#include <stdlib.h>
#include <string.h>

int fuzz_headers(const uint8_t *data, size_t size) {
    if (size < FIELDS_FIXED) return 0;
    // Of its own, so that a byte too far is seen.
    unsigned char *header = malloc(size);
    if (header == NULL) abort();
    memcpy(header, data, size);
    if (fields_end(header) <= size) (void)fields_caller(header);
    free(header);
    (void)fields_number((const char *)data, size);
    return 0;
}
