/* What a tool recorded of a run, against what there was to record; and how much it wrote. */
#include "bench/bench.h"

#include "analysis/truth.h"
#include "common/memory.h"
#include "common/process.h"
#include "softgpu/truth.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Kernels of ROCr's own copies, which no tool is shown (truth.h). */
#define INTERNAL "__rocr_"
/* Kernels of the workloads. */
#define OURS "rtl_bench_"

struct logs {
    char **paths;
    size_t count, capacity;
};

static void find_logs(const char *folder, struct logs *logs)
{
    char path[2 * PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/truth", folder);
    DIR *directory = opendir(path);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): rtl has one thread
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        if (logs->count == logs->capacity) {
            logs->capacity = logs->capacity ? 2 * logs->capacity : 8;
            logs->paths = memory_grown((void *)logs->paths, logs->capacity, sizeof(char *));
        }
        (void)snprintf(path, sizeof path, "%s/truth/%s", folder, entry->d_name);
        logs->paths[logs->count] = strdup(path);
        if (!logs->paths[logs->count++])
            memory_is_short();
    }
    if (directory)
        (void)closedir(directory);
}

static void free_logs(struct logs *logs)
{
    for (size_t i = 0; i < logs->count; ++i)
        free(logs->paths[i]);
    free((void *)logs->paths);
}

static void spoil(struct bench_run *run, const char *why)
{
    run->outcome = BENCH_SPOILED;
    (void)snprintf(run->said, sizeof run->said, "%s", why);
}

/* Kernels of the logs that a tool can see. */
static uint64_t executed(const struct logs *logs, struct bench_run *run)
{
    uint64_t count = 0;
    char error[256] = "";
    for (size_t i = 0; i < logs->count; ++i) {
        softgpu_truth_entry_t entry;
        softgpu_truth_t *log = softgpu_truth_open(logs->paths[i], error, sizeof error);
        if (!log) {
            spoil(run, error);
            return 0;
        }
        while (softgpu_truth_next(log, &entry) == 1)
            count += entry.kind == SOFTGPU_TRUTH_KERNEL &&
                     strncmp(entry.name, INTERNAL, strlen(INTERNAL)) != 0;
        softgpu_truth_close(log);
    }
    return count;
}

static void against_truth(rtl_trace_t *trace, const struct logs *logs, struct bench_run *run)
{
    struct truth_result result = {0};
    char error[256] = "";
    if (truth_compare(trace, (const char *const *)logs->paths, logs->count, &result, error,
                      sizeof error) != 0) {
        spoil(run, error);
        return;
    }
    run->expected = result.executed;
    run->recorded = result.matched;
    run->skipped = result.skipped;
    run->lost = result.lost + result.missing;
    run->wrong = result.invented + result.repeated + result.misaccounted + result.wrong_name +
                 result.wrong_ticks + result.wrong_time;
    run->copies = (struct bench_copies){
        .expected = result.copies.executed,
        .recorded = result.copies.equal,
        .skipped = result.copies.skipped,
        .lost = result.copies.lost + result.copies.missing,
        .wrong = result.copies.invented + result.copies.wrong_time,
    };
    run->counted = true;
}

/* Sums of the ledger. */
struct account {
    uint64_t seen, stored, skipped;
};

static rtl_status_t sum_ledger(rtl_trace_t *trace, struct account *kernels, struct account *copied)
{
    const rtl_ledger_t *rows;
    const rtl_queue_t *queues;
    size_t count;
    size_t queue_count;
    rtl_status_t status = rtlTraceLedger(trace, &rows, &count);
    if (status == RTL_OK)
        status = rtlTraceQueues(trace, &queues, &queue_count);
    for (size_t i = 0; status == RTL_OK && i < count; ++i) {
        struct account *account = kernels;
        for (size_t j = 0; j < queue_count; ++j)
            if (queues[j].process == rows[i].process && queues[j].queue == rows[i].queue &&
                strcmp(queues[j].way, "copies") == 0)
                account = copied;
        account->seen += rows[i].seen;
        account->stored += rows[i].stored;
        account->skipped += rows[i].skipped;
    }
    return status;
}

