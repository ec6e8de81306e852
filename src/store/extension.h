/**
 * Turns every call of SQLite into one by the table of the program that loaded librtlsqlite.so. Only
 * sources of that library see it, before everything else.
 */
#ifndef RTL_STORE_EXTENSION_H
#define RTL_STORE_EXTENSION_H

#include <sqlite3ext.h>

/** The table; set when the extension is loaded. */
extern const sqlite3_api_routines *sqlite3_api;

#endif
