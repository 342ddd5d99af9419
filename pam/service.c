#include "service.h"

#include "clock.h"
#include "text.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <security/pam_ext.h>
#include <security/pam_modutil.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#define AUTHENTICATION "org.localauth.Authentication1"
#define AUTHENTICATION_PATH "/org/localauth/Authentication1"
#define AGENT "org.localauth.Agent1"
#define AGENT_PATH "/org/localauth/Agent1"

/* The address of every installed system bus. The environment is not trusted: the user who
   started the program controls it. */
static const char system_bus[] = "unix:path=/run/dbus/system_bus_socket";

static const uint64_t second = 1000 * 1000;

static const unsigned biometry = 1;

/* Copies a text that fits. A longer text is not a valid name. */
static bool copy(char *result, size_t size, const char *text) {
    const size_t length = strnlen(text, size);
    if (length == size) return false;
    memcpy(result, text, length + 1);
    return true;
}

static void give_up(struct service *service, const char *reason) {
    if (service->stage > STAGE_LOOKING) return;
    service->stage = STAGE_UNAVAILABLE;
    const size_t length = strnlen(reason, name_size - 1);
    memcpy(service->reason, reason, length);
    service->reason[length] = '\0';
}

/* Accept messages only from the service's connection, because sd-bus matches replies by serial
   number alone. */
static bool is_from(const struct service *service, sd_bus_message *message) {
    const char *sender = sd_bus_message_get_sender(message);
    return sender && service->owner[0] && strcmp(sender, service->owner) == 0;
}

static sd_bus *open_bus(const char *address) {
    sd_bus *bus = NULL;
    if (sd_bus_new(&bus) < 0) return NULL;
    if (sd_bus_set_address(bus, address ? address : system_bus) < 0 ||
        sd_bus_set_bus_client(bus, 1) < 0 || sd_bus_negotiate_fds(bus, 0) < 0 ||
        sd_bus_start(bus) < 0) {
        sd_bus_close(bus);
        return sd_bus_unref(bus);
    }
    return bus;
}

/* Sends a call; `hear` gets the reply, or an error after `timeout`. */
static void call(struct service *service, sd_bus_message *message, sd_bus_message_handler_t hear,
                 uint64_t timeout) {
    if (sd_bus_call_async(service->bus, NULL, message, hear, service, timeout) < 0)
        give_up(service, "the bus takes no call");
}

static sd_bus_message *method(struct service *service, const char *destination, const char *path,
                              const char *interface, const char *member) {
    sd_bus_message *message = NULL;
    if (sd_bus_message_new_method_call(service->bus, &message, destination, path, interface,
                                       member) < 0)
        give_up(service, "there is no memory");
    return message;
}

/* ---- The evaluation ---- */

static bool is_recognition(sd_bus_message *message) {
    bool is_biometry = false;
    if (sd_bus_message_enter_container(message, 'a', "{sv}") < 0) return false;
    while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
        const char *key = NULL, *value = NULL;
        if (sd_bus_message_read(message, "s", &key) < 0) return false;
        if (strcmp(key, "mechanism") == 0) {
            if (sd_bus_message_read(message, "v", "s", &value) < 0) return false;
            is_biometry = strcmp(value, "biometry") == 0;
        } else if (sd_bus_message_skip(message, "v") < 0) {
            return false;
        }
        if (sd_bus_message_exit_container(message) < 0) return false;
    }
    return sd_bus_message_exit_container(message) >= 0 && is_biometry;
}

static int evaluated(sd_bus_message *message, void *data, sd_bus_error *unused) {
    (void)unused;
    struct service *service = data;
    if (service->stage > STAGE_LOOKING) return 1;
    const sd_bus_error *error = sd_bus_message_get_error(message);
    if (service->is_check) {
        const bool is_available =
            error && is_from(service, message) &&
            sd_bus_error_has_name(error, "org.localauth.Error.NotInteractive");
        if (!is_available) give_up(service, error ? error->name : "the check had a result");
        else service->stage = STAGE_READY;
        service->deadline = UINT64_MAX;
    } else if (error) {
        /* Only a failure while the sensors looked counts. Before that, the user had no chance. */
        const bool has_failed = is_from(service, message) && service->stage == STAGE_LOOKING &&
                                sd_bus_error_has_name(
                                    error, "org.localauth.Error.AuthenticationFailed");
        if (has_failed) service->stage = STAGE_FAILED;
        else give_up(service, error->name);
    } else if (is_from(service, message) && is_recognition(message)) {
        service->stage = STAGE_RECOGNISED;
    } else {
        give_up(service, "the answer is not the service's");
    }
    return 1;
}

