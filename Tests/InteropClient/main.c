// A client of the example service that shares no code with the runtime: libdbus-1 only.
#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const name = "org.example.Test1";
static const char *const path = "/org/example/Test1";

static DBusMessage *new_call(const char *object, const char *interface, const char *member) {
    DBusMessage *call = dbus_message_new_method_call(name, object, interface, member);
    if (call == NULL) {
        exit(1);
    }
    return call;
}

/// Sends the call; returns the reply, or NULL with the error set.
static DBusMessage *send_call(DBusConnection *bus, DBusMessage *call, DBusError *error) {
    DBusMessage *reply = dbus_connection_send_with_reply_and_block(bus, call, 10000, error);
    dbus_message_unref(call);
    return reply;
}

static void expect_error(
    DBusConnection *bus, const char *label, const char *object, const char *member) {
    DBusError error = DBUS_ERROR_INIT;
    DBusMessage *reply = send_call(bus, new_call(object, name, member), &error);
    printf("%s %s\n", label, reply != NULL ? "no error" : error.name);
    dbus_error_free(&error);
    if (reply != NULL) {
        dbus_message_unref(reply);
    }
}

static void add(DBusConnection *bus) {
    dbus_uint32_t left = 2, right = 3, sum = 0;
    DBusError error = DBUS_ERROR_INIT;
    DBusMessage *call = new_call(path, name, "Add");
    dbus_message_append_args(
        call, DBUS_TYPE_UINT32, &left, DBUS_TYPE_UINT32, &right, DBUS_TYPE_INVALID);
    DBusMessage *reply = send_call(bus, call, &error);
    if (reply == NULL
        || !dbus_message_get_args(reply, &error, DBUS_TYPE_UINT32, &sum, DBUS_TYPE_INVALID)) {
        printf("Add failed: %s\n", error.message);
        exit(1);
    }
    printf("Add %u\n", sum);
    dbus_message_unref(reply);
}

static void level(DBusConnection *bus) {
    const char *property = "Level";
    DBusError error = DBUS_ERROR_INIT;
    DBusMessage *call = new_call(path, DBUS_INTERFACE_PROPERTIES, "Get");
    dbus_message_append_args(
        call, DBUS_TYPE_STRING, &name, DBUS_TYPE_STRING, &property, DBUS_TYPE_INVALID);
    DBusMessage *reply = send_call(bus, call, &error);
    DBusMessageIter outer, inner;
    dbus_uint32_t value = 0;
    if (reply == NULL || !dbus_message_iter_init(reply, &outer)
        || dbus_message_iter_get_arg_type(&outer) != DBUS_TYPE_VARIANT) {
        printf("Level failed\n");
        exit(1);
    }
    dbus_message_iter_recurse(&outer, &inner);
    dbus_message_iter_get_basic(&inner, &value);
    printf("Level %u\n", value);
    dbus_message_unref(reply);
}

int main(int count, char **arguments) {
    DBusError error = DBUS_ERROR_INIT;
    if (count != 2) {
        return 2;
    }
    DBusConnection *bus = dbus_connection_open_private(arguments[1], &error);
    if (bus == NULL || !dbus_bus_register(bus, &error)) {
        printf("no bus: %s\n", error.message);
        return 1;
    }
    dbus_connection_set_exit_on_disconnect(bus, FALSE);
    add(bus);
    level(bus);
    expect_error(bus, "Nothing", path, "Nothing");
    expect_error(bus, "Add without arguments", path, "Add");
    expect_error(bus, "nowhere", "/nowhere", "Add");
    dbus_connection_close(bus);
    dbus_connection_unref(bus);
    return 0;
}
