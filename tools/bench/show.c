/* What rtl bench found, as text. */
#include "bench/bench.h"

#include "common/plain.h"
#include "common/show.h"
#include "common/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *bench_outcome_text(const struct bench_run *run, char *text, size_t size)
{
    const char *between = run->said[0] ? ": " : "";
    switch (run->outcome) {
    case BENCH_FINE:
        (void)snprintf(text, size, "fine");
        break;
    case BENCH_NOT_RUN:
        (void)snprintf(text, size, "was not run");
        break;
    case BENCH_FAILED:
        (void)snprintf(text, size, "ended with status %d%s%s", run->status, between, run->said);
        break;
    case BENCH_DIED:
        (void)snprintf(text, size, "died of signal %d%s%s", run->status, between, run->said);
        break;
    case BENCH_HUNG:
        (void)snprintf(text, size, "did not end within --limit%s%s", between, run->said);
        break;
    case BENCH_NO_LINE:
        (void)snprintf(text, size, "the workload's result is not in its output%s%s", between,
                       run->said);
        break;
    case BENCH_SPOILED:
        (void)snprintf(text, size, "what it recorded cannot be counted%s%s", between, run->said);
        break;
    }
    return text;
}

uint64_t bench_off(const struct bench_run *run)
{
    return run->lost + run->wrong + run->copies.lost + run->copies.wrong;
}

bool bench_complete(const struct bench_case *is)
{
    const struct bench_run *worst = &is->worst;
    return worst->outcome == BENCH_FINE && worst->counted && bench_off(worst) == 0 &&
           worst->skipped == 0 && worst->copies.skipped == 0;
}

static const char *part_text(const char *what, uint64_t part, uint64_t whole, const char *of,
                             char *text, size_t size)
{
    (void)snprintf(text, size, "%s %s of %s%s", what, show_count(part).text, show_count(whole).text,
                   of);
    return text;
}

const char *bench_complete_text(const struct bench_case *is, char *text, size_t size)
{
    static const char *const whats[] = {"LOST", "WRONG", "left out"};
    const struct bench_run *worst = &is->worst;
    const struct bench_copies *copies = &worst->copies;
    const uint64_t kernels[] = {worst->lost, worst->wrong, worst->skipped};
    const uint64_t copied[] = {copies->lost, copies->wrong, copies->skipped};
    for (size_t i = 0; worst->counted && i < sizeof whats / sizeof whats[0]; ++i) {
        if (kernels[i] > 0)
            return part_text(whats[i], kernels[i], worst->expected, "", text, size);
        if (copied[i] > 0)
            return part_text(whats[i], copied[i], copies->expected, " copies", text, size);
    }
    if (!worst->counted)
        (void)snprintf(text, size, "not known");
    else if (copies->expected > 0)
        (void)snprintf(text, size, "all %s and %s copies", show_count(worst->expected).text,
                       show_count(copies->expected).text);
    else if (worst->expected == 0)
        (void)snprintf(text, size, "there were none");
    else
        (void)snprintf(text, size, "all %s", show_count(worst->expected).text);
    return text;
}

const char *bench_gpu_text(const struct bench *bench)
{
    return bench->gpu == GPU_SOFT ? "software" : "real";
}

static void cell_overhead(struct table *table, const struct bench_spread *overhead)
{
    char text[96] = "-";
    if (overhead->known)
        (void)snprintf(text, sizeof text, "%+.1f %%", 100 * overhead->median);
    table_cell(table, text);
    (void)snprintf(text, sizeof text, "-");
    if (overhead->known)
        (void)snprintf(text, sizeof text, "%+.1f to %+.1f", 100 * overhead->low,
                       100 * overhead->high);
    table_cell(table, text);
}

const char *bench_time_text(const struct bench_spread *time, char *text, size_t size)
{
    (void)snprintf(text, size, "-");
    if (time->known)
        (void)snprintf(text, size, "%s%s", time->median < 0 ? "-" : "+",
                       show_duration(fabs(time->median)).text);
    return text;
}

const char *bench_memory_text(const struct bench_spread *memory, char *text, size_t size)
{
    (void)snprintf(text, size, "-");
    if (memory->known)
        (void)snprintf(text, size, "%s%s", memory->median < 0 ? "-" : "+",
                       show_bytes((uint64_t)fabs(memory->median)).text);
    return text;
}

static void add_case(struct table *table, const struct bench_tool *tool,
                     const struct bench_case *is)
{
    char text[128] = "-";
    table_cell(table, tool->name);
    cell_overhead(table, &is->overhead);
    table_cell(table, bench_complete_text(is, text, sizeof text));
    (void)snprintf(text, sizeof text, "-");
    if (is->bytes.known)
        (void)snprintf(text, sizeof text, "%.2f", is->bytes.median);
    table_cell(table, text);
    table_cell(table, bench_time_text(&is->startup, text, sizeof text));
    table_cell(table, bench_time_text(&is->finish, text, sizeof text));
    table_cell(table, bench_memory_text(&is->memory, text, sizeof text));
}

static void show_failures(const struct bench *bench, unsigned workload, FILE *out)
{
    char text[512];
    for (unsigned tool = 1; tool < bench->tool_count; ++tool) {
        const struct bench_case *is = bench_case_of(bench, workload, tool);
        char name[96];
        if (is->worst.outcome == BENCH_FINE)
            continue;
        (void)fprintf(out, "  %s: %s (%u of %u runs)\n",
                      plain_text(bench->tools[tool].name, name, sizeof name),
                      bench_outcome_text(&is->worst, text, sizeof text), bench->rounds - is->fine,
                      bench->rounds);
    }
}

static void show_workload(const struct bench *bench, unsigned workload, FILE *out)
{
    static const char *const heading[] = {"tool",         "overhead", "from, to", "kernels",
                                          "bytes/kernel", "start-up", "end",      "memory"};
    const struct bench_case *none = bench_case_of(bench, workload, 0);
    char name[128];
    char kernels[64] = "";
    if (none->worst.expected > 0)
        (void)snprintf(kernels, sizeof kernels, "%s, ",
                       show_things(none->worst.expected, "kernel").text);
    (void)fprintf(out, "\n%s: %s%s without a tool (%s to %s)\n",
                  plain_text(bench->workloads[workload], name, sizeof name), kernels,
                  show_duration(none->steady.median).text, show_duration(none->steady.low).text,
                  show_duration(none->steady.high).text);
    struct table *table = table_new("lrrrrrrr");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (unsigned tool = 1; tool < bench->tool_count; ++tool)
        add_case(table, &bench->tools[tool], bench_case_of(bench, workload, tool));
    table_print(table, out);
    show_failures(bench, workload, out);
}

void bench_show(const struct bench *bench, FILE *out)
{
    char name[128];
    (void)fprintf(out, "%s GPU%s%s, %s; medians of paired differences",
                  bench->gpu == GPU_SOFT ? "software" : "real", bench->gpu_name[0] ? ": " : "",
                  plain_text(bench->gpu_name, name, sizeof name),
                  show_things(bench->rounds, "interleaved round").text);
    if (bench->rounds > 1)
        (void)fprintf(out, ", with %.1f %% between `from' and `to' (sign test)",
                      100 * bench_confidence(bench->rounds));
    (void)fputc('\n', out);
    for (unsigned workload = 0; workload < bench->workload_count; ++workload)
        show_workload(bench, workload, out);
}
