/**
 * The same step of several ranks side by side: which rank was the slowest, and how long the others
 * waited for it.
 *
 * A rank waits in its collectives: their kernels end when the last rank has come, so the rank that
 * spends least time in those of a step came last, and what another one spends there beyond that it
 * waited. That needs no common clock of the ranks' hosts.
 */
#ifndef RTL_TOOLS_ANALYSIS_RANKS_H
#define RTL_TOOLS_ANALYSIS_RANKS_H

#include "analysis/family.h"
#include "analysis/selection.h"
#include "analysis/stats.h"
#include "analysis/steps_by.h"

#include <stdbool.h>

#define RANKS_NONE SIZE_MAX

/** Times are ns on the trace's clock. */
struct rank_step {
    uint64_t begin, end;
    uint64_t collective;  /**< of it, with a collective running */
    uint64_t exposed;     /**< of that, with nothing that computes beside it on its GPU */
    uint32_t collectives; /**< that began in it */
    uint64_t last;        /**< end of the last of these; 0: it has none */
    const char *name;     /**< of the collective that it is; NULL: it is not made of one */
};

struct rank {
    const rtl_process_t *process; /**< belongs to the trace */
    struct rank_step *steps;      /**< by begin */
    size_t count, room;
    size_t first; /**< the first that is compared */
    /* Of those that are compared. */
    struct stats duration;
    uint64_t collective, exposed, waited;
    uint64_t waited_for_host; /**< of `waited`: until the last rank of its host had come */
    size_t slowest;           /**< steps in which this rank was */
    uint64_t made_wait;       /**< in those, the other ranks together */
    uint64_t *waits;          /**< by rank that it waited for, ns */
    size_t *waits_steps;
};

/** A step of all ranks. */
struct ranks_step {
    size_t slowest;           /**< place of the rank, RANKS_NONE: it cannot be told */
    uint64_t waited, longest; /**< all ranks together, the one that waited longest */
    size_t longest_rank;
};

/** The ranks of a host together. */
struct ranks_host {
    const char *name;
    size_t ranks, slowest;
    uint64_t total, collective, exposed, waited, waited_for_host, made_wait;
};

struct ranks {
    struct rank *list; /**< by rank */
    size_t count;
    bool labelled;    /**< by their launcher; else each process is one */
    bool by_steps;    /**< else each collective is a step */
    enum steps_by by; /**< with by_steps: how they were found */
    bool collectives; /**< each rank has some in its steps */
    bool by_number;   /**< the ranks have different numbers of steps, and those of one number need
                         not belong together: their hosts have no clock in common */
    size_t hosts;
    int64_t hosts_error;          /**< as rtl_hosts_error has it */
    struct ranks_host *host_list; /**< of them, in the order of their first ranks */
    size_t without; /**< processes with kernels and without steps, or with fewer than another one of
                         the same rank */
    struct ranks_step *steps; /**< those that are compared */
    size_t step_count;
    size_t all, before; /**< steps that all ranks have, and those of them before the window */
    size_t unlike;      /**< of these: the ranks ran different collectives, or some none */
};

/** Reads the steps of the ranks; `by` NULL: each collective is a step, which is also what is done
 * where nothing was chosen and there are no others. There may be less than two ranks. Returns an
 * exit status; what is not EXIT_FINE has been said. The caller frees the ranks in any case, before
 * the trace. */
int ranks_read(rtl_trace_t *trace, const char *path, const struct selection *selection,
               struct steps_choice *by, struct family_rules *rules, struct ranks *ranks);

/** The same of a whole trace whose steps have been found, and measured. On failure rtlTraceError
 * tells. */
rtl_status_t ranks_of_steps(rtl_trace_t *trace, const struct steps *steps,
                            struct family_rules *rules, struct ranks *ranks);

/** Finds out which steps of the ranks belong together, and judges those of which the first rank's
 * begins in [from, to), `to` 0: no end. There may be none. */
void ranks_judge(struct ranks *ranks, uint64_t from, uint64_t to);

void ranks_free(struct ranks *ranks);

/** What a rank is called: "rank 3", "process 2"; until the next call. */
const char *ranks_name(const struct ranks *ranks, size_t rank);

/** The rank that one waited for most; RANKS_NONE: for none. */
size_t ranks_waited_for(const struct ranks *ranks, size_t rank);

/** The places of the steps with the longest waits, the longest first; how many there are, `most` at
 * most. */
size_t ranks_worst(const struct ranks *ranks, size_t *places, size_t most);

#endif
