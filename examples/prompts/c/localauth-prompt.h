/* localauth-prompt.h: the common part of prompts in C, based on GIO. A program includes this file
   once, defines the functions declared first, and calls run_prompt(). */
#ifndef LOCALAUTH_PROMPT_H
#define LOCALAUTH_PROMPT_H
#include <gio/gio.h>
#include <glib-unix.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#define SERVICE "org.localauth.Authentication1"
#define VERIFIER "org.localauth.Passcode1"
#define KEYCHAIN "org.localauth.Keychain1"
#define ERROR "org.freedesktop.DBus.Error."

static gboolean begin(GVariant *details); /* shows a prompt; FALSE refuses it */
static void update(const char *kind, GVariant *detail);
static void end(const char *outcome); /* closes the prompt */
static void say(const char *text);

static GDBusConnection *bus;
static GDBusProxy *service;
static GMainLoop *loop;
static char *handle; /* of the open prompt */
static char *key;    /* of the verifier, in base64 */

/* Copies a text without control characters, changes of direction and quotation marks. */
static char *plain(const char *text) {
    GString *copy = g_string_new(NULL);
    for (int left = 512; *text && left; text = g_utf8_next_char(text), left--) {
        gunichar character = g_utf8_get_char(text);
        GUnicodeType type = g_unichar_type(character);
        if (g_unichar_isprint(character) && character != '"' &&
            type != G_UNICODE_LINE_SEPARATOR && type != G_UNICODE_PARAGRAPH_SEPARATOR)
            g_string_append_unichar(copy, character);
    }
    return g_string_free(copy, FALSE);
}

/* Returns a cleaned copy of a text in a dictionary; empty if missing. */
static char *text(GVariant *details, const char *name) {
    const char *found = "";
    g_variant_lookup(details, name, "&s", &found);
    return plain(found);
}

/* Names the caller by facts from the service or the kernel, never by its own claim. */
static char *caller(GVariant *details) {
    gboolean isSandboxed = TRUE;
    guint32 pid = 0;
    struct stat file, program, space, own;
    g_autofree char *app = text(details, "app-name");
    g_variant_lookup(details, "sandboxed", "b", &isSandboxed);
    g_variant_lookup(details, "pid", "u", &pid);
    if (isSandboxed)
        return *app ? g_strdup_printf("The sandboxed app \"%s\"", app)
                    : g_strdup("A sandboxed app");
    g_autofree char *link = g_strdup_printf("/proc/%u/exe", pid);
    g_autofree char *mounts = g_strdup_printf("/proc/%u/ns/mnt", pid);
    g_autofree char *path = g_file_read_link(link, NULL);
    if (path && !stat(path, &file) && !stat(link, &program) && !stat(mounts, &space) &&
        !stat("/proc/self/ns/mnt", &own) && file.st_ino == program.st_ino &&
        file.st_dev == program.st_dev && space.st_ino == own.st_ino)
        return plain(path);
    return g_strdup("A program that hides what it is");
}

static void answered(GObject *from, GAsyncResult *result, gpointer data) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GVariant) answer = g_dbus_proxy_call_finish(service, result, &error);
    if (error)
        say(error->message);
}

static void call(const char *member, GVariant *words) {
    g_dbus_proxy_call(service, member, words, 0, -1, NULL, answered, NULL);
}

static void take_key(GVariant *details) {
    g_autoptr(GVariant) bytes =
        g_variant_lookup_value(details, "passcode-key", G_VARIANT_TYPE_BYTESTRING);
    if (!bytes)
        return;
    g_free(key);
    key = g_base64_encode(g_variant_get_data(bytes), g_variant_get_size(bytes));
}

/* Returns the key for application passwords in base64. The service renews it at each start. */
static char *service_key(void) {
    g_autoptr(GVariant) value = NULL;
    g_autoptr(GVariant) answer = g_dbus_connection_call_sync(
        bus, SERVICE, "/org/localauth/Keychain1", "org.freedesktop.DBus.Properties", "Get",
        g_variant_new("(ss)", KEYCHAIN, "SealingKey"), G_VARIANT_TYPE("(v)"), 0, 5000, NULL, NULL);
    if (!answer)
        return g_strdup("");
    g_variant_get(answer, "(v)", &value);
    return g_base64_encode(g_variant_get_data(value), g_variant_get_size(value));
}

