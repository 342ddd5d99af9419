/* `bench-client soak ADDRESS CONNECTIONS COUNT SEED`: COUNT evaluations from CONNECTIONS connections of one
 * user. Some are cancelled, and the connections of some die: at once, when the prompt is shown, or when the
 * sensor looks. Some run on a context. The program prints `done N` now and then, and at the end a count of
 * each outcome and of each error by name. An error without an explanation here makes it fail.
 *
 * `bench-client feed ADDRESS SENSOR SEED`: keeps a simulated sensor in matches, with few misses and hints
 * between them, until its input ends. Some matches take milliseconds, because a cancel during a look would
 * otherwise come after the match. */
#include "client.h"
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The most concurrent evaluations of a user: one less than a session may have (L9), because the service
 * notices a dead connection later than this program. */
enum { most_at_once = 8 };
enum outcome { granted, died, explained, unexpected, outcomes };
static const char *const names[outcomes] = {"granted", "died", "explained", "unexpected"};

/* The time and the kind of a disturbance. */
enum moment { never, at_once, when_shown, when_looking };
enum disturbance { nothing, invalidate, death };

static uint64_t state;

static unsigned chance(unsigned below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 16) % below);
}

/* More than the number of different errors that the service has. */
enum { most_errors = 32 };
struct error {
    char *name;
    long count;
};

struct soak {
    const char *address;
    struct error errors[most_errors];
    long count, begun, ended, of[outcomes];
    int running;
};

struct client {
    struct soak *soak;
    sd_bus *bus;
    sd_bus_slot *filter;
    char *context;
    int is_busy;
    enum moment moment;
    enum disturbance disturbance;
};

static int event(sd_bus_message *message, void *userdata, sd_bus_error *error);

static void start_client(struct client *client) {
    client->bus = connect_to(client->soak->address);
    check(sd_bus_add_filter(client->bus, &client->filter, event, client), "filter");
}

static void ended(struct client *client, enum outcome outcome) {
    struct soak *soak = client->soak;
    client->is_busy = 0;
    client->moment = never;
    free(client->context);
    client->context = NULL;
    soak->running--;
    soak->of[outcome]++;
    if (++soak->ended % 1000 == 0) {
        printf("done %ld\n", soak->ended);
        fflush(stdout);
    }
}

/* Sends a call without a reply. */
static void send(struct client *client, const char *object, const char *interface, const char *member) {
    sd_bus_message *call = NULL;
    check(sd_bus_message_new_method_call(client->bus, &call, service, object, interface, member), member);
    check(sd_bus_message_set_expect_reply(call, 0), member);
    check(sd_bus_send(client->bus, call, NULL), member);
    sd_bus_message_unref(call);
}

static void disturb(struct client *client) {
    client->moment = never;
    if (client->disturbance == invalidate) {
        const char *interface = client->context ? "org.localauth.Context1" : service;
        send(client, client->context ? client->context : path, interface, "Invalidate");
    }
    /* The loop closes the connection later, because it is in use here. */
}

static int event(sd_bus_message *message, void *userdata, sd_bus_error *error) {
    (void)error;
    struct client *client = userdata;
    const char *kind;
    if (!sd_bus_message_is_signal(message, NULL, "Event"))
        return 0;
    check(sd_bus_message_read(message, "s", &kind), "event");
    if ((client->moment == when_shown && strcmp(kind, "prompt-shown") == 0) ||
        (client->moment == when_looking && strcmp(kind, "sensor-ready") == 0))
        disturb(client);
    return 1;
}

static void count(struct soak *soak, const char *name) {
    struct error *error = soak->errors;
    while (error->name && strcmp(error->name, name) != 0)
        if (++error == soak->errors + most_errors)
            fail("soak", "more errors than there are");
    if (!error->name)
        error->name = strdup(name);
    error->count++;
}

/* AuthenticationFailed is explained: three misses end an evaluation, and the feeder queues misses. */
static enum outcome outcome_of(struct client *client, sd_bus_message *reply) {
    const sd_bus_error *error = sd_bus_message_get_error(reply);
    if (!error)
        return granted;
    count(client->soak, error->name);
    if ((strcmp(error->name, "org.localauth.Error.AppCancel") == 0 && client->disturbance == invalidate) ||
        strcmp(error->name, "org.localauth.Error.AuthenticationFailed") == 0 ||
        strcmp(error->name, "org.freedesktop.DBus.Error.LimitsExceeded") == 0)
        return explained;
    fprintf(stderr, "bench-client: %s: %s\n", error->name, error->message);
    return unexpected;
}

static int evaluated(sd_bus_message *reply, void *userdata, sd_bus_error *error) {
    (void)error;
    struct client *client = userdata;
    enum outcome outcome = outcome_of(client, reply);
    if (client->context)
        send(client, client->context, "org.localauth.Context1", "Release");
    ended(client, outcome);
    return 1;
}

static void evaluate(struct client *client) {
    const char *object = client->context ? client->context : path;
    const char *interface = client->context ? "org.localauth.Context1" : service;
    check(sd_bus_call_method_async(client->bus, NULL, service, object, interface, "Evaluate", evaluated,
                                   client, "usa{sv}", 1, "be measured", 0),
          "evaluate");
    if (client->moment == at_once)
        disturb(client);
}

