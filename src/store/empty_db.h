/**
 * A trace that holds nothing yet: all of its tables, as the build has made them (schema.h).
 */
#ifndef RTL_STORE_EMPTY_DB_H
#define RTL_STORE_EMPTY_DB_H

#include <stddef.h>

/** The bytes of the file, an SQLite database with a rollback journal; *size: how many. They stay
 * the library's. Any thread. */
const void *rtl_empty_db(size_t *size);

#endif
