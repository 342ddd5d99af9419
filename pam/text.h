/* Every sentence that a person reads, in the language of the program. */
#pragma once

#include <stddef.h>

enum { text_size = 512 };

/* A translation from the catalogue of this project. */
const char *localized(const char *text);

/* What the password is asked with: as pam_unix asks, because programs look for these words. */
const char *text_password(void);

/* What the person can do: `types` are biometry types of the sensors. */
const char *text_invitation(const unsigned *types, size_t count, int takes_password);

/* Another program has a sensor of this type. */
const char *text_busy(unsigned type);

/* After a failed attempt. */
void text_no_match(char *result, unsigned attempts_left);

/* A hint of a sensor; NULL: it is not known. */
const char *text_advice(const char *hint);
