/* The password, asked for while something else may answer first.

   A conversation blocks: there is no way to take a question back from a program. So it runs in a
   process of its own, which is killed when it isn't needed any more. What it left behind on the
   terminal is put right by who killed it. */
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
    /* Ends and stops of this process wait while a question is open, so that nothing is left behind;
       `before` is what was blocked without that. */
    sigset_t watched, before;
    int signals;
    /* Where the other process says that it is done; -1: there is none. */
    int answered;
    pid_t process;
    /* What it shares with this one: the reply, in memory that is locked, and in no core file. */
    char *reply;
    struct {
        int descriptor;
        bool is_ours;
        struct termios settings;
    } terminals[terminals_size];
};

/* Gets ready: signals that would end or stop this process wait from now on.

   Returns false when that isn't possible. */
bool question_prepare(struct question *question, pam_handle_t *pamh);

/* Asks, in a process that sees none of `descriptors`. */
bool question_ask(struct question *question, int bus);

/* How it was answered: PAM_SUCCESS, with `reply`, or an error of the conversation. To be called when
   `answered` can be read. */
int question_result(struct question *question);

/* Takes it back, if it hasn't been answered, and puts the terminal right. */
void question_withdraw(struct question *question);

/* Whether the terminal shows no typing: who is asked sits at it. */
bool question_is_on_terminal(const struct question *question);

enum question_signal { SIGNAL_NONE, SIGNAL_STOPPED, SIGNAL_ENDING };

/* Lets signals through that have come. The question has to be withdrawn. */
enum question_signal question_let_signals(struct question *question);

/* Undoes all of it, and wipes the reply. */
void question_end(struct question *question);
