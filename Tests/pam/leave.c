/* A module that leaves a process behind, and says which: `pam_leave.so FILE`. */
#include <security/pam_modules.h>
#include <stdio.h>
#include <unistd.h>

int pam_sm_authenticate(pam_handle_t *handle, int flags, int count, const char **words) {
    (void)handle;
    (void)flags;
    FILE *file = count == 1 ? fopen(words[0], "we") : NULL;
    if (file == NULL) return PAM_SERVICE_ERR;
    pid_t child = fork();
    if (child < 0) {
        fclose(file);
        return PAM_SYSTEM_ERR;
    }
    if (child == 0) {
        for (;;) pause();
    }
    fprintf(file, "%d\n", (int)child);
    return fclose(file) == 0 ? PAM_SUCCESS : PAM_SYSTEM_ERR;
}

int pam_sm_setcred(pam_handle_t *handle, int flags, int count, const char **words) {
    (void)handle;
    (void)flags;
    (void)count;
    (void)words;
    return PAM_SUCCESS;
}
