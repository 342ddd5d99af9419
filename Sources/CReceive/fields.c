#include "fields.h"

#include <string.h>

enum { call = 1, sender = 7, deepest = 64 };

/// Where in a header a value is looked for.
struct place {
    const unsigned char *header;
    uint64_t at, end;
};

static uint32_t number_at(const unsigned char *header, uint64_t offset) {
    const unsigned char *byte = header + offset;
    if (header[0] == 'B')
        return (uint32_t)byte[0] << 24 | (uint32_t)byte[1] << 16 | (uint32_t)byte[2] << 8 | byte[3];
    return (uint32_t)byte[3] << 24 | (uint32_t)byte[2] << 16 | (uint32_t)byte[1] << 8 | byte[0];
}

static uint64_t aligned(uint64_t offset, uint64_t alignment) {
    return (offset + alignment - 1) / alignment * alignment;
}

uint64_t fields_end(const unsigned char *header) {
    return aligned(FIELDS_FIXED + (uint64_t)number_at(header, 12), 8);
}

uint64_t fields_body(const unsigned char *header) { return number_at(header, 4); }

uint64_t fields_number(const char *name, size_t length) {
    uint64_t parts[2] = {0, 0};
    int part = 0;
    if (length < 4 || length > 21 || name[0] != ':') return 0;
    for (size_t index = 1; index < length; index++) {
        if (name[index] == '.' && part == 0)
            part = 1;
        else if (name[index] >= '0' && name[index] <= '9')
            parts[part] = parts[part] * 10 + (uint64_t)(name[index] - '0');
        else
            return 0;
    }
    return parts[0] < 1 << 16 && parts[1] < (uint64_t)1 << 48 ? parts[0] << 48 | parts[1] : 0;
}

static uint64_t alignment_of(char type) {
    switch (type) {
    case 'y': case 'g': case 'v': return 1;
    case 'n': case 'q': return 2;
    case 'x': case 't': case 'd': case '(': case '{': return 8;
    default: return 4;
    }
}

/// The end of the first complete type of a signature.
static const char *after_type(const char *signature) {
    int depth = 0;
    do {
        while (*signature == 'a') signature++;
        if (*signature == '(' || *signature == '{') depth++;
        if (*signature == ')' || *signature == '}') depth--;
        if (*signature != '\0') signature++;
    } while (depth > 0 && *signature != '\0');
    return signature;
}

/// Whether so many bytes more are part of the header; then they are passed.
static int pass(struct place *place, uint64_t count) {
    place->at += count;
    return place->at <= place->end;
}

/// A signature with its length before it and a zero behind it; nil if it isn't whole.
static const char *read_signature(struct place *place) {
    if (!pass(place, 1)) return NULL;
    uint64_t length = place->header[place->at - 1], start = place->at;
    if (!pass(place, length + 1) || place->header[place->at - 1] != '\0') return NULL;
    return (const char *)place->header + start;
}

/// Passes a value of the first complete type of a signature, and says where the type ends; nil if
/// the value isn't whole.
static const char *pass_value(struct place *place, const char *signature, int depth) {
    char type = *signature;
    if (type == '\0' || depth > deepest) return NULL;
    place->at = aligned(place->at, alignment_of(type));
    const char *next = signature + 1;
    int is_whole = 1;
    switch (type) {
    case 'y': is_whole = pass(place, 1); break;
    case 'n': case 'q': is_whole = pass(place, 2); break;
    case 'x': case 't': case 'd': is_whole = pass(place, 8); break;
    case 'g': is_whole = read_signature(place) != NULL; break;
    case 's': case 'o':
        is_whole = pass(place, 4)
            && pass(place, (uint64_t)number_at(place->header, place->at - 4) + 1);
        break;
    case 'a':
        if (!pass(place, 4)) return NULL;
        uint64_t length = number_at(place->header, place->at - 4);
        place->at = aligned(place->at, alignment_of(*next));
        is_whole = pass(place, length);
        next = after_type(next);
        break;
    case '(': case '{':
        while (next != NULL && *next != ')' && *next != '}')
            next = pass_value(place, next, depth + 1);
        if (next != NULL) next++;
        break;
    case 'v': {
        const char *inner = read_signature(place);
        is_whole = inner != NULL && pass_value(place, inner, depth + 1) != NULL;
        break;
    }
    default: is_whole = pass(place, 4); break;
    }
    return is_whole ? next : NULL;
}

uint64_t fields_caller(const unsigned char *header) {
    if (header[1] != call) return 0;
    struct place place = {header, FIELDS_FIXED, FIELDS_FIXED + (uint64_t)number_at(header, 12)};
    while (place.at < place.end) {
        place.at = aligned(place.at, 8);
        if (!pass(&place, 1)) return 0;
        unsigned char code = header[place.at - 1];
        const char *signature = read_signature(&place);
        if (signature == NULL) return 0;
        uint64_t start = aligned(place.at, 4);
        if (pass_value(&place, signature, 0) == NULL) return 0;
        if (code == sender && strcmp(signature, "s") == 0)
            return fields_number((const char *)header + start + 4, number_at(header, start));
    }
    return 0;
}
