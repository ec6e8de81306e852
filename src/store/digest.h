/**
 * Digests: what tells damage in rows that have no checksum of their own, and how a whole trace is
 * looked through for damage. docs/format.md, "Digests", is the specification.
 *
 * They are made once, by reading all rows when a trace is closed in order: a trace that is being
 * recorded, whose recorder was killed, or that an older version wrote has none, and is no worse.
 */
#ifndef RTL_STORE_DIGEST_H
#define RTL_STORE_DIGEST_H

#include "rtl/rtl_trace.h"

#include <sqlite3.h>
#include <stdbool.h>

/** Writes the digests of all that the main database has, over older ones, in the transaction that
 * is open. The last thing that is written into a trace. An SQLite result code. */
int rtl_digest_store(sqlite3 *db);

/** Makes the digest of one table anew, of which there is one. */
int rtl_digest_renew(sqlite3 *db, const char *table);

/** Told of each difference that is found, in part of a sentence such as "the table notes does not
 * hold what was recorded". Names in it are the file's. */
typedef void (*rtl_digest_tell)(void *context, const char *what);

/** Compares the tables of a database of the connection ("main" or one that is attached) with their
 * digests. `*known`: there are some. An SQLite result code; what cannot be read for being damaged
 * is a difference. */
int rtl_digest_compare(sqlite3 *db, const char *schema, bool *known, rtl_digest_tell tell,
                       void *context);

/** Looks through the whole file: SQLite's structures, digests, the checksums of all packed data,
 * and whether rows contradict each other or the specification. */
rtl_status_t rtl_digest_check(rtl_trace_t *trace, bool *known, rtl_digest_tell tell, void *context);

#endif
