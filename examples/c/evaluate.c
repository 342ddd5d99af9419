/*
 * Authenticates the user with libdbus-1, and with no code of this project.
 *
 *   cc -Wall -Wextra evaluate.c -o evaluate $(pkg-config --cflags --libs dbus-1)
 *   ./evaluate [BUS] [POLICY]
 *
 * BUS is system (the default), session or an address. Exit status: 0 yes, 1 no, 3 the service did
 * not answer.
 */
#include <dbus/dbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVICE "org.localauth.Authentication1"
#define OBJECT "/org/localauth/Authentication1"

enum { GRANTED = 0, REFUSED = 1, UNREACHABLE = 3 };

static DBusConnection *connect_to(const char *where, DBusError *error)
{
    if (strcmp(where, "system") == 0)
        return dbus_bus_get(DBUS_BUS_SYSTEM, error);
    if (strcmp(where, "session") == 0)
        return dbus_bus_get(DBUS_BUS_SESSION, error);
    DBusConnection *bus = dbus_connection_open(where, error);
    if (bus && !dbus_bus_register(bus, error))
        return NULL;
    return bus;
}

/* Prints an entry of an a{sv} if its value is a string or a number. */
static void print_entry(DBusMessageIter *entry)
{
    DBusMessageIter value;
    const char *key;

    dbus_message_iter_get_basic(entry, &key);
    dbus_message_iter_next(entry);
    dbus_message_iter_recurse(entry, &value);
    switch (dbus_message_iter_get_arg_type(&value)) {
    case DBUS_TYPE_STRING: {
        const char *text;
        dbus_message_iter_get_basic(&value, &text);
        printf("  %s: %s\n", key, text);
        break;
    }
    case DBUS_TYPE_UINT32: {
        dbus_uint32_t number;
        dbus_message_iter_get_basic(&value, &number);
        printf("  %s: %u\n", key, number);
        break;
    }
    default:
        break; /* the domain state, and additions of later versions */
    }
}

static void print_dictionary(DBusMessageIter *iter)
{
    DBusMessageIter entries, entry;

    for (dbus_message_iter_recurse(iter, &entries);
         dbus_message_iter_get_arg_type(&entries) == DBUS_TYPE_DICT_ENTRY;
         dbus_message_iter_next(&entries)) {
        dbus_message_iter_recurse(&entries, &entry);
        print_entry(&entry);
    }
}

/* Shows progress, which is never the verdict. Ignores events from other senders. */
static DBusHandlerResult on_message(DBusConnection *bus, DBusMessage *message, void *owner)
{
    DBusMessageIter iter;
    const char *kind;

    (void)bus;
    if (!dbus_message_is_signal(message, SERVICE, "Event") ||
        !dbus_message_has_sender(message, owner) || !dbus_message_has_signature(message, "sa{sv}"))
        return DBUS_HANDLER_RESULT_NOT_YET_HANDLED;
    dbus_message_iter_init(message, &iter);
    dbus_message_iter_get_basic(&iter, &kind);
    printf("%s\n", kind);
    dbus_message_iter_next(&iter);
    print_dictionary(&iter);
    return DBUS_HANDLER_RESULT_HANDLED;
}

/* Checks whether an evaluation is possible, without a prompt. The bus starts the service. Returns
 * the unique name of the service, or NULL. */
static char *can_evaluate(DBusConnection *bus, dbus_uint32_t policy, DBusError *error)
{
    dbus_bool_t available;
    dbus_int32_t code;
    const char *text;
    DBusMessage *call = dbus_message_new_method_call(SERVICE, OBJECT, SERVICE, "CanEvaluate");
    DBusMessage *reply;
    char *owner = NULL;

    dbus_message_append_args(call, DBUS_TYPE_UINT32, &policy, DBUS_TYPE_INVALID);
    reply = dbus_connection_send_with_reply_and_block(bus, call, -1, error);
    dbus_message_unref(call);
    if (!reply)
        return NULL;
    if (dbus_message_get_args(reply, error, DBUS_TYPE_BOOLEAN, &available, DBUS_TYPE_INT32, &code,
                              DBUS_TYPE_STRING, &text, DBUS_TYPE_INVALID)) {
        printf("CanEvaluate(%u): %s %d %s\n", policy, available ? "yes" : "no", code, text);
        owner = strdup(dbus_message_get_sender(reply));
    }
    dbus_message_unref(reply);
    return owner;
}

/* Authenticates. The call has no timeout, because the service has the timeout of the option. */
static int evaluate(DBusConnection *bus, dbus_uint32_t policy, DBusError *error)
{
    const char *reason = "show how a C program asks", *key = "timeout";
    dbus_uint64_t milliseconds = 60000;
    DBusMessageIter iter, options, entry, value;
    DBusPendingCall *pending = NULL;
    DBusMessage *call = dbus_message_new_method_call(SERVICE, OBJECT, SERVICE, "Evaluate");
    DBusMessage *reply;
    int status = REFUSED;

    dbus_message_iter_init_append(call, &iter);
    dbus_message_iter_append_basic(&iter, DBUS_TYPE_UINT32, &policy);
    dbus_message_iter_append_basic(&iter, DBUS_TYPE_STRING, &reason);
    dbus_message_iter_open_container(&iter, DBUS_TYPE_ARRAY, "{sv}", &options);
    dbus_message_iter_open_container(&options, DBUS_TYPE_DICT_ENTRY, NULL, &entry);
    dbus_message_iter_append_basic(&entry, DBUS_TYPE_STRING, &key);
    dbus_message_iter_open_container(&entry, DBUS_TYPE_VARIANT, "t", &value);
    dbus_message_iter_append_basic(&value, DBUS_TYPE_UINT64, &milliseconds);
    dbus_message_iter_close_container(&entry, &value);
    dbus_message_iter_close_container(&options, &entry);
    dbus_message_iter_close_container(&iter, &options);

    dbus_connection_send_with_reply(bus, call, &pending, DBUS_TIMEOUT_INFINITE);
    dbus_message_unref(call);
    while (pending && !dbus_pending_call_get_completed(pending))
        if (!dbus_connection_read_write_dispatch(bus, -1))
            break;
    reply = pending ? dbus_pending_call_steal_reply(pending) : NULL;
    if (pending)
        dbus_pending_call_unref(pending);
    if (!reply)
        return UNREACHABLE;
    if (!dbus_set_error_from_message(error, reply) && dbus_message_has_signature(reply, "a{sv}")) {
        printf("It is you.\n");
        dbus_message_iter_init(reply, &iter);
        print_dictionary(&iter);
        status = GRANTED;
    }
    dbus_message_unref(reply);
    return status;
}

int main(int argc, char **argv)
{
    dbus_uint32_t policy = argc > 2 ? (dbus_uint32_t)strtoul(argv[2], NULL, 10) : 2;
    DBusError error = DBUS_ERROR_INIT;
    char *owner = NULL;
    int status = UNREACHABLE;
    DBusConnection *bus = connect_to(argc > 1 ? argv[1] : "system", &error);

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (bus)
        owner = can_evaluate(bus, policy, &error);
    if (owner) {
        dbus_connection_add_filter(bus, on_message, owner, NULL);
        status = evaluate(bus, policy, &error);
    }
    if (dbus_error_is_set(&error)) {
        fprintf(stderr, "%s (%s)\n", error.message, error.name);
        dbus_error_free(&error);
    }
    free(owner);
    return status;
}
