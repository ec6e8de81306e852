/** The checksums that rows with packed data have: which columns each covers (docs/format.md). */
#ifndef RTL_STORE_SUMS_H
#define RTL_STORE_SUMS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/** A column with a checksum: over `columns`, with commas between them, and then `blob`. `key` names
 * a row for people. */
struct rtl_sum {
    const char *table, *key, *checksum, *blob, *columns;
    bool digested; /**< the table's digest covers `blob` as well: readers that do not know this
                        table have to find it right */
};

#define RTL_SUMS 9

extern const struct rtl_sum rtl_sums[RTL_SUMS];

/** At most so many columns. */
#define RTL_SUM_FIELDS 16

/** The sum that a column of a table is the checksum, or the data, of; NULL if it is none's. */
const struct rtl_sum *rtl_sum_by_checksum(const char *table, const char *column);
const struct rtl_sum *rtl_sum_by_blob(const char *table, const char *column);

/** A column as a field of a checksum; "none" is an id. */
uint64_t rtl_sum_field(sqlite3_value *value);

#endif
