/* A prompt on a terminal, based on localauth-prompt.h.

       cc prompt.c -o prompt $(pkg-config --cflags --libs gio-unix-2.0)
       ./prompt [--bus system|session|ADDRESS]

   Enter sends a password, confirms a match or takes the fallback; Ctrl-C cancels. */
#include "localauth-prompt.h"
#include <termios.h>
#include <unistd.h>

static struct termios saved;
static guint keys;
static gboolean takes, isItem;
static const char *offer; /* the call that Enter makes when nothing is typed */
static char *label, *fallback;
static GVariant *instructions; /* the sensors' own, unverified instructions */

static const char *const sentences[][2] = {
    {"program", "A program of yours asked for the password."}, {"no-match", "No match."},
    {"remote", "Your administrator asked for the password."}, {"success", "It is you."},
    {"passcode-required", "Type the password."}, {"passcode-rejected", "Wrong password."},
    {"confirmation-required", "Press Enter to confirm."}, {"sensor-ready", "Sensor ready."}};

static const char *sentence(const char *word, const char *other) {
    for (gsize i = 0; i < G_N_ELEMENTS(sentences); i++)
        if (!strcmp(word, sentences[i][0]))
            return sentences[i][1];
    return other;
}

static void say(const char *text) {
    printf("\n%s\n%s", text, takes ? label : "");
}

static gboolean press(int terminal, GIOCondition condition, gpointer data) {
    char line[4096];
    ssize_t size = read(terminal, line, sizeof line);
    if (size < 1 || line[size - 1] != '\n')
        call("SubmitCancel", g_variant_new("(s)", handle));
    else if (size > 1 && takes)
        submit(line, (gsize)size - 1, isItem);
    else if (size == 1 && offer)
        call(offer, g_variant_new("(s)", handle)), offer = NULL;
    explicit_bzero(line, sizeof line);
    return G_SOURCE_CONTINUE;
}

static gboolean begin(GVariant *details) {
    g_autofree char *app = caller(details), *reason = text(details, "reason");
    g_autofree char *stage = text(details, "stage"), *user = text(details, "user");
    g_autofree char *requester = text(details, "requester");
    gboolean looks = !strcmp(stage, "biometry");
    const char *title = "use another way";
    guint32 policy = 0;
    isItem = !strcmp(stage, "application-password");
    if (!*reason || !(looks || isItem || !strcmp(stage, "passcode")))
        return FALSE;
    g_variant_lookup(details, "policy", "u", &policy);
    takes = !looks || policy == 2, offer = NULL;
    g_free(label), g_free(fallback);
    g_clear_pointer(&instructions, g_variant_unref);
    label = g_strdup_printf("Password of %s: ", user);
    g_variant_lookup(details, "fallback-title", "&s", &title);
    fallback = plain(title);
    instructions = g_variant_lookup_value(details, "instructions", G_VARIANT_TYPE_VARDICT);
    tcgetattr(0, &saved);
    struct termios mode = saved;
    mode.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
    mode.c_cc[VEOL] = 3;            /* Ctrl-C ends a line, like Enter */
    tcsetattr(0, TCSAFLUSH, &mode); /* drops earlier input */
    keys = g_unix_fd_add(0, G_IO_IN, press, NULL);
    g_autoptr(GString) shown = g_string_new(NULL);
    g_string_printf(shown, "%s wants to: %s", app, reason);
    if (*requester)
        g_string_append_printf(shown, " (for \"%s\", it says)", requester);
    say(shown->str);
    return TRUE;
}

static void update(const char *kind, GVariant *detail) {
    g_autofree char *cause = text(detail, "cause"), *quote = text(detail, "text");
    g_autofree char *hint = text(detail, "hint"), *sensor = text(detail, "sensor");
    g_autoptr(GString) shown = g_string_new(sentence(cause, sentence(kind, hint)));
    g_autoptr(GVariant) own = NULL;
    guint32 left;
    guint64 delay;
    if (g_str_has_prefix(kind, "passcode-req") || g_str_has_prefix(kind, "application-password")) {
        takes = TRUE, isItem = *kind == 'a', offer = NULL;
        tcflush(0, TCIFLUSH); /* drops earlier input */
    }
    takes = takes && strcmp(kind, "success");
    if (g_variant_lookup(detail, "delay", "t", &delay)) {
        takes = FALSE;
        g_string_printf(shown, "Too many wrong passwords: wait %u s.", (unsigned)(delay / 1000));
    }
    if (!strcmp(kind, "confirmation-required"))
        offer = "SubmitConfirm";
    if (!strcmp(kind, "fallback-available") && *fallback && !offer)
        offer = "SubmitFallback", g_string_printf(shown, "Press Enter to %s.", fallback);
    if (!strcmp(kind, "sensor-ready") && instructions)
        own = g_variant_lookup_value(instructions, sensor, G_VARIANT_TYPE("a{ss}"));
    g_autofree char *words = own ? text(own, "en") : plain("");
    if (*words)
        g_string_printf(shown, "\"%s\" (%s)", words, sensor);
    if (*quote)
        g_string_append_printf(shown, " \"%s\"", quote);
    if (g_variant_lookup(detail, "attempts-left", "u", &left))
        g_string_append_printf(shown, " Attempts left: %u.", left);
    say(shown->str);
}

static void end(const char *outcome) {
    takes = FALSE;
    g_source_remove(keys);
    tcsetattr(0, TCSAFLUSH, &saved);
    say(sentence(outcome, "It has ended."));
}

int main(int words, char **word) { return run_prompt(words, word); }
