/* The limits of --gate, and what is beyond them. */
#include "bench/bench.h"

#include "common/duration.h"
#include "common/parse.h"
#include "common/say.h"
#include "common/show.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char example[] = "overhead=3%,lost=0,bytes=10";

/* A number that nothing follows but `unit`, which may be left out. */
static bool read_number(const char *text, const char *unit, double *number)
{
    char *end;
    errno = 0;
    *number = strtod(text, &end);
    return end != text && errno == 0 && *number >= 0 && *number < 1e18 &&
           (!*end || strcmp(end, unit) == 0);
}

static bool read_share(const char *text, double *share)
{
    if (!read_number(text, "%", share))
        return false;
    *share /= 100;
    return true;
}

static bool read_time(const char *text, double *ns)
{
    uint64_t whole;
    if (!rtl_duration_read(text, &whole))
        return false;
    *ns = (double)whole;
    return true;
}

static bool read_size(const char *text, double *bytes)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    *bytes = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || errno || !(*bytes >= 0 && *bytes < 1e12) || (*end && (!unit || end[1])))
        return false;
    for (const char *at = units; unit && at <= unit; ++at)
        *bytes *= 1024;
    return true;
}

static bool read_count(const char *text, double *count)
{
    return read_number(text, "", count);
}

static int read_gate(struct bench_gates *gates, const char *name, const char *value)
{
    const struct {
        const char *name, *example;
        bool (*read)(const char *text, double *number);
        double *limit;
        bool *set;
    } known[] = {
        {"overhead", "3%", read_share, &gates->overhead, &gates->overhead_set},
        {"lost", "0", read_count, &gates->lost, &gates->lost_set},
        {"bytes", "10", read_count, &gates->bytes, &gates->bytes_set},
        {"skipped", "0", read_count, &gates->skipped, &gates->skipped_set},
        {"startup", "5ms", read_time, &gates->startup, &gates->startup_set},
        {"finish", "100ms", read_time, &gates->finish, &gates->finish_set},
        {"memory", "48M", read_size, &gates->memory, &gates->memory_set},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        if (strcmp(name, known[i].name) != 0)
            continue;
        *known[i].set = true;
        if (known[i].read(value, known[i].limit))
            return 0;
        say("'%s' is no limit for %s in --gate: it is such as %s=%s", value, name, name,
            known[i].example);
        return -1;
    }
    say("there is no gate '%s': it is overhead, lost, bytes, skipped, startup, finish or memory",
        name);
    return -1;
}

static int read_item(void *gates, char *item)
{
    char *value = strchr(item, '=');
    if (!value) {
        say("'%s' in --gate has no limit: it is such as %s", item, example);
        return -1;
    }
    *value = '\0';
    return read_gate(gates, item, value + 1);
}

int bench_gate_read(struct bench_gates *gates, const char *text)
{
    return parse_list("gate", text, example, read_item, gates) ? -1 : 0;
}

struct judgement {
    unsigned failed;
    char *sentence;
    size_t size;
    const char *tool, *workload;
};

static void fail(struct judgement *judgement, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void fail(struct judgement *judgement, const char *format, ...)
{
    va_list arguments;
    if (judgement->failed++ > 0)
        return;
    int used = snprintf(judgement->sentence, judgement->size, "%s on %s: ", judgement->tool,
                        judgement->workload);
    if (used < 0 || (size_t)used >= judgement->size)
        return;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is started above
    (void)vsnprintf(judgement->sentence + used, judgement->size - (size_t)used, format, arguments);
    va_end(arguments);
}

static void judge_completeness(const struct bench_case *is, const struct bench_gates *gates,
                               struct judgement *judgement)
{
    const struct bench_run *worst = &is->worst;
    uint64_t off = bench_off(worst);
    if (gates->lost_set && !worst->counted)
        fail(judgement, "how many kernels it lost is not known, and --gate asks for lost=%.0f",
             gates->lost);
    else if (gates->lost_set && (double)off > gates->lost)
        fail(judgement, "%s of %s %s are lost or wrong, --gate allows %.0f", show_count(off).text,
             show_count(worst->expected + worst->copies.expected).text,
             worst->copies.expected > 0 ? "kernels and copies" : "kernels", gates->lost);
    if (gates->skipped_set && !worst->counted)
        fail(judgement,
             "how many kernels it left out is not known, and --gate asks for "
             "skipped=%.0f",
             gates->skipped);
    else if (gates->skipped_set && (double)is->skipped > gates->skipped)
        fail(judgement, "its mode leaves out %s of %s kernels, --gate allows %.0f",
             show_count(is->skipped).text, show_count(worst->expected).text, gates->skipped);
}

static void judge_time(const char *what, bool set, double limit, const struct bench_spread *spread,
                       struct judgement *judgement)
{
    if (set && !spread->known)
        fail(judgement, "its %s is not known, and --gate has a limit for it", what);
    else if (set && spread->median > limit)
        fail(judgement, "its %s takes %s more, --gate allows %s", what,
             show_duration(spread->median).text, show_duration(limit).text);
}

static void judge_case(const struct bench_case *is, const struct bench_gates *gates,
                       struct judgement *judgement)
{
    char text[256];
    if (is->worst.outcome != BENCH_FINE) {
        fail(judgement, "%s", bench_outcome_text(&is->worst, text, sizeof text));
        return;
    }
    if (gates->overhead_set && !is->overhead.known)
        fail(judgement, "its overhead is not known, and --gate has a limit for it");
    else if (gates->overhead_set && is->overhead.median > gates->overhead)
        fail(judgement, "the overhead is %.1f %% (%.1f to %.1f), --gate allows %g %%",
             100 * is->overhead.median, 100 * is->overhead.low, 100 * is->overhead.high,
             100 * gates->overhead);
    judge_completeness(is, gates, judgement);
    if (gates->bytes_set && !is->bytes.known)
        fail(judgement, "its bytes per kernel are not known, and --gate asks for bytes=%g",
             gates->bytes);
    else if (gates->bytes_set && is->bytes.median > gates->bytes)
        fail(judgement, "it writes %.1f bytes per kernel, --gate allows %g", is->bytes.median,
             gates->bytes);
    judge_time("start-up", gates->startup_set, gates->startup, &is->startup, judgement);
    judge_time("end", gates->finish_set, gates->finish, &is->finish, judgement);
    if (gates->memory_set && !is->memory.known)
        fail(judgement, "how much memory it takes is not known, and --gate has a limit for it");
    else if (gates->memory_set && is->memory.median > gates->memory)
        fail(judgement, "it takes %s of memory, --gate allows %s",
             show_bytes((uint64_t)is->memory.median).text,
             show_bytes((uint64_t)gates->memory).text);
}

unsigned bench_gate_judge(const struct bench *bench, const struct bench_gates *gates,
                          char *sentence, size_t size)
{
    struct judgement judgement = {.sentence = sentence, .size = size};
    sentence[0] = '\0';
    for (unsigned workload = 0; workload < bench->workload_count; ++workload)
        for (unsigned tool = 1; tool < bench->tool_count; ++tool) {
            judgement.tool = bench->tools[tool].name;
            judgement.workload = bench->workloads[workload];
            judge_case(bench_case_of(bench, workload, tool), gates, &judgement);
        }
    return judgement.failed;
}
