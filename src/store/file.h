/**
 * Making the file of a trace, so that no file that is there is ever lost.
 */
#ifndef RTL_STORE_FILE_H
#define RTL_STORE_FILE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

/** What a new trace holds from the first. */
struct rtl_file_filler {
    /** Adds it within the transaction that makes the tables. An SQLite result code. */
    int (*fill)(const void *context, sqlite3 *db);
    const void *context;
};

/** A trace that a new one has replaced, as long as it may have to come back. */
struct rtl_file_kept {
    char *path; /**< the name that it has meanwhile; NULL: nothing was there */
};

/** Makes a trace at `path` with what `filler` (may be NULL) adds, mode 0600 whatever the umask. It
 * is made in a new folder beside it and gets its name when it is complete, its empty log before:
 * who opens it at once reads the log that is written to. A file that is there is only replaced if
 * `replace` says so, if it is a trace (or empty), and if nobody is recording into it; with `kept`
 * (else NULL) it stays beside under a name of its own until rtl_file_forget or rtl_file_restore.
 * Returns the path to open, symbolic links resolved (the caller frees it); NULL with one sentence
 * in `error`.
 */
char *rtl_file_create(const char *path, bool replace, struct rtl_file_kept *kept,
                      const struct rtl_file_filler *filler, char *error, size_t error_size);

/** Whether rtl_file_create with `replace` would take `path`: 0, and in `there` whether it would
 * replace something; or -1 with the sentence in `error`. */
int rtl_file_check(const char *path, bool *there, char *error, size_t error_size);

/** Whether the user may give a new file the name `path`, which another file may have; errno tells
 * why not. */
bool rtl_file_can_replace(const char *path);

/** Removes what was kept. */
void rtl_file_forget(struct rtl_file_kept *kept);

/** Removes the new trace at `path` and gives its name back to what was kept. 0, or -1 with errno:
 * it still has its other name. */
int rtl_file_restore(struct rtl_file_kept *kept, const char *path);

/** Removes a trace that nobody has open, with what SQLite may have left beside it. */
void rtl_file_remove(const char *path);

/** Gives a file a name that nothing has yet: 0, or -1 with errno, EEXIST if it is taken. */
int rtl_file_rename_new(const char *from, const char *to);

/** The process that is recording into the trace at `path` now; 0 if there is none, or no trace. */
long rtl_file_recorder(const char *path);

/** Whether the trace at `path` is a merge that came to its end; false also if there is no trace. */
bool rtl_file_is_merge(const char *path);

/** Whether the trace says that it has SQLite's write-ahead log. */
bool rtl_file_has_log(const char *path);

/** Room for a reason with the name of a folder in it. */
#define RTL_FILE_REASON 512

/** What went wrong with the files of `db` when `result` was returned, in words: the system's own
 * for what SQLite only calls an I/O error. A full disk is named by the folder of `path`, which is
 * the file as the user knows it. `text` is room for the words. */
const char *rtl_file_reason(sqlite3 *db, int result, const char *path, char *text, size_t size);

/** The same for an error of the system. */
const char *rtl_file_system_reason(const char *path, int number, char *text, size_t size);

/** Whether there was no space left for the files of `db` when `result` was returned. */
bool rtl_file_is_full(sqlite3 *db, int result);

/** It could not be found out: no descriptor is free, say. */
#define RTL_FILE_START_UNKNOWN (~0ULL)

/** Start time of a process in clock ticks since boot (/proc/PID/stat, field 22); 0 if there is no
 * such process, or RTL_FILE_START_UNKNOWN. With its pid it names a process for good, until the
 * machine restarts. */
unsigned long long rtl_file_process_start(long pid);

#endif
