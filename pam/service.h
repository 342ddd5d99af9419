/* The connection to localauthd, for an evaluation or a report. */
#pragma once

#include "command.h"

#include <security/pam_modules.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

enum { name_size = 256, prompt_size = 128, types_size = 8 };

enum stage {
    /* Nothing was sent to the service. */
    STAGE_IDLE,
    /* The service is being reached, or has not replied yet. */
    STAGE_STARTING,
    /* Biometry is available, and no sensor looks yet: `is_check` only. */
    STAGE_READY,
    /* The sensors look. */
    STAGE_LOOKING,
    STAGE_RECOGNISED,
    /* The attempts are used up. */
    STAGE_FAILED,
    /* Biometry is unavailable, from the start or since then. */
    STAGE_UNAVAILABLE,
};

struct service;

/* Shows a sentence to the user. */
typedef void service_hear(struct service *service, const char *sentence);

struct service {
    pam_handle_t *pamh;
    sd_bus *bus;
    enum stage stage;
    /* Why biometry is unavailable, for the log. */
    char reason[name_size];
    /* The service's unique name, which the bus guarantees as the sender. */
    char owner[name_size];
    bool is_trusted_address;
    bool shows_prompt;
    /* The session that shows the prompt, if it is not this process's own; else NULL. */
    char *session;
    /* The command that the prompt is for; empty if unknown. */
    char command[command_size];
    /* Only find out whether biometry is available. */
    bool is_check;
    /* The user can type the password meanwhile. */
    bool is_patient;
    /* The user asked for the sensors, so that a match needs no confirmation. */
    bool is_intended;
    /* The program is a lock screen, so that the session may be locked. */
    bool is_lock_screen;
    uid_t user;
    unsigned timeout, wait;
    /* When to give up, in microseconds of CLOCK_MONOTONIC. */
    uint64_t deadline;
    bool awaits_confirmation;
    /* When the user was told about the waiting match, in microseconds of CLOCK_MONOTONIC. */
    uint64_t confirmation_shown;
    char prompt[prompt_size];
    unsigned types[types_size];
    size_t types_count;
    service_hear *hear;
    void *context;
};

/* Starts an evaluation or a check, whose progress shows in `stage`. `address` is NULL for the
   system bus. The prompt is this process's own, or a window of the session's agent. */
void service_start(struct service *service, const char *address);

/* Starts the evaluation after a check. */
void service_evaluate(struct service *service);

/* Whether the service may still send something. */
bool service_is_live(const struct service *service);

/* Processes messages from the bus, and gives up at the deadline. */
void service_process(struct service *service);

/* Confirms the waiting match. */
void service_confirm(struct service *service);

/* Closes the connection, which cancels a running evaluation. */
void service_end(struct service *service);

/* Reports that a user gave the correct password. Takes at most `wait` seconds. */
void service_report_passcode(pam_handle_t *pamh, const char *address, uid_t user, unsigned wait);
