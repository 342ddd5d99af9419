// gettext, as the C library has it.
#include <libintl.h>
#include <locale.h>
