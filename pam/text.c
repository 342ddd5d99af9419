#include "text.h"

#include <libintl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char domain[] = "localauth";

/* Marks a text for xgettext. */
#define marked(text) text

/* Binds the catalogue. The module's folder is fixed, but the prefix of translations is not. */
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

/* Fills in the value without printf, because a translation must not act as a format string. */
static void fill(char *result, const char *text, const char *value) {
    size_t length = 0;
    while (*text && length < text_size - 1) {
        if (strncmp(text, "%1$s", 4) != 0) {
            result[length++] = *text++;
            continue;
        }
        for (const char *letter = value; *letter && length < text_size - 1; letter++)
            result[length++] = *letter;
        text += 4;
    }
    result[length] = '\0';
}

const char *text_password(void) { return dgettext("Linux-PAM", "Password: "); }

static unsigned all_of(const unsigned *types, size_t count) {
    unsigned all = 0;
    for (size_t index = 0; index < count; index++) all |= types[index];
    return all;
}

static const char *invitation(const unsigned *types, size_t count) {
    switch (all_of(types, count)) {
    case 1: return localized("Touch the fingerprint sensor.");
    case 2: return localized("Look at the camera.");
    case 3: return localized("Touch the fingerprint sensor or look at the camera.");
    case 4: return localized("Look at the iris scanner.");
    default: return localized("Use one of your sensors.");
    }
}

static const char *invitation_or_password(const unsigned *types, size_t count) {
    switch (all_of(types, count)) {
    case 1: return localized("Touch the fingerprint sensor or enter your password.");
    case 2: return localized("Look at the camera or enter your password.");
    case 3:
        return localized(
            "Touch the fingerprint sensor, look at the camera, or enter your password.");
    case 4: return localized("Look at the iris scanner or enter your password.");
    default: return localized("Use one of your sensors or enter your password.");
    }
}

const char *text_invitation(const unsigned *types, size_t count, int takes_password) {
    return takes_password ? invitation_or_password(types, count) : invitation(types, count);
}

void text_command(char *result, const char *command) {
    fill(result, localized("Command: %1$s"), command);
}

void text_purpose(char *result, const char *command) {
    /* TRANSLATORS: Follows "NAME is trying to". */
    fill(result, localized("run “%1$s”"), command);
}

const char *text_busy(unsigned type) {
    switch (type) {
    case 1: return localized("Another program uses the fingerprint reader.");
    case 2: return localized("Another program uses the camera.");
    default: return localized("Another program uses the sensor.");
    }
}

void text_no_match(char *result, unsigned attempts_left) {
    char number[16];
    snprintf(number, sizeof number, "%u", attempts_left);
    const char *sentence = attempts_left == 0
                               ? localized("Not recognized. No attempt is left.")
                               : localizedCount("Not recognized. %1$s attempt is left.",
                                                "Not recognized. %1$s attempts are left.",
                                                attempts_left);
    fill(result, sentence, number);
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
        {"open-eyes", marked("Open your eyes.")},
        {"one-person", marked("Only one person can be in front of the camera.")},
    };
    for (size_t index = 0; index < sizeof advice / sizeof *advice; index++)
        if (strcmp(advice[index].hint, hint) == 0) return localized(advice[index].sentence);
    return NULL;
}
