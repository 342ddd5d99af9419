/* The yardstick: CanEvaluate in the least C that sd-bus allows, with localauthd's signature, path and
 * interface. `csdbus-service ADDRESS [NAME]` owns the name on that bus, by default localauthd's name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

static const char path[] = "/org/localauth/Authentication1";
static const char interface[] = "org.localauth.Authentication1";

static int can_evaluate(sd_bus_message *call, void *context, sd_bus_error *error) {
    (void)context;
    uint32_t policy;
    int r = sd_bus_message_read(call, "u", &policy);
    if (r < 0)
        return r;
    if (policy < 1 || policy > 4)
        return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS, "The policy is 1, 2, 3 or 4.");
    return sd_bus_reply_method_return(call, "bis", 1, 0, "");
}

static const sd_bus_vtable vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("CanEvaluate", "u", "bis", can_evaluate, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

static int check(int r, const char *what) {
    if (r < 0) {
        fprintf(stderr, "csdbus-service: %s: %s\n", what, strerror(-r));
        exit(1);
    }
    return r;
}

int main(int argc, char **argv) {
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: csdbus-service ADDRESS [NAME]\n");
        return 64;
    }
    sd_bus *bus = NULL;
    check(sd_bus_new(&bus), "new");
    check(sd_bus_set_address(bus, argv[1]), "address");
    check(sd_bus_set_bus_client(bus, 1), "client");
    check(sd_bus_negotiate_fds(bus, 0), "negotiate_fds");
    check(sd_bus_start(bus), "start");
    check(sd_bus_add_object_vtable(bus, NULL, path, interface, vtable, NULL), "vtable");
    check(sd_bus_request_name(bus, argc == 3 ? argv[2] : interface, 0), "name");
    for (;;) {
        int r = sd_bus_process(bus, NULL);
        if (r == -ENOTCONN || r == -ECONNRESET)
            return 0;
        check(r, "process");
        if (r > 0)
            continue;
        r = sd_bus_wait(bus, UINT64_MAX);
        if (r == -ENOTCONN)
            return 0;
        check(r, "wait");
    }
}