static rtl_status_t count_ours(rtl_trace_t *trace, uint64_t *count)
{
    rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *iter = NULL;
    rtl_kernel_t kernel;
    filter.by_queue = 1;
    rtl_status_t status = rtlTraceKernels(trace, &filter, &iter);
    while (status == RTL_OK && (status = rtlKernelNext(iter, &kernel)) == RTL_OK)
        *count += strncmp(kernel.name, OURS, strlen(OURS)) == 0;
    if (iter)
        rtlKernelIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

/* Without a log of the truth: the workload's own count, else the trace's own ledger. */
static void against_counts(rtl_trace_t *trace, struct bench_run *run)
{
    struct account account = {0};
    struct account copied = {0};
    uint64_t ours = 0;
    rtl_status_t status = sum_ledger(trace, &account, &copied);
    if (status == RTL_OK && run->own_count)
        status = count_ours(trace, &ours);
    if (status != RTL_OK) {
        spoil(run, rtlTraceError(trace));
        return;
    }
    bench_count_compare(run, run->own_count ? run->submitted : account.seen,
                        run->own_count ? ours : account.stored);
    run->skipped = account.skipped < run->lost ? account.skipped : run->lost;
    run->lost -= run->skipped;
    uint64_t known = copied.stored + copied.skipped;
    run->copies = (struct bench_copies){
        .expected = copied.seen,
        .recorded = copied.stored,
        .skipped = copied.skipped,
        .lost = copied.seen > known ? copied.seen - known : 0,
    };
}

static void count_trace(const struct bench *bench, const char *folder, const struct logs *logs,
                        struct bench_run *run)
{
    char path[2 * PATH_MAX];
    char error[256] = "";
    rtl_trace_t *trace = NULL;
    (void)snprintf(path, sizeof path, "%s/" BENCH_TRACE, folder);
    if (rtlTraceOpen(path, &trace, error, sizeof error) != RTL_OK) {
        spoil(run, error);
        return;
    }
    if (bench->gpu == GPU_SOFT)
        against_truth(trace, logs, run);
    else
        against_counts(trace, run);
    rtlTraceClose(trace);
}

void bench_count_compare(struct bench_run *run, uint64_t expected, uint64_t recorded)
{
    run->counted = true;
    run->expected = expected;
    run->recorded = recorded;
    run->lost = expected > recorded ? expected - recorded : 0;
    run->wrong = recorded > expected ? recorded - expected : 0;
}

bool bench_count_read(const char *text, uint64_t *number)
{
    char *end;
    while (isspace((unsigned char)*text))
        ++text;
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    while (isspace((unsigned char)*end))
        ++end;
    return errno == 0 && *end == '\0';
}

/* By the tool's own count command. */
static void count_by_command(const struct bench *bench, const struct bench_tool *tool,
                             const char *folder, uint64_t expected, struct bench_run *run)
{
    char out[2 * PATH_MAX];
    char path[2 * PATH_MAX];
    char errors[2 * PATH_MAX];
    struct process process;
    uint64_t recorded = 0;
    (void)snprintf(out, sizeof out, "%s/" BENCH_OUT, folder);
    (void)snprintf(path, sizeof path, "%s/counted", folder);
    (void)snprintf(errors, sizeof errors, "%s/counted-errors", folder);
    char *command = bench_tools_fill(tool->count, out, NULL, true);
    char shell[] = "/bin/sh";
    char option[] = "-c";
    char *words[] = {shell, option, command, NULL};
    int status = process_run(words, environ, path, errors, bench->limit_ns, &process);
    free(command);
    char *text = status == 0 ? process_read(path) : NULL;
    bool ended_well = status == 0 && WIFEXITED(process.status) && WEXITSTATUS(process.status) == 0;
    if (!ended_well)
        spoil(run, "its count= command failed");
    else if (!text || !bench_count_read(text, &recorded))
        spoil(run, "its count= command printed no number");
    else
        bench_count_compare(run, expected, recorded);
    free(text);
}

static uint64_t total_bytes; /* of the walk, which has no context */

static int add_bytes(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)path, (void)where;
    if (type == FTW_F)
        total_bytes += (uint64_t)status->st_size;
    return 0;
}

static uint64_t bytes_below(const char *folder)
{
    char path[2 * PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/out", folder);
    total_bytes = 0;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): rtl has one thread
    (void)nftw(path, add_bytes, 16, FTW_PHYS);
    return total_bytes;
}

void bench_count(const struct bench *bench, const struct bench_tool *tool, const char *folder,
                 struct bench_run *run)
{
    struct logs logs = {0};
    bool soft = bench->gpu == GPU_SOFT;
    run->bytes = bytes_below(folder);
    run->by_truth = soft;
    find_logs(folder, &logs);
    run->expected = soft ? executed(&logs, run) : run->submitted;
    if (run->outcome == BENCH_FINE && tool->mode)
        count_trace(bench, folder, &logs, run);
    else if (run->outcome == BENCH_FINE && tool->count && (soft || run->own_count))
        count_by_command(bench, tool, folder, run->expected, run);
    free_logs(&logs);
}
