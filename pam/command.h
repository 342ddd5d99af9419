/* The command that sudo runs after the authentication. */
#pragma once

enum { command_size = 256 };

/* Fills `result` with this process's command line for sudo's PAM services, and with an empty text
   for others. Letters with a meaning for a shell have a backslash. Blanks, `#` and bytes outside
   printable ASCII are octal, as in sudo's log. A long line loses its middle. */
void command_of(char result[command_size], const char *service);
