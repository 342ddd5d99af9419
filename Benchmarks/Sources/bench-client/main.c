/* The client of every measurement, the same for both services, so that what differs is the service.
 * It speaks to whoever started it in lines: it prints `ready`, waits for one line on standard input
 * before each timed part, and prints the result.
 *
 *   bench-client calls (ADDRESS | --descriptor N) COUNT WINDOW   CanEvaluate(2), WINDOW in flight
 *   bench-client name ADDRESS NAME                               when NAME is owned
 *   bench-client contexts ADDRESS CONNECTIONS EACH               contexts that live as long as it
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <time.h>

static const char service[] = "org.localauth.Authentication1";
static const char path[] = "/org/localauth/Authentication1";

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int check(int r, const char *what) {
    if (r < 0) {
        fprintf(stderr, "bench-client: %s: %s\n", what, strerror(-r));
        exit(1);
    }
    return r;
}

static void fail(const char *what, const char *detail) {
    fprintf(stderr, "bench-client: %s: %s\n", what, detail ? detail : "no message");
    exit(1);
}

/* Says that this part is prepared and waits until it may begin. */
static void wait_for_go(void) {
    char line[16];
    printf("ready\n");
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        exit(1);
}

static sd_bus *connect_to(const char *address) {
    sd_bus *bus = NULL;
    check(sd_bus_new(&bus), "new");
    check(sd_bus_set_address(bus, address), "address");
    check(sd_bus_set_bus_client(bus, 1), "client");
    check(sd_bus_start(bus), "start");
    return bus;
}

static sd_bus *connect_to_peer(int descriptor) {
    sd_bus *bus = NULL;
    check(sd_bus_new(&bus), "new");
    check(sd_bus_set_fd(bus, descriptor, descriptor), "set_fd");
    check(sd_bus_start(bus), "start");
    return bus;
}

static void step(sd_bus *bus) {
    int r = check(sd_bus_process(bus, NULL), "process");
    if (r == 0)
        check(sd_bus_wait(bus, UINT64_MAX), "wait");
}

/* calls */

struct run {
    sd_bus *bus;
    const char *destination;
    int sent, answered, count;
    int64_t *begun, *took;
};

static void send_next(struct run *run);

static int answered(sd_bus_message *reply, void *context, sd_bus_error *error) {
    (void)error;
    struct run *run = context;
    int available;
    int32_t code;
    const char *message;
    if (sd_bus_message_is_method_error(reply, NULL))
        fail("CanEvaluate", sd_bus_message_get_error(reply)->message);
    check(sd_bus_message_read(reply, "bis", &available, &code, &message), "reply");
    /* One connection, one service, calls of one kind: replies come in the order of the calls. */
    run->took[run->answered] = nanoseconds() - run->begun[run->answered];
    run->answered++;
    if (run->sent < run->count)
        send_next(run);
    return 0;
}

static void send_next(struct run *run) {
    run->begun[run->sent++] = nanoseconds();
    check(sd_bus_call_method_async(run->bus, NULL, run->destination, path, service, "CanEvaluate",
                                   answered, run, "u", 2),
          "call");
}

static void perform(struct run *run, int count, int window) {
    run->sent = run->answered = 0;
    run->count = count;
    while (run->sent < window && run->sent < count)
        send_next(run);
    while (run->answered < count)
        step(run->bus);
}

static int ascending(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int calls(int argc, char **argv) {
    int is_peer = argc == 6 && strcmp(argv[2], "--descriptor") == 0;
    if (!is_peer && argc != 5)
        return 64;
    int count = atoi(argv[argc - 2]), window = atoi(argv[argc - 1]);
    if (count < 1 || window < 1)
        return 64;
    size_t size = (size_t)count * sizeof(int64_t);
    struct run run = {
        .bus = is_peer ? connect_to_peer(atoi(argv[3])) : connect_to(argv[2]),
        .destination = is_peer ? NULL : service,
        .begun = malloc(size),
        .took = malloc(size),
    };
    if (!run.begun || !run.took)
        fail("calls", "no memory");
    perform(&run, count < 500 ? count : 500, window);
    wait_for_go();
    int64_t begun = nanoseconds();
    perform(&run, count, window);
    int64_t took = nanoseconds() - begun;
    qsort(run.took, (size_t)count, sizeof(int64_t), ascending);
    printf("%lld %lld\n", (long long)took, (long long)run.took[count / 2]);
    fflush(stdout);
    /* The service's processor time is read before the connection ends. */
    wait_for_go();
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
    if (argc > 1 && strcmp(argv[1], "calls") == 0)
        status = calls(argc, argv);
    else if (argc > 1 && strcmp(argv[1], "name") == 0)
        status = name(argc, argv);
    else if (argc > 1 && strcmp(argv[1], "contexts") == 0)
        status = contexts(argc, argv);
    if (status == 64)
        fprintf(stderr, "usage: see the head of main.c\n");
    return status;
}
