#include "analysis/truth_copies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The software GPU's clock has 100 MHz (softgpu/truth.h). */
#define TICK_NS 10u

/* Packets of one command stand side by side in the ring: linear and rectangular copies, bytes
 * (softgpu/sdma.c). Between two commands there are always others. */
#define LINEAR_BYTES    28u
#define RECTANGLE_BYTES 52u

bool truth_grow(void **array, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return true;
    size_t next = *capacity ? *capacity + *capacity / 2 : 64;
    void *memory = realloc(*array, next * size);
    if (!memory)
        return false;
    *array = memory;
    *capacity = next;
    return true;
}

static struct truth_copy *append(struct truth_copy_list *list, const struct truth_copy *copy)
{
    if (!truth_grow((void **)&list->copies, &list->capacity, list->count, sizeof *list->copies))
        return NULL;
    list->copies[list->count] = *copy;
    return &list->copies[list->count++];
}

static struct truth_engine *engine_of(struct truth_copy_list *list, size_t log,
                                      const softgpu_truth_entry_t *entry)
{
    for (size_t i = 0; i < list->engine_count; ++i) {
        struct truth_engine *engine = &list->engines[i];
        if (engine->log == log && engine->pid == entry->pid && engine->image == entry->image &&
            engine->queue == entry->queue)
            return engine;
    }
    if (!truth_grow((void **)&list->engines, &list->engine_capacity, list->engine_count,
                    sizeof *list->engines))
        return NULL;
    struct truth_engine *engine = &list->engines[list->engine_count++];
    *engine = (struct truth_engine){.log = log,
                                    .pid = entry->pid,
                                    .image = entry->image,
                                    .queue = entry->queue,
                                    .copy = SIZE_MAX};
    return engine;
}

/* True if the entry goes on with the engine's last copy. */
static bool continues(const struct truth_copy_list *list, const struct truth_engine *engine,
                      const softgpu_truth_entry_t *entry)
{
    uint64_t distance = entry->index - engine->index;
    return engine->copy != SIZE_MAX && entry->signal == engine->signal &&
           (distance == LINEAR_BYTES || distance == RECTANGLE_BYTES) &&
           list->copies[engine->copy].end_ticks == entry->start_ticks;
}

static bool take_sdma(struct truth_copy_list *list, size_t log, const softgpu_truth_entry_t *entry,
                      const struct truth_copy *copy)
{
    struct truth_engine *engine = engine_of(list, log, entry);
    if (!engine)
        return false;
    if (continues(list, engine, entry)) {
        struct truth_copy *last = &list->copies[engine->copy];
        last->end_ticks = copy->end_ticks;
        last->end = copy->end;
        last->bytes += copy->bytes;
    } else {
        engine->copy = list->count;
        if (!append(list, copy))
            return false;
    }
    engine->index = entry->index;
    engine->signal = entry->signal;
    return true;
}

/* A fill has no source. Of kernels, only ROCr's own for copies have bytes. */
bool truth_copies_take(struct truth_copy_list *list, size_t log, const softgpu_truth_entry_t *entry)
{
    const struct truth_copy copy = {
        .pid = entry->pid,
        .gpu = entry->gpu,
        .start_ticks = entry->start_ticks,
        .end_ticks = entry->end_ticks,
        .bytes = entry->bytes,
        .start = entry->start_ns,
        .end = entry->end_ns,
        .by_kernel = entry->kind == SOFTGPU_TRUTH_KERNEL,
    };
    if (entry->src == 0)
        return true;
    if (entry->kind == SOFTGPU_TRUTH_COPY)
        return take_sdma(list, log, entry, &copy);
    return entry->kind != SOFTGPU_TRUTH_KERNEL || append(list, &copy) != NULL;
}

