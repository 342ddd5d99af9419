/* Declarations of all parts of the client. */
#ifndef CLIENT_H
#define CLIENT_H

#include <systemd/sd-bus.h>

extern const char service[], path[];

int check(int result, const char *what);
void fail(const char *what, const char *detail);
sd_bus *connect_to(const char *address);
/* Prints `ready` and waits for a line on standard input. */
void wait_for_go(void);
int agent(int argc, char **argv);
int soak(int argc, char **argv);
int feed(int argc, char **argv);

#endif
