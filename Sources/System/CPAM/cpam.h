// C declarations of the passcode verifier beyond the Glibc module: PAM and shadow.
#include <security/pam_appl.h>
#include <shadow.h>
