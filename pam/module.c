/* pam_localauth: a sensor of the service recognises the user, or the user types the password,
   whichever comes first. A typed password is passed on to later modules. */
#include "options.h"
#include "place.h"
#include "question.h"
#include "service.h"
#include "text.h"

#include <errno.h>
#include <poll.h>
#include <security/pam_ext.h>
#include <security/pam_modutil.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* State that pam_sm_authenticate leaves for pam_sm_setcred. */
struct memory {
    uid_t user;
    bool is_recognised;
    /* Whether later modules decide, by the password. */
    bool is_passcode_next;
};
static const char memory_name[] = "pam_localauth";

struct attempt {
    pam_handle_t *pamh;
    struct options options;
    struct service service;
    struct question question;
    bool is_polkit;
};

static void forget(pam_handle_t *pamh, void *data, int status) {
    (void)pamh;
    (void)status;
    free(data);
}

static bool remember(pam_handle_t *pamh, struct memory memory) {
    struct memory *copy = malloc(sizeof *copy);
    if (!copy) return false;
    *copy = memory;
    if (pam_set_data(pamh, memory_name, copy, forget) == PAM_SUCCESS) return true;
    free(copy);
    return false;
}

static const char *item(pam_handle_t *pamh, int kind) {
    const void *value = NULL;
    return pam_get_item(pamh, kind, &value) == PAM_SUCCESS && value ? value : "";
}

/* Whether this process has a single thread, by the links of its task folder. */
static bool is_single_threaded(void) {
    struct stat folder;
    return stat("/proc/self/task", &folder) == 0 && folder.st_nlink == 3;
}

/* ---- Messages to the user ---- */

static void hear(struct service *service, const char *sentence) {
    struct attempt *attempt = service->context;
    /* Most programs handle one message at a time. While a password prompt is open, send messages
       only to polkit or if the prompt is on a terminal. */
    if (attempt->question.process >= 0 && !attempt->is_polkit &&
        !question_is_on_terminal(&attempt->question))
        return;
    (void)pam_info(attempt->pamh, "%s", sentence);
}

static int invite(struct attempt *attempt) {
    const struct service *service = &attempt->service;
    const char *sentence = text_invitation(service->types, service->types_count,
                                           !attempt->options.biometry_only);
    return pam_info(attempt->pamh, "%s", sentence);
}

/* ---- Waiting ---- */

static int left(const struct service *service) {
    uint64_t until = service->deadline, timeout = UINT64_MAX;
    if (sd_bus_get_timeout(service->bus, &timeout) >= 0 && timeout < until) until = timeout;
    const uint64_t now = now_microseconds();
    return until <= now ? 0 : (int)((until - now) / 1000 + 1);
}

enum happened { NOTHING, ANSWERED, SIGNALLED };

/* Waits for activity on the bus, an answer to the password prompt, or a signal to the program. */
static enum happened wait_for_news(struct attempt *attempt) {
    struct service *service = &attempt->service;
    const bool is_over = service->stage > STAGE_LOOKING;
    const int events = is_over ? 0 : sd_bus_get_events(service->bus);
    struct pollfd news[] = {
        {.fd = is_over ? -1 : sd_bus_get_fd(service->bus), .events = (short)events},
        {.fd = attempt->question.answered, .events = POLLIN},
        {.fd = attempt->question.signals, .events = POLLIN},
    };
    const int count = poll(news, 3, is_over ? -1 : left(service));
    if (count > 0 && news[2].revents) return SIGNALLED;
    if (count > 0 && news[1].revents) return ANSWERED;
    if (!is_over) service_process(service);
    return NOTHING;
}

/* Waits until the service says whether it can recognise the user. No password prompt is open
   yet. */
