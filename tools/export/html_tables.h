/**
 * The page's tables: calls, times and how they are spread, by name.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_TABLES_H
#define RTL_TOOLS_EXPORT_HTML_TABLES_H

#include "export/html_spread.h"

#include <jansson.h>
#include <stddef.h>

enum html_table { HTML_KERNELS, HTML_CALLS, HTML_COPY_KINDS, HTML_RANGES, HTML_TABLES };

struct html_row {
    struct spread duration;
    uint64_t failed, bytes;
    uint64_t own;   /**< of ranges: what of their time is in no range within, ns */
    size_t lane;    /**< where the longest is */
    uint64_t start; /**< when it begins, ns since the begin of the page */
};

/** Zeroed memory is empty. Rows are numbered as the texts of the page, one for each name. */
struct html_tables {
    struct html_row *rows[HTML_TABLES];
    size_t counts[HTML_TABLES];
};

struct html_entry {
    uint32_t name;
    size_t lane;
    uint64_t start, duration, bytes;
    int failed;
};

/** Adds one. False when memory is short. */
bool html_tables_add(struct html_tables *tables, enum html_table table,
                     const struct html_entry *entry);

/** Adds own time to a name's row. */
void html_tables_own(struct html_tables *tables, enum html_table table, uint32_t name, uint64_t ns);

/** A table, most time first: name, calls, total, [least, p50, p99, most], failed, bytes, lane and
 * start of the longest, own time. */
json_t *html_tables_json(const struct html_tables *tables, enum html_table table);

void html_tables_free(struct html_tables *tables);

#endif
