/* `bench-client agent ADDRESS`: a prompt agent without windows, so that no window is measured. The agent
 * prints `ready` when it is registered, and ends with its input. */
#include "client.h"
#include <poll.h>
#include <stdio.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

static int acknowledge(sd_bus_message *call, void *context, sd_bus_error *error) {
    (void)context;
    (void)error;
    return sd_bus_reply_method_return(call, "");
}

static const sd_bus_vtable vtable[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Begin", "sa{sv}", "", acknowledge, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("Update", "ssa{sv}", "", acknowledge, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_METHOD("End", "ss", "", acknowledge, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END,
};

int agent(int argc, char **argv) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    if (argc != 3)
        return 64;
    sd_bus *bus = connect_to(argv[2]);
    check(sd_bus_add_object_vtable(bus, NULL, "/bench/agent", "org.localauth.Agent1", vtable, NULL),
          "object");
    if (sd_bus_call_method(bus, service, path, service, "RegisterAgent", &error, NULL, "oa{sv}",
                           "/bench/agent", 0) < 0)
        fail("RegisterAgent", error.message);
    printf("ready\n");
    fflush(stdout);
    for (;;) {
        while (check(sd_bus_process(bus, NULL), "process") > 0)
            continue;
        struct pollfd waits[] = {
            {.fd = sd_bus_get_fd(bus), .events = (short)sd_bus_get_events(bus)},
            {.fd = STDIN_FILENO, .events = POLLIN},
        };
        poll(waits, 2, -1);
        if (waits[1].revents)
            return 0;
    }
}
