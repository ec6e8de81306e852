#include "analysis/truth.h"

#include "common/show.h"
#include "softgpu/truth.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prefix that the software GPU gives to the kernels of ROCr's own copies and fills, which have no
 * symbol. */
#define INTERNAL_PREFIX "__rocr_"

/* The software GPU's clock has 100 MHz (softgpu/truth.h); runtimes up to ROCm 5.2 do not tell. */
#define SOFTWARE_TICK_NS 10u

struct truth_kernel {
    uint64_t index;
    uint64_t start_ticks, end_ticks;
    uint64_t start_ns, end_ns;
    const char *name; /* belongs to the log's reader */
};

/* A queue as the device saw it. */
struct truth_queue {
    size_t log;
    uint32_t pid, image, ordinal;
    uint64_t address, hsa_id;
    uint64_t first_ns, last_ns; /* earliest and latest start */
    struct truth_kernel *kernels;
    size_t count, capacity;
    bool internal; /* nothing but ROCr's own kernels so far */
};

/* A queue as the trace has it, with what it should hold. */
struct pair {
    const rtl_queue_t *queue;
    struct truth_queue *truth; /* NULL: nothing was executed on it */
    uint64_t tick_ns;          /* one tick of its clock, rounded up */
    uint64_t skipped, lost;    /* as the ledger says */
    uint64_t left_behind;      /* of `lost`: when the process or the queue ended */
};

struct comparison {
    struct truth_result *result;
    softgpu_truth_t **logs;
    size_t log_count;
    struct truth_queue *queues;
    size_t queue_count, queue_capacity;
    struct truth_copy_list copies;
    struct pair *pairs; /* by process, then queue */
    size_t pair_count;
    char *error;
    size_t error_size;
};

