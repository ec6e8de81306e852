/* rtl check --truth must find what is planted, and nothing else. */
#include "analysis/truth.h"
#include "made.h"
#include "softgpu/exec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the fake process did: two queues, and a third at the address of the first, later. */
struct run {
    uint32_t queue, ordinal; /* in the trace; in the log, where the runtime's own queue is 0 */
    uint64_t address, packets, first_tick;
};

static const struct run runs[] = {
    {0, 1, 0x1000, 50, MADE_BEGIN + 1000},
    {1, 2, 0x2000, 30, MADE_BEGIN + 1200},
    {2, 3, 0x1000, 20, MADE_BEGIN + 90000},
};

enum { RUNS = 3, PACKETS = 100 };

static uint64_t start_of(const struct run *run, uint64_t packet)
{
    return run->first_tick + 100 * packet;
}

/* What is planted in the trace or in the log. */
enum plant {
    NOTHING,
    TRACE_LACKS_ONE, /* and nobody says so */
    TRACE_LACKS_SKIPPED,
    TRACE_LACKS_LOST,
    TRACE_SKIPS_TOO_MUCH, /* the ledger leaves out a kernel that is there */
    TRACE_HAS_ONE_TWICE,
    TRACE_HAS_ONE_MORE,
    TRACE_HAS_ANOTHER_NAME,
    TRACE_HAS_ANOTHER_TICK,
    LOG_HAS_A_QUEUE_MORE,
    TRACE_LACKS_A_COPY,
    TRACE_LEAVES_OUT_A_COPY,
    COPY_HAS_OTHER_BYTES,
    COPY_HAS_ANOTHER_TICK,
    TRACE_HAS_A_COPY_TWICE,
};

static enum plant planted;

static bool left_out(uint64_t packet)
{
    return packet == 7 && (planted == TRACE_LACKS_ONE || planted == TRACE_LACKS_SKIPPED ||
                           planted == TRACE_LACKS_LOST);
}

static void record_run(struct rtl_ring *ring, const struct run *run)
{
    bool first = run->queue == 0;
    uint64_t recorded = 0;
    made_queue(ring, run->queue, run->address, (run->first_tick - 500) * MADE_TICK_NS);
    for (uint64_t i = 0; i < run->packets; ++i) {
        if (first && left_out(i))
            continue;
        bool here = first && i == 9;
        uint32_t shape = (uint32_t)(i % 2) ^ (here && planted == TRACE_HAS_ANOTHER_NAME);
        uint64_t end = start_of(run, i) + 40 + (here && planted == TRACE_HAS_ANOTHER_TICK);
        made_kernel(ring, run->queue, i, shape, start_of(run, i), end);
        ++recorded;
        if (here && planted == TRACE_HAS_ONE_TWICE) {
            made_kernel(ring, run->queue, i, shape, start_of(run, i), end);
            ++recorded;
        }
    }
    if (first && planted == TRACE_HAS_ONE_MORE)
        made_kernel(ring, run->queue, run->packets, 0, start_of(run, run->packets),
                    start_of(run, run->packets) + 40);
    recorded += first && planted == TRACE_HAS_ONE_MORE;
    uint64_t skipped =
        first && (planted == TRACE_LACKS_SKIPPED || planted == TRACE_SKIPS_TOO_MUCH) ? 1 : 0;
    uint64_t lost = first && planted == TRACE_LACKS_LOST ? 1 : 0;
    made_ledger(ring, run->queue, recorded + skipped + lost, recorded, skipped);
    atomic_store(&ring->header->ledger[run->queue].lost[RTL_LOST_RING], lost);
}

/* The copies of the fake process: ten by an engine, the third in two packets; one by a kernel; one
 * by the host. */
enum { COPIES = 10, COPY_QUEUE = 3, COPY_BYTES = 640 };

static uint64_t copy_start(unsigned copy)
{
    return MADE_BEGIN + 50000 + UINT64_C(100) * copy;
}

