/* A prompt on a terminal for the authentication service.

       cc prompt.c -o prompt $(pkg-config --cflags --libs libsystemd libcrypto)
       ./prompt [--bus system|session|ADDRESS] [--process PID]

   It serves that process and its children; without it, the session. Enter sends a password,
   confirms, or takes the fallback; Ctrl-C cancels. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#define SERVICE "org.localauth.Authentication1"
#define ROOT "/org/localauth/Authentication1"
#define AGENT "org.localauth.Agent1"
#define PATH "/org/localauth/Agent1"
#define KEYCHAIN "org.localauth.Keychain1"
#define VERIFIER "org.localauth.Passcode1"
#define ITEM "Password of the item: "
#define HANDLE(name) static int name(sd_bus_message *m, void *data, sd_bus_error *error)
#define TRY(call)                                                                                  \
    do {                                                                                           \
        int result = (call);                                                                       \
        if (result < 0)                                                                            \
            return result;                                                                         \
    } while (0)

enum { LIMIT = 4, LONGEST = 1024, SENSORS = 8, KEY = 32, TAG = 16, NONCE = 12 };

/* HPKE (RFC 9180), base mode, one message: X25519, HKDF-SHA256, AES-256-GCM. */

struct text {
    uint8_t bytes[256];
    size_t size;
};
static const struct text kem = {"KEM\0\x20", 5}, suite = {"HPKE\0\x20\0\1\0\2", 10};

static void add(struct text *to, const void *bytes, size_t size) {
    memcpy(to->bytes + to->size, bytes, size), to->size += size;
}

static void begin_label(struct text *to, const struct text *suite, const char *label) {
    add(to, "HPKE-v1", 7), add(to, suite->bytes, suite->size), add(to, label, strlen(label));
}

static void hash(uint8_t *to, const uint8_t *key, struct text *data) {
    HMAC(EVP_sha256(), key, KEY, data->bytes, data->size, to, NULL);
    explicit_bzero(data, sizeof *data);
}

static void extract(uint8_t *to, const struct text *suite, const uint8_t *salt, const char *label,
                    const void *data, size_t size) {
    static const uint8_t none[KEY];
    struct text in = {.size = 0};
    begin_label(&in, suite, label), add(&in, data, size);
    hash(to, salt ? salt : none, &in);
}

static void expand(uint8_t *to, uint8_t wanted, const struct text *suite, const uint8_t *secret,
                   const char *label, const struct text *info) {
    struct text in = {.bytes = {0, wanted}, .size = 2};
    uint8_t block[KEY];
    begin_label(&in, suite, label), add(&in, info->bytes, info->size), add(&in, "\1", 1);
    hash(block, secret, &in);
    memcpy(to, block, wanted), explicit_bzero(block, sizeof block);
}

/* Makes a key pair, whose public key is `enc`, and agrees with the recipient on a value. */
static int agree(uint8_t *enc, uint8_t *agreed, const uint8_t *recipient) {
    size_t size = KEY;
    EVP_PKEY *own = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
    EVP_PKEY *other = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, recipient, KEY);
    EVP_PKEY_CTX *context = own ? EVP_PKEY_CTX_new(own, NULL) : NULL;
    int isDone = context && other && EVP_PKEY_get_raw_public_key(own, enc, &size) == 1 &&
                 EVP_PKEY_derive_init(context) == 1 &&
                 EVP_PKEY_derive_set_peer(context, other) == 1 &&
                 EVP_PKEY_derive(context, agreed, &size) == 1;
    EVP_PKEY_CTX_free(context), EVP_PKEY_free(other), EVP_PKEY_free(own);
    return isDone;
}

static int encrypt(uint8_t *to, const uint8_t *key, const uint8_t *nonce, const char *holder,
                   const void *secret, size_t size) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    const unsigned char *aad = (const unsigned char *)holder;
    int done = 0, isDone = context &&
                           EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, key, nonce) == 1 &&
                           EVP_EncryptUpdate(context, NULL, &done, aad, (int)strlen(holder)) == 1 &&
                           EVP_EncryptUpdate(context, to, &done, secret, (int)size) == 1 &&
                           EVP_EncryptFinal_ex(context, to + done, &done) == 1 &&
                           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, TAG, to + size) == 1;
    EVP_CIPHER_CTX_free(context);
    return isDone;
}

