/**
 * The steps of a trace: what a program does again and again, such as decoding a token.
 *
 * They are found in one of three ways (steps_launches.h, steps_ranges.h, steps_kernels.h), each as
 * the begin of steps in a row, and measured together (steps_measure.h). A step goes from its begin
 * to that of the next one in its run. The last of a run ends with its own work, and as many eager
 * kernels and copies behind it as the step before it had.
 */
#ifndef RTL_TOOLS_STEPS_H
#define RTL_TOOLS_STEPS_H

#include "analysis/absent.h"
#include "analysis/activity.h"
#include "analysis/compare.h"
#include "analysis/idle.h"
#include "analysis/stats.h"
#include "analysis/steps_families.h"

#include <stdbool.h>

enum steps_by {
    STEPS_BY_AUTO,     /**< launches, and in processes where none repeat kernels */
    STEPS_BY_LAUNCHES, /**< launches of graphs that repeat */
    STEPS_BY_GRAPH,    /**< each launch of one graph begins a step */
    STEPS_BY_RANGE,    /**< ranges of a name */
    STEPS_BY_KERNELS   /**< eager kernels that repeat */
};

/** Times are ns. */
struct step {
    uint64_t begin, end;
    uint64_t own_end;          /**< of the work that is known to be the step's own */
    uint64_t time[ACTIVITIES]; /**< they add up to end - begin */
    uint32_t phase;            /**< of its thread */
    uint32_t launches;         /**< of graphs, its own */
    uint32_t in_graphs, eager; /**< kernels that began in it */
    uint32_t copies, calls;    /**< that began in it */
    bool first, last;          /**< of a run: no step of the phase is right before, behind it */
    bool left_out;             /**< it is measured, and not counted among its phase's */
    bool closed;               /**< nothing behind its own work is part of it */
    bool split;                /**< last of a run that steps_split.h has made, or made shorter */
};

/** Steps that do the same. */
struct phase {
    char *name;       /**< "graph 3", "range decode" */
    uint64_t key;     /**< of what its steps do, the same in other traces */
    uint32_t allowed; /**< eager kernels and copies of a step that is split */
    uint64_t steps;
    uint64_t first, last;  /**< begin of the first step, end of the last */
    struct stats duration; /**< of a step, ns, in their order */
    struct stats time[ACTIVITIES];
    uint64_t launches, in_graphs, eager, copies, calls; /**< sums */
    struct idle_times idle;
    struct family_times families; /**< of its kernels, the largest first; empty: not asked for */
    struct comparison trend;      /**< durations of the last quarter against those of the first */
};

/** Steps of a phase per second, from its first one's begin to its last one's end. */
double steps_rate(const struct phase *phase);

/** Where a thread is in no step. */
enum outside { OUTSIDE_BEFORE, OUTSIDE_BETWEEN, OUTSIDE_BEHIND, OUTSIDES };

struct outside_steps {
    uint64_t time[ACTIVITIES];
    uint64_t in_graphs, eager, copies;
    struct idle_times idle;
};

/** Steps that stand one behind the other. Launches and host calls are the thread's, kernels, copies
 * and times those of its process. */
struct steps_thread {
    uint32_t process;
    uint32_t thread;    /**< that launched them, 0: any */
    enum steps_by by;   /**< how its steps were found; never STEPS_BY_AUTO */
    struct step *steps; /**< by begin */
    size_t count, room;
    struct phase *phases; /**< in the order in which they were found first */
    size_t phase_count;
    struct outside_steps outside[OUTSIDES];
    struct idle_times left_out; /**< of steps that are */
    uint64_t launches_outside;  /**< of graphs, by the thread, in no step */
};

struct steps {
    enum steps_by by;             /**< how; STEPS_BY_AUTO: of some threads by launches, of others
                                     by kernels */
    struct steps_thread *threads; /**< those with steps, by process */
    size_t count;
    struct steps_families families; /**< rules NULL: not asked for */
    struct idle_causes *causes;     /**< by place in `threads`, for their phases */
    /** By kernels: eager kernels of the queues with blocks that repeat, and those of them in
     * the blocks that repeat. */
    uint64_t kernels, kernels_in_blocks;
    struct absent absent; /**< what may have run while GPUs seem idle */
    bool untold; /**< kernels of replays are not told from eager ones: modes lite and standard */
    uint64_t ranges;          /**< of STEPS_BY_RANGE: those of the name */
    uint64_t without_work;    /**< of STEPS_BY_RANGE: ranges that no kernel or copy belongs to */
    uint64_t without_kernels; /**< launches of which no kernel is in the trace */
};

/** Finds the steps by launches, and in processes where none repeat by kernels. On failure
 * rtlTraceError tells; the caller frees them in any case. */
rtl_status_t steps_find(rtl_trace_t *trace, struct steps *steps);

/** Adds a thread, or finds it. The caller must not keep it over the next call. */
struct steps_thread *steps_thread(struct steps *steps, uint32_t process, uint32_t thread);

/** Adds a phase with a copy of this name and returns its number. */
uint32_t steps_phase(struct steps_thread *thread, const char *name);

/** Adds a step; it begins no sooner than the one before. */
void steps_add(struct steps_thread *thread, const struct step *step);

/** Drops threads without steps. */
void steps_drop_empty(struct steps *steps);

void steps_free(struct steps *steps);

#endif
