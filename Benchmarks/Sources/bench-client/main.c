/* The client of every measurement, equal for all services, so that only the services differ. Before each
 * timed part, the client prints `ready` and waits for a line on standard input. Then it prints three
 * numbers of nanoseconds: the median call, the 99th percentile, and its own processor time for each call.
 *
 *   bench-client calls ADDRESS SHAPE COUNT WINDOW                      WINDOW calls in flight
 *   bench-client clients ADDRESS SHAPE COUNT CONNECTIONS               one in flight on each
 *   bench-client first ADDRESS SHAPE COUNT                             COUNT times: connect, call once
 *   bench-client evaluate ADDRESS COUNT (queued | touched)             a prompt, and a match at once
 *   bench-client delete ADDRESS COUNT IDS                              Delete of ids that do not exist
 *   bench-client agent ADDRESS                                         a prompt agent without windows
 *   bench-client name ADDRESS NAME                                     when NAME is owned
 *   bench-client contexts ADDRESS CONNECTIONS EACH                     contexts that live as long as it
 *   bench-client soak, bench-client feed                               see soak.c
 *
 * SHAPE is the method to call; see `shapes`. With BENCH_UID in the environment, the client first becomes
 * that user. The connection that drives the sensor keeps the original user.
 */
#include "client.h"
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>

#define SERVICE "org.localauth.Authentication1"
#define PATH "/org/localauth/Authentication1"

const char service[] = SERVICE;
const char path[] = PATH;

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int check(int r, const char *what) {
    if (r < 0) {
        fprintf(stderr, "bench-client: %s: %s\n", what, strerror(-r));
        exit(1);
    }
    return r;
}

void fail(const char *what, const char *detail) {
    fprintf(stderr, "bench-client: %s: %s\n", what, detail ? detail : "no message");
    exit(1);
}

/* Prints `ready` and waits for a line on standard input. */
void wait_for_go(void) {
    char line[16];
    printf("ready\n");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        exit(1);
}

sd_bus *connect_to(const char *address) {
    sd_bus *bus = NULL;
    check(sd_bus_new(&bus), "new");
    check(sd_bus_set_address(bus, address), "address");
    check(sd_bus_set_bus_client(bus, 1), "client");
    check(sd_bus_negotiate_fds(bus, 0), "negotiate_fds");
    check(sd_bus_start(bus), "start");
    return bus;
}

static void become_user(void) {
    const char *user = getenv("BENCH_UID");
    if (user && setuid((uid_t)atoi(user)) < 0)
        fail("setuid", user);
}

static void step(sd_bus *bus) {
    int r = check(sd_bus_process(bus, NULL), "process");
    if (r == 0)
        check(sd_bus_wait(bus, UINT64_MAX), "wait");
}

/* shapes */

struct shape {
    const char *name, *destination, *path, *interface, *member;
    int argument;
};

enum { no_argument = 0, first_policy = 1, second_policy = 2, of_polkit, of_context };

static const struct shape shapes[] = {
    {"can-evaluate-1", SERVICE, PATH, SERVICE, "CanEvaluate", first_policy},
    {"can-evaluate-2", SERVICE, PATH, SERVICE, "CanEvaluate", second_policy},
    /* CanEvaluate of the yardstick, which has a name of its own beside localauthd. */
    {"echo", "org.localauth.Yardstick", PATH, SERVICE, "CanEvaluate", first_policy},
    {"context", SERVICE, PATH, SERVICE, "CreateContext", of_context},
    {"polkit", "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority",
     "org.freedesktop.PolicyKit1.Authority", "CheckAuthorization", of_polkit},
    {"fprintd", "net.reactivated.Fprint", "/net/reactivated/Fprint/Manager",
     "net.reactivated.Fprint.Manager", "GetDefaultDevice", no_argument},
};

static const struct shape *shape_named(const char *name) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].name, name) == 0)
            return &shapes[i];
    fail("no such shape", name);
    return NULL;
}

static sd_bus_message *make_call(sd_bus *bus, const struct shape *shape) {
    sd_bus_message *call = NULL;
    const char *own = NULL;
    check(sd_bus_message_new_method_call(bus, &call, shape->destination, shape->path,
                                         shape->interface, shape->member),
          "call");
    switch (shape->argument) {
    case first_policy:
    case second_policy:
        check(sd_bus_message_append(call, "u", shape->argument), "argument");
        break;
    case of_context:
        check(sd_bus_message_append(call, "a{sv}", 0), "argument");
        break;
    case of_polkit:
        check(sd_bus_get_unique_name(bus, &own), "own name");
        check(sd_bus_message_append(call, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s",
                                    own, "org.freedesktop.policykit.exec", 0, 0, ""),
              "argument");
        break;
    }
    return call;
}

