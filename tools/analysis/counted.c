#include "analysis/counted.h"

#include "analysis/account.h"
#include "analysis/counts.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/plain.h"
#include "common/show.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool counts_kernels_of(const rtl_trace_counting_t *counting)
{
    return strcmp(counting->mode, "kernel") == 0;
}

/* What should have been counted. */

static bool has_counters(rtl_trace_t *trace, const rtl_trace_counting_t *counting, uint32_t agent)
{
    const rtl_trace_counter_t *counters;
    size_t count;
    if (rtlTraceCounters(trace, &counters, &count) != RTL_OK)
        return false;
    for (size_t i = 0; i < count; ++i)
        if (counters[i].process == counting->process && counters[i].agent == agent &&
            counters[i].pass == counting->pass)
            return true;
    return false;
}

static uint64_t seen_on(rtl_trace_t *trace, const rtl_queue_t *queue)
{
    const rtl_ledger_t *rows;
    size_t count;
    uint64_t seen = 0;
    if (rtlTraceLedger(trace, &rows, &count) != RTL_OK)
        return 0;
    for (size_t i = 0; i < count; ++i)
        if (rows[i].process == queue->process && rows[i].queue == queue->queue)
            seen += rows[i].seen;
    return seen;
}

/* Kernels on queues of the devices whose counters the process reads. */
static uint64_t expected_of(rtl_trace_t *trace, const rtl_trace_counting_t *counting)
{
    const rtl_queue_t *queues;
    size_t count;
    uint64_t expected = 0;
    if (rtlTraceQueues(trace, &queues, &count) != RTL_OK)
        return 0;
    for (size_t i = 0; i < count; ++i)
        if (queues[i].process == counting->process && strcmp(queues[i].way, "copies") != 0 &&
            has_counters(trace, counting, queues[i].agent))
            expected += seen_on(trace, &queues[i]);
    return expected;
}

/* What was not, and why. The reader lists that by process. */
static void take_uncounted(rtl_trace_t *trace, struct counted *counted)
{
    const rtl_trace_uncounted_t *list;
    size_t count;
    if (rtlTraceUncounted(trace, &list, &count) != RTL_OK)
        return;
    for (size_t i = 0; i < count; ++i) {
        if (list[i].process != counted->counting->process)
            continue;
        if (counted->uncounted_count++ == 0)
            counted->uncounted = &list[i];
        counted->uncounted_sum += list[i].count;
    }
}

/* True if there is a whole queue, or device, among what was not counted. */
static bool lacks_queues(const struct counted *counted)
{
    for (size_t i = 0; i < counted->uncounted_count; ++i)
        if (strcmp(counted->uncounted[i].why, "queue") == 0 ||
            strcmp(counted->uncounted[i].why, "device") == 0)
            return true;
    return false;
}

static void judge(struct counted *counted)
{
    uint64_t explained = counted->counted + counted->uncounted_sum;
    if (!lacks_queues(counted) && counted->expected > explained)
        counted->unexplained = counted->expected - explained;
}

/* What was. */

static rtl_status_t is_orphan(rtl_trace_t *trace, const rtl_trace_sample_t *sample, bool *orphan)
{
    rtl_kernel_t kernel;
    rtl_range_t range;
    char name[8];
    rtl_status_t status =
        sample->queue == RTL_TRACE_NONE
            ? rtlTraceRange(trace, sample->process, sample->owner, &range, name, sizeof name)
            : rtlTraceKernelAt(trace, sample->process, sample->queue, sample->owner, &kernel);
    *orphan = status == RTL_END;
    return status == RTL_END ? RTL_OK : status;
}