/* Seals to a public key: `to` gets KEY + size + TAG bytes. The result is 0 if that fails. */
static int seal(uint8_t *to, const uint8_t *recipient, const void *secret, size_t size,
                const char *info, const char *holder) {
    uint8_t agreed[KEY], shared[KEY], key[KEY], nonce[NONCE], digest[KEY];
    struct text both = {.size = 0}, context = {.size = 1}; /* the mode: 0 */
    if (!agree(to, agreed, recipient))
        return 0;
    add(&both, to, KEY), add(&both, recipient, KEY);
    extract(key, &kem, NULL, "eae_prk", agreed, KEY);
    expand(shared, KEY, &kem, key, "shared_secret", &both);
    extract(digest, &suite, NULL, "psk_id_hash", "", 0), add(&context, digest, KEY);
    extract(digest, &suite, NULL, "info_hash", info, strlen(info)), add(&context, digest, KEY);
    extract(digest, &suite, shared, "secret", "", 0);
    expand(key, KEY, &suite, digest, "key", &context);
    expand(nonce, NONCE, &suite, digest, "base_nonce", &context);
    int isDone = encrypt(to + KEY, key, nonce, holder, secret, size);
    explicit_bzero(agreed, KEY), explicit_bzero(shared, KEY), explicit_bzero(digest, KEY);
    explicit_bzero(key, KEY);
    return isDone;
}

/* The prompts. */

/* The first is shown; free ones are behind the others. */
struct prompt {
    char handle[129], app[1000], reason[2100], login[330], fallback[300];
    uint8_t key[KEY]; /* the verifier's */
    int hasKey, isItem, takes, waits;
    const char *offer;
    struct {
        char sensor[300], words[330];
    } own[SENSORS]; /* what a sensor has a person do: nobody vouches for it */
};
static struct prompt prompts[LIMIT];
static int count;
static char typed[LONGEST]; /* in no swap and no core */
static size_t length;
static char owner[256];
static uint8_t service[KEY]; /* the service's key */
static int hasService;
static uint32_t process;
static int terminal, isTaken;
static struct termios saved;
static sd_bus *bus;
static sd_event *loop;
static sd_event_source *keys;

static void say(const char *text) { /* what a terminal doesn't take is lost: nothing waits for it */
    if (write(terminal, text, strlen(text)) < 0 && errno != EAGAIN)
        sd_event_exit(loop, 0);
}

/* Text that moves no cursor and changes no direction: `limit` characters, `size` bytes at most. */
static void plain(char *to, size_t size, size_t limit, const char *from) {
    size_t used = 0;
    for (const unsigned char *at = (const unsigned char *)from; *at && limit; limit--) {
        size_t bytes = *at < 0x80   ? 1
                       : *at < 0xE0 ? 2
                       : *at < 0xF0 ? 3
                                    : 4; /* the bus has checked that it is UTF-8 */
        unsigned long point = bytes == 1 ? *at : *at & (0x3F >> (bytes - 1));
        for (size_t i = 1; i < bytes; i++)
            point = point << 6 | (at[i] & 0x3F);
        int isControl =
            point < 32 || (point >= 0x7F && point < 0xA0) || point == 0x2028 || point == 0x2029;
        int isDirection = point == 0x61C || point == 0x200E || point == 0x200F ||
                          (point >= 0x202A && point <= 0x202E) ||
                          (point >= 0x2066 && point <= 0x2069);
        if (used + bytes >= size)
            break;
        if (isControl)
            to[used++] = ' ';
        else if (!isDirection)
            memcpy(to + used, at, bytes), used += bytes;
        at += bytes;
    }
    to[used] = 0;
}

static void forget(void) {
    explicit_bzero(typed, sizeof typed), length = 0, tcflush(terminal, TCIFLUSH);
}

static void ask(void) {
    if (count && prompts->takes && !prompts->waits)
        say(prompts->isItem ? ITEM : prompts->login);
}

