/**
 * Whether an SQLite file is as long as it says. SQLite itself looks at whole pages only, and at
 * none that nothing asks for.
 */
#ifndef RTL_STORE_EXTENT_H
#define RTL_STORE_EXTENT_H

#include <sqlite3.h>
#include <stdint.h>

/** Bytes; one of them is 0. */
struct rtl_extent {
    uint64_t missing; /**< of the end of the file, and not in the log beside it either */
    uint64_t behind;  /**< after the end of what the file says that it has */
};

/** Of the file at `path`, open as `db` in a transaction for reading, also while another process
 * writes to it. An SQLite result code. */
int rtl_extent_read(sqlite3 *db, const char *path, struct rtl_extent *extent);

/** The same of a file that SQLite does not open, by its head alone; all 0 if that does not tell. */
void rtl_extent_guess(const char *path, struct rtl_extent *extent);

#endif