void service_evaluate(struct service *service) {
    service->stage = STAGE_STARTING;
    /* The service is running, but may have to start its sensors first, or shows another prompt. */
    const bool is_patient = service->is_patient && !service->is_check;
    const uint64_t patience = is_patient ? service->timeout + 2 : 3 * service->wait;
    service->deadline = now_microseconds() + patience * second;
    sd_bus_message *message =
        method(service, service->owner, AUTHENTICATION_PATH, AUTHENTICATION, "Evaluate");
    if (!message) return;
    const uint64_t milliseconds = service->timeout * UINT64_C(1000);
    char purpose[text_size];
    text_purpose(purpose, service->command);
    int result =
        sd_bus_message_append(message, "us", biometry,
                              service->command[0] ? purpose : localized("confirm your identity"));
    if (result >= 0) result = sd_bus_message_open_container(message, 'a', "{sv}");
    if (result >= 0)
        result = sd_bus_message_append(message, "{sv}{sv}", "timeout", "t", milliseconds,
                                       "fallback-title", "s", "");
    if (result >= 0 && service->is_check)
        result = sd_bus_message_append(message, "{sv}", "interaction-not-allowed", "b", 1);
    if (result >= 0 && service->is_intended)
        result = sd_bus_message_append(message, "{sv}", "require-confirmation", "b", 0);
    if (result >= 0)
        result = sd_bus_message_append(message, "{sv}", "lock-screen", "b",
                                       (int)service->is_lock_screen);
    /* For root the evaluation is an unlock of that user. Other callers can evaluate only
       themselves. */
    if (result >= 0 && geteuid() == 0)
        result = sd_bus_message_append(message, "{sv}", "uid", "u", (uint32_t)service->user);
    if (result >= 0) result = sd_bus_message_close_container(message);
    if (result >= 0) call(service, message, evaluated, (service->timeout + 5) * second);
    else give_up(service, "there is no memory");
    sd_bus_message_unref(message);
}

static int registered(sd_bus_message *message, void *data, sd_bus_error *unused) {
    (void)unused;
    struct service *service = data;
    const sd_bus_error *error = sd_bus_message_get_error(message);
    if (error) give_up(service, error->name);
    else if (service->stage == STAGE_STARTING) service_evaluate(service);
    return 1;
}

static void register_agent(struct service *service) {
    sd_bus_message *message =
        method(service, service->owner, AUTHENTICATION_PATH, AUTHENTICATION, "RegisterAgent");
    if (!message) return;
    int result = sd_bus_message_append(message, "o", AGENT_PATH);
    if (result >= 0) result = sd_bus_message_open_container(message, 'a', "{sv}");
    if (result >= 0)
        result = sd_bus_message_append(message, "{sv}", "process", "u", (uint32_t)getpid());
    if (result >= 0 && service->is_lock_screen)
        result = sd_bus_message_append(message, "{sv}", "lock-screen", "b", 1);
    /* Only a root helper can be in no session of its own. */
    if (result >= 0 && service->session && geteuid() == 0)
        result = sd_bus_message_append(message, "{sv}", "session", "s", service->session);
    if (result >= 0) result = sd_bus_message_close_container(message);
    if (result >= 0)
        call(service, message, registered, service->wait * second);
    else give_up(service, "there is no memory");
    sd_bus_message_unref(message);
}

/* Whether the name's owner is root or the service's own user. */
static bool is_trusted(const struct service *service, uid_t owner) {
    if (owner == 0) return true;
    if (service->is_trusted_address && owner == geteuid()) return true;
    const struct passwd *user = pam_modutil_getpwnam(service->pamh, "localauth");
    return user && user->pw_uid == owner;
}

static int identified(sd_bus_message *message, void *data, sd_bus_error *unused) {
    (void)unused;
    struct service *service = data;
    const char *sender = sd_bus_message_get_sender(message);
    uint32_t owner = UINT32_MAX;
    if (service->stage != STAGE_STARTING) return 1;
    if (sd_bus_message_is_method_error(message, NULL) || !sender ||
        strcmp(sender, "org.freedesktop.DBus") != 0 ||
        sd_bus_message_read(message, "u", &owner) < 0) {
        give_up(service, "the bus doesn't say whose the service is");
    } else if (!is_trusted(service, (uid_t)owner)) {
        pam_syslog(service->pamh, LOG_ALERT, "user %" PRIu32 " has the name of localauthd", owner);
        give_up(service, "another user has the service's name");
    } else if (service->shows_prompt) {
        register_agent(service);
    } else {
        service_evaluate(service);
    }
    return 1;
}