static int compare_numbers(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

static int compare(const void *a, const void *b)
{
    const struct truth_copy *left = a;
    const struct truth_copy *right = b;
    int order = compare_numbers(left->pid, right->pid);
    if (order == 0)
        order = compare_numbers(left->gpu, right->gpu);
    if (order == 0)
        order = compare_numbers(left->start_ticks, right->start_ticks);
    if (order == 0)
        order = compare_numbers(left->end_ticks, right->end_ticks);
    if (order == 0)
        order = compare_numbers(left->bytes, right->bytes);
    return order != 0 ? order : (int)left->by_kernel - (int)right->by_kernel;
}

static void sort(struct truth_copy_list *list)
{
    if (list->count)
        qsort(list->copies, list->count, sizeof *list->copies, compare);
}

static uint32_t pid_of(const rtl_process_t *processes, size_t count, uint32_t process)
{
    for (size_t i = 0; i < count; ++i)
        if (processes[i].process == process)
            return processes[i].pid;
    return 0;
}

static rtl_status_t read_trace(rtl_trace_t *trace, struct truth_copy_list *list,
                               struct truth_copies_result *result)
{
    const rtl_process_t *processes;
    size_t process_count;
    rtl_copy_iter_t *iter = NULL;
    rtl_copy_t copy;
    rtl_status_t status = rtlTraceProcesses(trace, &processes, &process_count);
    if (status == RTL_OK)
        status = rtlTraceCopies(trace, NULL, &iter);
    while (status == RTL_OK && (status = rtlCopyNext(iter, &copy)) == RTL_OK) {
        const struct truth_copy entry = {
            .pid = pid_of(processes, process_count, copy.process),
            .gpu = copy.gpu,
            .start_ticks = copy.start_ticks,
            .end_ticks = copy.end_ticks,
            .bytes = copy.bytes,
            .start = copy.start,
            .end = copy.end,
            .by_kernel = strcmp(copy.engine, "kernel") == 0,
        };
        if (strcmp(copy.engine, "host") == 0)
            ++result->by_host;
        else if (append(list, &entry))
            ++result->recorded;
        else
            status = RTL_E_MEMORY;
    }
    rtlCopyIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void match(const struct truth_copy *traced, const struct truth_copy *truth,
                  struct truth_copies_result *result, truth_tell tell, void *context)
{
    char sentence[256];
    ++result->executed;
    if (distance(traced->start, truth->start) <= TICK_NS &&
        distance(traced->end, truth->end) <= TICK_NS) {
        ++result->equal;
        return;
    }
    (void)snprintf(sentence, sizeof sentence,
                   "process %" PRIu32 " GPU %" PRIu32 ": a copy of %" PRIu64 " bytes at %" PRIu64
                   " to %" PRIu64 " ns in the trace, %" PRIu64 " to %" PRIu64 " in truth",
                   traced->pid, traced->gpu, traced->bytes, traced->start, traced->end,
                   truth->start, truth->end);
    if (result->wrong_time++ == 0)
        tell(context, sentence);
}

static void alone(const struct truth_copy *copy, const char *what, uint64_t *count, truth_tell tell,
                  void *context)
{
    char sentence[256];
    (void)snprintf(sentence, sizeof sentence,
                   "process %" PRIu32 " GPU %" PRIu32 ": a copy of %" PRIu64
                   " bytes, ticks %" PRIu64 " to %" PRIu64 ", %s",
                   copy->pid, copy->gpu, copy->bytes, copy->start_ticks, copy->end_ticks, what);
    if ((*count)++ == 0)
        tell(context, sentence);
}

/* What only the log has: copies by kernels are the runtime's own, which no tool is shown. */
static void absent(const struct truth_copy *truth, struct truth_copies_result *result,
                   truth_tell tell, void *context)
{
    if (truth->by_kernel) {
        ++result->internal;
        return;
    }
    ++result->executed;
    alone(truth, "was executed and is not in the trace", &result->missing, tell, context);
}

static void merge(const struct truth_copy_list *traced, const struct truth_copy_list *truth,
                  struct truth_copies_result *result, truth_tell tell, void *context)
{
    size_t i = 0;
    size_t j = 0;
    while (i < traced->count || j < truth->count) {
        int order = i == traced->count  ? 1
                    : j == truth->count ? -1
                                        : compare(&traced->copies[i], &truth->copies[j]);
        if (order == 0)
            match(&traced->copies[i++], &truth->copies[j++], result, tell, context);
        else if (order < 0)
            alone(&traced->copies[i++], "is in the trace and was never executed so",
                  &result->invented, tell, context);
        else
            absent(&truth->copies[j++], result, tell, context);
    }
}

static bool is_of_copies(const rtl_queue_t *queues, size_t count, const rtl_ledger_t *row)
{
    for (size_t i = 0; i < count; ++i)
        if (queues[i].process == row->process && queues[i].queue == row->queue)
            return strcmp(queues[i].way, "copies") == 0;
    return false;
}

/* The ledger does not tell who would have done the copies that are not there: they explain what is
 * missing as far as they go. */
static rtl_status_t explain(rtl_trace_t *trace, struct truth_copies_result *result)
{
    const rtl_queue_t *queues;
    const rtl_ledger_t *rows;
    size_t queue_count;
    size_t row_count;
    rtl_status_t status = rtlTraceQueues(trace, &queues, &queue_count);
    if (status == RTL_OK)
        status = rtlTraceLedger(trace, &rows, &row_count);
    uint64_t skipped = 0;
    for (size_t i = 0; status == RTL_OK && i < row_count; ++i) {
        if (!is_of_copies(queues, queue_count, &rows[i]))
            continue;
        skipped += rows[i].skipped;
        for (unsigned reason = 0; reason < RTL_LOSS_REASONS; ++reason)
            result->lost += rows[i].lost[reason];
    }
    result->skipped = result->missing < skipped ? result->missing : skipped;
    result->missing -= result->skipped;
    result->missing -= result->missing < result->lost ? result->missing : result->lost;
    return status;
}

rtl_status_t truth_copies_compare(rtl_trace_t *trace, struct truth_copy_list *list,
                                  struct truth_copies_result *result, truth_tell tell,
                                  void *context)
{
    struct truth_copy_list traced = {0};
    rtl_status_t status = read_trace(trace, &traced, result);
    if (status == RTL_OK) {
        sort(&traced);
        sort(list);
        merge(&traced, list, result, tell, context);
        status = explain(trace, result);
    }
    truth_copies_free(&traced);
    return status;
}

void truth_copies_free(struct truth_copy_list *list)
{
    free(list->copies);
    free(list->engines);
    *list = (struct truth_copy_list){0};
}
