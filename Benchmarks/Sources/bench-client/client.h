/* What the parts of the client share. */
#ifndef CLIENT_H
#define CLIENT_H

#include <systemd/sd-bus.h>

extern const char service[], path[];

int check(int result, const char *what);
void fail(const char *what, const char *detail);
sd_bus *connect_to(const char *address);
/* Says that this part is prepared and waits until it may begin. */
void wait_for_go(void);
int agent(int argc, char **argv);
int soak(int argc, char **argv);
int feed(int argc, char **argv);

#endif
