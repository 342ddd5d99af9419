// libfido2.
#ifndef LOCALAUTH_CFIDO2_H
#define LOCALAUTH_CFIDO2_H

#include <fido.h>
#include <fido/es256.h>

#endif