static void record_copies(struct rtl_ring *ring)
{
    uint64_t recorded = 2;
    bool absent = planted == TRACE_LACKS_A_COPY || planted == TRACE_LEAVES_OUT_A_COPY;
    made_copies(ring, COPY_QUEUE);
    for (unsigned i = 0; i < COPIES; ++i) {
        bool here = i == 5;
        if (here && absent)
            continue;
        for (int times = 0; times < (here && planted == TRACE_HAS_A_COPY_TWICE ? 2 : 1); ++times) {
            made_copy(ring, COPY_QUEUE, COPY_BYTES + (here && planted == COPY_HAS_OTHER_BYTES),
                      RTL_COPY_HOST_TO_DEVICE, RTL_ENGINE_SDMA, copy_start(i),
                      copy_start(i) + 20 + (here && planted == COPY_HAS_ANOTHER_TICK));
            ++recorded;
        }
    }
    made_copy(ring, COPY_QUEUE, 99, RTL_COPY_DEVICE_TO_DEVICE, RTL_ENGINE_KERNEL,
              copy_start(COPIES), copy_start(COPIES) + 20);
    made_copy(ring, COPY_QUEUE, 1, RTL_COPY_HOST_TO_HOST, RTL_ENGINE_HOST, 0, 0);
    uint64_t skipped = planted == TRACE_LEAVES_OUT_A_COPY ? 1 : 0;
    made_ledger(ring, COPY_QUEUE, recorded + skipped, recorded, skipped);
}

static void record_all(struct rtl_ring *ring)
{
    made_definitions(ring);
    for (unsigned i = 0; i < RUNS; ++i)
        record_run(ring, &runs[i]);
    record_copies(ring);
    rtl_ring_close(ring);
}

static void log_kernel(pid_t pid, uint32_t queue, uint64_t address, uint64_t index,
                       const char *name, uint64_t start)
{
    softgpu_truth_entry_t entry = {.kind = SOFTGPU_TRUTH_KERNEL,
                                   .pid = (uint32_t)pid,
                                   .queue = queue,
                                   .queue_address = address,
                                   .queue_hsa_id = (uint64_t)queue - 1, /* as made_queue has it */
                                   .index = index,
                                   .kernel_object = 64,
                                   .name = name,
                                   .start_ticks = start,
                                   .end_ticks = start + 40,
                                   .start_ns = start * MADE_TICK_NS,
                                   .end_ns = (start + 40) * MADE_TICK_NS,
                                   .grid = {64, 1, 1},
                                   .block = {64, 1, 1}};
    sg_truth_write(&entry);
}

static void log_copy(pid_t pid, softgpu_truth_kind_t kind, uint64_t index, uint64_t bytes,
                     uint64_t start, uint64_t end)
{
    bool kernel = kind == SOFTGPU_TRUTH_KERNEL;
    softgpu_truth_entry_t entry = {.kind = kind,
                                   .pid = (uint32_t)pid,
                                   .queue = kernel ? 0 : 9,
                                   .queue_address = kernel ? 0x9000 : 0xa000,
                                   .queue_hsa_id = UINT64_MAX, /* no tool is shown them */
                                   .index = index,
                                   .name = kernel ? "__rocr_CopyAligned" : "",
                                   .signal = kernel ? 0 : 0x40 + index / 1000,
                                   .start_ticks = start,
                                   .end_ticks = end,
                                   .start_ns = start * MADE_TICK_NS,
                                   .end_ns = end * MADE_TICK_NS,
                                   .bytes = bytes,
                                   .src = 0x1000,
                                   .dst = 0x2000};
    sg_truth_write(&entry);
}

/* Among them a fill, which is no copy, and a copy of the runtime's own. */
static void log_copies(pid_t pid)
{
    for (unsigned i = 0; i < COPIES; ++i) {
        uint64_t start = copy_start(i);
        if (i == 2) {
            log_copy(pid, SOFTGPU_TRUTH_COPY, UINT64_C(1000) * i, COPY_BYTES - 40, start,
                     start + 15);
            log_copy(pid, SOFTGPU_TRUTH_COPY, UINT64_C(1000) * i + 28, 40, start + 15, start + 20);
        } else {
            log_copy(pid, SOFTGPU_TRUTH_COPY, UINT64_C(1000) * i, COPY_BYTES, start, start + 20);
        }
    }
    softgpu_truth_entry_t fill = {.kind = SOFTGPU_TRUTH_COPY,
                                  .pid = (uint32_t)pid,
                                  .queue = 9,
                                  .queue_address = 0xa000,
                                  .index = 90000,
                                  .name = "",
                                  .bytes = 4,
                                  .dst = 0x2000};
    sg_truth_write(&fill);
    log_copy(pid, SOFTGPU_TRUTH_KERNEL, 1, 99, copy_start(COPIES), copy_start(COPIES) + 20);
    log_copy(pid, SOFTGPU_TRUTH_KERNEL, 2, 55, copy_start(COPIES) + 50, copy_start(COPIES) + 60);
}