static int found(sd_bus_message *message, void *data, sd_bus_error *unused) {
    (void)unused;
    struct service *service = data;
    const char *sender = sd_bus_message_get_sender(message);
    const sd_bus_error *error = sd_bus_message_get_error(message);
    if (service->stage != STAGE_STARTING) return 1;
    if (error || !sender || sender[0] != ':' || !copy(service->owner, name_size, sender)) {
        give_up(service, error ? error->name : "the service has no address");
        return 1;
    }
    sd_bus_message *question = method(service, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                      "org.freedesktop.DBus", "GetConnectionUnixUser");
    if (!question) return 1;
    if (sd_bus_message_append(question, "s", service->owner) >= 0)
        call(service, question, identified, service->wait * second);
    else give_up(service, "there is no memory");
    sd_bus_message_unref(question);
    return 1;
}

/* ---- Events and agent calls of the service ---- */

/* Reads a dictionary's value if it has the type. */
static bool read_basic(sd_bus_message *message, const char *type, void *value) {
    const char *contents = NULL;
    char kind = 0;
    if (sd_bus_message_peek_type(message, &kind, &contents) <= 0 || kind != 'v' ||
        strcmp(contents, type) != 0)
        return false;
    return sd_bus_message_read(message, "v", type, value) >= 0;
}

static void heard_ready(struct service *service, unsigned type) {
    for (size_t index = 0; index < service->types_count; index++)
        if (service->types[index] == type) return;
    if (service->types_count < types_size) service->types[service->types_count++] = type;
}

static void heard(struct service *service, sd_bus_message *message) {
    const char *kind = NULL, *hint = NULL;
    uint32_t attempts_left = 0, type = 0;
    if (sd_bus_message_read(message, "s", &kind) < 0 ||
        sd_bus_message_enter_container(message, 'a', "{sv}") < 0)
        return;
    while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
        const char *key = NULL;
        if (sd_bus_message_read(message, "s", &key) < 0) return;
        const bool is_taken =
            (strcmp(key, "attempts-left") == 0 && read_basic(message, "u", &attempts_left)) ||
            (strcmp(key, "biometry-type") == 0 && read_basic(message, "u", &type)) ||
            (strcmp(key, "hint") == 0 && read_basic(message, "s", &hint));
        if (!is_taken && sd_bus_message_skip(message, "v") < 0) return;
        if (sd_bus_message_exit_container(message) < 0) return;
    }
    char sentence[text_size];
    if (strcmp(kind, "prompt-shown") == 0 && service->stage == STAGE_STARTING) {
        service->stage = STAGE_LOOKING;
        service->deadline = now_microseconds() + (service->timeout + 2) * second;
    } else if (strcmp(kind, "sensor-ready") == 0) {
        heard_ready(service, type);
    } else if (strcmp(kind, "sensor-busy") == 0) {
        service->hear(service, text_busy(type));
    } else if (strcmp(kind, "no-match") == 0) {
        text_no_match(sentence, attempts_left);
        service->hear(service, sentence);
    } else if (strcmp(kind, "hint") == 0 && hint && text_advice(hint)) {
        service->hear(service, text_advice(hint));
    } else if (strcmp(kind, "confirmation-required") == 0 && service->shows_prompt) {
        service->awaits_confirmation = true;
        service->hear(service, localized("Press Enter to confirm."));
        service->confirmation_shown = now_microseconds();
    }
}

static int began(struct service *service, sd_bus_message *message) {
    const char *prompt = NULL;
    if (sd_bus_message_read(message, "s", &prompt) < 0 ||
        !copy(service->prompt, prompt_size, prompt) ||
        sd_bus_message_enter_container(message, 'a', "{sv}") < 0)
        return -EINVAL;
    while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
        const char *key = NULL, *contents = NULL;
        char kind = 0;
        if (sd_bus_message_read(message, "s", &key) < 0) return -EINVAL;
        if (strcmp(key, "biometry-types") == 0 &&
            sd_bus_message_peek_type(message, &kind, &contents) > 0 &&
            strcmp(contents, "au") == 0) {
            const void *types = NULL;
            size_t size = 0;
            if (sd_bus_message_enter_container(message, 'v', "au") < 0 ||
                sd_bus_message_read_array(message, 'u', &types, &size) < 0 ||
                sd_bus_message_exit_container(message) < 0)
                return -EINVAL;
            for (size_t index = 0; index < size / sizeof(uint32_t); index++)
                heard_ready(service, ((const uint32_t *)types)[index]);
        } else if (sd_bus_message_skip(message, "v") < 0) {
            return -EINVAL;
        }
        if (sd_bus_message_exit_container(message) < 0) return -EINVAL;
    }
    return sd_bus_reply_method_return(message, NULL);
}

