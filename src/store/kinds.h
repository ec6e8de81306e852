/**
 * What a process records besides kernels and copies, counted by kind on its way into the file.
 *
 * Used by the writer only. Counts are kept in memory and stored with what they count, in one
 * transaction: no trace has more than its account says.
 */
#ifndef RTL_STORE_KINDS_H
#define RTL_STORE_KINDS_H

#include "store/rows.h"

#include <stdbool.h>

struct rtl_kinds_of {
    struct rtl_kind_account accounts[RTL_KINDS];
    uint32_t stored; /**< kinds that have a row: a bit each */
    bool calls;      /**< host calls are recorded: they have a row, whether there are any or not */
    bool known;      /**< somebody accounts for the process */
    bool is_new;     /**< not stored as it is */
};

/** Zeroed memory is empty. */
struct rtl_kinds {
    struct rtl_kinds_of *processes; /**< from process 1 on */
    uint32_t count;
};

/** The accounts of a process, made when they are first asked for; NULL when memory is short. */
struct rtl_kinds_of *rtl_kinds_get(struct rtl_kinds *kinds, uint32_t process);

/** Stores what is new. An SQLite result code. */
int rtl_kinds_store(const struct rtl_kinds *kinds, struct rtl_rows *rows);

/** It is stored. */
void rtl_kinds_stored(struct rtl_kinds *kinds);

void rtl_kinds_free(struct rtl_kinds *kinds);

#endif
