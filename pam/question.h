/* Prompts for the password while a sensor may recognise the user first.

   A PAM conversation blocks and can't be cancelled. For that reason it runs in a child process, a
   copy of the program, which is killed when the answer is no longer needed. The parent then
   restores the terminal. A program that can't be copied is asked in its own process. */
#pragma once

#include <security/pam_modules.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

enum { terminals_size = 2 };

struct question {
    pam_handle_t *pamh;
    const struct pam_conv *conversation;
    /* `watched`: signals that end or stop this process, held back while a prompt is open so that
       it can be cleaned up. `before`: the signals blocked originally. */
    sigset_t watched, before;
    int signals;
    /* Readable when the child is done; -1 without a child. */
    int answered;
    pid_t process;
    /* When the child started, in microseconds of CLOCK_MONOTONIC. */
    uint64_t asked;
    /* The reply, shared with the child, in memory that is locked and excluded from core files. */
    char *reply;
    struct {
        int descriptor;
        bool is_ours;
        struct termios settings;
    } terminals[terminals_size];
};

/* Prepares for prompts, and blocks signals that would end or stop this process.

   Returns false on failure. */
bool question_prepare(struct question *question, pam_handle_t *pamh);

/* Runs the prompt in this process. Returns PAM_SUCCESS, with `reply`, or an error. */
int question_ask_here(struct question *question);

/* Starts the prompt in a child process, which closes its copy of `bus`. */
bool question_ask(struct question *question, int bus);

/* Reads how the prompt ended: PAM_SUCCESS, with `reply`; PAM_CONV_ERR, an error of the
   conversation; or PAM_ABORT, a signal. Call it when `answered` is readable. */
int question_result(struct question *question);

/* Kills an unanswered prompt and restores the terminal. */
void question_withdraw(struct question *question);

/* Whether the user sees the prompt: a terminal has echo off, or another program asks. */
bool question_is_open(const struct question *question);

/* When to check that again, in microseconds of CLOCK_MONOTONIC. */
uint64_t question_next_look(const struct question *question);

/* Moves the cursor below a prompt on a terminal. */
void question_end_line(const struct question *question);

enum question_signal { SIGNAL_NONE, SIGNAL_STOPPED, SIGNAL_ENDING };

/* Delivers signals that were held back. Withdraw the prompt first. */
enum question_signal question_let_signals(struct question *question);

/* Undoes everything and wipes the reply. */
void question_end(struct question *question);
