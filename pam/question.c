#include "question.h"

#include "clock.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signals from a terminal's user, and signals that end a program in order. */
static const int watched_signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP};

static bool is_ignored(int signal) {
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) &&
           action.sa_handler == SIG_IGN;
}

static void remember_terminal(struct question *question, int index, int descriptor, bool is_ours) {
    const bool is_terminal =
        descriptor >= 0 && tcgetattr(descriptor, &question->terminals[index].settings) == 0;
    if (!is_terminal && is_ours && descriptor >= 0) close(descriptor);
    question->terminals[index].descriptor = is_terminal ? descriptor : -1;
    question->terminals[index].is_ours = is_terminal && is_ours;
}

bool question_prepare(struct question *question, pam_handle_t *pamh) {
    *question = (struct question){.pamh = pamh, .signals = -1, .answered = -1, .process = -1};
    for (int index = 0; index < terminals_size; index++) question->terminals[index].descriptor = -1;
    sigemptyset(&question->watched);
    if (pthread_sigmask(SIG_SETMASK, NULL, &question->before) != 0) return false;
    const void *item = NULL;
    if (pam_get_item(pamh, PAM_CONV, &item) != PAM_SUCCESS || !item) return false;
    question->conversation = item;
    if (!question->conversation->conv) return false;

    void *page = mmap(NULL, PAM_MAX_RESP_SIZE, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return false;
    question->reply = page;
    /* polkit's helper may lock no memory (from 127 on), and holds the password unlocked itself. */
    (void)mlock(page, PAM_MAX_RESP_SIZE);
    (void)madvise(page, PAM_MAX_RESP_SIZE, MADV_DONTDUMP);

    for (size_t index = 0; index < sizeof watched_signals / sizeof *watched_signals; index++) {
        const int signal = watched_signals[index];
        /* A signalfd would never report a signal that the program ignores or blocks. */
        if (!is_ignored(signal) && !sigismember(&question->before, signal))
            sigaddset(&question->watched, signal);
    }
    question->signals = signalfd(-1, &question->watched, SFD_CLOEXEC | SFD_NONBLOCK);
    if (question->signals < 0) return false;
    const int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    remember_terminal(question, 0, terminal, true);
    remember_terminal(question, 1, STDIN_FILENO, false);
    return pthread_sigmask(SIG_BLOCK, &question->watched, NULL) == 0;
}

/* ---- In the child process ---- */

static void wipe(char *text) {
    if (text) explicit_bzero(text, strnlen(text, PAM_MAX_RESP_SIZE));
    free(text);
}

static int converse(struct question *question) {
    const struct pam_message message = {.msg_style = PAM_PROMPT_ECHO_OFF, .msg = text_password()};
    const struct pam_message *messages[] = {&message};
    struct pam_response *responses = NULL;
    const int result = question->conversation->conv(1, messages, &responses,
                                                    question->conversation->appdata_ptr);
    if (result != PAM_SUCCESS || !responses) return PAM_CONV_ERR;
    if (!responses->resp) {
        free(responses);
        return PAM_CONV_ERR;
    }
    const size_t length = strnlen(responses->resp, PAM_MAX_RESP_SIZE);
    const bool fits = length < PAM_MAX_RESP_SIZE;
    if (fits) memcpy(question->reply, responses->resp, length + 1);
    wipe(responses->resp);
    free(responses);
    return fits ? PAM_SUCCESS : PAM_CONV_ERR;
}

static _Noreturn void ask(struct question *question, pid_t parent, int answer, int bus) {
    /* The prompt must not outlive the program. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    prctl(PR_SET_DUMPABLE, 0);
    close(bus);
    close(question->signals);
    close(question->answered);
    for (int index = 0; index < terminals_size; index++)
        if (question->terminals[index].is_ours) close(question->terminals[index].descriptor);
    pthread_sigmask(SIG_SETMASK, &question->before, NULL);
    const unsigned char result = (unsigned char)converse(question);
    while (write(answer, &result, 1) < 0 && errno == EINTR) {
    }
    /* Skip the program's exit handlers, and the buffers that it will flush itself. */
    _exit(0);
}

/* ---- In this process ---- */

int question_ask_here(struct question *question) {
    pthread_sigmask(SIG_SETMASK, &question->before, NULL);
    const int result = converse(question);
    pthread_sigmask(SIG_BLOCK, &question->watched, NULL);
    return result;
}

bool question_ask(struct question *question, int bus) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    question->answered = ends[0];
    question->asked = now_microseconds();
    const pid_t parent = getpid();
    /* Otherwise both processes would write the buffered output. */
    fflush(NULL);
    /* Fork without SIGCHLD at the child's exit. A program that reaps its children must not see
       this child, whose pid it could free. */
    const long process = syscall(SYS_clone, 0UL, NULL, NULL, NULL, NULL);
    if (process == 0) ask(question, parent, ends[1], bus);
    close(ends[1]);
    if (process > 0) {
        question->process = (pid_t)process;
        return true;
    }
    close(question->answered);
    question->answered = -1;
    return false;
}

