#include "command.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char ellipsis[] = "...";

/* Appends a piece whole, or not at all. Keeps room for the ellipsis. */
static bool append(char *result, size_t *length, const char *piece) {
    const size_t size = strlen(piece);
    if (*length + size + sizeof ellipsis > command_size) return false;
    memcpy(result + *length, piece, size + 1);
    *length += size;
    return true;
}

static bool is_plain(int letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= 'a' && letter <= 'z') || (letter && strchr("%+,-./:=@_", letter));
}

/* Appends one byte of an argument in quotes. */
static bool append_quoted(char *result, size_t *length, int letter) {
    char piece[16] = {(char)letter, '\0'};
    if (letter == '\'') return append(result, length, "'\\''");
    if (letter < ' ' || letter > '~') snprintf(piece, sizeof piece, "#%03o", (unsigned)letter);
    return append(result, length, piece);
}

/* Reads the next argument into `result`. Returns false if the line is full. */
static bool append_argument(FILE *line, char *result, size_t *length, int first) {
    const size_t before = *length;
    int letter = first;
    while (is_plain(letter)) {
        const char piece[] = {(char)letter, '\0'};
        if (!append(result, length, piece)) return false;
        letter = fgetc(line);
    }
    if (letter <= 0 && *length > before) return true;
    /* Begin the argument again, in quotes. */
    char plain[command_size];
    const size_t count = *length - before;
    memcpy(plain, result + before, count);
    plain[count] = '\0';
    *length = before;
    if (!append(result, length, "'") || !append(result, length, plain)) return false;
    for (; letter > 0; letter = fgetc(line))
        if (!append_quoted(result, length, letter)) return false;
    return append(result, length, "'");
}

void command_of(char result[command_size], const char *service) {
    size_t length = 0;
    result[0] = '\0';
    if (strcmp(service, "sudo") != 0 && strcmp(service, "sudo-i") != 0) return;
    FILE *line = fopen("/proc/self/cmdline", "re");
    if (!line) return;
    bool has_room = true;
    for (int first = fgetc(line); has_room && first != EOF; first = fgetc(line)) {
        if (length > 0) has_room = append(result, &length, " ");
        if (has_room) has_room = append_argument(line, result, &length, first);
    }
    if (!has_room) memcpy(result + length, ellipsis, sizeof ellipsis);
    fclose(line);
}
