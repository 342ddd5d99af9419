/*
 * An app: asks who is there, and keeps a secret that is read by that person alone.
 *
 *   app BUS ask      asks; the exit status is the answer
 *   app BUS keep     keeps what comes on standard input
 *   app BUS show     writes the secret to standard output, after asking
 *
 * BUS is system, session or an address.
 *   cc -Wall -Wextra app.c -o app $(pkg-config --cflags --libs libsystemd)
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#define SERVICE "org.localauth.Authentication1"
#define MANAGER "/org/localauth/Authentication1"
#define CONTEXT "org.localauth.Context1"
#define KEYCHAIN "org.localauth.Keychain1"
#define KEYCHAIN_PATH "/org/localauth/Keychain1"
#define ITEM 3, "class", "s", "genp", "svce", "s", "example-app", "acct", "s", "c"
#define SECRET_MAX 65536

enum { USER_PRESENCE = 1 }; /* reading needs biometry or the passcode */

static sd_bus_error error = SD_BUS_ERROR_NULL;
static const char *owner; /* the service's own connection: events count from there alone */

static int connect_to(const char *where, sd_bus **bus)
{
    if (strcmp(where, "system") == 0)
        return sd_bus_open_system(bus);
    if (strcmp(where, "session") == 0)
        return sd_bus_open_user(bus);
    int r = sd_bus_new(bus);
    if (r < 0 || (r = sd_bus_set_address(*bus, where)) < 0)
        return r;
    sd_bus_set_bus_client(*bus, 1);
    sd_bus_negotiate_fds(*bus, 1);
    return sd_bus_start(*bus);
}

static int on_event(sd_bus_message *m, void *data, sd_bus_error *ignored)
{
    const char *kind;
    (void)data, (void)ignored;
    if (sd_bus_message_read(m, "s", &kind) > 0 && strcmp(kind, "no-match") == 0)
        puts("Not recognized, try again.");
    return 0;
}

static int on_reply(sd_bus_message *m, void *reply, sd_bus_error *ignored)
{
    (void)ignored;
    *(sd_bus_message **)reply = sd_bus_message_ref(m);
    return 0;
}

/* Sends a call and waits for its reply, showing the events that come before. */
static int wait_for(sd_bus *bus, sd_bus_message *call, sd_bus_message **reply)
{
    /* No time-out of its own: a person answers, and the service's deadline counts. */
    int r = sd_bus_call_async(bus, NULL, call, on_reply, reply, UINT64_MAX);
    sd_bus_message_unref(call);
    while (r >= 0 && !*reply)
        if ((r = sd_bus_process(bus, NULL)) == 0)
            r = sd_bus_wait(bus, UINT64_MAX);
    if (r >= 0 && sd_bus_message_is_method_error(*reply, NULL))
        r = -1, sd_bus_error_copy(&error, sd_bus_message_get_error(*reply));
    return r;
}

/* A secret for the service: in memory that can't change any more. */
static int sealed_input(void)
{
    static char secret[SECRET_MAX + 1];
    size_t size = fread(secret, 1, sizeof secret, stdin);
    if (size > SECRET_MAX) {
        sd_bus_error_set(&error, SD_BUS_ERROR_LIMITS_EXCEEDED, "The secret is too long.");
        return -1;
    }
    int memory = memfd_create("secret", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0 || write(memory, secret, size) != (ssize_t)size ||
        fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) < 0)
        return -1;
    explicit_bzero(secret, sizeof secret);
    return memory;
}

/* The id of the item; it lives as long as the reply. */
static const char *find(sd_bus *bus, sd_bus_message **reply)
{
    const char *key, *id = NULL;
    if (sd_bus_call_method(bus, owner, KEYCHAIN_PATH, KEYCHAIN, "Search", &error, reply,
                           "a{sv}a{sv}", ITEM, 0) < 0)
        return NULL;
    sd_bus_message_enter_container(*reply, 'a', "a{sv}");
    if (sd_bus_message_enter_container(*reply, 'a', "{sv}") > 0)
        while (!id && sd_bus_message_enter_container(*reply, 'e', "sv") > 0) {
            sd_bus_message_read(*reply, "s", &key);
            if (strcmp(key, "id") == 0)
                sd_bus_message_read(*reply, "v", "s", &id);
            else
                sd_bus_message_skip(*reply, "v");
            sd_bus_message_exit_container(*reply);
        }
    if (!id)
        sd_bus_error_set(&error, KEYCHAIN ".Error.NotFound", "Nothing is kept.");
    return id;
}