static bool has_begun(struct attempt *attempt) {
    service_process(&attempt->service);
    while (attempt->service.stage == STAGE_STARTING)
        if (wait_for_news(attempt) == SIGNALLED &&
            question_let_signals(&attempt->question) == SIGNAL_ENDING)
            return false;
    return attempt->service.stage == STAGE_LOOKING || attempt->service.stage == STAGE_RECOGNISED;
}

/* ---- Recognition, with or without the password ---- */

static int look_only(struct attempt *attempt) {
    while (attempt->service.stage == STAGE_LOOKING)
        if (wait_for_news(attempt) == SIGNALLED &&
            question_let_signals(&attempt->question) == SIGNAL_ENDING)
            return PAM_AUTHINFO_UNAVAIL;
    switch (attempt->service.stage) {
    case STAGE_RECOGNISED: return PAM_SUCCESS;
    case STAGE_FAILED: return PAM_AUTH_ERR;
    default: return PAM_AUTHINFO_UNAVAIL;
    }
}

/* Time in microseconds after the message about a waiting match, during which Enter does not
   confirm. The user pressed it for the earlier prompt, before reading the message. */
static const uint64_t settling = 400 * 1000;

static bool is_too_early(const struct attempt *attempt) {
    const struct service *service = &attempt->service;
    return service->awaits_confirmation && attempt->question.reply[0] == '\0' &&
           now_microseconds() < service->confirmation_shown + settling;
}

/* Confirms a waiting match, or passes a typed password to the next module. Does not check the
   password. */
static int take_answer(struct attempt *attempt) {
    const struct question *question = &attempt->question;
    if (attempt->service.awaits_confirmation && question->reply[0] == '\0') {
        service_confirm(&attempt->service);
        attempt->service.deadline =
            now_microseconds() + attempt->options.wait * UINT64_C(1000000);
        return look_only(attempt);
    }
    if (pam_set_item(attempt->pamh, PAM_AUTHTOK, question->reply) != PAM_SUCCESS)
        return PAM_BUF_ERR;
    return PAM_AUTHINFO_UNAVAIL;
}

static int look_and_ask(struct attempt *attempt) {
    struct question *question = &attempt->question;
    const int bus = sd_bus_get_fd(attempt->service.bus);
    if (!question_ask(question, bus)) return PAM_AUTHINFO_UNAVAIL;
    bool is_told = false;
    int result;
    while (attempt->service.stage != STAGE_RECOGNISED) {
        if (attempt->service.stage > STAGE_LOOKING && !is_told) {
            is_told = true;
            hear(&attempt->service, localized("Enter your password."));
        }
        switch (wait_for_news(attempt)) {
        case NOTHING: break;
        case ANSWERED:
            result = question_result(question);
            if (result != PAM_SUCCESS) return result;
            if (!is_too_early(attempt)) return take_answer(attempt);
            if (!question_ask(question, bus)) return PAM_AUTHINFO_UNAVAIL;
            break;
        case SIGNALLED:
            question_withdraw(question);
            if (question_let_signals(question) == SIGNAL_ENDING) return PAM_CONV_ERR;
            if (!question_ask(question, bus)) return PAM_AUTHINFO_UNAVAIL;
        }
    }
    question_withdraw(question);
    hear(&attempt->service, localized("Recognized."));
    return PAM_SUCCESS;
}

static int recognise(struct attempt *attempt) {
    service_start(&attempt->service, attempt->options.bus);
    if (attempt->service.bus && has_begun(attempt)) {
        if (invite(attempt) != PAM_SUCCESS) return PAM_CONV_ERR;
        return attempt->options.biometry_only ? look_only(attempt) : look_and_ask(attempt);
    }
    return PAM_AUTHINFO_UNAVAIL;
}

/* ---- PAM ---- */