/* calls */

struct run {
    const struct shape *shape;
    int sent, answered, count;
    int64_t *took;
};

struct flight {
    struct run *run;
    sd_bus *bus;
    int64_t begun;
};

static void send_next(struct flight *flight);

/* Releases a created context, timed as a part of the call that created it. */
static int release(struct flight *flight, sd_bus_message *reply);

static int answered(sd_bus_message *reply, void *context, sd_bus_error *error) {
    (void)error;
    struct flight *flight = context;
    struct run *run = flight->run;
    if (sd_bus_message_is_method_error(reply, NULL))
        fail(run->shape->member, sd_bus_message_get_error(reply)->message);
    if (release(flight, reply))
        return 0;
    run->took[run->answered++] = nanoseconds() - flight->begun;
    if (run->sent < run->count)
        send_next(flight);
    return 0;
}

static int release(struct flight *flight, sd_bus_message *reply) {
    const char *made;
    if (flight->run->shape->argument != of_context || sd_bus_message_is_empty(reply))
        return 0;
    check(sd_bus_message_read(reply, "o", &made), "path");
    check(sd_bus_call_method_async(flight->bus, NULL, service, made, "org.localauth.Context1",
                                   "Release", answered, flight, ""),
          "release");
    return 1;
}

static void send_next(struct flight *flight) {
    struct run *run = flight->run;
    run->sent++;
    flight->begun = nanoseconds();
    sd_bus_message *call = make_call(flight->bus, run->shape);
    check(sd_bus_call_async(flight->bus, NULL, call, answered, flight, 0), "send");
    sd_bus_message_unref(call);
}

