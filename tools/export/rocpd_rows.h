/**
 * Rows of a file of rocpd: the ids by which they refer to each other, and what writes them.
 *
 * The id of a definition is its place in the list of the trace, from 1; what the trace does not
 * know has rows whose ids follow those of the lists. Functions that return an int return EXIT_FINE,
 * or EXIT_USAGE when a sentence has been said; those that give an id leave that to
 * rocpd.database.failed.
 */
#ifndef RTL_TOOLS_EXPORT_ROCPD_ROWS_H
#define RTL_TOOLS_EXPORT_ROCPD_ROWS_H

#include "common/texts.h"
#include "export/database.h"

/** The statements that write rows; the tables have their suffix at the end only. */
enum rocpd_statement {
    ROCPD_STRING,
    ROCPD_META,
    ROCPD_NODE,
    ROCPD_PROCESS,
    ROCPD_THREAD,
    ROCPD_AGENT,
    ROCPD_UNKNOWN_AGENT,
    ROCPD_QUEUE,
    ROCPD_STREAM,
    ROCPD_OBJECT,
    ROCPD_SYMBOL,
    ROCPD_EVENT,
    ROCPD_RANGE_EVENT,
    ROCPD_DEVICE_EVENT,
    ROCPD_ARGUMENT,
    ROCPD_REGION,
    ROCPD_TRACK,
    ROCPD_SAMPLE,
    ROCPD_KERNEL,
    ROCPD_COPY,
    ROCPD_LAUNCH,
    ROCPD_ALLOCATION,
    ROCPD_ALLOCATION_AGENT,
    ROCPD_PMC,
    ROCPD_PMC_EVENT,
    ROCPD_FIND_REGION,
    ROCPD_EARLIER,
    ROCPD_FIND_EARLIER
};

enum rocpd_category {
    ROCPD_CALLS,
    ROCPD_RANGES,
    ROCPD_KERNELS,
    ROCPD_COPIES,
    ROCPD_LAUNCHES,
    ROCPD_ALLOCATIONS,
    ROCPD_CATEGORIES
};

/** The id of what was asked for last, which is asked for again as a rule; 0: of nothing. */
struct rocpd_last {
    int64_t key, id, other;
};

struct rocpd {
    struct database database;
    struct export *export;
    char guid[40], suffix[44];
    struct texts strings; /**< a string's id is its number + 1 */
    struct texts hosts;   /**< a node's id is its number + 1 */
    struct texts unknown; /**< names of kernels without a symbol: their ids follow the symbols' */
    int64_t base;         /**< added to ids of processes and threads, by which rocpd joins files */
    size_t threads, agents, queues, streams, symbols; /**< in the lists of the trace */
    int64_t events, dispatches;                       /**< ids that were given last */
    int64_t categories[ROCPD_CATEGORIES];             /**< string ids, 0: not yet */
    int64_t *names; /**< string ids of the names of symbols, by place; 0: not yet */
    struct rocpd_last node, range, call;
    bool *objects; /**< code objects that are written, by id */
    /** The agent of a stream, by its id: 0 not known, -1 the stream has no single one. */
    int64_t *agents_of_streams;
    bool earlier; /**< there may be ranges of earlier parts */
    bool pooled;  /**< memory was allocated of a stream's agent */
};

/** The id of a text in a list; `*added` if it is new there. */
int64_t rocpd_text_id(struct rocpd *rocpd, struct texts *texts, const char *text, bool *added);

/** Ids of rows; strings and nodes are written when they are first asked for. */
int64_t rocpd_string_id(struct rocpd *rocpd, const char *text);
int64_t rocpd_node_id(struct rocpd *rocpd, uint32_t process);
int64_t rocpd_process_id(const struct rocpd *rocpd, uint32_t process);
int64_t rocpd_unknown_thread_id(const struct rocpd *rocpd, uint32_t process);
int64_t rocpd_thread_id(const struct rocpd *rocpd, uint32_t process, uint32_t thread);
int64_t rocpd_agent_id(const struct rocpd *rocpd, uint32_t process, uint32_t agent);
int64_t rocpd_queue_id(const struct rocpd *rocpd, uint32_t process, uint32_t queue);
int64_t rocpd_stream_id(const struct rocpd *rocpd, uint32_t process, uint32_t stream);

/** The id of a host call or range; 0 of none. */
int64_t rocpd_region_id(uint32_t process, uint64_t correlation);

/** The string of a category's name. */
int64_t rocpd_category_id(struct rocpd *rocpd, enum rocpd_category category);

/** Begins a row: what it belongs to. `rocpd->events` is its event. */
int rocpd_event_row(struct rocpd *rocpd, enum rocpd_category category, int64_t stack,
                    int64_t parent);

/** What hardware counters counted during the event that was written last. */
int rocpd_sample_rows(struct rocpd *rocpd, const struct export_event *event);

/** Writes all definitions, and counts them in `rocpd`. */
int rocpd_write_definitions(struct rocpd *rocpd);

/** Writes the symbol of a kernel, which is a definition. */
int rocpd_symbol_row(struct rocpd *rocpd, int64_t id, const rtl_symbol_t *symbol);

/** Visitors for export_walk, `state` a struct rocpd: of ranges and host calls; and of launches,
 * copies and kernels, which look for theirs among those that have been written. */
int rocpd_visit_host(void *state, const struct export_event *event);
int rocpd_visit_device(void *state, const struct export_event *event);

/** And of ranges that are in earlier parts, which kernels and copies have as their regions all the
 * same; rocpd_begin_earlier comes before it. */
int rocpd_begin_earlier(struct rocpd *rocpd);
int rocpd_visit_earlier(void *state, const struct export_event *event);

/** When all events of a file have been visited and written: fills in the agents of memory that
 * came to be known by what streams did. */
int rocpd_place_memory(struct rocpd *rocpd);

#endif
