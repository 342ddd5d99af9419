#include "options.h"

#include <errno.h>
#include <security/pam_ext.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

static const unsigned default_timeout = 30, longest_timeout = 600;
static const unsigned default_wait = 1, longest_wait = 10;

/* The value of "name=value"; NULL for another option. */
static const char *value_of(const char *name, const char *word) {
    const size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static void read_seconds(pam_handle_t *pamh, const char *text, unsigned longest, unsigned *seconds) {
    char *end = NULL;
    errno = 0;
    const unsigned long number = strtoul(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && number >= 1 && number <= longest)
        *seconds = (unsigned)number;
    else pam_syslog(pamh, LOG_ERR, "%.64s is no number of seconds from 1 to %u", text, longest);
}

struct options options_parse(pam_handle_t *pamh, int argc, const char **argv) {
    struct options options = {.timeout = default_timeout, .wait = default_wait};
    for (int index = 0; index < argc; index++) {
        const char *word = argv[index], *value;
        if (strcmp(word, "debug") == 0) options.debug = true;
        else if (strcmp(word, "biometry-only") == 0) options.biometry_only = true;
        else if (strcmp(word, "lock-screen") == 0) options.lock_screen = true;
        else if (strcmp(word, "no-report") == 0) options.no_report = true;
        else if ((value = value_of("timeout", word)))
            read_seconds(pamh, value, longest_timeout, &options.timeout);
        else if ((value = value_of("wait", word)))
            read_seconds(pamh, value, longest_wait, &options.wait);
        else if ((value = value_of("bus", word))) options.bus = value;
        else pam_syslog(pamh, LOG_ERR, "unknown option %.64s", word);
    }
    return options;
}
