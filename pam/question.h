/* Prompts for the password while a sensor may recognise the user first.

   A PAM conversation blocks and can't be cancelled. For that reason it runs in a child process,
   which is killed when the answer is no longer needed. The parent then restores the terminal. */
#pragma once

#include <security/pam_modules.h>
#include <signal.h>
#include <stdbool.h>
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

/* Starts the prompt in a child process, which closes its copy of `bus`. */
bool question_ask(struct question *question, int bus);

/* Reads how the prompt ended: PAM_SUCCESS, with `reply`, or an error of the conversation. Call
   it when `answered` is readable. */
int question_result(struct question *question);

/* Kills an unanswered prompt and restores the terminal. */
void question_withdraw(struct question *question);

/* Whether the prompt waits on the terminal, with echo off. */
bool question_is_on_terminal(const struct question *question);

enum question_signal { SIGNAL_NONE, SIGNAL_STOPPED, SIGNAL_ENDING };

/* Delivers signals that were held back. Withdraw the prompt first. */
enum question_signal question_let_signals(struct question *question);

/* Undoes everything and wipes the reply. */
void question_end(struct question *question);