static void collect(struct question *question) {
    while (waitpid(question->process, NULL, __WALL) < 0 && errno == EINTR) {
    }
    question->process = -1;
    close(question->answered);
    question->answered = -1;
}

int question_result(struct question *question) {
    unsigned char result = PAM_CONV_ERR;
    ssize_t count;
    while ((count = read(question->answered, &result, 1)) < 0 && errno == EINTR) {
    }
    if (count == 1) {
        collect(question);
        return result == PAM_SUCCESS ? PAM_SUCCESS : PAM_CONV_ERR;
    }
    /* A signal ended the child in the middle of its work. */
    question_withdraw(question);
    return PAM_ABORT;
}

/* Lists the programs that show the prompt for the child, such as sudo's askpass. */
static void read_children(pid_t process, char *list, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", process, process);
    FILE *children = fopen(path, "re");
    const size_t length = children ? fread(list, 1, size - 1, children) : 0;
    if (children) fclose(children);
    list[length] = '\0';
}

/* Their windows would stay open. */
static void end_children(pid_t process) {
    char list[4096];
    read_children(process, list, sizeof list);
    for (char *rest = list, *end; *rest; rest = end) {
        const long child = strtol(rest, &end, 10);
        if (end == rest) break;
        if (child > 1) kill((pid_t)child, SIGTERM);
    }
}

/* Lets a background process restore its terminal. */
static void block_output_signal(sigset_t *before) {
    sigset_t output;
    sigemptyset(&output);
    sigaddset(&output, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &output, before);
}

void question_withdraw(struct question *question) {
    if (question->process < 0) return;
    end_children(question->process);
    kill(question->process, SIGKILL);
    collect(question);
    sigset_t before;
    block_output_signal(&before);
    for (int index = 0; index < terminals_size; index++) {
        const int descriptor = question->terminals[index].descriptor;
        if (descriptor < 0) continue;
        /* The shell would read the half-typed password. */
        tcflush(descriptor, TCIFLUSH);
        tcsetattr(descriptor, TCSANOW, &question->terminals[index].settings);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Returns the terminal whose echo the prompt switched off, or -1. */
static int hiding_terminal(const struct question *question) {
    for (int index = 0; index < terminals_size; index++) {
        struct termios now;
        const int descriptor = question->terminals[index].descriptor;
        if (descriptor >= 0 && tcgetattr(descriptor, &now) == 0 && !(now.c_lflag & ECHO) &&
            (question->terminals[index].settings.c_lflag & ECHO))
            return descriptor;
    }
    return -1;
}

/* Whether echo was off before the prompt, as in a terminal of Emacs. */
static bool has_silent_terminal(const struct question *question) {
    bool has_one = false;
    for (int index = 0; index < terminals_size; index++) {
        if (question->terminals[index].descriptor < 0) continue;
        if (question->terminals[index].settings.c_lflag & ECHO) return false;
        has_one = true;
    }
    return has_one;
}

static const uint64_t second = 1000 * 1000;

bool question_is_open(const struct question *question) {
    if (question->process < 0) return false;
    char list[32];
    read_children(question->process, list, sizeof list);
    return list[0] != '\0' || hiding_terminal(question) >= 0 ||
           (has_silent_terminal(question) &&
            now_microseconds() >= question->asked + second * 3 / 10);
}

uint64_t question_next_look(const struct question *question) {
    const uint64_t now = now_microseconds();
    return now + (now < question->asked + second ? second / 100 : second / 10);
}

void question_end_line(const struct question *question) {
    int terminal = hiding_terminal(question);
    if (terminal < 0 && has_silent_terminal(question)) terminal = question->terminals[0].descriptor;
    if (terminal < 0) return;
    sigset_t before;
    block_output_signal(&before);
    while (write(terminal, "\r\n", 2) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

enum question_signal question_let_signals(struct question *question) {
    sigset_t pending;
    enum question_signal found = SIGNAL_NONE;
    if (sigpending(&pending) != 0) return SIGNAL_ENDING;
    for (size_t index = 0; index < sizeof watched_signals / sizeof *watched_signals; index++) {
        const int signal = watched_signals[index];
        if (!sigismember(&question->watched, signal) || !sigismember(&pending, signal)) continue;
        if (signal != SIGTSTP) found = SIGNAL_ENDING;
        else if (found == SIGNAL_NONE) found = SIGNAL_STOPPED;
    }
    if (found == SIGNAL_NONE) return found;
    /* Here the program's handlers run, or the program ends, or it stops until continued. */
    pthread_sigmask(SIG_SETMASK, &question->before, NULL);
    pthread_sigmask(SIG_BLOCK, &question->watched, NULL);
    return found;
}

void question_end(struct question *question) {
    question_withdraw(question);
    if (question->signals >= 0) close(question->signals);
    for (int index = 0; index < terminals_size; index++)
        if (question->terminals[index].is_ours) close(question->terminals[index].descriptor);
    if (question->reply) {
        explicit_bzero(question->reply, PAM_MAX_RESP_SIZE);
        munmap(question->reply, PAM_MAX_RESP_SIZE);
    }
    pthread_sigmask(SIG_SETMASK, &question->before, NULL);
}