/* Whether sensors may recognise the user here, and where the user is. */
static enum place may_look(struct attempt *attempt) {
    pam_handle_t *pamh = attempt->pamh;
    const char *name = NULL, *service = item(pamh, PAM_SERVICE);
    if (pam_get_user(pamh, &name, NULL) != PAM_SUCCESS || !name) return PLACE_REFUSED;
    const struct passwd *user = pam_modutil_getpwnam(pamh, name);
    /* Never for root: any enrolled finger would be a way to root. */
    if (!user || user->pw_uid == 0) return PLACE_REFUSED;
    /* A process without root privileges may authenticate its own user only. */
    if (geteuid() != 0 && (geteuid() != user->pw_uid || getuid() != user->pw_uid))
        return PLACE_REFUSED;
    if (strcmp(service, "sshd") == 0 || item(pamh, PAM_RHOST)[0] != '\0') return PLACE_REFUSED;
    attempt->service.user = user->pw_uid;
    /* The display manager's case applies to the system bus only. */
    if (attempt->options.bus) return PLACE_HERE;
    return place_of(user->pw_uid, service, item(pamh, PAM_TTY));
}

EXPORTED int pam_sm_authenticate(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    (void)flags;
    struct attempt attempt = {.pamh = pamh, .options = options_parse(pamh, argc, argv)};
    struct memory memory = {0};
    /* Forget an earlier attempt, so that it can't affect this attempt's credentials. */
    if (!remember(pamh, memory)) return PAM_BUF_ERR;
    attempt.is_polkit = strcmp(item(pamh, PAM_SERVICE), "polkit-1") == 0;
    const enum place place = may_look(&attempt);
    if (place == PLACE_REFUSED) {
        if (attempt.options.debug) pam_syslog(pamh, LOG_DEBUG, "not for this user, here");
        return PAM_AUTHINFO_UNAVAIL;
    }
    memory.user = attempt.service.user;
    int result = PAM_AUTHINFO_UNAVAIL;
    const bool asks = !attempt.options.biometry_only;
    if (place == PLACE_GREETER) {
        /* The user has no session here that may use a sensor. Only report a correct password. */
    } else if (asks && (!is_single_threaded() || item(pamh, PAM_AUTHTOK)[0] != '\0')) {
        /* A program with threads can't run its conversation in a child process, and a known
           password needs no prompt. */
    } else if (question_prepare(&attempt.question, pamh)) {
        attempt.service.pamh = pamh;
        attempt.service.shows_prompt = place == PLACE_HERE;
        attempt.service.timeout = attempt.options.timeout;
        attempt.service.wait = attempt.options.wait;
        attempt.service.hear = hear;
        attempt.service.context = &attempt;
        result = recognise(&attempt);
        service_end(&attempt.service);
        question_end(&attempt.question);
    } else {
        question_end(&attempt.question);
    }
    if (attempt.options.debug && result != PAM_SUCCESS)
        pam_syslog(pamh, LOG_DEBUG, "%s, %s", pam_strerror(pamh, result),
                   attempt.service.reason[0] ? attempt.service.reason : "without a reason");
    memory.is_recognised = result == PAM_SUCCESS;
    /* Elsewhere the user may type from afar, even while they have a session at a display. */
    memory.is_passcode_next = result == PAM_AUTHINFO_UNAVAIL && asks &&
                              (place == PLACE_HERE || place == PLACE_GREETER);
    (void)remember(pamh, memory);
    return result;
}

EXPORTED int pam_sm_setcred(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    const void *data = NULL;
    if (((unsigned)flags & PAM_DELETE_CRED) ||
        pam_get_data(pamh, memory_name, &data) != PAM_SUCCESS || !data)
        return PAM_IGNORE;
    struct memory memory = *(const struct memory *)data;
    if (memory.is_recognised) return PAM_SUCCESS;
    const struct options options = options_parse(pamh, argc, argv);
    if (memory.is_passcode_next && !options.no_report && geteuid() == 0) {
        memory.is_passcode_next = false;
        if (!remember(pamh, memory)) return PAM_BUF_ERR;
        service_report_passcode(pamh, options.bus, memory.user, options.wait);
    }
    return PAM_IGNORE;
}
