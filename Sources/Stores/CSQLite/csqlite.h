#ifndef LOCALAUTH_CSQLITE_H
#define LOCALAUTH_CSQLITE_H

#include <sqlite3.h>

/* Swift can't import SQLITE_TRANSIENT (a cast) and sqlite3_db_config (variadic). */

/* Makes SQLite copy a bound value. */
static inline sqlite3_destructor_type csqlite_transient(void) {
    return SQLITE_TRANSIENT;
}

/* Keeps statements from corrupting the file on purpose. */
static inline int csqlite_set_defensive(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

/* Makes closing leave the log and the file unchanged. */
static inline int csqlite_keep_log_at_close(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

#endif
