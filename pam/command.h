/* The command that sudo runs after the authentication. */
#pragma once

enum { command_size = 256 };

/* Fills `result` with this process's command line for sudo's PAM services, and with an empty text
   for others. Arguments are quoted as for a shell, bytes outside printable ASCII are octal, as in
   sudo's log, and a long line is cut. */
void command_of(char result[command_size], const char *service);