static void tell(struct truth_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void tell(struct truth_result *result, const char *format, ...)
{
    if (result->sentence_count == TRUTH_SENTENCES)
        return;
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is started above
    (void)vsnprintf(result->sentences[result->sentence_count++], sizeof result->sentences[0],
                    format, arguments);
    va_end(arguments);
}

static int fail(struct comparison *comparison, const char *sentence)
{
    (void)snprintf(comparison->error, comparison->error_size, "%s", sentence);
    return -1;
}

static bool is_of(const struct truth_queue *queue, size_t log, const softgpu_truth_entry_t *entry)
{
    return queue->log == log && queue->pid == entry->pid && queue->image == entry->image &&
           queue->ordinal == entry->queue;
}

static struct truth_queue *truth_queue_of(struct comparison *comparison, size_t log,
                                          const softgpu_truth_entry_t *entry)
{
    for (size_t i = comparison->queue_count; i-- > 0;) {
        struct truth_queue *queue = &comparison->queues[i];
        if (is_of(queue, log, entry))
            return queue;
    }
    if (!truth_grow((void **)&comparison->queues, &comparison->queue_capacity,
                    comparison->queue_count, sizeof *comparison->queues))
        return NULL;
    struct truth_queue *queue = &comparison->queues[comparison->queue_count++];
    *queue = (struct truth_queue){.log = log,
                                  .pid = entry->pid,
                                  .image = entry->image,
                                  .ordinal = entry->queue,
                                  .address = entry->queue_address,
                                  .hsa_id = entry->queue_hsa_id,
                                  .first_ns = UINT64_MAX,
                                  .internal = true};
    return queue;
}

static bool add_entry(struct comparison *comparison, size_t log, struct truth_queue **last,
                      const softgpu_truth_entry_t *entry)
{
    struct truth_queue *queue = *last;
    if (!queue || !is_of(queue, log, entry))
        queue = truth_queue_of(comparison, log, entry);
    if (!queue)
        return false;
    if (!truth_grow((void **)&queue->kernels, &queue->capacity, queue->count,
                    sizeof *queue->kernels))
        return false;
    queue->kernels[queue->count++] =
        (struct truth_kernel){entry->index,    entry->start_ticks, entry->end_ticks,
                              entry->start_ns, entry->end_ns,      entry->name};
    if (entry->start_ns < queue->first_ns)
        queue->first_ns = entry->start_ns;
    if (entry->start_ns > queue->last_ns)
        queue->last_ns = entry->start_ns;
    queue->internal =
        queue->internal && strncmp(entry->name, INTERNAL_PREFIX, strlen(INTERNAL_PREFIX)) == 0;
    *last = queue;
    return true;
}

static int read_log(struct comparison *comparison, size_t log)
{
    softgpu_truth_entry_t entry;
    struct truth_queue *last = NULL;
    int got;
    while ((got = softgpu_truth_next(comparison->logs[log], &entry)) == 1)
        if ((entry.kind == SOFTGPU_TRUTH_KERNEL && !add_entry(comparison, log, &last, &entry)) ||
            !truth_copies_take(&comparison->copies, log, &entry))
            return fail(comparison, "memory is short");
    return got < 0 ? fail(comparison, softgpu_truth_error(comparison->logs[log])) : 0;
}

static int read_logs(struct comparison *comparison, const char *const *paths, size_t count)
{
    comparison->logs = calloc(count, sizeof(softgpu_truth_t *));
    if (!comparison->logs)
        return fail(comparison, "memory is short");
    for (size_t i = 0; i < count; ++i) {
        comparison->logs[i] =
            softgpu_truth_open(paths[i], comparison->error, comparison->error_size);
        if (!comparison->logs[i])
            return -1;
        ++comparison->log_count;
        if (read_log(comparison, i) != 0)
            return -1;
    }
    return 0;
}

static int compare_indices(const void *a, const void *b)
{
    uint64_t left = ((const struct truth_kernel *)a)->index;
    uint64_t right = ((const struct truth_kernel *)b)->index;
    return (left > right) - (left < right);
}

/* The log is in the order of ends, which is nearly that of indices: most queues need no sorting. */
static void sort_kernels(struct truth_queue *queue)
{
    for (size_t i = 1; i < queue->count; ++i) {
        if (queue->kernels[i - 1].index > queue->kernels[i].index) {
            qsort(queue->kernels, queue->count, sizeof *queue->kernels, compare_indices);
            return;
        }
    }
}

static int compare_pairs(const void *a, const void *b)
{
    const rtl_queue_t *left = ((const struct pair *)a)->queue;
    const rtl_queue_t *right = ((const struct pair *)b)->queue;
    if (left->process != right->process)
        return left->process < right->process ? -1 : 1;
    return (left->queue > right->queue) - (left->queue < right->queue);
}

static uint64_t tick_of(const rtl_agent_t *agents, size_t count, const rtl_queue_t *queue)
{
    for (size_t i = 0; i < count; ++i)
        if (agents[i].process == queue->process && agents[i].agent == queue->agent &&
            agents[i].clock_hz > 0)
            return (1000000000u + agents[i].clock_hz - 1) / agents[i].clock_hz;
    return SOFTWARE_TICK_NS;
}

static rtl_status_t list_pairs(rtl_trace_t *trace, struct comparison *comparison)
{
    const rtl_queue_t *queues;
    const rtl_agent_t *agents;
    size_t queue_count;
    size_t agent_count;
    rtl_status_t status = rtlTraceQueues(trace, &queues, &queue_count);
    if (status == RTL_OK)
        status = rtlTraceAgents(trace, &agents, &agent_count);
    if (status != RTL_OK)
        return status;
    comparison->pairs = calloc(queue_count + 1, sizeof *comparison->pairs);
    if (!comparison->pairs)
        return RTL_E_MEMORY;
    for (size_t i = 0; i < queue_count; ++i)
        if (strcmp(queues[i].way, "copies") != 0)
            comparison->pairs[comparison->pair_count++] = (struct pair){
                .queue = &queues[i], .tick_ns = tick_of(agents, agent_count, &queues[i])};
    qsort(comparison->pairs, comparison->pair_count, sizeof *comparison->pairs, compare_pairs);
    return RTL_OK;
}

static uint32_t pid_of(const rtl_process_t *processes, size_t count, uint32_t process)
{
    for (size_t i = 0; i < count; ++i)
        if (processes[i].process == process)
            return processes[i].pid;
    return 0;
}

/* By the queue's id, for an intercept queue has an address of its own. A runtime that was loaded
 * anew counts anew, and so does that of the next image after an exec: the right queue is the last
 * that was made before the first kernel of the log's; or, of one that RTL has seen later, the first
 * that was seen before the last kernel.
 */
static struct pair *pair_of(struct comparison *comparison, const rtl_process_t *processes,
                            size_t process_count, const struct truth_queue *truth)
{
    struct pair *best = NULL;
    struct pair *late = NULL;
    for (size_t i = 0; i < comparison->pair_count; ++i) {
        struct pair *pair = &comparison->pairs[i];
        const rtl_queue_t *queue = pair->queue;
        if (queue->hsa_id != truth->hsa_id ||
            pid_of(processes, process_count, queue->process) != truth->pid)
            continue;
        if (queue->start <= truth->first_ns)
            best = !best || queue->start > best->queue->start ? pair : best;
        else if (queue->start <= truth->last_ns)
            late = !late || queue->start < late->queue->start ? pair : late;
    }
    return best ? best : late;
}

static void count_unknown(struct truth_result *result, const struct truth_queue *queue)
{
    if (queue->internal) {
        result->internal += queue->count;
        return;
    }
    result->executed += queue->count;
    result->missing += queue->count;
    tell(result,
         "process %" PRIu32 " executed %s on a queue at 0x%" PRIx64 " that is not in the trace",
         queue->pid, show_things(queue->count, "kernel").text, queue->address);
}

static rtl_status_t match_queues(rtl_trace_t *trace, struct comparison *comparison)
{
    const rtl_process_t *processes;
    size_t process_count;
    rtl_status_t status = rtlTraceProcesses(trace, &processes, &process_count);
    if (status == RTL_OK)
        status = list_pairs(trace, comparison);
    for (size_t i = 0; status == RTL_OK && i < comparison->queue_count; ++i) {
        struct truth_queue *queue = &comparison->queues[i];
        struct pair *pair = pair_of(comparison, processes, process_count, queue);
        if (!pair || pair->truth) {
            count_unknown(comparison->result, queue);
            continue;
        }
        sort_kernels(queue);
        pair->truth = queue;
        comparison->result->executed += queue->count;
    }
    return status;
}

static void take_ledger(struct comparison *comparison, const rtl_ledger_t *rows, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        rtl_queue_t key = {.process = rows[i].process, .queue = rows[i].queue};
        struct pair wanted = {.queue = &key};
        if (comparison->pair_count == 0)
            return;
        struct pair *pair = bsearch(&wanted, comparison->pairs, comparison->pair_count,
                                    sizeof *comparison->pairs, compare_pairs);
        if (!pair)
            continue;
        pair->skipped = rows[i].skipped;
        for (unsigned reason = 0; reason < RTL_LOSS_REASONS; ++reason)
            pair->lost += rows[i].lost[reason];
        pair->left_behind = rows[i].lost[RTL_LOSS_SHUTDOWN] + rows[i].lost[RTL_LOSS_KILLED];
    }
}