/* The log's entries are in the order of their ends, queues mixed; packets that are no kernels and
 * the kernels of the runtime itself are among them. */
static void log_all(pid_t pid)
{
    log_kernel(pid, 0, 0x9000, 0, "__rocr_Fill", MADE_BEGIN + 10);
    log_copies(pid);
    for (uint64_t i = 0; i < runs[0].packets; ++i)
        for (unsigned r = 0; r < 2; ++r)
            if (i < runs[r].packets)
                log_kernel(pid, runs[r].ordinal, runs[r].address, i, made_names[i % 2],
                           start_of(&runs[r], i));
    softgpu_truth_entry_t barrier = {.kind = SOFTGPU_TRUTH_BARRIER,
                                     .pid = (uint32_t)pid,
                                     .queue = runs[1].ordinal,
                                     .queue_address = runs[1].address,
                                     .index = runs[1].packets,
                                     .name = ""};
    sg_truth_write(&barrier);
    for (uint64_t i = 0; i < runs[2].packets; ++i)
        log_kernel(pid, runs[2].ordinal, runs[2].address, i, made_names[i % 2],
                   start_of(&runs[2], i));
    if (planted == LOG_HAS_A_QUEUE_MORE)
        log_kernel(pid, 4, 0x3000, 0, made_names[0], MADE_BEGIN + 5000);
}

static const char *write_log(const struct made *made, pid_t profiled)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    int set = setenv("SOFTGPU_TRUTH", made->truth, 1);
    CHECK(set == 0);
    pid_t pid = fork();
    if (pid == 0) {
        sg_truth_start();
        if (!sg_truth_on())
            _exit(1);
        log_all(profiled);
        _exit(0);
    }
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    CHECK(status == 0);
    return NULL;
}

static const char *compare(enum plant plant, struct truth_result *result, int *exit_status)
{
    struct made made;
    rtl_trace_t *trace;
    char error[512] = "";
    char command[3 * MADE_PATH];
    planted = plant;
    CHECK_DONE(made_begin(&made));
    pid_t pid = made_process(&made, record_all);
    CHECK_DONE(write_log(&made, pid));
    CHECK_DONE(made_end(&made));
    const char *log = made.truth;
    CHECK(rtlTraceOpen(made.trace, &trace, error, sizeof error) == RTL_OK);
    CHECK(truth_compare(trace, &log, 1, result, error, sizeof error) == 0);
    rtlTraceClose(trace);
    (void)snprintf(command, sizeof command, RTL_COMMAND " check %s --truth %s >/dev/null",
                   made.trace, made.truth);
    *exit_status = made_shell(command);
    made_clean(&made);
    return NULL;
}

const char *Truth_Equal(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(NOTHING, &result, &status));
    CHECK(result.same && status == 0);
    CHECK(result.executed == PACKETS && result.recorded == PACKETS);
    CHECK(result.matched == PACKETS && result.equal == PACKETS);
    CHECK(result.internal == 3);
    CHECK(result.widest_ns == 0);
    CHECK(result.sentence_count == 0);
    return NULL;
}

const char *Truth_Missing(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(TRACE_LACKS_ONE, &result, &status));
    CHECK(!result.same && status == 1);
    CHECK(result.missing == 1 && result.misaccounted == 1 && result.equal == PACKETS - 1);
    CHECK(strstr(result.sentences[1], "packet 7") && strstr(result.sentences[1], made_names[1]));
    return NULL;
}

const char *Truth_LeftOutByTheMode(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(TRACE_LACKS_SKIPPED, &result, &status));
    CHECK(result.same && status == 0);
    CHECK(result.skipped == 1 && result.missing == 0 && result.equal == PACKETS - 1);
    return NULL;
}

