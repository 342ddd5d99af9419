/* A module that leaves a process behind, in a session of its own: `pam_leave.so FILE`. The file says
   which one, who took it over, and which process had the module. */
#include <poll.h>
#include <security/pam_modules.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void leave(FILE *file, int end, pid_t check) {
    const pid_t parent = getpid();
    if (setsid() < 0 || fork() != 0) _exit(0);
    /* Whose it is from then on is known once its parent has ended. */
    while (getppid() == parent) poll(NULL, 0, 1);
    fprintf(file, "%d %d %d\n", (int)getpid(), (int)getppid(), (int)check);
    fclose(file);
    close(end);
    for (;;) pause();
}

int pam_sm_authenticate(pam_handle_t *handle, int flags, int count, const char **words) {
    (void)handle;
    (void)flags;
    int ends[2];
    FILE *file = count == 1 ? fopen(words[0], "we") : NULL;
    if (file == NULL || pipe(ends) != 0) return PAM_SERVICE_ERR;
    const pid_t check = getpid(), child = fork();
    if (child == 0) leave(file, ends[1], check);
    close(ends[1]);
    char said;
    const int is_over = child > 0 && waitpid(child, NULL, 0) == child &&
                        read(ends[0], &said, 1) == 0;
    close(ends[0]);
    return fclose(file) == 0 && is_over ? PAM_SUCCESS : PAM_SYSTEM_ERR;
}

int pam_sm_setcred(pam_handle_t *handle, int flags, int count, const char **words) {
    (void)handle;
    (void)flags;
    (void)count;
    (void)words;
    return PAM_SUCCESS;
}
