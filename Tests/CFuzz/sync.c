#include <unistd.h>

/* Replaces the C library's functions for SQLite and Swift. Test data need not survive a crash, and waiting
   for the disk takes longer than all other work. */
int fsync(int descriptor) {
    (void)descriptor;
    return 0;
}

int fdatasync(int descriptor) {
    (void)descriptor;
    return 0;
}
