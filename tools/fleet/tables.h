/**
 * The tables that RTL makes in a ClickHouse, as docs/fleet.md describes them.
 */
#ifndef RTL_TOOLS_FLEET_TABLES_H
#define RTL_TOOLS_FLEET_TABLES_H

#include "fleet/block.h"
#include "fleet/server.h"

/** Counts up when tables change in a way that an older rtl would write wrongly. */
#define TABLES_VERSION 2u

enum table_number {
    TABLE_RUNS,
    TABLE_KERNELS,
    TABLE_STATS,
    TABLE_GPUS,
    TABLE_LAUNCHES,
    TABLE_COLLECTIVES,
    TABLE_LOSSES,
    TABLES
};

/** Columns that all tables begin with. */
enum { OF_DAY, OF_RUN, OF_BLOCK, OF_PROCESS, OF_HOST, OF_RANK, OF_ALL };

/** The others, in the order of the tables. */
enum {
    RUNS_TITLE = OF_ALL,
    RUNS_COMMAND,
    RUNS_TRACE,
    RUNS_CREATOR,
    RUNS_MODE,
    RUNS_PID,
    RUNS_BOOT,
    RUNS_UPTIME,
    RUNS_START,
    RUNS_BEGIN,
    RUNS_END,
    RUNS_KERNELS,
    RUNS_LOST,
    RUNS_SAMPLE,
    RUNS_FINISHED,
    RUNS_COMPLETE,
    RUNS_LOADED,
    RUNS_KEYS,
    RUNS_VALUES
};
enum {
    KERNELS_GPU = OF_ALL,
    KERNELS_QUEUE,
    KERNELS_STREAM,
    KERNELS_NAME,
    KERNELS_START,
    KERNELS_DURATION,
    KERNELS_GRAPH,
    KERNELS_GENERATION,
    KERNELS_LAUNCH,
    KERNELS_NODE,
    KERNELS_CALL
};
enum {
    STATS_GPU = OF_ALL,
    STATS_DEVICE,
    STATS_NAME,
    STATS_MINUTE,
    STATS_COUNT,
    STATS_SUM,
    STATS_MIN,
    STATS_MAX,
    STATS_BINS,
    STATS_COUNTS
};
enum { GPUS_GPU = OF_ALL, GPUS_DEVICE, GPUS_UUID, GPUS_PRODUCT, GPUS_MINUTE, GPUS_BUSY, GPUS_SPAN };
enum {
    LAUNCHES_GRAPH = OF_ALL,
    LAUNCHES_GENERATION,
    LAUNCHES_LAUNCH,
    LAUNCHES_THREAD,
    LAUNCHES_TIME,
    LAUNCHES_START,
    LAUNCHES_END,
    LAUNCHES_KERNELS,
    LAUNCHES_EXPECTED,
    LAUNCHES_UNSEEN
};
enum { COLLECTIVES_NUMBER = OF_ALL, COLLECTIVES_NAME, COLLECTIVES_START, COLLECTIVES_DURATION };
enum { LOSSES_QUEUE = OF_ALL, LOSSES_REASON, LOSSES_COUNT };

extern const struct table_shape tables[TABLES];

/** What a server has, and what the tables there are. */
struct tables_there {
    unsigned release; /**< 1816 of version 18.16 */
    char version[64];
    bool low;          /**< LowCardinality */
    char cluster[128]; /**< that the tables are spread over, "" if they are not */
};

/** How they are made where they are missing. */
struct tables_wish {
    const char *cluster; /**< NULL: not spread */
    unsigned ttl_days;   /**< 0: kept for good */
};

/** Makes on each of `count` servers the tables that are missing, the first of which tells `there`.
 * EXIT_FINE, or EXIT_USAGE when a sentence has been said: tables of another version, say. */
int tables_make(struct server *servers, size_t count, const struct tables_wish *wish,
                struct tables_there *there);

/** Only looks whether there are tables, of this version. The same. */
int tables_find(struct server *server, struct tables_there *there);

/** After how many days a server forgets rows of one of the tables (0: of none, or by an expression
 * that is not --ttl's), and whether rows of `day` (since 1970) are to go already. False with what
 * `server` tells. */
bool tables_forget(struct server *server, const struct tables_there *there, uint16_t day,
                   unsigned *days, bool *gone);

/** Settings with which a query of ours is to run, "&name=value…". */
const char *tables_settings(const struct tables_there *there);

#endif