static int ascending(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int64_t processor_time(void) {
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
}

static void print_figures(int64_t *took, int count, int64_t used) {
    qsort(took, (size_t)count, sizeof *took, ascending);
    printf("%lld %lld %lld\n", (long long)took[count / 2], (long long)took[count * 99 / 100],
           (long long)(used / count));
    fflush(stdout);
    /* The services' processor time is read before the connection ends. */
    wait_for_go();
}

/* Runs until all calls are answered, and polls all connections. */
static void perform(struct run *run, struct flight *flights, int width, int count) {
    run->sent = run->answered = 0;
    run->count = count;
    for (int i = 0; i < width && run->sent < count; i++)
        send_next(&flights[i]);
    if (flights[0].bus == flights[width - 1].bus) {
        while (run->answered < count)
            step(flights[0].bus);
        return;
    }
    struct pollfd *waits = calloc((size_t)width, sizeof *waits);
    while (run->answered < count) {
        int is_busy = 0;
        for (int i = 0; i < width; i++)
            while (check(sd_bus_process(flights[i].bus, NULL), "process") > 0)
                is_busy = 1;
        if (is_busy)
            continue;
        for (int i = 0; i < width; i++)
            waits[i] = (struct pollfd){.fd = sd_bus_get_fd(flights[i].bus),
                                       .events = (short)sd_bus_get_events(flights[i].bus)};
        poll(waits, (nfds_t)width, -1);
    }
    free(waits);
}

static int timed(struct run *run, struct flight *flights, int width, int count) {
    run->took = malloc((size_t)(count > 500 ? count : 500) * sizeof *run->took);
    if (!run->took)
        fail("calls", "no memory");
    perform(run, flights, width, count < 500 ? count : 500);
    wait_for_go();
    int64_t before = processor_time();
    perform(run, flights, width, count);
    print_figures(run->took, count, processor_time() - before);
    return 0;
}

static int calls(int argc, char **argv) {
    if (argc != 6)
        return 64;
    int count = atoi(argv[4]), window = atoi(argv[5]);
    if (count < 1 || window < 1)
        return 64;
    sd_bus *bus = connect_to(argv[2]);
    struct run run = {.shape = shape_named(argv[3])};
    struct flight *flights = calloc((size_t)window, sizeof *flights);
    for (int i = 0; i < window; i++)
        flights[i] = (struct flight){&run, bus, 0};
    return timed(&run, flights, window, count);
}

static int clients(int argc, char **argv) {
    if (argc != 6)
        return 64;
    int count = atoi(argv[4]), width = atoi(argv[5]);
    if (count < 1 || width < 1)
        return 64;
    struct run run = {.shape = shape_named(argv[3])};
    struct flight *flights = calloc((size_t)width, sizeof *flights);
    for (int i = 0; i < width; i++)
        flights[i] = (struct flight){&run, connect_to(argv[2]), 0};
    return timed(&run, flights, width, count);
}

static int first(int argc, char **argv) {
    if (argc != 5 || atoi(argv[4]) < 1)
        return 64;
    int count = atoi(argv[4]);
    int64_t *took = calloc((size_t)count, sizeof *took), used = 0;
    const struct shape *shape = shape_named(argv[3]);
    wait_for_go();
    for (int i = 0; i < count; i++) {
        sd_bus_error error = SD_BUS_ERROR_NULL;
        int64_t begun = nanoseconds(), before = processor_time();
        sd_bus *bus = connect_to(argv[2]);
        sd_bus_message *call = make_call(bus, shape), *reply = NULL;
        if (sd_bus_call(bus, call, 0, &error, &reply) < 0)
            fail(shape->member, error.message);
        took[i] = nanoseconds() - begun;
        used += processor_time() - before;
        sd_bus_message_unref(call);
        sd_bus_message_unref(reply);
        sd_bus_close_unref(bus);
    }
    print_figures(took, count, used);
    return 0;
}

/* evaluate */

static const char sensor[] = "org.localauth.Sensor1.Simulated";
/* The connection that drives the sensor. */
static sd_bus *driver;

/* No reply is needed, because the evaluation shows the sensor's behaviour. */
static void drive(const char *member, const char *types, ...) {
    sd_bus *bus = driver;
    sd_bus_message *call = NULL;
    va_list arguments;
    check(sd_bus_message_new_method_call(bus, &call, sensor, "/org/localauth/Sensor1",
                                         "org.localauth.SimulatedSensor1", member),
          "sensor");
    va_start(arguments, types);
    check(sd_bus_message_appendv(call, types, arguments), "sensor");
    va_end(arguments);
    check(sd_bus_message_set_expect_reply(call, 0), "sensor");
    check(sd_bus_send(bus, call, NULL), "sensor");
    sd_bus_message_unref(call);
}

struct evaluation {
    int is_looking, is_over;
    int64_t replied;
};

static int happened(sd_bus_message *signal, void *context, sd_bus_error *error) {
    (void)error;
    const char *kind;
    struct evaluation *evaluation = context;
    check(sd_bus_message_read(signal, "s", &kind), "event");
    if (strcmp(kind, "sensor-ready") == 0)
        evaluation->is_looking = 1;
    return 0;
}

static int evaluated(sd_bus_message *reply, void *context, sd_bus_error *error) {
    (void)error;
    struct evaluation *evaluation = context;
    evaluation->replied = nanoseconds();
    evaluation->is_over = 1;
    if (sd_bus_message_is_method_error(reply, NULL))
        fail("Evaluate", sd_bus_message_get_error(reply)->message);
    return 0;
}

static int64_t evaluate_once(sd_bus *bus, struct evaluation *evaluation, int is_queued) {
    *evaluation = (struct evaluation){0};
    if (is_queued)
        drive("Queue", "as", 1, "match");
    int64_t begun = nanoseconds();
    check(sd_bus_call_method_async(bus, NULL, service, path, service, "Evaluate", evaluated,
                                   evaluation, "usa{sv}", 1, "be measured", 0),
          "evaluate");
    if (!is_queued) {
        while (!evaluation->is_looking)
            step(bus);
        begun = nanoseconds();
        drive("Touch", "b", 1);
    }
    while (!evaluation->is_over)
        step(bus);
    return evaluation->replied - begun;
}

static int evaluate(int argc, char **argv) {
    if (argc != 5 || atoi(argv[3]) < 1)
        return 64;
    int count = atoi(argv[3]), is_queued = strcmp(argv[4], "queued") == 0;
    int64_t *took = calloc((size_t)count, sizeof *took);
    struct evaluation evaluation;
    sd_bus *bus = driver = connect_to(argv[2]);
    if (getenv("BENCH_UID")) {
        /* Finish the driver's Hello, because this connection is not polled later. */
        check(sd_bus_get_unique_name(driver, &(const char *){NULL}), "own name");
        become_user();
        bus = connect_to(argv[2]);
    }
    check(sd_bus_match_signal(bus, NULL, NULL, path, service, "Event", happened, &evaluation),
          "match");
    evaluate_once(bus, &evaluation, is_queued);
    wait_for_go();
    int64_t before = processor_time();
    for (int i = 0; i < count; i++)
        took[i] = evaluate_once(bus, &evaluation, is_queued);
    print_figures(took, count, processor_time() - before);
    return 0;
}

/* delete */

static sd_bus_message *make_delete(sd_bus *bus, int ids) {
    sd_bus_message *call = NULL;
    char id[33];
    check(sd_bus_message_new_method_call(bus, &call, service, "/org/localauth/Keychain1",
                                         "org.localauth.Keychain1", "Delete"),
          "call");
    check(sd_bus_message_open_container(call, 'a', "s"), "ids");
    for (int i = 0; i < ids; i++) {
        snprintf(id, sizeof id, "%032x", (unsigned)i);
        check(sd_bus_message_append(call, "s", id), "ids");
    }
    check(sd_bus_message_close_container(call), "ids");
    return call;
}

static int64_t delete_once(sd_bus *bus, int ids) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *call = make_delete(bus, ids), *reply = NULL;
    int64_t begun = nanoseconds();
    if (sd_bus_call(bus, call, 0, &error, &reply) < 0)
        fail("Delete", error.message);
    int64_t took = nanoseconds() - begun;
    sd_bus_message_unref(call);
    sd_bus_message_unref(reply);
    return took;
}

