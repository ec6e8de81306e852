/**
 * The inside of a writer, shared by its sources; others use store/writer.h.
 *
 * Records come in by writer_records.c, wait in memory, and get into the file by writer_store.c, in
 * one transaction each time. writer.c opens and closes the file.
 */
#ifndef RTL_STORE_WRITER_STATE_H
#define RTL_STORE_WRITER_STATE_H

#include "common/clock.h"
#include "common/index.h"
#include "store/callers.h"
#include "store/codec.h"
#include "store/deferred.h"
#include "store/file.h"
#include "store/graph_feed.h"
#include "store/kinds.h"
#include "store/launches.h"
#include "store/rows.h"
#include "store/samples.h"
#include "store/symbols.h"
#include "store/writer.h"

#include <sqlite3.h>
#include <time.h>

/** A queue with the chunk that is being filled. */
struct rtl_queue_chunk {
    uint32_t process, queue;
    struct rtl_wire_kernel *kernels;
    uint32_t count, capacity;
    uint32_t stored; /**< of `count`, as last stored under `chunk` */
    int64_t chunk;
    bool account_new;
    bool copied; /**< it is one of copies, and has some that are not stored */
    struct rtl_writer_account account;
};

/** A queue or process whose full chunk is stored alone, or the graph launches: one of all. */
struct rtl_writer_part {
    struct rtl_queue_chunk *queue;
    struct rtl_caller *caller;
    struct rtl_sampler *sampler;
    bool launches;
};

struct rtl_process_end {
    uint32_t process;
    const char *state;
    uint64_t time, torn;
};

/** What may be left out. */
enum rtl_dropped {
    RTL_DROPPED_KERNELS,
    RTL_DROPPED_COPIES,
    RTL_DROPPED_CALLS,
    RTL_DROPPED_RANGES,
    RTL_DROPPED_GRAPHS,  /**< rows about graphs and their launches */
    RTL_DROPPED_SAMPLES, /**< of hardware counters */
    RTL_DROPPED_DEFINITIONS,
    RTL_DROPPED_KINDS
};

struct rtl_writer {
    sqlite3 *db;
    char *path;
    struct rtl_file_kept kept; /**< what the file has replaced */
    struct rtl_rows rows;
    struct rtl_codec *codec;
    struct rtl_deferred pending;
    struct rtl_callers callers;
    struct rtl_graph_feed graphs;
    struct rtl_symbols symbols;
    struct rtl_launches launches;
    struct rtl_samples samples;
    struct rtl_kinds kinds;
    struct rtl_index index; /**< (process, queue) to place in `queues` */
    struct rtl_queue_chunk *queues;
    uint32_t queue_count, queue_capacity;
    uint32_t last; /**< place of the queue that was used last */
    uint32_t processes;
    struct rtl_process_end *ends;
    size_t end_count;
    struct rtl_exchange *exchanges; /**< that are not stored yet */
    size_t exchange_count;
    rtl_writer_ask ask; /**< NULL: nobody */
    void *ask_context;
    uint32_t room; /**< of all queues, kernels */
    int64_t next_chunk;
    uint64_t kernels;
    uint64_t dropped[RTL_DROPPED_KINDS]; /**< what found no room */
    uint64_t graphs_forgotten;
    bool locked;       /**< the last transaction could not begin: another program has the file */
    uint64_t retry_at; /**< after a failure: nothing is tried before */
    int reserve;       /**< space for telling of a failure: a descriptor, -1: none */
    bool reported;     /**< the file says that there was one */
    char why[RTL_FILE_REASON]; /**< of the last failure since which something is missing, or "" */
    char error[1024];
};

static inline uint64_t rtl_writer_now(clockid_t clock)
{
    return clock == CLOCK_BOOTTIME ? rtl_now() : rtl_clock_ns(clock);
}

/* writer_store.c */

/** Keeps the first sentence about what failed. */
__attribute__((format(printf, 2, 3))) void rtl_writer_fail(struct rtl_writer *writer,
                                                           const char *format, ...);

/** The same for a result of SQLite. */
void rtl_writer_fail_sqlite(struct rtl_writer *writer, int result);

/** One transaction: all that is new, or `only` one part of it and definitions. `seal_all`: no chunk
 * stays open. An SQLite result code; unless it is SQLITE_OK all is kept for another try. */
int rtl_writer_store(struct rtl_writer *writer, const struct rtl_writer_part *only, bool seal_all);

/** False shortly after a failure: trying costs time that the ring needs. */
bool rtl_writer_may_store(const struct rtl_writer *writer);

void rtl_writer_roll_back(struct rtl_writer *writer);

/** Leaves word in the file that it could not be written, if that is what `result` means. `last`:
 * nothing is written after it. */
void rtl_writer_report_failure(struct rtl_writer *writer, int result, bool last);

/** Whether anything found no room. */
bool rtl_writer_has_dropped(const struct rtl_writer *writer);

/** Frees the space that is kept for word of a failure. */
void rtl_writer_give_reserve(struct rtl_writer *writer);

/* writer_records.c */

/** What the graph registries find out, as rtl_graph_feed.give; `context` is the writer. */
void rtl_writer_graph_item(void *context, enum rtl_graph_item type, uint32_t process,
                           const void *body, size_t body_size, const void *rest, size_t rest_size);

/** The graphs of a process, or of all (0), are reported. */
void rtl_writer_end_graphs(struct rtl_writer *writer, uint32_t process);

#endif
