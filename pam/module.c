/* pam_localauth: a sensor of the service recognises the user, or the user types the password,
   whichever comes first. A typed password is passed on to later modules. */
#include "clock.h"
#include "options.h"
#include "place.h"
#include "program.h"
#include "question.h"
#include "service.h"
#include "text.h"

#include <errno.h>
#include <poll.h>
#include <security/pam_ext.h>
#include <security/pam_modutil.h>
#include <stdlib.h>
#include <string.h>
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
    struct program program;
    /* The user sees the prompt, so that the sensors may look. */
    bool is_open;
    bool is_invited;
    /* The cursor stands behind a prompt. */
    bool is_behind_question;
    /* When to stop waiting for news, in microseconds of CLOCK_MONOTONIC. */
    uint64_t until;
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

/* ---- Messages to the user ---- */

static void leave_line(struct attempt *attempt) {
    if (attempt->is_behind_question) question_end_line(&attempt->question);
    attempt->is_behind_question = false;
}

/* Ignores PAM_SILENT, because sudo always sets it. */
static int tell(struct attempt *attempt, const char *sentence) {
    if (attempt->program.is_silent) return PAM_SUCCESS;
    leave_line(attempt);
    const int style = attempt->program.speaks_on_errors ? PAM_ERROR_MSG : PAM_TEXT_INFO;
    return pam_prompt(attempt->pamh, style, NULL, "%s", sentence);
}

static void hear(struct service *service, const char *sentence) {
    struct attempt *attempt = service->context;
    /* Most programs handle one message at a time. While a password prompt is open, send messages
       only to polkit or if the prompt is known to be on a terminal. */
    if (attempt->question.process >= 0 && !attempt->program.is_polkit &&
        !question_is_open(&attempt->question))
        return;
    (void)tell(attempt, sentence);
}

static int invite(struct attempt *attempt, bool takes_password) {
    const struct service *service = &attempt->service;
    attempt->is_invited = true;
    if (service->command[0]) {
        char sentence[text_size];
        text_command(sentence, service->command);
        const int result = tell(attempt, sentence);
        if (result != PAM_SUCCESS) return result;
    }
    return tell(attempt, text_invitation(service->types, service->types_count, takes_password));
}

/* ---- Waiting ---- */

/* Returns the timeout for poll. */
static int left(const struct attempt *attempt, bool is_live) {
    const struct service *service = &attempt->service;
    uint64_t until = attempt->until, timeout = UINT64_MAX;
    if (is_live && service->deadline < until) until = service->deadline;
    if (is_live && sd_bus_get_timeout(service->bus, &timeout) >= 0 && timeout < until)
        until = timeout;
    if (until == UINT64_MAX) return -1;
    const uint64_t now = now_microseconds();
    return until <= now ? 0 : (int)((until - now) / 1000 + 1);
}

enum happened { NOTHING, ANSWERED, SIGNALLED };

/* Waits for activity on the bus, an answer to the password prompt, or a signal to the program. */
static enum happened wait_for_news(struct attempt *attempt) {
    struct service *service = &attempt->service;
    const bool is_live = service_is_live(service);
    struct pollfd news[] = {
        {.fd = is_live ? sd_bus_get_fd(service->bus) : -1,
         .events = (short)(is_live ? sd_bus_get_events(service->bus) : 0)},
        {.fd = attempt->question.answered, .events = POLLIN},
        {.fd = attempt->question.signals, .events = POLLIN},
    };
    const int count = poll(news, 3, left(attempt, is_live));
    if (count > 0 && news[2].revents) return SIGNALLED;
    if (count > 0 && news[1].revents) return ANSWERED;
    if (is_live) service_process(service);
    return NOTHING;
}

/* Starts the evaluation, and waits at most `patience` microseconds until the service says whether
   it can recognise the user. Returns false if a signal ends the program. */
static bool start_to_look(struct attempt *attempt, uint64_t patience) {
    struct service *service = &attempt->service;
    service_end(service);
    service_start(service, attempt->options.bus);
    const uint64_t now = now_microseconds();
    attempt->until = patience < UINT64_MAX - now ? now + patience : UINT64_MAX;
    while (service->stage == STAGE_STARTING && now_microseconds() < attempt->until)
        if (wait_for_news(attempt) == SIGNALLED &&
            question_let_signals(&attempt->question) == SIGNAL_ENDING)
            return false;
    attempt->until = UINT64_MAX;
    return true;
}

