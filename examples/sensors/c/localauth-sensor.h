/* localauth-sensor.h: the common part of sensors in C, based on sd-bus. A program includes this
   file once, describes the sensor in `self`, and defines the functions declared first.
   org.localauth.Sensor1(5) documents the functions. */
#ifndef LOCALAUTH_SENSOR_H
#define LOCALAUTH_SENSOR_H
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>
#define SENSOR "org.localauth.Sensor1"
#define PATH "/org/localauth/Sensor1"
#define HANDLE(name) static int name(sd_bus_message *m, void *data, sd_bus_error *error)
#define TRY(call)                                                                                  \
    do {                                                                                           \
        int result = (call);                                                                       \
        if (result < 0)                                                                            \
            return result;                                                                         \
    } while (0)
/* The sensor's own functions. verify and enroll begin an operation, and end() ends it. The other
   functions answer at once. */
HANDLE(verify);
HANDLE(enroll);
HANDLE(list);
HANDLE(rename_template);
HANDLE(drop); /* RemoveTemplate, RemoveAllTemplates */
static int line(sd_event_source *s, int fd, uint32_t events,
                void *data); /* the hardware: standard input is readable */

struct operation {
    uint64_t number;
    char caller[256];
};

struct sensor {
    const char *description, *strength, *away;
    uint32_t type, room;
    int32_t stages;
    int present;
    /* Instructions for the user by language (en, de, zh_CN), each at most 80 characters without a
       full stop. An empty pair ends the list. An empty list means the default of the type. */
    const char *instructions[8][2];
};
static struct sensor self; /* the sensor's properties; its name is NAME */

static struct {
    sd_bus_message *call;
    struct operation of;
    uint32_t uid, count;
    int looks;
    const char *label;
} now;
static struct operation early[16]; /* cancellations that arrived before their operation */
static unsigned earlier;
static sd_bus *bus;
static sd_event *loop;

static int owns(const char *name,
                const char *owner) { /* asks the bus each time, because signals can be lost */
    sd_bus_message *m = NULL;
    const char *is = "";
    if (sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                           "org.freedesktop.DBus", "GetNameOwner", NULL, &m, "s", name) >= 0)
        sd_bus_message_read(m, "s", &is);
    int so = !strcmp(is, owner);
    sd_bus_message_unref(m);
    return so;
}

/* The file with the templates, in $STATE_DIRECTORY. Without the variable nothing is stored. */
static int file_of(char *path, size_t size, const char *suffix) {
    const char *folder = getenv("STATE_DIRECTORY");
    return folder && (size_t)snprintf(path, size, "%s/templates%s", folder, suffix) < size;
}

static int recall(void *kept, size_t size) { /* -1: the file exists and is invalid */
    char path[4096];
    FILE *file = file_of(path, sizeof path, "") ? fopen(path, "rb") : NULL;
    if (!file)
        return file_of(path, sizeof path, "") && !access(path, F_OK) ? -1 : 0;
    int whole = fread(kept, 1, size, file) == size && fgetc(file) == EOF;
    fclose(file);
    return whole ? 0 : -1;
}

static int keep(const void *kept, size_t size) { /* atomic, even in a crash */
    char path[4096], fresh[4096];
    if (!file_of(path, sizeof path, ""))
        return 0;
    FILE *file = file_of(fresh, sizeof fresh, ".new") ? fopen(fresh, "wb") : NULL;
    if (!file)
        return -1;
    int whole = fwrite(kept, 1, size, file) == size && !fflush(file) && !fsync(fileno(file));
    return fclose(file) || !whole || rename(fresh, path) ? -1 : 0;
}

static int fault(sd_bus_error *error, const char *name) {
    return sd_bus_error_set(error, name, "It can't be done.");
}

static int check(sd_bus_message *m, sd_bus_error *error, uint32_t uid, const char *text) {
    if (!owns("org.localauth.Authentication1", sd_bus_message_get_sender(m)))
        return fault(error, SD_BUS_ERROR_ACCESS_DENIED);
    return uid == UINT32_MAX || strlen(text) > 256 ? fault(error, SD_BUS_ERROR_INVALID_ARGS) : 0;
}

static void end(const char *error, const char *id) {
    sd_bus_message *call = now.call;
    now.call = NULL;
    if (error)
        sd_bus_reply_method_errorf(call, error, "It ended without a result.");
    else
        sd_bus_reply_method_return(call, "s", id);
    sd_bus_message_unref(call);
}

#define TELL(...)                                                                                  \
    do {                                                                                           \
        sd_bus_message *e = NULL;                                                                  \
        if (sd_bus_message_new_signal(bus, &e, PATH, SENSOR, "Event") >= 0 &&                      \
            sd_bus_message_append(e, "tsa{sv}", now.of.number, __VA_ARGS__) >= 0)                  \
            sd_bus_send_to(bus, e, now.of.caller, NULL);                                           \
        sd_bus_message_unref(e);                                                                   \
    } while (0)

static int begin(sd_bus_message *m, sd_bus_error *error, uint64_t number, uint32_t uid,
                 const char *label) {
    struct operation of = {.number = number};
    strncpy(of.caller, sd_bus_message_get_sender(m), sizeof of.caller - 1);
    if (now.call && !owns(now.of.caller, now.of.caller))
        end(SENSOR ".Error.Canceled", NULL);
    if (now.call)
        return fault(error, SENSOR ".Error.Busy");
    for (int i = 0; i < 16; i++)
        if (!memcmp(&early[i], &of, sizeof of))
            return fault(error, SENSOR ".Error.Canceled");
    if (!self.present)
        return fault(error, SENSOR ".Error.Disconnected");
    now.call = sd_bus_message_ref(m), now.of = of, now.uid = uid, now.label = label, now.count = 0,
    now.looks = 1;
    TELL("ready", 0);
    return 1;
}