/* Samples come by their owners. */
static rtl_status_t read_samples(rtl_trace_t *trace, struct counted *counted)
{
    rtl_sample_filter_t filter = RTL_SAMPLE_FILTER_ALL;
    rtl_sample_iter_t *iter = NULL;
    rtl_trace_sample_t sample;
    rtl_trace_sample_t last = {0};
    filter.process = counted->counting->process;
    rtl_status_t status = counts_kernels_of(counted->counting)
                              ? rtlTraceKernelSamples(trace, &filter, &iter)
                              : rtlTraceRangeSamples(trace, &filter, &iter);
    while (status == RTL_OK && (status = rtlSampleNext(iter, &sample)) == RTL_OK) {
        bool orphan = false;
        bool is_new =
            counted->samples++ == 0 || sample.owner != last.owner || sample.queue != last.queue;
        counted->counted += is_new;
        counted->shared += sample.shared != 0;
        counted->unknown += sample.count == 0;
        status = is_orphan(trace, &sample, &orphan);
        counted->orphans += orphan;
        last = sample;
    }
    rtlSampleIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

rtl_status_t counted_read(rtl_trace_t *trace, struct counted_list *list)
{
    const rtl_trace_counting_t *counting;
    size_t count;
    *list = (struct counted_list){0};
    rtl_status_t status = rtlTraceCounting(trace, &counting, &count);
    if (status != RTL_OK)
        return status;
    list->items = memory_new(count, sizeof *list->items);
    for (size_t i = 0; i < count && status == RTL_OK; ++i) {
        struct counted *counted = &list->items[list->count++];
        counted->counting = &counting[i];
        if (counts_kernels_of(&counting[i]))
            counted->expected = expected_of(trace, &counting[i]);
        take_uncounted(trace, counted);
        status = read_samples(trace, counted);
        judge(counted);
    }
    return status;
}

void counted_free(struct counted_list *list)
{
    free(list->items);
    *list = (struct counted_list){0};
}

/* Showing. */

static const char *state_of(rtl_trace_t *trace, uint32_t process)
{
    const rtl_process_t *processes;
    size_t count;
    if (rtlTraceProcesses(trace, &processes, &count) == RTL_OK)
        for (size_t i = 0; i < count; ++i)
            if (processes[i].process == process)
                return processes[i].state;
    return "running";
}

static void show_unexplained(rtl_trace_t *trace, const struct counted *counted, FILE *out)
{
    bool closed = strcmp(state_of(trace, counted->counting->process), "closed") == 0;
    if (counted->unexplained)
        (void)fprintf(out, "    neither counted nor accounted for: %s, %s\n",
                      show_count(counted->unexplained).text,
                      closed ? "which is an error of RTL: report it"
                             : "under way when the process, or its recording, ended");
}

static void show_head(const rtl_trace_counting_t *counting, FILE *out)
{
    (void)fprintf(out, "  hardware counters, process %" PRIu32 ": mode %s", counting->process,
                  plain(counting->mode));
    if (counting->passes > 1)
        (void)fprintf(out, ", pass %" PRIu32 " of %" PRIu32, counting->pass + 1, counting->passes);
}

static void show_samples(const struct counted *counted, FILE *out)
{
    if (counts_kernels_of(counted->counting))
        (void)fprintf(out, ", %s of %s kernels counted\n", show_count(counted->counted).text,
                      show_count(counted->expected).text);
    else if (counted->samples == 0)
        (void)fprintf(out, ", no range was counted: there was none, or none ended with work on a "
                           "GPU in it (--counting kernel counts each kernel)\n");
    else
        (void)fprintf(out, ", %s counted, in %s of %s samples together with other work\n",
                      show_things(counted->counted, "range").text, show_count(counted->shared).text,
                      show_count(counted->samples).text);
    if (counted->uncounted_sum) {
        (void)fputs("    ", out);
        counts_show_uncounted(counted->uncounted, counted->uncounted_count, out);
    }
}

void counted_show(rtl_trace_t *trace, const struct counted_list *list, FILE *out)
{
    for (size_t i = 0; i < list->count; ++i) {
        const struct counted *counted = &list->items[i];
        show_head(counted->counting, out);
        if (counted->counting->passes == 0) {
            (void)fprintf(out, ", nothing was counted: the notes tell why\n");
            continue;
        }
        show_samples(counted, out);
        show_unexplained(trace, counted, out);
        if (counted->orphans)
            (void)fprintf(out, "    samples whose kernel or range is not in the trace: %s\n",
                          show_count(counted->orphans).text);
        if (counted->unknown)
            (void)fprintf(out,
                          "    samples whose counters are not known, because their definitions "
                          "were lost: %s\n",
                          show_count(counted->unknown).text);
    }
}

static json_t *json_uncounted(const struct counted *counted)
{
    json_t *object = json_object();
    for (size_t i = 0; i < counted->uncounted_count; ++i) {
        const rtl_trace_uncounted_t *item = &counted->uncounted[i];
        json_int_t before = json_integer_value(json_object_get(object, item->why));
        (void)json_object_set_new(object, item->why, open_number((uint64_t)before + item->count));
    }
    return object;
}

json_t *counted_json(const struct counted_list *list)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; ++i) {
        const struct counted *counted = &list->items[i];
        json_t *object = json_pack(
            "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "process",
            open_id(counted->counting->process), "mode", open_text(counted->counting->mode), "pass",
            open_id(counted->counting->pass), "passes", open_id(counted->counting->passes),
            "expected",
            counts_kernels_of(counted->counting) ? open_number(counted->expected) : json_null(),
            "counted", open_number(counted->counted), "samples", open_number(counted->samples),
            "shared", open_number(counted->shared), "uncounted", json_uncounted(counted),
            "unexplained", open_number(counted->unexplained), "without_owner",
            open_number(counted->orphans), "without_counters", open_number(counted->unknown));
        (void)json_array_append_new(array, object);
    }
    return array;
}