static int press(sd_event_source *s, int fd, uint32_t events, void *data);

static void show(void) {
    if (!isTaken && !tcgetattr(terminal, &saved)) {
        struct termios mode = saved;
        mode.c_lflag &= ~(ECHO | ICANON | ISIG);
        tcsetattr(terminal, TCSAFLUSH, &mode), isTaken = 1; /* what was typed before is dropped */
        sd_event_add_io(loop, &keys, terminal, EPOLLIN, press, NULL);
    }
    forget();
    say("\r\n"), say(prompts->app), say(" wants to: "), say(prompts->reason),
        say("\r\nCtrl-C cancels. "), ask();
}

static void give_back(void) {
    if (isTaken)
        keys = sd_event_source_disable_unref(keys), tcsetattr(terminal, TCSAFLUSH, &saved),
        isTaken = 0;
}

static struct prompt *find(const char *handle) {
    for (int i = 0; i < count; i++)
        if (!strcmp(prompts[i].handle, handle))
            return &prompts[i];
    return NULL;
}

static void over(struct prompt *prompt, const char *words) {
    int isShown = prompt == prompts;
    if (isShown)
        forget(), say("\r\n"), say(words), say("\r\n");
    memmove(prompt, prompt + 1, (size_t)(prompts + --count - prompt) * sizeof *prompt);
    if (!count)
        give_back();
    else if (isShown)
        show();
}

static void submit(const char *member) {
    sd_bus_call_method_async(bus, NULL, owner, ROOT, SERVICE, member, NULL, NULL, "s",
                             prompts->handle);
}

HANDLE(submitted) {
    if (sd_bus_message_is_method_error(m, NULL))
        say("\r\nThe service did not take it. Type it again.\r\n"), ask();
    return 0;
}

HANDLE(key_read) {
    const void *key;
    size_t size;
    if (strcmp(owner, sd_bus_message_get_sender(m)) || sd_bus_message_is_method_error(m, NULL))
        return 0;
    TRY(sd_bus_message_enter_container(m, 'v', "ay"));
    TRY(sd_bus_message_read_array(m, 'y', &key, &size));
    if ((hasService = size == KEY))
        memcpy(service, key, KEY);
    return 0;
}

static int read_key(void) {
    return sd_bus_call_method_async(bus, NULL, owner, "/org/localauth/Keychain1",
                                    "org.freedesktop.DBus.Properties", "Get", key_read, NULL, "ss",
                                    KEYCHAIN, "SealingKey");
}

/* Seals what was typed, and sends it. */
static int submit_typed(void) {
    uint8_t sealed[KEY + LONGEST + TAG];
    sd_bus_message *m = NULL;
    int isItem = prompts->isItem, isThere = isItem ? hasService : prompts->hasKey;
    const char *holder = prompts->handle;
    if (isItem)
        TRY(sd_bus_get_unique_name(bus, &holder));
    if (!isThere || !seal(sealed, isItem ? service : prompts->key, typed, length,
                          isItem ? KEYCHAIN : VERIFIER, holder))
        return -ENOKEY;
    int result = sd_bus_message_new_method_call(bus, &m, owner, ROOT, SERVICE,
                                                isItem ? "SubmitPassword" : "SubmitPasscode");
    if (result >= 0)
        result = sd_bus_message_append(m, "s", prompts->handle);
    if (result >= 0)
        result = sd_bus_message_append_array(m, 'y', sealed, KEY + length + TAG);
    if (result >= 0 && isItem)
        result = sd_bus_message_append(m, "a{sv}", 1, "sealed", "b", 1);
    if (result >= 0)
        result = sd_bus_call_async(bus, NULL, m, submitted, NULL, 0);
    sd_bus_message_unref(m);
    return result;
}