/* ---- Sensors without a password ---- */

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

static int invite_and_look(struct attempt *attempt) {
    attempt->service.is_check = false;
    if (!start_to_look(attempt, UINT64_MAX)) return PAM_AUTHINFO_UNAVAIL;
    const enum stage stage = attempt->service.stage;
    const bool looks = stage == STAGE_LOOKING || stage == STAGE_RECOGNISED;
    if (looks && invite(attempt, false) != PAM_SUCCESS) return PAM_CONV_ERR;
    return look_only(attempt);
}

/* ---- The password in this process, then sensors ---- */

/* Passes a typed password to the next module. Does not check the password. */
static int leave_answer(struct attempt *attempt) {
    const char *reply = attempt->question.reply;
    return pam_set_item(attempt->pamh, PAM_AUTHTOK, reply) == PAM_SUCCESS ? PAM_AUTHINFO_UNAVAIL
                                                                          : PAM_BUF_ERR;
}

/* Lets the sensors look after Enter on an empty field, because the program can't be asked beside
   them. */
static int look_after_enter(struct attempt *attempt) {
    attempt->service.is_intended = true;
    if (invite_and_look(attempt) == PAM_SUCCESS) return PAM_SUCCESS;
    const bool has_looked = attempt->is_invited || attempt->service.stage == STAGE_FAILED;
    /* After a look in vain the next module asks again. */
    return has_looked ? PAM_AUTHINFO_UNAVAIL : leave_answer(attempt);
}

static int ask_then_look(struct attempt *attempt) {
    attempt->service.is_check = true;
    if (!start_to_look(attempt, UINT64_MAX) || attempt->service.stage != STAGE_READY)
        return PAM_AUTHINFO_UNAVAIL;
    /* The user may take hours. */
    service_end(&attempt->service);
    if (question_ask_here(&attempt->question) != PAM_SUCCESS) return PAM_CONV_ERR;
    const bool is_empty = attempt->question.reply[0] == '\0';
    return is_empty && attempt->program.looks_after_enter ? look_after_enter(attempt)
                                                          : leave_answer(attempt);
}

/* ---- The password in a child process, beside the sensors ---- */

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
    const bool is_empty = attempt->question.reply[0] == '\0';
    if (attempt->service.awaits_confirmation && is_empty) {
        service_confirm(&attempt->service);
        attempt->service.deadline =
            now_microseconds() + attempt->options.wait * UINT64_C(1000000);
        return look_only(attempt);
    }
    /* The program had its answer before the prompt, as swaylock does. */
    const bool is_ready_made = !attempt->is_open && attempt->program.looks_after_enter;
    return is_empty && is_ready_made ? look_after_enter(attempt) : leave_answer(attempt);
}

static bool ask(struct attempt *attempt) {
    const struct service *service = &attempt->service;
    attempt->is_open = attempt->program.is_polkit;
    attempt->is_behind_question = !attempt->program.is_polkit;
    return question_ask(&attempt->question, service->bus ? sd_bus_get_fd(service->bus) : -1);
}

/* Starts the sensors once the prompt is open, because a program may refuse it. */
static void look_at_question(struct attempt *attempt) {
    struct service *service = &attempt->service;
    if (!attempt->is_open) attempt->is_open = question_is_open(&attempt->question);
    if (attempt->is_open && service->stage == STAGE_READY) {
        service->is_check = false;
        service_evaluate(service);
    }
    if (attempt->is_open && service->stage == STAGE_LOOKING && !attempt->is_invited)
        (void)invite(attempt, true);
    attempt->until = attempt->is_open ? UINT64_MAX : question_next_look(&attempt->question);
}

/* Asks again in this process if the program refused the prompt, so that sudo -n knows that it
   refused. */
static int refused(struct attempt *attempt, int result) {
    const bool is_by_program = result == PAM_CONV_ERR && !attempt->is_open;
    if (!is_by_program || question_ask_here(&attempt->question) != PAM_SUCCESS) return PAM_CONV_ERR;
    return take_answer(attempt);
}