/* Where the comparison of one queue stands. */
struct cursor {
    struct pair *pair;
    size_t next; /* in the truth's kernels */
    uint64_t absent;
    uint64_t first_absent;
    const char *first_absent_name;
    bool started;
    uint64_t last_packet;
    const char *same_left, *same_right; /* names that were found equal last time */
};

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void compare_kernel(struct truth_result *result, struct cursor *cursor,
                           const rtl_kernel_t *kernel, const struct truth_kernel *truth)
{
    bool equal = true;
    bool same_names = kernel->mangled == cursor->same_left && truth->name == cursor->same_right;
    ++result->matched;
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): the reader leaves no text NULL
    if (!same_names && strcmp(kernel->mangled, truth->name) != 0) {
        equal = false;
        if (result->wrong_name++ == 0)
            tell(result,
                 "process %" PRIu32 " queue %" PRIu32 " packet %" PRIu64
                 ": the trace says kernel '%s', executed was '%s'",
                 kernel->process, kernel->queue, kernel->packet, kernel->mangled, truth->name);
    } else {
        cursor->same_left = kernel->mangled;
        cursor->same_right = truth->name;
    }
    if (kernel->start_ticks != truth->start_ticks || kernel->end_ticks != truth->end_ticks) {
        equal = false;
        if (result->wrong_ticks++ == 0)
            tell(result,
                 "process %" PRIu32 " queue %" PRIu32 " packet %" PRIu64 ": ticks %" PRIu64
                 " to %" PRIu64 " in the trace, %" PRIu64 " to %" PRIu64 " in truth",
                 kernel->process, kernel->queue, kernel->packet, kernel->start_ticks,
                 kernel->end_ticks, truth->start_ticks, truth->end_ticks);
    }
    uint64_t off = distance(kernel->start, truth->start_ns);
    if (distance(kernel->end, truth->end_ns) > off)
        off = distance(kernel->end, truth->end_ns);
    if (off > result->widest_ns)
        result->widest_ns = off;
    if (off > cursor->pair->tick_ns) {
        equal = false;
        if (result->wrong_time++ == 0)
            tell(result,
                 "process %" PRIu32 " queue %" PRIu32 " packet %" PRIu64
                 ": times are off by %" PRIu64 " ns, one tick is %" PRIu64 " ns",
                 kernel->process, kernel->queue, kernel->packet, off, cursor->pair->tick_ns);
    }
    result->equal += equal;
}