/* Filters all messages; sd-bus handles the messages for which this returns 0. */
static int received(sd_bus_message *message, void *data, sd_bus_error *error) {
    struct service *service = data;
    if (sd_bus_message_is_signal(message, AUTHENTICATION, "Event")) {
        if (is_from(service, message) && sd_bus_message_has_signature(message, "sa{sv}"))
            heard(service, message);
        return 1;
    }
    const char *path = sd_bus_message_get_path(message);
    if (!sd_bus_message_is_method_call(message, AGENT, NULL) || !path ||
        strcmp(path, AGENT_PATH) != 0)
        return 0;
    if (!is_from(service, message))
        return sd_bus_error_set_const(error, SD_BUS_ERROR_ACCESS_DENIED, "Only for the service.");
    if (sd_bus_message_is_method_call(message, AGENT, "Begin") &&
        sd_bus_message_has_signature(message, "sa{sv}"))
        return began(service, message);
    /* Update and End need no work: events and the reply to Evaluate carry the same news. */
    return sd_bus_reply_method_return(message, NULL);
}

void service_start(struct service *service, const char *address) {
    service->stage = STAGE_STARTING;
    service->types_count = 0;
    service->is_trusted_address = address != NULL;
    service->deadline = now_microseconds() + service->wait * second;
    service->bus = open_bus(address);
    if (!service->bus) {
        give_up(service, "there is no bus");
        return;
    }
    if (sd_bus_add_filter(service->bus, NULL, received, service) < 0) {
        give_up(service, "there is no memory");
        return;
    }
    sd_bus_message *message =
        method(service, AUTHENTICATION, AUTHENTICATION_PATH, "org.freedesktop.DBus.Peer", "Ping");
    if (message) call(service, message, found, service->wait * second);
    sd_bus_message_unref(message);
}

bool service_is_live(const struct service *service) {
    return service->bus && service->stage <= STAGE_LOOKING;
}

void service_process(struct service *service) {
    /* Any process may send signals, so bound the work before input and the deadline are checked.
       If messages remain, sd_bus_get_timeout returns 0. */
    int result = 1;
    for (int left = 64; left > 0 && result > 0; left--) result = sd_bus_process(service->bus, NULL);
    if (result < 0) give_up(service, "the bus is gone");
    else if (now_microseconds() >= service->deadline) give_up(service, "it took too long");
}

void service_confirm(struct service *service) {
    service->awaits_confirmation = false;
    sd_bus_message *message =
        method(service, service->owner, AUTHENTICATION_PATH, AUTHENTICATION, "SubmitConfirm");
    if (!message) return;
    if (sd_bus_message_append(message, "s", service->prompt) >= 0)
        (void)sd_bus_send(service->bus, message, NULL);
    sd_bus_message_unref(message);
}

void service_end(struct service *service) {
    if (service->bus) sd_bus_close(service->bus);
    service->bus = sd_bus_unref(service->bus);
}

/* ---- The report ---- */

static int reported(sd_bus_message *message, void *data, sd_bus_error *unused) {
    (void)unused;
    struct service *service = data;
    const sd_bus_error *error = sd_bus_message_get_error(message);
    give_up(service, error ? error->name : "");
    return 1;
}

void service_report_passcode(pam_handle_t *pamh, const char *address, uid_t user, unsigned wait) {
    struct service service = {
        .pamh = pamh,
        .stage = STAGE_STARTING,
        .deadline = now_microseconds() + wait * second,
    };
    service.bus = open_bus(address);
    if (!service.bus) return;
    sd_bus_message *message =
        method(&service, AUTHENTICATION, AUTHENTICATION_PATH, AUTHENTICATION, "ReportUnlock");
    if (message && sd_bus_message_append(message, "us", (uint32_t)user, "passcode") >= 0)
        call(&service, message, reported, wait * second);
    else give_up(&service, "there is no memory");
    sd_bus_message_unref(message);
    while (service.stage == STAGE_STARTING) {
        service_process(&service);
        const uint64_t now = now_microseconds();
        if (service.stage == STAGE_STARTING && now < service.deadline)
            (void)sd_bus_wait(service.bus, service.deadline - now);
        else give_up(&service, "it took too long");
    }
    if (service.reason[0]) pam_syslog(pamh, LOG_DEBUG, "no report: %s", service.reason);
    service_end(&service);
}