static int ask_and_look(struct attempt *attempt) {
    struct service *service = &attempt->service;
    struct question *question = &attempt->question;
    const uint64_t patience = attempt->options.wait * UINT64_C(500000);
    service->is_patient = true;
    /* A polkit dialog shows the invitation best above its field. It never refuses the prompt. */
    service->is_check = !attempt->program.is_polkit;
    if (!start_to_look(attempt, patience) || service->stage > STAGE_RECOGNISED)
        return PAM_AUTHINFO_UNAVAIL;
    if (service->stage >= STAGE_LOOKING && invite(attempt, true) != PAM_SUCCESS)
        return PAM_CONV_ERR;
    if (!ask(attempt)) return PAM_AUTHINFO_UNAVAIL;
    bool is_told = false;
    int result;
    while (service->stage != STAGE_RECOGNISED) {
        look_at_question(attempt);
        if (service->stage > STAGE_LOOKING && attempt->is_invited && !is_told) {
            is_told = true;
            hear(service, localized("Enter your password."));
        }
        switch (wait_for_news(attempt)) {
        case NOTHING: break;
        case ANSWERED:
            result = question_result(question);
            attempt->is_behind_question = false;
            if (result != PAM_SUCCESS) return refused(attempt, result);
            if (!is_too_early(attempt)) return take_answer(attempt);
            if (!ask(attempt)) return PAM_AUTHINFO_UNAVAIL;
            break;
        case SIGNALLED:
            question_withdraw(question);
            if (question_let_signals(question) == SIGNAL_ENDING) return PAM_CONV_ERR;
            if (!ask(attempt)) return PAM_AUTHINFO_UNAVAIL;
        }
    }
    leave_line(attempt);
    question_withdraw(question);
    hear(service, localized("Recognized."));
    return PAM_SUCCESS;
}

static int recognise(struct attempt *attempt) {
    if (attempt->options.biometry_only) return invite_and_look(attempt);
    return attempt->program.takes_copies ? ask_and_look(attempt) : ask_then_look(attempt);
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
    /* Plasma's lock screen runs kde-fingerprint beside kde. After a touch it answers kde with an
       empty text, which is no request to look again. */
    if (strcmp(service, "kde") == 0 && !attempt->options.lock_screen) return PLACE_REFUSED;
    attempt->service.user = user->pw_uid;
    /* The display manager's case applies to the system bus only. */
    if (attempt->options.bus) return PLACE_HERE;
    return place_of(user->pw_uid, service, item(pamh, PAM_TTY), &attempt->service.session);
}

EXPORTED int pam_sm_authenticate(pam_handle_t *pamh, int flags, int argc, const char **argv) {
    (void)flags;
    struct attempt attempt = {
        .pamh = pamh,
        .options = options_parse(pamh, argc, argv),
        .program = program_of(item(pamh, PAM_SERVICE)),
        .until = UINT64_MAX,
    };
    struct memory memory = {0};
    /* Forget an earlier attempt, so that it can't affect this attempt's credentials. */
    if (!remember(pamh, memory)) return PAM_BUF_ERR;
    const enum place place = may_look(&attempt);
    if (place == PLACE_REFUSED) {
        free(attempt.service.session);
        if (attempt.options.debug) pam_syslog(pamh, LOG_DEBUG, "not for this user, here");
        return PAM_AUTHINFO_UNAVAIL;
    }
    memory.user = attempt.service.user;
    int result = PAM_AUTHINFO_UNAVAIL;
    const bool asks = !attempt.options.biometry_only;
    if (place == PLACE_GREETER) {
        /* The user has no session here that may use a sensor. Only report a correct password. */
    } else if (asks && item(pamh, PAM_AUTHTOK)[0] != '\0') {
        /* A known password needs no prompt. */
    } else if (question_prepare(&attempt.question, pamh)) {
        attempt.service.pamh = pamh;
        command_of(attempt.service.command, item(pamh, PAM_SERVICE));
        const bool is_own_lock_screen = attempt.options.lock_screen && geteuid() != 0;
        attempt.service.is_lock_screen = is_own_lock_screen || attempt.program.may_be_lock_screen;
        /* The lock screen is the last thing that the user did, and it shows the prompt. */
        attempt.service.is_intended = is_own_lock_screen;
        attempt.service.shows_prompt = place == PLACE_HERE || is_own_lock_screen;
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
    free(attempt.service.session);
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