static void absent(struct cursor *cursor, const struct truth_kernel *truth)
{
    if (cursor->absent++ == 0) {
        cursor->first_absent = truth->index;
        cursor->first_absent_name = truth->name;
    }
}

/* What the ledger says is not there must be exactly what is not there. Kernels that an ending
 * process left behind may or may not have run. */
static void finish_queue(struct truth_result *result, struct cursor *cursor)
{
    struct pair *pair = cursor->pair;
    if (!pair)
        return;
    while (pair->truth && cursor->next < pair->truth->count)
        absent(cursor, &pair->truth->kernels[cursor->next++]);
    uint64_t most = pair->skipped + pair->lost;
    uint64_t least = pair->left_behind ? pair->lost - pair->left_behind : most;
    uint64_t explained = cursor->absent < most ? cursor->absent : most;
    uint64_t skipped = explained < pair->skipped ? explained : pair->skipped;
    result->skipped += skipped;
    result->lost += explained - skipped;
    result->missing += cursor->absent - explained;
    if (cursor->absent >= least && cursor->absent <= most)
        return;
    ++result->misaccounted;
    tell(result,
         "process %" PRIu32 " queue %" PRIu32 ": %s not in the trace, the ledger says %" PRIu64,
         pair->queue->process, pair->queue->queue,
         show_things(cursor->absent, "executed kernel").text, most);
    if (cursor->absent > 0)
        tell(result, "the first of them is packet %" PRIu64 ", '%.120s'", cursor->first_absent,
             cursor->first_absent_name);
}

static void invented(struct truth_result *result, const rtl_kernel_t *kernel)
{
    if (result->invented++ == 0)
        tell(result,
             "process %" PRIu32 " queue %" PRIu32 " packet %" PRIu64
             " ('%s') is in the trace and was never executed",
             kernel->process, kernel->queue, kernel->packet, kernel->mangled);
}

