/*
 * An app that authenticates the user, and keeps a secret that only this user can read.
 *
 *   app ask [BUS]      authenticates; the exit status is the answer
 *   app keep [BUS]     stores the secret from standard input
 *   app show [BUS]     authenticates, and writes the secret to standard output
 *
 * BUS is system (the default), session or an address. Secrets are plain here: they pass through the
 * bus's memory. On the system bus only root can monitor. Sealing secrets needs a library with HPKE.
 *   cc -Wall -Wextra app.c -o app $(pkg-config --cflags --libs libsystemd)
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define SERVICE "org.localauth.Authentication1"
#define MANAGER "/org/localauth/Authentication1"
#define CONTEXT "org.localauth.Context1"
#define KEYCHAIN "org.localauth.Keychain1"
#define KEYCHAIN_PATH "/org/localauth/Keychain1"
#define ITEM 3, "class", "s", "genp", "svce", "s", "example-app", "acct", "s", "c"
#define SECRET_MAX 65536

enum { USER_PRESENCE = 1 }; /* reading needs biometry or the password */

static sd_bus_error error = SD_BUS_ERROR_NULL;

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

/* Sends a call and waits for its reply; shows the events before it. */
static int wait_for(sd_bus *bus, sd_bus_message *call, sd_bus_message **reply)
{
    /* No timeout here, because a person answers. The service has its own timeout. */
    int r = sd_bus_call_async(bus, NULL, call, on_reply, reply, UINT64_MAX);
    sd_bus_message_unref(call);
    while (r >= 0 && !*reply)
        if ((r = sd_bus_process(bus, NULL)) == 0)
            r = sd_bus_wait(bus, UINT64_MAX);
    if (r >= 0 && sd_bus_message_is_method_error(*reply, NULL))
        r = -1, sd_bus_error_copy(&error, sd_bus_message_get_error(*reply));
    return r;
}

/* Returns the item's id, which is valid as long as the reply. */
static const char *find(sd_bus *bus, sd_bus_message **reply)
{
    const char *key, *id = NULL;
    if (sd_bus_call_method(bus, SERVICE, KEYCHAIN_PATH, KEYCHAIN, "Search", &error, reply,
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

/* Adds the item, or replaces the secret of the item with this id. */
static int store(sd_bus *bus, const char *id, const void *secret, size_t size)
{
    sd_bus_message *call = NULL, *reply = NULL;
    sd_bus_message_new_method_call(bus, &call, SERVICE, KEYCHAIN_PATH, KEYCHAIN,
                                   id ? "SetSecret" : "Add");
    sd_bus_message_sensitive(call); /* sd-bus wipes the message */
    if (id)
        sd_bus_message_append(call, "s", id);
    else
        sd_bus_message_append(call, "a{sv}", ITEM);
    sd_bus_message_append_array(call, 'y', secret, size);
    if (!id)
        sd_bus_message_append(call, "a{sv}", 1, "flags", "t", (uint64_t)USER_PRESENCE);
    sd_bus_message_append(call, "a{sv}", 0);
    return wait_for(bus, call, &reply);
}

static int keep(sd_bus *bus)
{
    static char secret[SECRET_MAX + 1]; /* the service refuses more than SECRET_MAX */
    sd_bus_message *found = NULL;
    size_t size = fread(secret, 1, sizeof secret, stdin);
    int r = store(bus, NULL, secret, size);
    if (sd_bus_error_has_name(&error, KEYCHAIN ".Error.Duplicate")) {
        sd_bus_error_free(&error);
        const char *id = find(bus, &found);
        if (id)
            r = store(bus, id, secret, size);
        sd_bus_message_unref(found);
    }
    explicit_bzero(secret, sizeof secret);
    if (r >= 0)
        puts("Kept.");
    return r;
}

static int show(sd_bus *bus, const char *context)
{
    sd_bus_message *call = NULL, *found = NULL, *reply = NULL;
    const char *id = find(bus, &found);
    const void *secret;
    size_t size;

    if (!id)
        return -1;
    sd_bus_message_new_method_call(bus, &call, SERVICE, KEYCHAIN_PATH, KEYCHAIN, "Read");
    sd_bus_message_append(call, "ssa{sv}", id, "show your secret", 1, "context", "o", context);
    int r = wait_for(bus, call, &reply);
    if (r >= 0 && (r = sd_bus_message_read_array(reply, 'y', &secret, &size)) >= 0)
        fwrite(secret, 1, size, stdout);
    return r;
}

/* A context keeps its success, so reading the secret needs no second prompt. */
static int ask(sd_bus *bus, int shows)
{
    sd_bus_message *created = NULL, *call = NULL, *reply = NULL;
    const char *context;
    /* The bus starts the service. */
    int r = sd_bus_call_method(bus, SERVICE, MANAGER, SERVICE, "CreateContext", &error, &created,
                               "a{sv}", 0);
    if (r < 0 || (r = sd_bus_message_read(created, "o", &context)) < 0)
        return r;
    sd_bus_match_signal(bus, NULL, sd_bus_message_get_sender(created), context, CONTEXT, "Event",
                        on_event, NULL);
    sd_bus_message_new_method_call(bus, &call, SERVICE, context, CONTEXT, "Evaluate");
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
    const char *verb = argc == 2 || argc == 3 ? argv[1] : "";
    int asks = strcmp(verb, "ask") == 0, shows = strcmp(verb, "show") == 0, r;
    sd_bus *bus = NULL;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!asks && !shows && strcmp(verb, "keep") != 0)
        return fputs("usage: app ask|keep|show [BUS]\n", stderr), 64;
    r = connect_to(argc == 3 ? argv[2] : "system", &bus);
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