static int delete(int argc, char **argv) {
    if (argc != 5 || atoi(argv[3]) < 1 || atoi(argv[4]) < 1)
        return 64;
    int count = atoi(argv[3]), ids = atoi(argv[4]);
    int64_t *took = calloc((size_t)count, sizeof *took);
    sd_bus *bus = connect_to(argv[2]);
    delete_once(bus, ids);
    wait_for_go();
    int64_t before = processor_time();
    for (int i = 0; i < count; i++)
        took[i] = delete_once(bus, ids);
    print_figures(took, count, processor_time() - before);
    return 0;
}

/* name */

static int owner_changed(sd_bus_message *signal, void *context, sd_bus_error *error) {
    (void)error;
    const char *name, *before, *after;
    int64_t now = nanoseconds();
    check(sd_bus_message_read(signal, "sss", &name, &before, &after), "signal");
    if (*after)
        *(int64_t *)context = now;
    return 0;
}

static int name(int argc, char **argv) {
    if (argc != 4)
        return 64;
    char rule[256];
    int64_t owned = 0;
    sd_bus *bus = connect_to(argv[2]);
    snprintf(rule, sizeof rule,
             "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='%s'",
             argv[3]);
    check(sd_bus_add_match(bus, NULL, rule, owner_changed, &owned), "match");
    printf("ready\n");
    fflush(stdout);
    while (!owned)
        step(bus);
    printf("%lld\n", (long long)owned);
    return 0;
}

/* contexts */

static int created(sd_bus_message *reply, void *context, sd_bus_error *error) {
    (void)error;
    if (sd_bus_message_is_method_error(reply, NULL))
        fail("CreateContext", sd_bus_message_get_error(reply)->message);
    ++*(int *)context;
    return 0;
}

static int contexts(int argc, char **argv) {
    if (argc != 5)
        return 64;
    int connections = atoi(argv[3]), each = atoi(argv[4]);
    if (connections < 1 || each < 1)
        return 64;
    sd_bus **buses = calloc((size_t)connections, sizeof *buses);
    if (!buses)
        fail("contexts", "no memory");
    for (int i = 0; i < connections; i++) {
        int is_there = 0;
        buses[i] = connect_to(argv[2]);
        check(sd_bus_call_method_async(buses[i], NULL, service, path, "org.freedesktop.DBus.Peer",
                                       "Ping", created, &is_there, ""),
              "ping");
        while (!is_there)
            step(buses[i]);
    }
    wait_for_go();
    for (int i = 0; i < connections; i++) {
        int count = 0;
        for (int k = 0; k < each; k++) {
            check(sd_bus_call_method_async(buses[i], NULL, service, path, service, "CreateContext",
                                           created, &count, "a{sv}", 0),
                  "create");
            while (k - count > 16)
                step(buses[i]);
        }
        while (count < each)
            step(buses[i]);
    }
    wait_for_go();
    return 0;
}

int main(int argc, char **argv) {
    int status = 64;
    if (argc < 2 || strcmp(argv[1], "evaluate") != 0)
        become_user();
    if (argc > 1 && strcmp(argv[1], "calls") == 0)
        status = calls(argc, argv);
    else if (argc > 1 && strcmp(argv[1], "clients") == 0)
        status = clients(argc, argv);
    else if (argc > 1 && strcmp(argv[1], "first") == 0)
        status = first(argc, argv);
    else if (argc > 1 && strcmp(argv[1], "evaluate") == 0)
        status = evaluate(argc, argv);
    else if (argc > 1 && strcmp(argv[1], "delete") == 0)
        status = delete(argc, argv);
    else if (argc > 1 && strcmp(argv[1], "agent") == 0)
        status = agent(argc, argv);
    else if (argc > 1 && strcmp(argv[1], "name") == 0)
        status = name(argc, argv);
    else if (argc > 1 && strcmp(argv[1], "contexts") == 0)
        status = contexts(argc, argv);
    else if (argc > 1 && strcmp(argv[1], "soak") == 0)
        status = soak(argc, argv);
    else if (argc > 1 && strcmp(argv[1], "feed") == 0)
        status = feed(argc, argv);
    if (status == 64)
        fprintf(stderr, "usage: see the head of main.c\n");
    return status;
}