static int press(sd_event_source *s, int fd, uint32_t events, void *data) {
    char key;
    ssize_t got = read(fd, &key, 1);
    if (got < 1)
        return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : sd_event_exit(loop, 0);
    if (key == 3)
        return submit("SubmitCancel"), over(prompts, "Canceled."), 0;
    if ((key == '\n' || key == '\r') && length) {
        int result = submit_typed();
        explicit_bzero(typed, sizeof typed), length = 0;
        if (result < 0)
            read_key(), say("\r\nIt could not be sealed. Type it again.\r\n"), ask();
    } else if ((key == '\n' || key == '\r') && prompts->offer)
        submit(prompts->offer), prompts->offer = NULL;
    else if (key == 127)
        while (length && (typed[--length] & 0xC0) == 0x80) {
        } /* a character, not a byte of it */
    else if ((unsigned char)key >= 32 && prompts->takes && !prompts->waits &&
             length < LONGEST)
        typed[length++] = key;
    return 0;
}

/* Goes to a value of a dictionary: 1 if it is there, 0 if it isn't. */
static int seek(sd_bus_message *m, const char *wanted) {
    const char *key;
    int result;
    TRY(sd_bus_message_rewind(m, 1));
    TRY(sd_bus_message_skip(m, "s"));
    if (sd_bus_message_is_method_call(m, AGENT, "Update"))
        TRY(sd_bus_message_skip(m, "s"));
    TRY(sd_bus_message_enter_container(m, 'a', "{sv}"));
    while ((result = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
        TRY(sd_bus_message_read(m, "s", &key));
        if (!strcmp(key, wanted))
            return 1;
        TRY(sd_bus_message_skip(m, "v"));
        TRY(sd_bus_message_exit_container(m));
    }
    return result;
}

static int value(sd_bus_message *m, const char *wanted, const char *type, void *to) {
    int found = seek(m, wanted);
    if (found > 0)
        TRY(sd_bus_message_read(m, "v", type, to));
    return found;
}

static int text(sd_bus_message *m, const char *key, char *to, size_t size, size_t limit) {
    const char *found = "";
    int result = value(m, key, "s", &found);
    plain(to, size, limit, found);
    return result;
}

/* The sensors' own words in English, else in their first language. */
static int own_words(sd_bus_message *m, struct prompt *prompt) {
    const char *sensor, *language, *words;
    int found = seek(m, "instructions"), more;
    if (found < 1)
        return found;
    TRY(sd_bus_message_enter_container(m, 'v', "a{sv}"));
    TRY(sd_bus_message_enter_container(m, 'a', "{sv}"));
    for (int i = 0; i < SENSORS; i++) {
        TRY(more = sd_bus_message_enter_container(m, 'e', "sv"));
        if (!more)
            break;
        TRY(sd_bus_message_read(m, "s", &sensor));
        plain(prompt->own[i].sensor, sizeof prompt->own->sensor, 64, sensor);
        TRY(sd_bus_message_enter_container(m, 'v', "a{ss}"));
        TRY(sd_bus_message_enter_container(m, 'a', "{ss}"));
        while ((more = sd_bus_message_read(m, "{ss}", &language, &words)) > 0)
            if (!*prompt->own[i].words || !strcmp(language, "en"))
                plain(prompt->own[i].words, sizeof prompt->own->words, 80, words);
        TRY(more);
        for (int level = 0; level < 3; level++)
            TRY(sd_bus_message_exit_container(m));
        for (char *mark; (mark = strchr(prompt->own[i].words, '"'));)
            *mark = '\''; /* it can't end the quotation */
    }
    return 1;
}

static int refuse(sd_bus_error *error, const char *name) {
    return sd_bus_error_set(error, name, "It can't be shown.");
}

static int admit(sd_bus_message *m, sd_bus_error *error) {
    return *owner && !strcmp(owner, sd_bus_message_get_sender(m))
               ? 0
               : refuse(error, SD_BUS_ERROR_ACCESS_DENIED);
}

/* The verifier's key, if the message has one. */
static int passcode_key(sd_bus_message *m, struct prompt *prompt) {
    const void *key;
    size_t size;
    int found = seek(m, "passcode-key");
    if (found < 1)
        return found;
    TRY(sd_bus_message_enter_container(m, 'v', "ay"));
    TRY(sd_bus_message_read_array(m, 'y', &key, &size));
    if (size != KEY)
        return -EINVAL;
    memcpy(prompt->key, key, KEY);
    return prompt->hasKey = 1;
}

static int read_link(const char *format, uint32_t pid, char *to, size_t size) {
    char link[64];
    snprintf(link, sizeof link, format, pid);
    ssize_t length = readlink(link, to, size - 1);
    to[length < 0 ? 0 : length] = 0;
    return length > 0;
}

/* The file of a program that can't pass as another one. */
static int proven(uint32_t pid, char *path, size_t size) {
    char own[64], other[64], link[64], raw[256];
    struct stat file, program;
    snprintf(link, sizeof link, "/proc/%u/exe", pid);
    if (!read_link("/proc/%u/ns/mnt", (uint32_t)getpid(), own, sizeof own) ||
        !read_link("/proc/%u/ns/mnt", pid, other, sizeof other) || strcmp(own, other) ||
        !read_link("/proc/%u/exe", pid, raw, sizeof raw))
        return 0;
    plain(path, size, 256, raw);
    return !stat(path, &file) && !stat(link, &program) && file.st_dev == program.st_dev &&
           file.st_ino == program.st_ino;
}

HANDLE(begin) {
    struct prompt new = {.hasKey = 0};
    const char *handle;
    int isSandboxed = 1, titled;
    uint32_t policy = 0, pid = 0;
    char stage[33], name[300], identifier[300], user[300], requester[520], path[300];
    TRY(admit(m, error));
    TRY(sd_bus_message_read(m, "s", &handle));
    if (!*handle || strlen(handle) > 128 || find(handle))
        return refuse(error, SD_BUS_ERROR_INVALID_ARGS);
    if (count == LIMIT)
        return refuse(error, SD_BUS_ERROR_LIMITS_EXCEEDED);
    strcpy(new.handle, handle);
    TRY(text(m, "stage", stage, sizeof stage, 32));
    TRY(text(m, "reason", new.reason, sizeof new.reason, 512));
    TRY(text(m, "user", user, 200, 64));
    TRY(text(m, "app-name", name, 200, 128));
    TRY(text(m, "sandbox-id", identifier, sizeof identifier, 255));
    TRY(titled = text(m, "fallback-title", new.fallback, sizeof new.fallback, 64));
    TRY(value(m, "policy", "u", &policy));
    TRY(value(m, "pid", "u", &pid));
    TRY(value(m, "sandboxed", "b", &isSandboxed));
    TRY(passcode_key(m, &new));
    int looks = !strcmp(stage, "biometry");
    new.isItem = !strcmp(stage, "application-password");
    int isKnown = looks || new.isItem || !strcmp(stage, "passcode");
    if (!isKnown || !new.reason[strspn(new.reason, " ")])
        return refuse(error, SD_BUS_ERROR_INVALID_ARGS);
    if (!titled)
        strcpy(new.fallback, "use another way");
    if (isSandboxed)
        snprintf(new.app, 400,
                 *name && *identifier ? "The sandboxed app %s" : "A sandboxed app%.0s", name);
    else if (proven(pid, path, sizeof path))
        snprintf(new.app, 400, "%s (process %u)", path, pid);
    else
        strcpy(new.app, "A program that hides what it is");
    TRY(text(m, "requester", requester, sizeof requester, 128));
    if (*requester)
        snprintf(new.app + strlen(new.app), sizeof new.app - strlen(new.app),
                 ", which says that it asks on behalf of %s,", requester);
    snprintf(new.login, sizeof new.login, "Password of %s: ", user);
    new.takes = !looks || policy == 2;
    TRY(own_words(m, &new));
    prompts[count++] = new;
    if (count == 1)
        show();
    return sd_bus_reply_method_return(m, "");
}

static const struct {
    const char *word, *sentence;
} sentences[] = {{"sensor-ready", "The sensor looks."},
                 {"sensor-busy", "The sensor is in use."},
                 {"no-match", "No match."},
                 {"success", "It is you."},
                 {"confirmation-required", "Press Enter to confirm."},
                 {"fallback-available", "Enter: "},
                 {"passcode-required", "The password is needed."},
                 {"passcode-rejected", "Wrong password."},
                 {"canceled", "Canceled."},
                 {"application-password-required", "Now the password of the item."},
                 {"failed", "Failed."},
                 {"lockout", "Too many attempts."},
                 {"fallback", "Another way."}};

static const char *sentence(const char *word, const char *other) {
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (!strcmp(word, sentences[i].word))
            return sentences[i].sentence;
    return other;
}

/* A program's or an administrator's wish has a sentence of its own. */
static int cause(sd_bus_message *m, char *to, size_t size) {
    char word[64], quoted[300];
    TRY(text(m, "cause", word, sizeof word, 32));
    TRY(text(m, "text", quoted, sizeof quoted, 64));
    for (char *mark; (mark = strchr(quoted, '"'));)
        *mark = '\''; /* it can't end the quotation */
    if (!strcmp(word, "program"))
        snprintf(to, size, "A program of yours asked for the password.");
    if (!strcmp(word, "remote"))
        snprintf(to, size, *quoted ? "Your administrator asked for the password: \"%s\"."
                                   : "Your administrator asked for the password.%s",
                 quoted);
    return 0;
}

HANDLE(update) {
    const char *handle, *kind;
    char hint[500] = "", line[64] = "", sensor[300];
    uint32_t left;
    uint64_t delay = 0;
    TRY(admit(m, error));
    TRY(sd_bus_message_read(m, "ss", &handle, &kind));
    struct prompt *prompt = find(handle);
    if (!prompt)
        return sd_bus_reply_method_return(m, "");
    int isItem = !strcmp(kind, "application-password-required"),
        offers = !strcmp(kind, "fallback-available");
    if (offers && !*prompt->fallback)
        return sd_bus_reply_method_return(m, "");
    if (!strcmp(kind, "passcode-required")) {
        TRY(passcode_key(m, prompt));
        TRY(cause(m, hint, sizeof hint));
    }
    if (isItem || !strcmp(kind, "passcode-required")) { /* what was begun may be the other secret */
        prompt->isItem = isItem, prompt->takes = 1, prompt->waits = 0, prompt->offer = NULL;
        if (prompt == prompts)
            forget();
    }
    if (offers && !prompt->offer)
        prompt->offer = "SubmitFallback";
    if (!strcmp(kind, "confirmation-required"))
        prompt->offer = "SubmitConfirm";
    if (!strcmp(kind, "hint"))
        TRY(text(m, "hint", hint, sizeof hint, 64));
    if (!strcmp(kind, "sensor-ready")) {
        TRY(text(m, "sensor", sensor, sizeof sensor, 64));
        for (int i = 0; i < SENSORS; i++)
            if (*prompt->own[i].words && !strcmp(prompt->own[i].sensor, sensor))
                snprintf(hint, sizeof hint, "\"%s\" (%s).", prompt->own[i].words, sensor);
    }
    if (!strcmp(kind, "passcode-required") || !strcmp(kind, "passcode-rejected")) {
        TRY(value(m, "delay", "t", &delay)); /* nothing is taken till delay-over */
        if ((prompt->waits = delay > 0))
            snprintf(hint, sizeof hint, "Too many wrong passwords: wait %llu s.",
                     (unsigned long long)(delay + 999) / 1000);
        if (prompt->waits && prompt == prompts)
            forget();
    }
    if (!prompt->waits && value(m, "attempts-left", "u", &left) > 0)
        snprintf(line, sizeof line, " Attempts left: %u.", left);
    if (prompt == prompts)
        say("\r\n"), say(*hint ? hint : sentence(kind, "")), say(offers ? prompt->fallback : line),
            say("\r\n"), ask();
    return sd_bus_reply_method_return(m, "");
}

HANDLE(end) {
    const char *handle, *outcome;
    TRY(admit(m, error));
    TRY(sd_bus_message_read(m, "ss", &handle, &outcome));
    if (find(handle))
        over(find(handle), sentence(outcome, "It was ended."));
    return sd_bus_reply_method_return(m, "");
}

#define METHOD(name, in, handler) SD_BUS_METHOD(name, in, "", handler, SD_BUS_VTABLE_UNPRIVILEGED)
static const sd_bus_vtable table[] = {SD_BUS_VTABLE_START(0), METHOD("Begin", "sa{sv}", begin),
                                      METHOD("Update", "ssa{sv}", update), METHOD("End", "ss", end),
                                      SD_BUS_VTABLE_END};

HANDLE(registered) {
    const sd_bus_error *why = sd_bus_message_get_error(m);
    say(why ? why->message : "Registered."), say("\r\n");
    return why ? 0 : read_key();
}

HANDLE(found) { /* who the service is */
    const char *new = "";
    if (!sd_bus_message_is_method_error(m, NULL))
        TRY(sd_bus_message_read(m, "s", &new));
    if (!strcmp(new, owner))
        return 0;
    while (count)
        over(&prompts[count - 1], "The service is gone.");
    snprintf(owner, sizeof owner, "%s", new), hasService = 0;
    return !*owner   ? 0
           : process ? sd_bus_call_method_async(bus, NULL, owner, ROOT, SERVICE, "RegisterAgent",
                                                registered, NULL, "oa{sv}", PATH, 1, "process", "u",
                                                process)
                     : sd_bus_call_method_async(bus, NULL, owner, ROOT, SERVICE, "RegisterAgent",
                                                registered, NULL, "oa{sv}", PATH, 0);
}

static int look(void) {
    return sd_bus_call_method_async(bus, NULL, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                    "org.freedesktop.DBus", "GetNameOwner", found, NULL, "s",
                                    SERVICE);
}

HANDLE(changed) { /* of whatever name */
    const char *name;
    TRY(sd_bus_message_read(m, "s", &name));
    return strcmp(name, SERVICE) ? 0 : look();
}

static int again(sd_event_source *s, uint64_t now, void *data) { /* that signal can get lost */
    TRY(sd_event_source_set_time_relative(s, 60000000));
    TRY(sd_event_source_set_enabled(s, SD_EVENT_ONESHOT));
    return look();
}

static int run(const char *where) {
    sigset_t term;
    sigemptyset(&term), sigaddset(&term, SIGTERM), sigprocmask(SIG_BLOCK, &term, NULL);
    mlock(typed, sizeof typed), madvise(typed, sizeof typed, MADV_DONTDUMP);
    TRY((terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)) < 0 ? -errno : 0);
    TRY(sd_event_default(&loop));
    TRY(sd_event_add_signal(loop, NULL, SIGTERM, NULL, NULL));
    TRY(sd_bus_new(&bus));
    if (!strcmp(where, "system") || !strcmp(where, "session")) {
        const char *set =
            getenv(where[1] == 'y' ? "DBUS_SYSTEM_BUS_ADDRESS" : "DBUS_SESSION_BUS_ADDRESS");
        where = set ? set : "unix:path=/run/dbus/system_bus_socket";
    }
    TRY(sd_bus_set_address(bus, where));
    TRY(sd_bus_set_bus_client(bus, 1));
    TRY(sd_bus_negotiate_fds(bus, 0));
    TRY(sd_bus_start(bus));
    TRY(sd_bus_attach_event(bus, loop, 0));
    TRY(sd_bus_set_exit_on_disconnect(bus, 1));
    TRY(sd_bus_add_object_vtable(bus, NULL, PATH, AGENT, table, NULL));
    TRY(sd_bus_match_signal(bus, NULL, "org.freedesktop.DBus", NULL, "org.freedesktop.DBus",
                            "NameOwnerChanged", changed, NULL));
    TRY(sd_event_add_time_relative(loop, NULL, CLOCK_MONOTONIC, 0, 0, again, NULL));
    return sd_event_loop(loop);
}

int main(int words, char **word) {
    const char *where = getuid() ? "session" : "system";
    for (int i = 1; i + 1 < words; i += 2) {
        if (!strcmp(word[i], "--bus"))
            where = word[i + 1];
        if (!strcmp(word[i], "--process"))
            process = (uint32_t)strtoul(word[i + 1], NULL, 10);
    }
    int result = run(where);
    give_back();
    if (result < 0)
        fprintf(stderr, "%s: %s\n", *word, strerror(-result));
    return result < 0;
}