static void take_kernel(struct truth_result *result, struct cursor *cursor,
                        const rtl_kernel_t *kernel)
{
    ++result->recorded;
    if (cursor->started && kernel->packet == cursor->last_packet) {
        if (result->repeated++ == 0)
            tell(result,
                 "process %" PRIu32 " queue %" PRIu32 " packet %" PRIu64
                 " is in the trace more than once",
                 kernel->process, kernel->queue, kernel->packet);
        return;
    }
    cursor->started = true;
    cursor->last_packet = kernel->packet;
    struct truth_queue *truth = cursor->pair ? cursor->pair->truth : NULL;
    while (truth && cursor->next < truth->count &&
           truth->kernels[cursor->next].index < kernel->packet)
        absent(cursor, &truth->kernels[cursor->next++]);
    if (truth && cursor->next < truth->count &&
        truth->kernels[cursor->next].index == kernel->packet)
        compare_kernel(result, cursor, kernel, &truth->kernels[cursor->next++]);
    else
        invented(result, kernel);
}

/* Both sides are in the order of process, queue, packet. Queues without kernels in the trace are
 * passed on the way. */
static rtl_status_t merge(rtl_trace_t *trace, struct comparison *comparison)
{
    rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t kernel;
    filter.by_queue = 1;
    rtl_status_t status = rtlTraceKernels(trace, &filter, &iter);
    if (status != RTL_OK)
        return status;
    struct pair *pair = comparison->pairs;
    const struct pair *end = comparison->pairs + comparison->pair_count;
    struct cursor cursor = {.pair = pair < end ? pair : NULL};
    while ((status = rtlKernelNext(iter, &kernel)) == RTL_OK) {
        while (pair < end &&
               (pair->queue->process != kernel.process || pair->queue->queue != kernel.queue)) {
            finish_queue(comparison->result, &cursor);
            ++pair;
            cursor = (struct cursor){.pair = pair < end ? pair : NULL};
        }
        take_kernel(comparison->result, &cursor, &kernel);
    }
    for (; status == RTL_END && pair < end; ++pair) {
        finish_queue(comparison->result, &cursor);
        cursor = (struct cursor){.pair = pair + 1 < end ? pair + 1 : NULL};
    }
    rtlKernelIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static void tell_about_copies(void *context, const char *sentence)
{
    tell(context, "%s", sentence);
}

static rtl_status_t compare_all(rtl_trace_t *trace, struct comparison *comparison)
{
    const rtl_ledger_t *rows;
    size_t row_count;
    rtl_status_t status = match_queues(trace, comparison);
    if (status == RTL_OK)
        status = rtlTraceLedger(trace, &rows, &row_count);
    if (status != RTL_OK)
        return status;
    take_ledger(comparison, rows, row_count);
    status = merge(trace, comparison);
    if (status != RTL_OK)
        return status;
    return truth_copies_compare(trace, &comparison->copies, &comparison->result->copies,
                                tell_about_copies, comparison->result);
}

static void release(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->queue_count; ++i)
        free(comparison->queues[i].kernels);
    truth_copies_free(&comparison->copies);
    free(comparison->queues);
    free(comparison->pairs);
    for (size_t i = 0; i < comparison->log_count; ++i)
        softgpu_truth_close(comparison->logs[i]);
    free(comparison->logs);
}

int truth_compare(rtl_trace_t *trace, const char *const *logs, size_t log_count,
                  struct truth_result *result, char *error, size_t error_size)
{
    struct comparison comparison = {.result = result, .error = error, .error_size = error_size};
    memset(result, 0, sizeof *result);
    int failed = read_logs(&comparison, logs, log_count);
    if (!failed && compare_all(trace, &comparison) != RTL_OK) {
        const char *reason = rtlTraceError(trace);
        failed = fail(&comparison, reason[0] ? reason : "memory is short");
    }
    release(&comparison);
    result->same = result->missing == 0 && result->invented == 0 && result->repeated == 0 &&
                   result->misaccounted == 0 && result->wrong_name == 0 &&
                   result->wrong_ticks == 0 && result->wrong_time == 0 && result->lost == 0 &&
                   result->copies.missing == 0 && result->copies.invented == 0 &&
                   result->copies.wrong_time == 0 && result->copies.lost == 0;
    return failed;
}