/* Which counters there are. */

static void show_list(const rtl_trace_counter_t *counters, size_t count,
                      const rtl_trace_counting_t *counting, uint32_t agent, FILE *out)
{
    const char *before = "";
    for (size_t i = 0; i < count; ++i) {
        if (counters[i].process != counting->process || counters[i].agent != agent)
            continue;
        (void)fprintf(out, "%s%s", before, plain(counters[i].name));
        if (counters[i].pass != counting->pass)
            (void)fprintf(out, " (pass %" PRIu32 ")", counters[i].pass + 1);
        before = ", ";
    }
}

/* A line for each device of the process. */
static void show_devices(rtl_trace_t *trace, const rtl_trace_counting_t *counting, FILE *out)
{
    const rtl_trace_counter_t *counters;
    const rtl_agent_t *agents;
    size_t count;
    size_t agent_count;
    if (rtlTraceCounters(trace, &counters, &count) != RTL_OK ||
        rtlTraceAgents(trace, &agents, &agent_count) != RTL_OK)
        return;
    for (size_t i = 0; i < agent_count; ++i) {
        bool any = false;
        for (size_t k = 0; k < count; ++k)
            any = any || (counters[k].process == counting->process &&
                          counters[k].agent == agents[i].agent);
        if (agents[i].process != counting->process || !any)
            continue;
        (void)fprintf(out, "    GPU %" PRIu32 ": ", agents[i].gpu);
        show_list(counters, count, counting, agents[i].agent, out);
        (void)fputc('\n', out);
    }
}

rtl_status_t counted_show_counters(rtl_trace_t *trace, FILE *out)
{
    const rtl_trace_counting_t *counting;
    size_t count;
    rtl_trace_info_t info;
    rtl_status_t status = rtlTraceCounting(trace, &counting, &count);
    if (status == RTL_OK)
        status = rtlTraceInfo(trace, &info);
    if (status != RTL_OK || count == 0)
        return status;
    (void)fprintf(out, "\nhardware counters\n  samples    %s of kernels, %s of ranges\n",
                  show_count(info.kernel_samples).text, show_count(info.range_samples).text);
    for (size_t i = 0; i < count; ++i) {
        (void)fprintf(out, "  process %" PRIu32 ": mode %s", counting[i].process,
                      plain(counting[i].mode));
        if (counting[i].passes > 1)
            (void)fprintf(out, ", pass %" PRIu32 " of %" PRIu32, counting[i].pass + 1,
                          counting[i].passes);
        (void)fprintf(out, "%s, asked for %s\n",
                      counting[i].passes ? "" : ", nothing was counted (the notes tell why)",
                      counting[i].metrics[0] ? plain(counting[i].metrics) : "nothing");
        show_devices(trace, &counting[i], out);
    }
    return RTL_OK;
}

static json_t *json_counters(const rtl_trace_counter_t *counters, size_t count, uint32_t process)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; ++i) {
        if (counters[i].process != process)
            continue;
        json_t *object = json_pack(
            "{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "counter", open_id(counters[i].counter), "agent",
            open_id(counters[i].agent), "name", open_text(counters[i].name), "block",
            open_id(counters[i].block), "event", open_id(counters[i].event), "instances",
            open_id(counters[i].instances), "pass", open_id(counters[i].pass));
        (void)json_array_append_new(list, object);
    }
    return list;
}

rtl_status_t counted_counters_json(rtl_trace_t *trace, json_t **list)
{
    const rtl_trace_counting_t *counting;
    const rtl_trace_counter_t *counters;
    size_t count = 0;
    size_t counter_count = 0;
    *list = json_array();
    rtl_status_t status = rtlTraceCounting(trace, &counting, &count);
    if (status == RTL_OK)
        status = rtlTraceCounters(trace, &counters, &counter_count);
    for (size_t i = 0; status == RTL_OK && i < count; ++i) {
        json_t *object = json_pack(
            "{s:o, s:o, s:o, s:o, s:o, s:o}", "process", open_id(counting[i].process), "mode",
            open_text(counting[i].mode), "pass", open_id(counting[i].pass), "passes",
            open_id(counting[i].passes), "metrics", open_text(counting[i].metrics), "counters",
            json_counters(counters, counter_count, counting[i].process));
        (void)json_array_append_new(*list, object);
    }
    return status;
}
