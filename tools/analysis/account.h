/**
 * The verdict on a trace: is everything that RTL saw, and the mode records, in it?
 */
#ifndef RTL_TOOLS_ACCOUNT_H
#define RTL_TOOLS_ACCOUNT_H

#include "analysis/ended.h"
#include "analysis/kinds.h"

#include <rtl/rtl_trace.h>

#include <stdbool.h>
#include <stdio.h>

/** Sums over a trace's ledger, or one row of it. */
struct account {
    uint64_t packets, seen, recorded, stored, skipped;
    uint64_t lost[RTL_LOSS_REASONS];
    uint64_t lost_total;
    uint64_t pending;  /**< seen and neither recorded, skipped nor lost (yet) */
    uint64_t unstored; /**< recorded by the process and not in the file */
    uint64_t forwarded, borrowed, helped;
    uint64_t stopped;  /**< of `skipped`: recording was stopped */
    uint64_t withheld; /**< of `skipped`: their thread had stopped the recording of its own */
    uint64_t untold;   /**< of `skipped`: the mode, or one of the above; the trace does not tell */
};

struct verdict {
    struct account total;  /**< of kernels */
    struct account copies; /**< of asynchronous copies */
    unsigned processes, died, running, refused;
    unsigned unrecorded;  /**< processes that are not recorded and should be */
    unsigned imported;    /**< processes of which another format has not told what is missing */
    const char *why;      /**< note about the first of them, NULL if there is none; the trace's */
    unsigned not_started; /**< processes whose GPU runtime did not come up: they had nothing that
                               could be recorded */
    const char *no_start; /**< as `why`, about these */
    unsigned untracked;   /**< queues that were not followed although the mode wants it */
    struct ended ended;   /**< processes that ended without a word, and what they had in flight */
    uint64_t torn; /**< slots of records that were begun and never written: a host call, say */
    struct {
        uint64_t launches;
        uint64_t uncertain; /**< with kernels whose node is not sure */
        uint64_t partial;   /**< with kernels that are not in the trace */
        uint64_t missing;   /**< kernels of those */
        uint64_t lost;      /**< of them, more than the ledger of their process explains */
    } graphs;               /**< launches of graphs */
    struct {
        unsigned hips;    /**< whose host calls should be in the trace and are not (unseen.h) */
        uint64_t kernels; /**< of these */
        bool off;         /**< host calls were switched off for a HIP */
        uint64_t past;    /**< kernels of HIPs whose host calls are followed, which no call or range
                             of the trace launched; 0 unless somebody has counted them */
    } unseen;
    struct {
        uint64_t of_graphs; /**< of launches of graphs, in processes of full mode: kernels in there
                                 have no packet that could be timed */
        uint64_t elsewhere; /**< other vendors' packets whose content is not known */
        uint64_t direct;    /**< packets that the device took without librtl.so */
    } opaque;               /**< packets that RTL cannot look into */
    struct kinds kinds;     /**< host calls, ranges, launches … */
    bool all_full;          /**< every process was recorded in full mode */
    const char *failure; /**< why the collector could not write more, "" if it could; the trace's */
    const char *damage;  /**< what of the file is not what was recorded, NULL unless somebody has
                              looked and found something */
    bool at_least;       /**< counts are those of a checkpoint: there were so many at least */
    bool finished;       /**< the collector ended in order */
    bool recording;      /**< not finished, and the collector lives (on this host) */
    const char *elsewhere; /**< not finished: the other host that records or recorded it; or NULL */
    bool complete;
    bool empty;   /**< complete, and all kernels that were seen were left out */
    bool unknown; /**< nothing is missing but what an import could not tell */
};

/** True if the collector could not write more of the trace. */
bool account_failed(const struct verdict *verdict);

/** True if a row of the ledger is about copies. */
bool account_is_copies(rtl_trace_t *trace, const rtl_ledger_t *row);

/** Account of one row. */
void account_of(const rtl_ledger_t *row, struct account *account);

/** Adds a row's account to a sum. */
void account_add(struct account *total, const struct account *part);

/** Of `skipped`: what the mode leaves out. */
uint64_t account_by_mode(const struct account *account);

/** Reads the verdict of a trace. */
rtl_status_t account_verdict(rtl_trace_t *trace, struct verdict *verdict);

/** One line without a newline, such as "complete: 1 000 000 of 1 000 000 kernels". Copies are
 * told where there are any, other kinds where some are missing. */
void account_line(const struct verdict *verdict, char *line, size_t size);

/** What a reason means, and what to do about it, in one sentence each. */
const char *account_meaning(rtl_loss_t reason);
const char *account_advice(rtl_loss_t reason);

#endif