static int keep(sd_bus *bus)
{
    sd_bus_message *found = NULL;
    int memory = sealed_input();
    if (memory < 0)
        return -1;
    int r = sd_bus_call_method(bus, owner, KEYCHAIN_PATH, KEYCHAIN, "Add", &error, NULL,
                               "a{sv}ha{sv}a{sv}", ITEM, memory, 1, "flags", "t",
                               (uint64_t)USER_PRESENCE, 0);
    if (sd_bus_error_has_name(&error, KEYCHAIN ".Error.Duplicate")) {
        sd_bus_error_free(&error);
        const char *id = find(bus, &found);
        if (id)
            r = sd_bus_call_method(bus, owner, KEYCHAIN_PATH, KEYCHAIN, "SetSecret", &error, NULL,
                                   "sha{sv}", id, memory, 0);
        sd_bus_message_unref(found);
    }
    if (r >= 0)
        puts("Kept.");
    return r;
}

/* Whoever receives a secret makes the pair: a monitor of the bus can't read from the other end. */
static int show(sd_bus *bus, const char *context)
{
    static char secret[SECRET_MAX];
    sd_bus_message *call = NULL, *found = NULL, *reply = NULL;
    const char *id = find(bus, &found);
    int ends[2];

    if (!id || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    sd_bus_message_new_method_call(bus, &call, owner, KEYCHAIN_PATH, KEYCHAIN, "Read");
    sd_bus_message_append(call, "shsa{sv}", id, ends[1], "show your secret", 1, "context", "o",
                          context);
    int r = wait_for(bus, call, &reply);
    ssize_t size = r < 0 ? -1 : recv(ends[0], secret, sizeof secret, MSG_DONTWAIT);
    if (size > 0)
        fwrite(secret, 1, (size_t)size, stdout);
    explicit_bzero(secret, sizeof secret);
    return r;
}

/* A context keeps its success: what is read with it needs no second prompt. */
static int ask(sd_bus *bus, int shows)
{
    sd_bus_message *created = NULL, *call = NULL, *reply = NULL;
    const char *context;
    int r = sd_bus_call_method(bus, owner, MANAGER, SERVICE, "CreateContext", &error, &created,
                               "a{sv}", 0);
    if (r < 0 || (r = sd_bus_message_read(created, "o", &context)) < 0)
        return r;
    sd_bus_match_signal(bus, NULL, owner, context, CONTEXT, "Event", on_event, NULL);
    sd_bus_message_new_method_call(bus, &call, owner, context, CONTEXT, "Evaluate");
    sd_bus_message_append(call, "usa{sv}", 2, shows ? "show your secret" : "go on", 1, "timeout",
                          "t", (uint64_t)60000);
    r = wait_for(bus, call, &reply);
    if (r >= 0 && shows)
        return show(bus, context);
    if (r >= 0)
        puts("It is you.");
    return r;
}

int main(int argc, char **argv)
{
    const char *verb = argc == 3 ? argv[2] : "";
    int asks = strcmp(verb, "ask") == 0, shows = strcmp(verb, "show") == 0, r;
    sd_bus *bus = NULL;
    sd_bus_message *reply = NULL;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!asks && !shows && strcmp(verb, "keep") != 0)
        return fputs("usage: app BUS ask|keep|show\n", stderr), 64;
    r = connect_to(argv[1], &bus);
    if (r >= 0)
        r = sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                               "org.freedesktop.DBus", "GetNameOwner", &error, &reply, "s", SERVICE);
    if (r >= 0)
        r = sd_bus_message_read(reply, "s", &owner);
    if (r >= 0)
        r = asks || shows ? ask(bus, shows) : keep(bus);
    if (r >= 0)
        return 0;
    if (sd_bus_error_has_name(&error, "org.localauth.Error.UserCancel"))
        fputs("Canceled.\n", stderr);
    else
        fprintf(stderr, "Refused: %s (%s)\n", error.message ? error.message : strerror(-r),
                error.name ? error.name : "no answer");
    return 1;
}