/* Seals and sends a password: an item's to the service, the user's to the verifier. */
static void submit(const void *secret, gsize size, gboolean isItem) {
    const char *holder = isItem ? g_dbus_connection_get_unique_name(bus) : handle;
    g_autofree char *recipient = isItem ? service_key() : g_strdup(key ? key : "");
    g_autoptr(GBytes) input = g_bytes_new_static(secret, size), sealed = NULL;
    g_autoptr(GSubprocess) seal =
        g_subprocess_new(G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE, NULL,
                         "localauthctl", "seal", "--key", recipient, "--info",
                         isItem ? KEYCHAIN : VERIFIER, "--aad", holder, NULL);
    if (!seal || !g_subprocess_communicate(seal, input, NULL, &sealed, NULL, NULL) ||
        !g_subprocess_get_successful(seal))
        return say("The password could not be sealed. Type it again.");
    GVariant *value = g_variant_new_from_bytes(G_VARIANT_TYPE_BYTESTRING, sealed, TRUE);
    if (isItem)
        call("SubmitPassword", g_variant_new("(s@ay@a{sv})", handle, value,
                                             g_variant_new_parsed("{'sealed': <true>}")));
    else
        call("SubmitPasscode", g_variant_new("(s@ay)", handle, value));
}

static void finish(const char *outcome) {
    if (!handle)
        return;
    g_clear_pointer(&handle, g_free);
    end(outcome);
}

static void called(GDBusConnection *from, const char *sender, const char *path, const char *name,
                   const char *member, GVariant *words, GDBusMethodInvocation *call,
                   gpointer data) {
    g_autofree char *owner = g_dbus_proxy_get_name_owner(service);
    g_autoptr(GVariant) last = g_variant_get_child_value(words, g_variant_n_children(words) - 1);
    const char *prompt, *kind;
    g_variant_get_child(words, 0, "&s", &prompt);
    if (g_strcmp0(sender, owner))
        return g_dbus_method_invocation_return_dbus_error(call, ERROR "AccessDenied", "Not yours.");
    if (!strcmp(member, "Begin")) {
        take_key(last);
        if (handle || !begin(last))
            return g_dbus_method_invocation_return_dbus_error(call, ERROR "InvalidArgs",
                                                              "It can't be shown.");
        handle = g_strdup(prompt);
    } else if (!g_strcmp0(prompt, handle) && !strcmp(member, "Update")) {
        take_key(last);
        g_variant_get_child(words, 1, "&s", &kind);
        update(kind, last);
    } else if (!g_strcmp0(prompt, handle))
        finish(g_variant_get_string(last, NULL));
    g_dbus_method_invocation_return_value(call, NULL);
}

/* Registers with a new owner of the service's name, if any. */
static void meet(void) {
    g_autofree char *owner = g_dbus_proxy_get_name_owner(service);
    finish("system");
    if (owner)
        call("RegisterAgent", g_variant_new_parsed("(%o, @a{sv} {})", "/org/localauth/Agent1"));
}

static gboolean leave(gpointer data) {
    g_main_loop_quit(loop);
    return G_SOURCE_REMOVE;
}

/* Serves until SIGTERM or Ctrl-C; returns the exit status. */
static int run_prompt(int words, char **word) {
    static const char agent[] =
        "<node><interface name='org.localauth.Agent1'>"
        "<method name='Begin'><arg type='s'/><arg type='a{sv}'/></method>"
        "<method name='Update'><arg type='s'/><arg type='s'/><arg type='a{sv}'/></method>"
        "<method name='End'><arg type='s'/><arg type='s'/></method></interface></node>";
    static const GDBusInterfaceVTable table = {called, NULL, NULL, {NULL}};
    const char *where = words > 2 ? word[2] : "system";
    g_autoptr(GError) error = NULL;
    if (strchr(where, ':'))
        g_setenv("DBUS_SESSION_BUS_ADDRESS", where, TRUE);
    bus = g_bus_get_sync(strcmp(where, "system") ? G_BUS_TYPE_SESSION : G_BUS_TYPE_SYSTEM, NULL,
                         &error);
    service = bus ? g_dbus_proxy_new_sync(bus, G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES |
                                                   G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS |
                                                   G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START,
                                          NULL, SERVICE, "/org/localauth/Authentication1", SERVICE,
                                          NULL, &error)
                  : NULL;
    if (!service)
        return g_printerr("%s: %s\n", *word, error->message), 1;
    g_autoptr(GDBusNodeInfo) node = g_dbus_node_info_new_for_xml(agent, NULL);
    g_dbus_connection_register_object(bus, "/org/localauth/Agent1", *node->interfaces, &table, NULL,
                                      NULL, NULL);
    g_signal_connect(service, "notify::g-name-owner", G_CALLBACK(meet), NULL);
    setvbuf(stdout, NULL, _IONBF, 0); /* print incomplete lines at once */
    loop = g_main_loop_new(NULL, FALSE);
    g_unix_signal_add(SIGTERM, leave, NULL), g_unix_signal_add(SIGINT, leave, NULL);
    meet();
    g_main_loop_run(loop);
    finish("system");
    return 0;
}
#endif
