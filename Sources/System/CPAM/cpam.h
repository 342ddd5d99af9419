// What the passcode verifier takes from C beyond the Glibc module: PAM and shadow.
#include <security/pam_appl.h>
#include <shadow.h>
