#include "command.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { half_size = 120, name_size_of_sudo = 64 };

/* The first and the last letters of a line, so that no argument pushes the command out. */
struct line {
    size_t length;
    char head[half_size], tail[half_size];
};

static void put(struct line *line, char letter) {
    if (line->length < half_size) line->head[line->length] = letter;
    else line->tail[(line->length - half_size) % half_size] = letter;
    line->length++;
}

static bool is_plain(int letter) {
    return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= 'a' && letter <= 'z') || (letter && strchr("%+,-./:=@_", letter));
}

static void put_escaped(struct line *line, int letter) {
    char code[16] = {(char)letter, '\0'};
    /* sudo's own way, which its log uses too. */
    if (letter <= ' ' || letter > '~' || letter == '#')
        snprintf(code, sizeof code, "#%03o", (unsigned)letter);
    else if (!is_plain(letter)) put(line, '\\');
    for (const char *next = code; *next; next++) put(line, *next);
}

/* Joins both ends. */
static void finish(const struct line *line, char *result) {
    static const char gap[] = " ... ";
    const size_t head = line->length < half_size ? line->length : half_size;
    const size_t rest = line->length - head, tail = rest < half_size ? rest : half_size;
    memcpy(result, line->head, head);
    result += head;
    if (rest > tail) {
        memcpy(result, gap, sizeof gap - 1);
        result += sizeof gap - 1;
    }
    for (size_t index = 0; index < tail; index++)
        *result++ = line->tail[(rest - tail + index) % half_size];
    *result = '\0';
}

/* Reads the first argument, which a caller chooses freely. sudo looks only for sudoedit. */
static const char *name_of_sudo(FILE *arguments) {
    char name[name_size_of_sudo] = "";
    size_t length = 0;
    for (int letter = fgetc(arguments); letter > 0; letter = fgetc(arguments)) {
        if (letter == '/') length = 0;
        else if (length < sizeof name - 1) name[length++] = (char)letter;
    }
    name[length] = '\0';
    return strcmp(name, "sudoedit") == 0 ? "sudoedit" : "sudo";
}

void command_of(char result[command_size], const char *service) {
    struct line line = {0};
    result[0] = '\0';
    if (strcmp(service, "sudo") != 0 && strcmp(service, "sudo-i") != 0) return;
    FILE *arguments = fopen("/proc/self/cmdline", "re");
    if (!arguments) return;
    for (const char *name = name_of_sudo(arguments); *name; name++) put(&line, *name);
    for (int letter = fgetc(arguments); letter != EOF; letter = fgetc(arguments)) {
        put(&line, ' ');
        if (letter == 0) put(&line, '\'');
        if (letter == 0) put(&line, '\'');
        for (; letter > 0; letter = fgetc(arguments)) put_escaped(&line, letter);
    }
    fclose(arguments);
    finish(&line, result);
}
