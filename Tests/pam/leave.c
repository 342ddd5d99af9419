/* A module that leaves a process behind, in a separate session: `pam_leave.so FILE`. The file gets
   three pids: the process, its new parent, and the process that ran the module. With `hang` after
   the file the module then blocks. `pam_leave.so ask` only prompts, for a password and for text. */
#include <poll.h>
#include <security/pam_modules.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void leave(FILE *file, int end, pid_t check) {
    const pid_t parent = getpid();
    if (setsid() < 0 || fork() != 0) _exit(0);
    /* The kernel reparents this process once its parent has ended. */
    while (getppid() == parent) poll(NULL, 0, 1);
    fprintf(file, "%d %d %d\n", (int)getpid(), (int)getppid(), (int)check);
    fclose(file);
    close(end);
    for (;;) pause();
}

/* Prompts for a password, and in the same call for visible text. */
static int ask(pam_handle_t *handle) {
    const struct pam_message questions[] = {{PAM_PROMPT_ECHO_OFF, "Password: "},
                                            {PAM_PROMPT_ECHO_ON, "Name: "}};
    const struct pam_message *list[] = {&questions[0], &questions[1]};
    const void *item = NULL;
    if (pam_get_item(handle, PAM_CONV, &item) != PAM_SUCCESS || item == NULL) return PAM_SYSTEM_ERR;
    const struct pam_conv *conversation = item;
    struct pam_response *answers = NULL;
    const int code = conversation->conv(2, list, &answers, conversation->appdata_ptr);
    return code == PAM_CONV_ERR ? PAM_AUTH_ERR : PAM_SYSTEM_ERR;
}

int pam_sm_authenticate(pam_handle_t *handle, int flags, int count, const char **words) {
    (void)flags;
    if (count == 1 && strcmp(words[0], "ask") == 0) return ask(handle);
    int ends[2];
    FILE *file = count > 0 ? fopen(words[0], "we") : NULL;
    if (file == NULL || pipe(ends) != 0) return PAM_SERVICE_ERR;
    const pid_t check = getpid(), child = fork();
    if (child == 0) leave(file, ends[1], check);
    close(ends[1]);
    char said;
    const int is_over = child > 0 && waitpid(child, NULL, 0) == child &&
                        read(ends[0], &said, 1) == 0;
    close(ends[0]);
    while (count == 2 && strcmp(words[1], "hang") == 0) pause();
    return fclose(file) == 0 && is_over ? PAM_SUCCESS : PAM_SYSTEM_ERR;
}

int pam_sm_setcred(pam_handle_t *handle, int flags, int count, const char **words) {
    (void)handle;
    (void)flags;
    (void)count;
    (void)words;
    return PAM_SUCCESS;
}
