#include <unistd.h>

/* In place of the C library's, for SQLite and for Swift: nothing here has to outlive the machine, and
   to wait for the disk takes longer than all the rest. */
int fsync(int descriptor) {
    (void)descriptor;
    return 0;
}

int fdatasync(int descriptor) {
    (void)descriptor;
    return 0;
}
