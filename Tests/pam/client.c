/* A PAM client for tests of a module: prints the messages, the result, and any changed state of the
   process.

     pam-client FOLDER SERVICE USER CONVERSATION

   Conversations: "say TEXT" answers each prompt. "terminal" answers with a line typed without echo.
   "wait" never answers; "wait for another" starts another program instead, as sudo -A does. "fail",
   "refuse" (an error with an answer), "nothing" and "huge" are invalid answers. "threads" answers
   2468 in a program with two threads. "refuse sentences" rejects messages. */
#include <dirent.h>
#include <pthread.h>
#include <security/pam_appl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static const char *conversation;

static bool is(const char *word) { return strncmp(conversation, word, strlen(word)) == 0; }

/* Turns the terminal's echo on or off. */
static void show_typing(bool is_shown) {
    struct termios settings;
    if (tcgetattr(STDIN_FILENO, &settings) != 0) return;
    settings.c_lflag = is_shown ? settings.c_lflag | ECHO : settings.c_lflag & ~(tcflag_t)ECHO;
    tcsetattr(STDIN_FILENO, TCSANOW, &settings);
}

static char *typed(void) {
    char *line = NULL;
    size_t size = 0;
    const ssize_t count = getline(&line, &size, stdin);
    show_typing(true);
    if (count > 0) line[count - 1] = '\0';
    return line;
}

static char *answer(void) {
    if (is("terminal")) return typed();
    if (is("nothing")) return NULL;
    if (is("huge")) {
        char *text = malloc(1 << 20);
        memset(text, 'x', (1 << 20) - 1);
        text[(1 << 20) - 1] = '\0';
        return text;
    }
    return strdup(is("say ") ? conversation + 4 : is("threads") ? "2468" : "");
}

static int converse(int count, const struct pam_message **messages, struct pam_response **responses,
                    void *data) {
    (void)data;
    *responses = calloc((size_t)count, sizeof **responses);
    for (int index = 0; index < count; index++) {
        const int style = messages[index]->msg_style;
        if (is("terminal") && style == PAM_PROMPT_ECHO_OFF) show_typing(false);
        printf("%s: %s\n", style == PAM_PROMPT_ECHO_OFF ? "asked" : "told", messages[index]->msg);
        /* Leaves these replies empty, as programs may. */
        if (style != PAM_PROMPT_ECHO_OFF) {
            if (is("refuse sentences")) return PAM_CONV_ERR;
            continue;
        }
        fflush(stdout);
        if (is("fail")) {
            free(*responses);
            *responses = NULL;
            return PAM_CONV_ERR;
        }
        if (is("wait for another")) {
            const pid_t other = fork();
            if (other == 0) {
                close(STDOUT_FILENO);
                execlp("sleep", "sleep", "infinity", NULL);
                _exit(1);
            }
            printf("other: %d\n", other);
            fflush(stdout);
        }
        while (is("wait")) pause();
        (*responses)[index].resp = answer();
        if (is("refuse")) {
            free((*responses)[index].resp);
            free(*responses);
            *responses = NULL;
            return PAM_CONV_AGAIN;
        }
    }
    return PAM_SUCCESS;
}

/* State of the process that a module must not change. */
struct state {
    sigset_t mask;
    struct sigaction actions[NSIG];
    mode_t umask;
    char descriptors[4096];
    nlink_t threads;
};

static void look(struct state *state) {
    memset(state, 0, sizeof *state);
    sigprocmask(SIG_SETMASK, NULL, &state->mask);
    for (int signal = 1; signal < NSIG; signal++) sigaction(signal, NULL, &state->actions[signal]);
    state->umask = umask(0);
    umask(state->umask);
    struct stat folder;
    state->threads = stat("/proc/self/task", &folder) == 0 ? folder.st_nlink : 0;
    DIR *descriptors = opendir("/proc/self/fd");
    for (struct dirent *entry; descriptors && (entry = readdir(descriptors));) {
        char path[300], target[256] = "";
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        if (readlink(path, target, sizeof target - 1) < 0 || strstr(target, "/proc/")) continue;
        strncat(state->descriptors, target, sizeof state->descriptors - 1 - strlen(state->descriptors));
        strncat(state->descriptors, " ", sizeof state->descriptors - 1 - strlen(state->descriptors));
    }
    closedir(descriptors);
}

static void compare(const struct state *before, const struct state *after) {
    if (memcmp(&before->mask, &after->mask, sizeof before->mask)) puts("changed: signal mask");
    for (int signal = 1; signal < NSIG; signal++)
        if (before->actions[signal].sa_handler != after->actions[signal].sa_handler)
            printf("changed: action of signal %d\n", signal);
    if (before->umask != after->umask) puts("changed: umask");
    if (before->threads != after->threads) puts("changed: threads");
    if (strcmp(before->descriptors, after->descriptors))
        printf("changed: descriptors %s\n", after->descriptors);
    if (waitpid(-1, NULL, __WALL | WNOHANG) >= 0) puts("changed: children");
}

static void *rest(void *unused) {
    for (;;) pause();
    return unused;
}

static volatile sig_atomic_t signals;
static void note(int signal) {
    (void)signal;
    signals++;
}

static long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Sets credentials as PAM_CLIENT_CREDENTIALS says: "delete" after any result, "refresh" after
   they are established. */
static void set_credentials(pam_handle_t *pamh, int result) {
    const char *variable = getenv("PAM_CLIENT_CREDENTIALS"), *word = variable ? variable : "";
    if (strcmp(word, "delete") == 0) {
        printf("deleted: %d\n", pam_setcred(pamh, PAM_DELETE_CRED));
    } else if (result == PAM_SUCCESS) {
        printf("credentials: %d\n", pam_setcred(pamh, PAM_ESTABLISH_CRED));
        if (strcmp(word, "refresh") == 0)
            printf("refreshed: %d\n", pam_setcred(pamh, PAM_REFRESH_CRED));
    }
}

int main(int argc, char **argv) {
    if (argc != 5) return 64;
    conversation = argv[4];
    /* The program's own handler, which only counts. */
    struct sigaction action = {.sa_handler = note};
    sigaction(SIGTERM, &action, NULL);
    pthread_t thread;
    if (is("threads")) pthread_create(&thread, NULL, rest, NULL);
    struct pam_conv conv = {.conv = converse};
    pam_handle_t *pamh = NULL;
    if (pam_start_confdir(argv[2], argv[3], &conv, argv[1], &pamh) != PAM_SUCCESS) return 1;
    if (getenv("PAM_CLIENT_RHOST")) pam_set_item(pamh, PAM_RHOST, getenv("PAM_CLIENT_RHOST"));
    struct state before, after;
    /* Read the state only after the libraries have opened their files. */
    printf("ready\n");
    fflush(stdout);
    look(&before);
    const long start = milliseconds();
    int result = pam_authenticate(pamh, 0);
    /* A second attempt on this handle, for another user. */
    const char *next = getenv("PAM_CLIENT_NEXT_USER");
    if (next) {
        pam_set_item(pamh, PAM_USER, next);
        result = pam_authenticate(pamh, 0);
    }
    const long took = milliseconds() - start;
    look(&after);
    compare(&before, &after);
    printf("authenticated: %d after %ld ms, %d signals\n", result, took, (int)signals);
    set_credentials(pamh, result);
    look(&after);
    compare(&before, &after);
    pam_end(pamh, result);
    return result;
}
