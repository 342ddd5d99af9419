#ifndef LOCALAUTH_CSQLITE_H
#define LOCALAUTH_CSQLITE_H

#include <sqlite3.h>

/* What Swift can't import: SQLITE_TRANSIENT is a cast, sqlite3_db_config is variadic. */

/* SQLite copies what is bound. */
static inline sqlite3_destructor_type csqlite_transient(void) {
    return SQLITE_TRANSIENT;
}

/* No statement may corrupt the file on purpose. */
static inline int csqlite_set_defensive(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

/* Closing leaves the log and the file as they are. */
static inline int csqlite_keep_log_at_close(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

#endif