const char *Truth_LostAsTheLedgerSays(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(TRACE_LACKS_LOST, &result, &status));
    CHECK(!result.same && status == 1);
    CHECK(result.lost == 1 && result.missing == 0 && result.misaccounted == 0);
    return NULL;
}

const char *Truth_LedgerLeavesOutTooMuch(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(TRACE_SKIPS_TOO_MUCH, &result, &status));
    CHECK(!result.same && status == 1);
    CHECK(result.misaccounted == 1 && result.missing == 0 && result.equal == PACKETS);
    return NULL;
}

const char *Truth_Twice(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(TRACE_HAS_ONE_TWICE, &result, &status));
    CHECK(!result.same && status == 1);
    CHECK(result.repeated == 1 && result.equal == PACKETS && result.recorded == PACKETS + 1);
    return NULL;
}

const char *Truth_Invented(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(TRACE_HAS_ONE_MORE, &result, &status));
    CHECK(!result.same && status == 1);
    CHECK(result.invented == 1 && result.missing == 0 && result.equal == PACKETS);
    return NULL;
}

const char *Truth_AnotherName(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(TRACE_HAS_ANOTHER_NAME, &result, &status));
    CHECK(!result.same && status == 1);
    CHECK(result.wrong_name == 1 && result.wrong_ticks == 0 && result.equal == PACKETS - 1);
    return NULL;
}

const char *Truth_AnotherTick(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(TRACE_HAS_ANOTHER_TICK, &result, &status));
    CHECK(!result.same && status == 1);
    CHECK(result.wrong_ticks == 1 && result.equal == PACKETS - 1);
    CHECK(result.widest_ns == MADE_TICK_NS && result.wrong_time == 0);
    return NULL;
}

const char *Truth_QueueUnknownToTheTrace(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(LOG_HAS_A_QUEUE_MORE, &result, &status));
    CHECK(!result.same && status == 1);
    CHECK(result.missing == 1 && result.executed == PACKETS + 1 && result.equal == PACKETS);
    CHECK(strstr(result.sentences[0], "0x3000"));
    return NULL;
}

const char *Truth_CopiesEqual(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(NOTHING, &result, &status));
    CHECK(result.same && status == 0);
    const struct truth_copies_result *copies = &result.copies;
    CHECK(copies->executed == COPIES + 1 && copies->recorded == COPIES + 1);
    CHECK(copies->equal == COPIES + 1 && copies->internal == 1 && copies->by_host == 1);
    CHECK(copies->missing == 0 && copies->invented == 0 && copies->wrong_time == 0);
    return NULL;
}

const char *Truth_CopyMissing(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(TRACE_LACKS_A_COPY, &result, &status));
    CHECK(!result.same && status == 1);
    CHECK(result.copies.missing == 1 && result.copies.equal == COPIES);
    CHECK(strstr(result.sentences[0], "640 bytes") && strstr(result.sentences[0], "not in the"));
    return NULL;
}

const char *Truth_CopyLeftOut(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(TRACE_LEAVES_OUT_A_COPY, &result, &status));
    CHECK(result.same && status == 0);
    CHECK(result.copies.missing == 0 && result.copies.skipped == 1);
    return NULL;
}

const char *Truth_CopyWithOtherBytes(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(COPY_HAS_OTHER_BYTES, &result, &status));
    CHECK(!result.same && status == 1);
    CHECK(result.copies.missing == 1 && result.copies.invented == 1);
    CHECK(result.copies.equal == COPIES);
    return NULL;
}

const char *Truth_CopyWithAnotherTick(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(COPY_HAS_ANOTHER_TICK, &result, &status));
    CHECK(!result.same && status == 1);
    CHECK(result.copies.missing == 1 && result.copies.invented == 1);
    return NULL;
}

const char *Truth_CopyTwice(void)
{
    struct truth_result result;
    int status;
    CHECK_DONE(compare(TRACE_HAS_A_COPY_TWICE, &result, &status));
    CHECK(!result.same && status == 1);
    CHECK(result.copies.invented == 1 && result.copies.missing == 0);
    CHECK(result.copies.equal == COPIES + 1);
    return NULL;
}
