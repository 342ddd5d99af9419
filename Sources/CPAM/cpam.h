// What the passcode verifier takes from C beyond the Glibc module: PAM, shadow and pidfd.
#include <security/pam_appl.h>
#include <shadow.h>
#include <sys/pidfd.h>
