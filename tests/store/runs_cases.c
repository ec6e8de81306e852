/* Kernels in runs, against the records that were written. */
#include "fixture.h"
#include "store/runs.h"

#include <string.h>

#define KERNELS   ((size_t)70000) /* of each queue: three chunks */
#define QUEUES    3u
#define PROCESSES 2u
#define ALL       (KERNELS * PROCESSES * QUEUES)

/* A kernel as it was written: times are ns, for ticks are 10 ns (fixture_define). */
struct written {
    uint64_t start, end, packet, correlation;
    uint32_t process, queue, shape;
    bool seen;
};

/* Kernels of a queue mostly are in order; some begin before the one before, and many at the same
 * time as one of another queue. */
static struct rtl_wire_kernel draw(uint64_t *state, uint32_t queue, uint64_t i)
{
    uint64_t start = 1000 + i * 50 + fixture_random(state) % 64;
    return (struct rtl_wire_kernel){.packet = i,
                                    .start = start,
                                    .end = start + fixture_random(state) % 40,
                                    .correlation = 7 * i + queue,
                                    .queue = queue,
                                    .shape = (uint32_t)(fixture_random(state) % 5),
                                    .launch = RTL_NONE,
                                    .ordinal = RTL_NONE};
}

static bool write_trace(const char *path, struct written *written)
{
    char error[512];
    uint64_t state = 11;
    size_t count = 0;
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    for (uint32_t p = 0; p < PROCESSES; p++) {
        /* The fifth shape is defined nowhere. */
        uint32_t process = fixture_define(writer, QUEUES, 4);
        for (uint32_t queue = 0; queue < QUEUES; queue++)
            for (uint64_t i = 0; i < KERNELS; i++) {
                const struct rtl_wire_kernel kernel = draw(&state, queue, i);
                rtl_writer_kernel(writer, process, &kernel);
                written[count++] = (struct written){
                    10 * kernel.start, 10 * kernel.end, kernel.packet, kernel.correlation,
                    process,           queue,           kernel.shape,  false};
            }
        rtl_writer_process_end(writer, process, "closed", 1, 0);
    }
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

static struct written *find(struct written *written, const struct rtl_run *run, uint64_t packet)
{
    size_t queue = (size_t)(run->process - 1) * QUEUES + run->queue;
    return packet < KERNELS ? &written[queue * KERNELS + packet] : NULL;
}

static const char *check_kernel(struct rtl_runs *runs, const struct rtl_run *run,
                                const struct rtl_run_kernel *kernel, struct written *wanted)
{
    rtl_kernel_t shape;
    CHECK(wanted && !wanted->seen);
    wanted->seen = true;
    CHECK(kernel->start == wanted->start && kernel->end == wanted->end);
    CHECK(kernel->correlation == wanted->correlation);
    CHECK(kernel->shape <= rtl_runs_shapes(runs));
    rtl_runs_shape(runs, kernel->shape, &shape);
    if (wanted->shape == 4)
        CHECK(strcmp(shape.name, "unknown kernel") == 0 && kernel->shape == rtl_runs_shapes(runs));
    else
        CHECK(strcmp(shape.name, wanted->shape % 2 ? "b" : "a") == 0 &&
              shape.grid[0] == 64 * (wanted->shape + 1));
    CHECK(rtl_runs_node(runs, run, kernel, &shape) == RTL_OK && shape.graph == RTL_TRACE_NONE);
    return NULL;
}

/* Reads runs up to `until`; `*last` is the latest start so far. */
static const char *read_until(struct rtl_runs *runs, uint64_t until, struct written *written,
                              uint64_t *last, size_t *count)
{
    struct rtl_run run;
    rtl_status_t status;
    while ((status = rtl_runs_next(runs, until, &run)) == RTL_OK) {
        CHECK(run.count > 0);
        for (uint32_t i = 0; i < run.count; i++) {
            const struct rtl_run_kernel *kernel = &run.kernels[i];
            CHECK(*last <= kernel->start && (until == UINT64_MAX || kernel->start < until));
            *last = kernel->start;
            const char *failed =
                check_kernel(runs, &run, kernel, find(written, &run, kernel->packet));
            if (failed)
                return failed;
            ++*count;
        }
    }
    CHECK(status == RTL_END);
    return NULL;
}

static bool is_in(const rtl_kernel_filter_t *filter, const struct written *kernel)
{
    return (filter->process == 0 || kernel->process == filter->process) &&
           (filter->to == 0 || kernel->start < filter->to) &&
           (kernel->end > filter->from || kernel->start >= filter->from);
}

static const char *check_filter(rtl_trace_t *trace, const rtl_kernel_filter_t *filter,
                                struct written *written)
{
    struct rtl_runs *runs = NULL;
    uint64_t last = 0;
    size_t count = 0;
    size_t wanted = 0;
    for (size_t i = 0; i < ALL; i++) {
        written[i].seen = false;
        wanted += is_in(filter, &written[i]);
    }
    CHECK(rtl_runs_new(trace, filter, &runs) == RTL_OK);
    /* In steps, so that runs are cut where somebody has something else to do first. */
    const char *failed = NULL;
    for (uint64_t until = 0; until < 500 * KERNELS && !failed; until += 999983)
        failed = read_until(runs, until, written, &last, &count);
    if (!failed)
        failed = read_until(runs, UINT64_MAX, written, &last, &count);
    rtl_runs_free(runs);
    if (failed)
        return failed;
    CHECK(count == wanted);
    for (size_t i = 0; i < ALL; i++)
        CHECK(written[i].seen == is_in(filter, &written[i]));
    return NULL;
}

const char *Runs_AreAllKernelsByStart(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    rtl_kernel_filter_t filters[] = {RTL_KERNEL_FILTER_ALL, RTL_KERNEL_FILTER_ALL,
                                     RTL_KERNEL_FILTER_ALL};
    filters[1].process = 2;
    filters[2].from = 10000000;
    filters[2].to = 20000003;
    static struct written written[ALL];
    CHECK(fixture_path(path) && write_trace(path, written));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    const char *failed = NULL;
    for (size_t i = 0; i < sizeof filters / sizeof filters[0] && !failed; i++)
        failed = check_filter(trace, &filters[i], written);
    rtlTraceClose(trace);
    fixture_remove(path);
    return failed;
}

const char *Runs_EndAtADamagedChunk(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    struct rtl_runs *runs = NULL;
    struct rtl_run run;
    const rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    size_t count = 0;
    rtl_status_t status;
    CHECK(fixture_path(path) && fixture_trace(path, 50000));
    CHECK(fixture_sql(path, "UPDATE kernel_chunks SET checksum = checksum + 1 WHERE chunk = 2"));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtl_runs_new(trace, &all, &runs) == RTL_OK);
    while ((status = rtl_runs_next(runs, UINT64_MAX, &run)) == RTL_OK)
        count += run.count;
    CHECK(status == RTL_E_DAMAGED && strstr(rtlTraceError(trace), "kernel chunk 2 ") != NULL);
    CHECK(rtl_runs_next(runs, UINT64_MAX, &run) == RTL_E_DAMAGED);
    CHECK(count < 100000);
    rtl_runs_free(runs);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}
