#include "text.h"

#include <libintl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char domain[] = "localauth";

/* For what finds the texts of translators. */
#define marked(text) text

/* The module is in one folder whatever the prefix of the rest is; translations are not. */
static void bind_domain(void) {
    static const char *const folders[] = {"/usr/local/share/locale", "/usr/share/locale"};
    static const char known[] = "Recognized.";
    for (size_t index = 0; index < sizeof folders / sizeof *folders; index++) {
        bindtextdomain(domain, folders[index]);
        if (dgettext(domain, known) != known) return;
    }
}

static void find_catalogue(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, bind_domain);
}

const char *localized(const char *text) {
    find_catalogue();
    return dgettext(domain, text);
}

static const char *localizedCount(const char *one, const char *many, unsigned count) {
    find_catalogue();
    return dngettext(domain, one, many, count);
}

/* A translator's text is no format: its places are filled in here. */
static void fill(char *result, const char *text, const char *first, const char *second) {
    size_t length = 0;
    while (*text && length < text_size - 1) {
        const char *value = strncmp(text, "%1$s", 4) == 0   ? first
                            : strncmp(text, "%2$s", 4) == 0 ? second
                                                            : NULL;
        if (!value) {
            result[length++] = *text++;
            continue;
        }
        for (; *value && length < text_size - 1; value++) result[length++] = *value;
        text += 4;
    }
    result[length] = '\0';
}

const char *text_password(void) { return dgettext("Linux-PAM", "Password: "); }

static const char *gesture(unsigned type) {
    switch (type) {
    case 1: return localized("Touch the fingerprint sensor");
    case 2: return localized("Look at the camera");
    case 4: return localized("Look at the iris scanner");
    default: return localized("Use the sensor");
    }
}

void text_invitation(char *result, const unsigned *types, size_t count, int takes_password) {
    char ways[text_size], next[text_size], longer[text_size];
    snprintf(ways, sizeof ways, "%s", gesture(count > 0 ? types[0] : 0));
    for (size_t index = 1; index < count; index++) {
        snprintf(next, sizeof next, "%s", gesture(types[index]));
        /* In the middle of a sentence now. */
        if (next[0] >= 'A' && next[0] <= 'Z') next[0] += 'a' - 'A';
        fill(longer, localized("%1$s or %2$s"), ways, next);
        memcpy(ways, longer, sizeof ways);
    }
    const char *sentence =
        takes_password ? localized("%1$s, or type your password.") : localized("%1$s.");
    fill(result, sentence, ways, "");
}

void text_busy(char *result, unsigned type) {
    const char *device = type == 1   ? localized("The fingerprint reader")
                         : type == 2 ? localized("The camera")
                                     : localized("The sensor");
    fill(result, localized("%1$s is in use by another program."), device, "");
}

void text_no_match(char *result, unsigned attempts_left) {
    char number[16], left[text_size];
    snprintf(number, sizeof number, "%u", attempts_left);
    if (attempts_left == 0) fill(left, localized("No attempt is left."), "", "");
    else
        fill(left,
             localizedCount("%1$s attempt is left.", "%1$s attempts are left.", attempts_left),
             number, "");
    fill(result, localized("No match. %1$s"), left, "");
}

const char *text_advice(const char *hint) {
    static const struct {
        const char *hint, *sentence;
    } advice[] = {
        {"move-closer", marked("Move closer.")},
        {"move-away", marked("Move a little away.")},
        {"center", marked("Center your finger or face.")},
        {"too-dark", marked("It is too dark.")},
        {"too-bright", marked("It is too bright.")},
        {"hold-still", marked("Hold still.")},
        {"swipe-too-short", marked("The swipe was too short.")},
        {"too-fast", marked("That was too fast.")},
        {"lift-and-retry", marked("Lift your finger and try again.")},
        {"clean-sensor", marked("Clean the sensor.")},
        {"look-at-camera", marked("Look at the camera.")},
    };
    for (size_t index = 0; index < sizeof advice / sizeof *advice; index++)
        if (strcmp(advice[index].hint, hint) == 0) return localized(advice[index].sentence);
    return NULL;
}
