/* localauthd on the bus: one evaluation, or one report. */
#pragma once

#include <security/pam_modules.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

enum { name_size = 256, prompt_size = 128, types_size = 8 };

enum stage {
    /* The service is looked for, told of the prompt, and has not answered. */
    STAGE_STARTING,
    /* The person may be recognised from now on. */
    STAGE_LOOKING,
    STAGE_RECOGNISED,
    /* The attempts are used up. */
    STAGE_FAILED,
    /* Biometry can't be used, or no longer. */
    STAGE_UNAVAILABLE,
};

struct service;

/* What the person should hear. */
typedef void service_hear(struct service *service, const char *sentence);

struct service {
    pam_handle_t *pamh;
    sd_bus *bus;
    enum stage stage;
    /* Why biometry can't be used, for the log. */
    char reason[name_size];
    /* Who is asked: the bus lets nobody else send in this name. */
    char owner[name_size];
    bool is_trusted_address;
    bool shows_prompt;
    uid_t user;
    unsigned timeout, wait;
    /* When to stop waiting for it, in microseconds of CLOCK_MONOTONIC. */
    uint64_t deadline;
    /* A match waits for the person's confirmation. */
    bool awaits_confirmation;
    /* When the person was told of that, in microseconds of CLOCK_MONOTONIC. */
    uint64_t confirmation_shown;
    char prompt[prompt_size];
    unsigned types[types_size];
    size_t types_count;
    service_hear *hear;
    void *context;
};

/* Begins an evaluation; how it goes shows in `stage`. `address` is NULL for the system bus. The
   sentences of a prompt are this process's own, or a window of the session's agent. */
void service_start(struct service *service, const char *address);

/* Does what there is to do on the bus, and gives up when it is time. */
void service_process(struct service *service);

/* The person confirmed. */
void service_confirm(struct service *service);

/* Leaves the bus, which ends what runs. */
void service_end(struct service *service);

/* Tells that a user gave the password. Takes `wait` seconds at most. */
void service_report_passcode(pam_handle_t *pamh, const char *address, uid_t user, unsigned wait);

uint64_t now_microseconds(void);
