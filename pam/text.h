/* All sentences for the user, in the program's language. */
#pragma once

#include <stddef.h>

enum { text_size = 512 };

/* A translation from the catalogue of this project. */
const char *localized(const char *text);

/* The password prompt in pam_unix's words, because programs look for them. */
const char *text_password(void);

/* Invites the user; `types` are the sensors' biometry types. */
const char *text_invitation(const unsigned *types, size_t count, int takes_password);

/* The message that names the command, and the purpose of a prompt for it. */
void text_command(char *result, const char *command);
void text_purpose(char *result, const char *command);

/* The message that another program holds a sensor of this type. */
const char *text_busy(unsigned type);

/* The message after a miss. */
void text_no_match(char *result, unsigned attempts_left);

/* A sensor's hint as a sentence; NULL if unknown. */
const char *text_advice(const char *hint);