static int created(sd_bus_message *reply, void *userdata, sd_bus_error *error) {
    (void)error;
    struct client *client = userdata;
    const char *made;
    if (sd_bus_message_is_method_error(reply, NULL)) {
        ended(client, outcome_of(client, reply));
        return 1;
    }
    check(sd_bus_message_read(reply, "o", &made), "context");
    client->context = strdup(made);
    evaluate(client);
    return 1;
}

static void begin(struct client *client) {
    struct soak *soak = client->soak;
    unsigned kind = chance(20);
    client->is_busy = 1;
    soak->running++;
    soak->begun++;
    client->disturbance = kind < 3 ? invalidate : kind < 5 ? death : nothing;
    client->moment = client->disturbance == nothing ? never : (enum moment)(at_once + chance(3));
    if (chance(5) > 0)
        evaluate(client);
    else
        check(sd_bus_call_method_async(client->bus, NULL, service, path, service, "CreateContext", created,
                                       client, "a{sv}", 0),
              "CreateContext");
}

/* Does the pending work of a connection, and returns whether there was any. */
static int turn(struct client *client) {
    int did = 0;
    while (check(sd_bus_process(client->bus, NULL), "process") > 0)
        did = 1;
    if (client->is_busy && client->disturbance == death && client->moment == never) {
        sd_bus_flush(client->bus);
        sd_bus_slot_unref(client->filter);
        sd_bus_close_unref(client->bus);
        start_client(client);
        ended(client, died);
        did = 1;
    }
    struct soak *soak = client->soak;
    if (!client->is_busy && soak->begun < soak->count && soak->running < most_at_once) {
        begin(client);
        did = 1;
    }
    return did;
}

int soak(int argc, char **argv) {
    if (argc != 6 || atoi(argv[3]) < 1 || atol(argv[4]) < 1)
        return 64;
    int width = atoi(argv[3]);
    struct soak all = {.address = argv[2], .count = atol(argv[4])};
    state = (uint64_t)atol(argv[5]) * 2654435761u + 1;
    struct client *clients = calloc((size_t)width, sizeof *clients);
    struct pollfd *waits = calloc((size_t)width, sizeof *waits);
    if (!clients || !waits)
        fail("soak", "no memory");
    for (int i = 0; i < width; i++) {
        clients[i].soak = &all;
        start_client(&clients[i]);
    }
    wait_for_go();
    for (int first = 0; all.ended < all.count; first = (first + 1) % width) {
        int did = 0;
        for (int i = 0; i < width; i++)
            did |= turn(&clients[(first + i) % width]);
        if (did)
            continue;
        for (int i = 0; i < width; i++)
            waits[i] = (struct pollfd){.fd = sd_bus_get_fd(clients[i].bus),
                                       .events = (short)sd_bus_get_events(clients[i].bus)};
        poll(waits, (nfds_t)width, -1);
    }
    for (int i = 0; i < width; i++)
        sd_bus_flush_close_unref(clients[i].bus);
    printf("end");
    for (int i = 0; i < outcomes; i++)
        printf(" %s=%ld", names[i], all.of[i]);
    for (struct error *error = all.errors; error < all.errors + most_errors && error->name; error++)
        printf(" %s=%ld", error->name, error->count);
    printf("\n");
    return all.of[unexpected] > 0;
}

static const char *next_outcome(void) {
    unsigned kind = chance(50);
    return kind == 0 ? "no-match" : kind == 1 ? "hint:center" : kind < 15 ? "delay:3" : "match";
}

int feed(int argc, char **argv) {
    if (argc != 5)
        return 64;
    char name[256];
    snprintf(name, sizeof name, "org.localauth.Sensor1.%s", argv[3]);
    state = (uint64_t)atol(argv[4]) * 2654435761u + 1;
    sd_bus *bus = connect_to(argv[2]);
    printf("ready\n");
    fflush(stdout);
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    do {
        sd_bus_error error = SD_BUS_ERROR_NULL;
        char **pending = NULL;
        int there = 0;
        check(sd_bus_get_property_strv(bus, name, "/org/localauth/Sensor1", "org.localauth.SimulatedSensor1",
                                       "Pending", &error, &pending),
              "Pending");
        for (; pending && pending[there]; there++)
            free(pending[there]);
        free(pending);
        if (there > 128)
            continue;
        sd_bus_message *call = NULL;
        check(sd_bus_message_new_method_call(bus, &call, name, "/org/localauth/Sensor1",
                                             "org.localauth.SimulatedSensor1", "Queue"),
              "Queue");
        check(sd_bus_message_open_container(call, 'a', "s"), "Queue");
        for (int i = 0; i < 128; i++)
            check(sd_bus_message_append(call, "s", next_outcome()), "Queue");
        check(sd_bus_message_close_container(call), "Queue");
        check(sd_bus_call(bus, call, 0, &error, NULL), "Queue");
        sd_bus_message_unref(call);
    } while (poll(&input, 1, 50) == 0);
    sd_bus_flush_close_unref(bus);
    return 0;
}
