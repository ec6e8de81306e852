/**
 * How far a merge is that has not ended: kept in the new trace itself, in the same transactions as
 * what is taken in, so that a later one can go on. Until the end it is no trace by its application
 * id, and no reader takes it for one.
 */
#ifndef RTL_STORE_MERGE_STATE_H
#define RTL_STORE_MERGE_STATE_H

#include "store/merge.h"

#include <sqlite3.h>
#include <stdbool.h>

/** What a file is, by its head. */
enum rtl_merge_file {
    RTL_MERGE_FILE_NONE, /**< there is none, or an empty one */
    RTL_MERGE_FILE_UNFINISHED,
    RTL_MERGE_FILE_TRACE, /**< a whole one */
    RTL_MERGE_FILE_OTHER
};

/** Follows no link: what a link leads to is OTHER, and so is another user's. */
enum rtl_merge_file rtl_merge_file_at(const char *path);

/** Makes a new trace an unfinished merge; `fill` of a struct rtl_file_filler. */
int rtl_merge_state_make(const void *context, sqlite3 *db);

/** Makes it a trace again, in the open transaction. An SQLite result code. */
int rtl_merge_state_end(sqlite3 *db);

/** Fills `identity` of an input that is attached as "source": its processes, and how many chunks
 * with which checksums it has. An SQLite result code. */
int rtl_merge_identify(sqlite3 *db, struct rtl_merge_input *input);

/** Room for what rtl_merge_fingerprint writes. */
#define RTL_MERGE_FINGERPRINT 32

/** What is merged and how, in short: a whole trace keeps it (meta's `merged`), so that one that was
 * about to get its name is known. */
void rtl_merge_fingerprint(const char *options, const struct rtl_merge_input *inputs, size_t count,
                           char *text);

/** Of a new one: keeps what is merged, and how (`options`). An SQLite result code. */
int rtl_merge_state_begin(sqlite3 *db, const char *options, const struct rtl_merge_input *inputs,
                          size_t count);

/** Of one that goes on: fills what its inputs have become so far, and how many have been taken in.
 * True if it is a merge of these, by this version and with these options; else a clause in `why`.
 */
bool rtl_merge_state_fits(sqlite3 *db, const char *options, struct rtl_merge_input *inputs,
                          size_t count, size_t *taken, char *why, size_t size);

/** Keeps that an input has been taken in, in the transaction that does that. An SQLite result code.
 */
int rtl_merge_state_take(sqlite3 *db, size_t place, const struct rtl_merge_input *input);

/** Locks the file for who merges into it: a descriptor to close at the end, or -1 with errno,
 * EWOULDBLOCK if somebody else does. */
int rtl_merge_lock(const char *path);

#endif
