/* The yardstick of the keychain: gnome-keyring as an app uses it, through libsecret. The program takes
 * commands from standard input, and answers each with a line of the nanoseconds of every operation.
 *
 *   libsecret-client            on the bus of DBUS_SESSION_BUS_ADDRESS; prints `ready`
 *     add SIZE FIRST COUNT      stores items FIRST… of SIZE bytes
 *     read SIZE FIRST COUNT     finds each by its attributes and gets its secret
 *     delete SIZE FIRST COUNT
 *     unlock SIZE NUMBER        locks the collection; timed is its password, and a read as above
 */
#include <stdio.h>

#if !__has_include(<libsecret/secret.h>)

int main(void) {
    fprintf(stderr, "libsecret-client: built without libsecret; run make setup-bench, and build\n");
    return 69;
}

#else

#define SECRET_API_SUBJECT_TO_CHANGE
#include <libsecret/secret.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char password[] = "horse battery 2468";
static char *collection;
static SecretService *service;

static const SecretSchema schema = {
    "org.localauth.Benchmark",
    SECRET_SCHEMA_NONE,
    {{"service", SECRET_SCHEMA_ATTRIBUTE_STRING},
     {"account", SECRET_SCHEMA_ATTRIBUTE_STRING},
     {NULL, 0}},
    0, 0, 0, 0, 0, 0, 0, 0,
};

static int64_t nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void check(gboolean holds, const char *what, GError *error) {
    if (holds)
        return;
    fprintf(stderr, "libsecret-client: %s: %s\n", what, error ? error->message : "no message");
    exit(1);
}

/* Calls gnome-keyring's internal interface, as its login module does, so that no password is typed. */
static GVariant *internally(const char *method, GVariant *arguments, const char *reply) {
    GError *error = NULL;
    GVariant *result = g_dbus_connection_call_sync(
        g_dbus_proxy_get_connection(G_DBUS_PROXY(service)), "org.freedesktop.secrets",
        "/org/freedesktop/secrets", "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface",
        method, arguments, G_VARIANT_TYPE(reply), G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
    check(result != NULL, method, error);
    return result;
}

static GVariant *master(void) {
    SecretValue *value = secret_value_new(password, -1, "text/plain");
    GVariant *encoded = secret_service_encode_dbus_secret(service, value);
    secret_value_unref(value);
    return encoded;
}

static void create(void) {
    GVariantBuilder label;
    g_variant_builder_init(&label, G_VARIANT_TYPE("a{sv}"));
    g_variant_builder_add(&label, "{sv}", "org.freedesktop.Secret.Collection.Label",
                          g_variant_new_string("benchmark"));
    GVariant *made = internally("CreateWithMasterPassword",
                                g_variant_new("(a{sv}@(oayays))", &label, master()), "(o)");
    g_variant_get(made, "(o)", &collection);
    g_variant_unref(made);
}

static GHashTable *attributes(int size, int number) {
    char account[48];
    snprintf(account, sizeof account, "%d-%d", size, number);
    return secret_attributes_build(&schema, "service", "bench", "account", account, NULL);
}

static void add(int size, GHashTable *which) {
    GError *error = NULL;
    char *secret = malloc((size_t)size);
    memset(secret, 's', (size_t)size);
    SecretValue *value = secret_value_new(secret, size, "text/plain");
    check(secret_service_store_sync(service, &schema, which, collection, "bench", value, NULL,
                                    &error),
          "store", error);
    secret_value_unref(value);
    free(secret);
}

static void read_one(int size, GHashTable *which) {
    GError *error = NULL;
    SecretValue *value = secret_service_lookup_sync(service, &schema, which, NULL, &error);
    check(value != NULL, "lookup", error);
    gsize length;
    secret_value_get(value, &length);
    check(length == (gsize)size, "a secret of another length", NULL);
    secret_value_unref(value);
}

static void delete_one(GHashTable *which) {
    GError *error = NULL;
    check(secret_service_clear_sync(service, &schema, which, NULL, &error), "clear", error);
}

static void lock(void) {
    GError *error = NULL;
    const char *paths[] = {collection, NULL};
    char **locked = NULL;
    check(secret_service_lock_dbus_paths_sync(service, paths, NULL, &locked, &error) == 1, "lock",
          error);
    g_strfreev(locked);
}

static int64_t unlock(int size, GHashTable *which) {
    lock();
    int64_t begun = nanoseconds();
    g_variant_unref(internally("UnlockWithMasterPassword",
                               g_variant_new("(o@(oayays))", collection, master()), "()"));
    read_one(size, which);
    return nanoseconds() - begun;
}

static int64_t perform(const char *verb, int size, int number) {
    GHashTable *which = attributes(size, number);
    int64_t begun = nanoseconds(), took = -1;
    if (strcmp(verb, "add") == 0)
        add(size, which);
    else if (strcmp(verb, "read") == 0)
        read_one(size, which);
    else if (strcmp(verb, "delete") == 0)
        delete_one(which);
    else if (strcmp(verb, "unlock") == 0)
        took = unlock(size, which);
    else
        exit(64);
    if (took < 0)
        took = nanoseconds() - begun;
    g_hash_table_unref(which);
    return took;
}

int main(void) {
    char line[128], verb[16];
    GError *error = NULL;
    service = secret_service_get_sync(SECRET_SERVICE_OPEN_SESSION, NULL, &error);
    check(service != NULL, "no secret service", error);
    create();
    printf("ready\n");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        int size, first, count = 1;
        if (sscanf(line, "%15s %d %d %d", verb, &size, &first, &count) < 3 || size < 1)
            return 64;
        for (int i = 0; i < count; i++)
            printf("%lld ", (long long)perform(verb, size, first + i));
        printf("\n");
        fflush(stdout);
    }
    return 0;
}

#endif
