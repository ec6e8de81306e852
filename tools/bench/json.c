/* What rtl bench found, as JSON. */
#include "bench/bench.h"

#include "common/open.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static json_t *json_spread(const struct bench_spread *spread)
{
    if (!spread->known)
        return json_null();
    return json_pack("{s:f, s:f, s:f, s:I}", "median", spread->median, "low", spread->low, "high",
                     spread->high, "count", (json_int_t)spread->count);
}

static const char *outcome_name(enum bench_outcome outcome)
{
    static const char *const names[] = {"fine", "not run",   "failed",       "died",
                                        "hung", "no result", "not countable"};
    return names[outcome];
}

static json_t *json_copies(const struct bench_copies *copies)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "expected", open_number(copies->expected),
                     "recorded", open_number(copies->recorded), "left_out",
                     open_number(copies->skipped), "lost", open_number(copies->lost), "wrong",
                     open_number(copies->wrong));
}

static json_t *json_completeness(const struct bench_run *worst)
{
    if (!worst->counted)
        return json_null();
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "against",
                     worst->by_truth ? "truth" : "count", "expected", open_number(worst->expected),
                     "recorded", open_number(worst->recorded), "left_out",
                     open_number(worst->skipped), "lost", open_number(worst->lost), "wrong",
                     open_number(worst->wrong), "copies", json_copies(&worst->copies));
}

static json_t *json_runs(const struct bench_case *is, unsigned rounds)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < rounds; ++i) {
        const struct bench_run *run = &is->runs[i];
        (void)json_array_append_new(
            list, json_pack("{s:s, s:f, s:f, s:f, s:o, s:o, s:o, s:o}", "outcome",
                            outcome_name(run->outcome), "startup_ns", run->startup, "steady_ns",
                            run->steady, "finish_ns", run->finish, "peak_bytes",
                            open_number(run->own_peak ? run->own_peak : run->peak), "bytes",
                            open_number(run->bytes), "recorded",
                            run->counted ? open_number(run->recorded) : json_null(), "lost",
                            run->counted ? open_number(run->lost) : json_null()));
    }
    return list;
}

static json_t *json_case(const struct bench *bench, unsigned workload, unsigned number)
{
    const struct bench_tool *tool = &bench->tools[number];
    const struct bench_case *is = bench_case_of(bench, workload, number);
    char text[512];
    json_t *object = json_pack(
        "{s:o, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "tool", open_text(tool->name),
        "outcome", outcome_name(is->worst.outcome), "fine_runs", (json_int_t)is->fine, "steady_ns",
        json_spread(&is->steady), "overhead", number ? json_spread(&is->overhead) : json_null(),
        "completeness", json_completeness(&is->worst), "bytes_per_kernel", json_spread(&is->bytes),
        "startup_ns", number ? json_spread(&is->startup) : json_null(), "finish_ns",
        number ? json_spread(&is->finish) : json_null(), "memory_bytes",
        number ? json_spread(&is->memory) : json_null());
    (void)json_object_set_new(object, "mode", open_text(tool->mode ? tool->mode : ""));
    (void)json_object_set_new(object, "way", open_text(tool->way ? tool->way : ""));
    (void)json_object_set_new(object, "problem",
                              is->worst.outcome == BENCH_FINE
                                  ? json_null()
                                  : open_text(bench_outcome_text(&is->worst, text, sizeof text)));
    (void)json_object_set_new(object, "runs", json_runs(is, bench->rounds));
    return object;
}

static json_t *json_workload(const struct bench *bench, unsigned workload)
{
    const struct bench_run *none = &bench_case_of(bench, workload, 0)->worst;
    json_t *tools = json_array();
    for (unsigned tool = 0; tool < bench->tool_count; ++tool)
        (void)json_array_append_new(tools, json_case(bench, workload, tool));
    return json_pack("{s:o, s:o, s:o}", "workload", open_text(bench->workloads[workload]),
                     "kernels",
                     none->own_count || none->by_truth ? open_number(none->expected) : json_null(),
                     "tools", tools);
}

static void model_name(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    name[0] = '\0';
    while (file && !name[0] && fgets(line, sizeof line, file)) {
        char *colon = strstr(line, ": ");
        if (colon && strncmp(line, "model name", strlen("model name")) == 0) {
            colon[strcspn(colon, "\n")] = '\0';
            (void)snprintf(name, size, "%s", colon + 2);
        }
    }
    if (file)
        (void)fclose(file);
}

void bench_machine_of(struct bench_machine *machine)
{
    struct utsname system = {0};
    (void)uname(&system);
    (void)snprintf(machine->host, sizeof machine->host, "%s", system.nodename);
    (void)snprintf(machine->kernel, sizeof machine->kernel, "%s", system.release);
    model_name(machine->processor, sizeof machine->processor);
    machine->cores = sysconf(_SC_NPROCESSORS_ONLN);
}

static json_t *json_machine(void)
{
    struct bench_machine machine;
    bench_machine_of(&machine);
    return json_pack("{s:o, s:o, s:I, s:o}", "host", open_text(machine.host), "processor",
                     open_text(machine.processor), "cores", (json_int_t)machine.cores, "kernel",
                     open_text(machine.kernel));
}

json_t *bench_json(const struct bench *bench, unsigned failed, const char *sentence)
{
    json_t *workloads = json_array();
    for (unsigned workload = 0; workload < bench->workload_count; ++workload)
        (void)json_array_append_new(workloads, json_workload(bench, workload));
    return json_pack("{s:s, s:s, s:o, s:o, s:I, s:f, s:I, s:o, s:o}", "version", RTL_VERSION, "gpu",
                     bench_gpu_text(bench), "gpu_name", open_text(bench->gpu_name), "machine",
                     json_machine(), "rounds", (json_int_t)bench->rounds, "confidence",
                     bench_confidence(bench->rounds), "gates_failed", (json_int_t)failed, "reason",
                     open_text(sentence), "workloads", workloads);
}
