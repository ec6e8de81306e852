/**
 * The files beside a trace that SQLite takes for a part of it, by their names alone: the log
 * (-wal), its index (-shm) and the journal (-journal).
 *
 * In a folder where others may make files, one of theirs under such a name would get what is
 * written, or be read as the trace's own.
 */
#ifndef RTL_STORE_BESIDE_H
#define RTL_STORE_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/** How their names end, a NULL at the end. */
extern const char *const rtl_beside_suffixes[];

/** Longest sentence about them. */
#define RTL_BESIDE_WHY 512

/** Before the trace at `path` (links are followed) is read: whether what lies beside it is its own:
 * regular files, of its owner, this user or root, to which nobody may write who may not write to
 * the trace. False with a clause in `why`. */
bool rtl_beside_is_own(const char *path, char *why, size_t size);

/** Whether others may make files beside the trace, and there is none now. */
bool rtl_beside_may_come(const char *path);

/** Before a trace is made at `path`: removes what is this user's. False with a clause in `why` if
 * there is something of somebody else's. */
bool rtl_beside_clear(const char *path, char *why, size_t size);

/** Makes an empty file for SQLite to use, mode 0600; one of this user's is replaced. 0, or -1 with
 * errno. */
int rtl_beside_make(const char *path, const char *suffix);

/** Removes one of them if nothing is in it. */
void rtl_beside_remove_empty(const char *path, const char *suffix);

/** Removes what is there and this user's. */
void rtl_beside_remove(const char *path);

#endif
