/**
 * What a trace is in the tables: the rows of each, in an order that depends on the trace alone.
 */
#ifndef RTL_TOOLS_FLEET_ROWS_H
#define RTL_TOOLS_FLEET_ROWS_H

#include "fleet/fill.h"

#include <rtl/rtl_trace.h>

/** Names that the user gave a run. */
struct labels {
    const char **keys, **values;
    size_t count;
};

/** A trace, as a run. */
struct run {
    rtl_trace_t *trace;
    const char *path;
    rtl_trace_info_t info;
    const rtl_process_t *processes;
    size_t process_count;
    bool damaged; /**< and that has been said */
    uint64_t id;
    uint32_t sample; /**< one in so many launches of graphs has its kernels as rows; 1: all */
    struct labels labels;
    struct text_names names;
    struct run_process *told; /**< what all rows of a process have, by place in `processes` */
};

/** What tells a process from all others, in whatever trace it is, is its host, its pid, and when it
 * began, by its host's clock and by the time of day. */
struct run_process {
    uint32_t host, rank; /**< names */
    const char *host_name;
    const char *boot; /**< of the clock; "": not known */
    uint64_t uptime;  /**< ns on the clock; with `boot` */
    uint64_t start;   /**< ns since 1970 by this trace, of which a merge may have moved it; 0: not
                         known */
};

/** Reads what all rows need. EXIT_FINE, or EXIT_USAGE when a sentence has been said. */
int run_begin(struct run *run);
void run_free(struct run *run);

/** ns since 1970 of a time on the trace's clock, and its day. */
uint64_t run_time(const struct run *run, uint64_t time);
uint16_t run_day(uint64_t time);

/** The place of a process in `processes`; SIZE_MAX: there is none. */
size_t run_place(const struct run *run, uint32_t process);

/** Begins a row: the block that it goes into with the columns that all tables have; NULL when
 * filling has failed. */
struct block *run_row(struct run *run, struct fill *fill, uint64_t time, size_t place);

/** The rows of tables, each into its `fill` (by enum table_number). RTL_OK, also if filling has
 * failed, or what the reader says. */
rtl_status_t rows_kernels(struct run *run, struct fill *fills);
rtl_status_t rows_launches(struct run *run, struct fill *fill);
rtl_status_t rows_collectives(struct run *run, struct fill *fill);
rtl_status_t rows_losses(struct run *run, struct fill *fill);

/** Those of the run itself, `complete` or not. */
rtl_status_t rows_runs(struct run *run, bool complete, struct fill *fill);

#endif