HANDLE(cancel) {
    struct operation of = {0};
    TRY(sd_bus_message_read(m, "t", &of.number));
    TRY(check(m, error, 0, ""));
    strncpy(of.caller, sd_bus_message_get_sender(m), sizeof of.caller - 1);
    if (now.call && !memcmp(&now.of, &of, sizeof of))
        end(SENSOR ".Error.Canceled", NULL);
    else
        early[earlier++ % 16] = of;
    return sd_bus_reply_method_return(m, "");
}

static int miss(sd_event_source *s, uint64_t usec, void *call);

HANDLE(counted) {
    uint32_t left = 0;
    if (sd_bus_message_is_method_error(m, NULL))
        return sd_event_add_time_relative(loop, NULL, CLOCK_MONOTONIC, 250000, 0, miss, data);
    if (data == now.call && sd_bus_message_read(m, "u", &left) >= 0)
        now.looks = left > 0;
    return 1;
}

static int miss(sd_event_source *s, uint64_t usec,
                void *call) { /* repeats NoMatch until the service has counted the miss */
    return call != now.call
               ? 0
               : sd_bus_call_method_async(bus, NULL, now.of.caller,
                                          "/org/localauth/Authentication1",
                                          "org.localauth.SensorHost1", "NoMatch", counted, call,
                                          "tu", now.of.number, now.count);
}

HANDLE(health) {
    TRY(check(m, error, 0, ""));
    return sd_bus_reply_method_return(m, "ss", "ok", "");
}

static int versions(sd_bus *b, const char *path, const char *interface, const char *name,
                    sd_bus_message *reply, void *data, sd_bus_error *error) {
    return sd_bus_message_append(reply, "au", 1, 1);
}

static int instructions(sd_bus *b, const char *path, const char *interface, const char *name,
                        sd_bus_message *reply, void *data, sd_bus_error *error) {
    TRY(sd_bus_message_open_container(reply, 'a', "{ss}"));
    for (int i = 0; i < 8 && self.instructions[i][0]; i++)
        TRY(sd_bus_message_append(reply, "{ss}", self.instructions[i][0], self.instructions[i][1]));
    return sd_bus_message_close_container(reply);
}

#define METHOD(name, in, out, handler)                                                             \
    SD_BUS_METHOD(name, in, out, handler, SD_BUS_VTABLE_UNPRIVILEGED)
#define VALUE(name, kind, field)                                                                   \
    SD_BUS_PROPERTY(name, kind, NULL, (char *)&self.field - (char *)&self,                         \
                    SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE)
static const sd_bus_vtable table[] = {
    SD_BUS_VTABLE_START(0),
    METHOD("Verify", "tua{sv}", "s", verify),
    METHOD("Enroll", "tusa{sv}", "s", enroll),
    METHOD("Cancel", "t", "", cancel),
    METHOD("ListTemplates", "u", "a(ssx)", list),
    METHOD("RenameTemplate", "uss", "", rename_template),
    METHOD("RemoveTemplate", "us", "", drop),
    METHOD("RemoveAllTemplates", "u", "u", drop),
    METHOD("Health", "", "ss", health),
    SD_BUS_PROPERTY("ProtocolVersions", "au", versions, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    VALUE("Present", "b", present),
    VALUE("Description", "s", description),
    VALUE("BiometryType", "u", type),
    VALUE("Strength", "s", strength),
    VALUE("Unavailability", "s", away),
    VALUE("EnrollStages", "i", stages),
    VALUE("MaxTemplates", "u", room),
    SD_BUS_PROPERTY("Instructions", "a{ss}", instructions, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    SD_BUS_SIGNAL("Event", "tsa{sv}", 0),
    SD_BUS_SIGNAL("TemplatesChanged", "u", 0),
    SD_BUS_VTABLE_END};

HANDLE(left) { /* a program has left the bus */
    const char *name = "";
    if (sd_bus_message_read(m, "s", &name) >= 0 && now.call && !strcmp(name, now.of.caller))
        end(SENSOR ".Error.Canceled", NULL);
    return 0;
}

static int run(const char *where) {
    sigset_t term;
    sigemptyset(&term), sigaddset(&term, SIGTERM), sigprocmask(SIG_BLOCK, &term, NULL);
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
    TRY(sd_bus_set_method_call_timeout(bus, 5000000)); /* for NoMatch */
    TRY(sd_bus_start(bus));
    TRY(sd_bus_attach_event(bus, loop, 0));
    TRY(sd_bus_add_object_vtable(bus, NULL, PATH, SENSOR, table, &self));
    TRY(sd_bus_match_signal(bus, NULL, "org.freedesktop.DBus", NULL, "org.freedesktop.DBus",
                            "NameOwnerChanged", left, NULL));
    sd_event_add_io(loop, NULL, 0, EPOLLIN, line, NULL); /* fails for /dev/null, which is fine */
    TRY(sd_bus_request_name(bus, SENSOR "." NAME, 0));
    return sd_event_loop(loop);
}

static int localauth_sensor(int count, char **words) { /* main */
    const char *where = getuid() ? "session" : "system";
    for (int i = 1; i + 1 < count; i++)
        if (!strcmp(words[i], "--bus"))
            where = words[i + 1];
    int result = run(where);
    if (result < 0)
        fprintf(stderr, "%s: %s\n", words[0], strerror(-result));
    return result < 0;
}
#endif
