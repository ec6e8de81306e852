/**
 * Why nothing ran on a GPU: each idle time is given to what the thread did that then submitted the
 * work at its end.
 *
 * Up to the host call that submitted it, that is the call that the thread was in, or none. From
 * that call's begin on it is the call itself, and behind its end the work was submitted and had not
 * begun; where other GPUs are looked at, the part of that in which one of them ran what then ended
 * is told apart. Times between kernels of one launch of a graph are a cause of their own: the host
 * has no part in them; and times in which recording was stopped. Calls within calls count as the
 * outermost.
 */
#ifndef RTL_TOOLS_IDLE_H
#define RTL_TOOLS_IDLE_H

#include "analysis/activity.h"
#include "analysis/idle_others.h"
#include "common/texts.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/** Causes that are no calls; the numbers from IDLE_CALLS on are places in idle_causes.names. */
enum {
    IDLE_IN_GRAPH,  /**< between kernels of one launch */
    IDLE_SUBMITTED, /**< submitted, and it had not begun */
    IDLE_OTHER_GPU, /**< the same, while work ran on another GPU that then ended */
    IDLE_NO_CALL,   /**< the thread was in no host call: the program's own work, or a wait of its */
    IDLE_UNKNOWN,   /**< the call that submitted the work is not in the trace */
    IDLE_STOPPED,   /**< recording was stopped: nobody knows what ran */
    IDLE_CALLS
};

/** Time, and gaps that have a part in it. A gap with several calls of a name counts once. */
struct idle_time {
    uint64_t ns, gaps;
    uint64_t last_gap; /**< number of the gap that was counted last, from 1 on */
};

/** By cause; zeroed memory is empty. */
struct idle_times {
    struct idle_time *by_cause;
    size_t count;               /**< of the array */
    uint64_t ns, gaps, longest; /**< of all */
    size_t last;                /**< cause of the longest piece of the gap that was added last */
    uint64_t last_ns;           /**< of that piece */
    /** Called for each piece of a gap, in order; NULL: by nobody. */
    void (*piece)(void *context, size_t cause, uint64_t from, uint64_t to);
    void *context;
};

struct idle_thread;

/** Reads the host calls of a process; zeroed but for the first two it has read nothing yet. */
struct idle_causes {
    rtl_trace_t *trace;
    uint32_t process;          /**< whose work ends the gaps */
    struct idle_others others; /**< open: submitted work may have waited for it */
    struct texts names;
    struct idle_thread *threads;
    size_t thread_count;
    uint32_t graph, launch;    /**< that the last kernel of a graph was of */
    const rtl_pause_t *pauses; /**< of all processes, read at the first gap */
    size_t pause_count, pause; /**< pause: the first that is not over */
    bool paused;               /**< they are read */
};

/** Gives the idle time [from, to), which ended with `next`, to its causes in `times`. Calls come in
 * the order of time. On failure rtlTraceError tells. */
rtl_status_t idle_attribute(struct idle_causes *causes, uint64_t from, uint64_t to,
                            const struct activity_work *next, struct idle_times *times);

/** True if it is already known that an idle time which ends with `next` has no cause but
 * IDLE_IN_GRAPH. */
bool idle_in_graph(const struct idle_causes *causes, const struct activity_work *next);

/** Is told of all work in its order, before idle times behind it are attributed. */
void idle_begun(struct idle_causes *causes, const struct activity_work *work);

/** "in hipStreamSynchronize", "no host call" … Belongs to `causes`, or is static. */
const char *idle_label(const struct idle_causes *causes, size_t cause);

/** The same for JSON: "hipStreamSynchronize", "no_call", "in_graph", "submitted", "unknown". */
const char *idle_name(const struct idle_causes *causes, size_t cause);

/** Causes by time, the largest first, those without time left out: puts their numbers into `order`,
 * which has times->count places, and returns how many there are. */
size_t idle_order(const struct idle_times *times, size_t *order);

/** A cause with its time for JSON: a new object. */
json_t *idle_json(const struct idle_causes *causes, const struct idle_times *times, size_t cause);

void idle_causes_free(struct idle_causes *causes);
void idle_times_free(struct idle_times *times);

#endif
