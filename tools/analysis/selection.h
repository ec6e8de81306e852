/**
 * The part of a trace that filters leave (common/filter.h): finds out what they name in it, has the
 * reader give out nothing else (store/select.h), and says so.
 *
 * Kernels and copies are filtered by process, stream, GPU and phase, kernels by name as well, and
 * then there are no copies; host calls and launches of graphs by process, stream and phase; ranges
 * by process. Times (`from`, `to`) are for the command to ask for.
 */
#ifndef RTL_TOOLS_SELECTION_H
#define RTL_TOOLS_SELECTION_H

#include "analysis/steps.h"
#include "common/filter.h"
#include "store/select.h"

#include <rtl/rtl_trace.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct selection {
    const struct filter *filter;
    rtl_trace_info_t info;
    uint64_t from, to; /**< on the trace's clock, `to` 0: no end */
    const rtl_process_t *process_list;
    size_t process_count;
    bool *processes; /**< by place; NULL: all */
    const rtl_stream_t *stream_list;
    size_t stream_count;
    bool *streams; /**< by place; NULL: all */
    bool *gpus;    /**< by ordinal; NULL: all */
    size_t gpu_count;
    struct rtl_select_window *windows; /**< the steps of the phase; NULL: any time */
    size_t window_count;
    char phase[64];        /**< its name */
    uint64_t phase_number; /**< from 1 */
    bool only_launches;    /**< kernels and copies are not restricted */
};

/** Finds out what the filter names, but for its phase. Returns EXIT_FINE; or EXIT_USAGE when a
 * sentence has been said that names what there is. The caller frees it in any case; the filter must
 * outlive it. */
int selection_make(rtl_trace_t *trace, const char *path, const struct filter *filter,
                   struct selection *selection);

/** As selection_make; finds the steps of the phase too, if one is named, and has the reader give
 * out nothing else from then on. */
int selection_apply(rtl_trace_t *trace, const char *path, const struct filter *filter,
                    struct selection *selection);

/** As selection_apply, for who looks at launches of graphs: those pass that begin between --from
 * and
 * --to, which are windows of the selection then. With `whole` kernels and copies are not restricted
 * at all, so that launches stay whole. */
int selection_apply_launches(rtl_trace_t *trace, const char *path, const struct filter *filter,
                             bool whole, struct selection *selection);

/** Has the reader give out nothing else. */
int selection_use(rtl_trace_t *trace, const char *path, const struct selection *selection);

/** Finds a phase of steps that were measured by its number, its name, what its name ends with
 * ("decode" of "range decode"), or what is part of its name alone; puts its name and number into
 * the selection. EXIT_FINE with its thread and place, or a sentence has been said. */
int selection_find_phase(const char *path, const struct steps *steps, struct selection *selection,
                         size_t *thread, size_t *phase);

/** True if steps that were found have a phase that a text names. */
bool selection_knows_phase(const struct steps *steps, const char *text);

/** True if the trace has a range of a name. */
bool selection_has_range(rtl_trace_t *trace, const char *name);

/** Whether something is left out. */
bool selection_is(const struct selection *selection);

/** True if what is of a process may be shown. */
bool selection_has_process(const struct selection *selection, uint32_t process);

/** The process, if it is a single one that is left; 0: it is not, or all are. */
uint32_t selection_process(const struct selection *selection);

/** True if a kernel's name passes. */
bool selection_has_kernel(const struct selection *selection, const char *name);

/** True if the host call passes that submitted a kernel or copy that does, by its start. */
bool selection_has_call(const struct selection *selection, uint64_t start);

/** Time that is left of the recording between --from and --to, or of the steps of the phase. ns. */
uint64_t selection_time(const struct selection *selection);

/** Counts the kernels that pass. On failure rtlTraceError tells. */
rtl_status_t selection_kernels(rtl_trace_t *trace, const struct selection *selection,
                               uint64_t *kernels);

/** What is shown: "only kernels /gemm/ of stream 3"; until the next call. */
const char *selection_text(const struct selection *selection);

/** Writes a line "  only kernels /gemm/ of stream 3: 1 200 of 24 000 kernels", where `thing` is
 * "kernel"; nothing where nothing is filtered. */
void selection_show(const struct selection *selection, uint64_t shown, uint64_t all,
                    const char *thing, FILE *out);

/** The same for JSON: a new object; null where nothing is filtered. */
json_t *selection_json(const struct selection *selection, uint64_t shown, uint64_t all,
                       const char *thing);

void selection_free(struct selection *selection);

#endif
