/*
 * embed WAY: a profiler of its own, which has RTL's events handed to it (rtl_callbacks.h).
 *
 *     truth       everything that the software GPU logs in SOFTGPU_TRUTH, each once, with its times
 *     sessions    stop, start, leave and come again
 *     exit        returns from main with kernels that it has not asked for
 *     slow        a callback that takes its time: what comes and what is lost are all there is
 *     refused     wrong arguments, and calls that come at the wrong time
 *     child       starts `embed alone`, which must not record itself
 *     alone       runs kernels, subscribes to nothing
 *
 * What is wrong is said on stderr; the status is then 1.
 */
#include "gpu.h"
#include "softgpu/truth.h"

#include <rtl/rtl_callbacks.h>

#include <errno.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_KERNELS  32768u
#define MOST_RANGES   64u
#define MOST_LAUNCHES 512u
#define MOST_TEXT     64u
#define TICK_NS       10u /* of the software GPU's clock */
#define BYTES         4096u
#define SLOW          20000u
#define PATIENCE_MS   120000u

int roctxNameOsThread(const char *name);

struct seen_range {
    rtl_range_event_t event;
    char text[MOST_TEXT];
};

struct seen {
    rtl_kernel_event_t kernels[MOST_KERNELS];
    unsigned kernel_count;
    rtl_copy_event_t copies[16];
    unsigned copy_count;
    struct seen_range ranges[MOST_RANGES];
    unsigned range_count;
    rtl_launch_event_t launches[MOST_LAUNCHES];
    unsigned launch_count;
    char name[MOST_TEXT];
    uint64_t named;
    unsigned stops; /* notes that recording was stopped */
    uint64_t lost;
    int64_t realtime_offset;
    unsigned calls; /* of callbacks */
    pthread_t thread;
    bool other_thread; /* callbacks came from several threads, or from main's */
    int forbidden[3];  /* errno of what a callback may not call */
};

static struct seen seen;
static pthread_t main_thread;
static struct gpu gpu;
static struct gpu_packet packets[64];
static unsigned wrong;
static _Atomic unsigned nap_us;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "embed: line %d: not true: %s\n", __LINE__, #condition);         \
            wrong++;                                                                               \
        }                                                                                          \
    } while (0)

static void look_at_thread(void *context, const rtl_batch_t *batch)
{
    CHECK(context == &seen);
    if (seen.calls++ == 0)
        seen.thread = pthread_self();
    if (!pthread_equal(seen.thread, pthread_self()) || pthread_equal(main_thread, pthread_self()))
        seen.other_thread = true;
    if (batch != NULL) {
        seen.lost = batch->lost;
        seen.realtime_offset = batch->realtime_offset;
    }
}

static void take_kernels(void *context, const rtl_batch_t *batch, const rtl_kernel_event_t *events,
                         size_t count)
{
    look_at_thread(context, batch);
    for (size_t i = 0; i < count && seen.kernel_count < MOST_KERNELS; i++)
        seen.kernels[seen.kernel_count++] = events[i];
    if (nap_us > 0)
        (void)usleep(nap_us);
}

static void take_copies(void *context, const rtl_batch_t *batch, const rtl_copy_event_t *events,
                        size_t count)
{
    look_at_thread(context, batch);
    for (size_t i = 0; i < count && seen.copy_count < 16; i++)
        seen.copies[seen.copy_count++] = events[i];
}

static void take_ranges(void *context, const rtl_batch_t *batch, const rtl_range_event_t *events,
                        size_t count)
{
    look_at_thread(context, batch);
    for (size_t i = 0; i < count && seen.range_count < MOST_RANGES; i++) {
        struct seen_range *range = &seen.ranges[seen.range_count++];
        range->event = events[i];
        (void)snprintf(range->text, sizeof range->text, "%s", events[i].text);
    }
}

static void take_launches(void *context, const rtl_batch_t *batch, const rtl_launch_event_t *events,
                          size_t count)
{
    look_at_thread(context, batch);
    for (size_t i = 0; i < count && seen.launch_count < MOST_LAUNCHES; i++)
        seen.launches[seen.launch_count++] = events[i];
}

static void take_name(void *context, rtl_name_event_kind_t kind, uint64_t handle, const char *text)
{
    look_at_thread(context, NULL);
    CHECK(kind == RTL_EVENT_THREAD);
    seen.named = handle;
    (void)snprintf(seen.name, sizeof seen.name, "%s", text);
}

static void take_note(void *context, uint64_t time, const char *sentence)
{
    look_at_thread(context, NULL);
    CHECK(time != 0);
    seen.stops += strcmp(sentence, "recording was stopped") == 0;
}

static void take_and_try(void *context, const rtl_batch_t *batch, const rtl_kernel_event_t *events,
                         size_t count)
{
    static const rtl_callbacks_t more = {.size = sizeof more, .kernels = take_kernels};
    take_kernels(context, batch, events, count);
    seen.forbidden[0] = rtlFlush(10) == 0 ? 0 : errno;
    seen.forbidden[1] = rtlUnsubscribe() == 0 ? 0 : errno;
    seen.forbidden[2] = rtlSubscribe(&more, NULL) == 0 ? 0 : errno;
}

static const rtl_callbacks_t all = {
    .size = sizeof all,
    .mode = "full",
    .kernels = take_kernels,
    .copies = take_copies,
    .ranges = take_ranges,
    .launches = take_launches,
    .name = take_name,
    .note = take_note,
};

static void start(const rtl_callbacks_t *callbacks)
{
    main_thread = pthread_self();
    CHECK(rtlSubscribe(callbacks, &seen) == 0);
    gpu_open(&gpu);
    CHECK(rtlRecording() == 1);
    for (unsigned i = 0; i < 64; i++)
        packets[i].kernel = i % GPU_KERNELS;
}

static void run(hsa_queue_t *queue, unsigned kernels)
{
    for (unsigned left = kernels; left > 0;) {
        unsigned some = left < 64 ? left : 64;
        gpu_submit(&gpu, queue, packets, some);
        left -= some;
    }
    gpu_drain(&gpu, queue);
}

static void copy(void)
{
    void *from = gpu_memory(&gpu, BYTES);
    void *to = gpu_memory(&gpu, BYTES);
    hsa_signal_t done = gpu_signal(1);
    memset(from, 7, BYTES);
    gpu_must(hsa_amd_memory_async_copy(to, gpu.agent, from, gpu.agent, BYTES, 0, NULL, done),
             "copy");
    while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
    CHECK(memcmp(from, to, BYTES) == 0);
    gpu_must(hsa_signal_destroy(done), "signal");
    gpu_must(hsa_memory_free(from), "memory");
    gpu_must(hsa_memory_free(to), "memory");
}

/* ---- against the truth ---- */

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static bool matches(const rtl_kernel_event_t *event, const softgpu_truth_entry_t *entry)
{
    if (event->queue_address != entry->queue_address || event->packet != entry->index)
        return false;
    CHECK(event->name != NULL && strcmp(event->name, entry->name) == 0);
    CHECK(event->kernel_object == entry->kernel_object && event->device == entry->gpu);
    for (unsigned i = 0; i < 3; i++)
        CHECK(event->grid[i] == entry->grid[i] && event->block[i] == entry->block[i]);
    CHECK(distance(event->start, entry->start_ns) <= TICK_NS);
    CHECK(distance(event->end, entry->end_ns) <= TICK_NS);
    return true;
}

/* Every kernel of the log is among the events, once, and they are all there is. */
static void compare_with_truth(void)
{
    char error[256];
    softgpu_truth_t *truth =
        softgpu_truth_open(getenv("SOFTGPU_TRUTH"), error, sizeof error); // NOLINT
    softgpu_truth_entry_t entry;
    unsigned executed = 0;
    if (truth == NULL) {
        (void)fprintf(stderr, "embed: %s\n", error);
        exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
    }
    while (softgpu_truth_next(truth, &entry) == 1) {
        unsigned found = 0;
        if (entry.kind != SOFTGPU_TRUTH_KERNEL || entry.bytes > 0)
            continue; /* ROCr's own copies are on a queue that no tool is shown */
        for (unsigned i = 0; i < seen.kernel_count; i++)
            found += matches(&seen.kernels[i], &entry);
        CHECK(found == 1);
        executed++;
    }
    softgpu_truth_close(truth);
    CHECK(executed == seen.kernel_count);
}

static const struct seen_range *range_of(const char *text)
{
    for (unsigned i = 0; i < seen.range_count; i++)
        if (strcmp(seen.ranges[i].text, text) == 0)
            return &seen.ranges[i];
    (void)fprintf(stderr, "embed: there is no range '%s'\n", text);
    exit(1); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
}

/* `packet` of the queue is in the range. */
static void check_in_range(const hsa_queue_t *queue, uint64_t packet, uint64_t range)
{
    for (unsigned i = 0; i < seen.kernel_count; i++) {
        const rtl_kernel_event_t *event = &seen.kernels[i];
        if (event->queue_address != (uintptr_t)queue || event->packet != packet)
            continue;
        CHECK(event->correlation == range && event->range == range);
        return;
    }
    CHECK(!"the packet is among the events");
}

static void check_ranges(const hsa_queue_t *queue)
{
    const struct seen_range *early = range_of("before hsa_init");
    const struct seen_range *inner = range_of("inner");
    const struct seen_range *mark = range_of("mark");
    CHECK(seen.range_count == 4);
    CHECK(early->event.parent == 0 && early->event.kind == RTL_EVENT_PUSHED);
    CHECK(inner->event.parent == early->event.id && inner->event.thread == (uint32_t)gettid());
    CHECK(early->event.start <= inner->event.start && inner->event.end <= early->event.end);
    CHECK(mark->event.kind == RTL_EVENT_MARKED && mark->event.start == mark->event.end);
    CHECK(mark->event.parent == inner->event.id);
    check_in_range(queue, 0, early->event.id);
    check_in_range(queue, 65, inner->event.id);
}

/* Each batch is one, as nobody says whether it is a graph's: its kernels name it, in their order.
 */
static void check_launches(void)
{
    unsigned batches = 1 + 16 + 79; /* of 64 kernels at most */
    CHECK(seen.launch_count == batches);
    for (unsigned i = 0; i < seen.launch_count; i++) {
        const rtl_launch_event_t *launch = &seen.launches[i];
        unsigned kernels = 0;
        uint64_t ordinals = 0;
        for (unsigned k = 0; k < seen.kernel_count; k++)
            if (seen.kernels[k].launch == launch->launch) {
                kernels++;
                ordinals += seen.kernels[k].ordinal;
            }
        CHECK(kernels == launch->kernels && launch->packets == launch->kernels);
        CHECK(ordinals == (uint64_t)kernels * (kernels - 1) / 2);
        CHECK(launch->graph == RTL_EVENT_NONE && launch->fingerprint != 0);
        CHECK(launch->thread == (uint32_t)gettid());
    }
}

static void check_clock(void)
{
    struct timespec boot;
    struct timespec real;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    clock_gettime(CLOCK_REALTIME, &real);
    int64_t offset =
        (real.tv_sec - boot.tv_sec) * INT64_C(1000000000) + (real.tv_nsec - boot.tv_nsec);
    /* An hour: that it is this offset, not that the clock was not set meanwhile. */
    CHECK(distance((uint64_t)offset, (uint64_t)seen.realtime_offset) < UINT64_C(3600000000000));
}

static void end_truth(void)
{
    CHECK(rtlRangePush("before hsa_init") == 0);
    CHECK(roctxNameOsThread("the host's") == 0);
    start(&all);
    hsa_queue_t *queue = gpu_queue(&gpu, 256);
    hsa_queue_t *other = gpu_queue(&gpu, 1024);
    run(queue, 64); /* packets 0 to 63, and a barrier */
    CHECK(rtlRangePush("inner") == 1);
    rtlMark("mark");
    run(queue, 1000);
    run(other, 5000);
    copy();
    CHECK(rtlRangePop(NULL) == 1);
    CHECK(rtlRangePop(NULL) == 0);
    CHECK(rtlRangePop(NULL) == -1);
    CHECK(rtlRangePush("open") == 0);
    CHECK(rtlFlush(PATIENCE_MS) == 0);
    CHECK(seen.kernel_count == 6064);
    CHECK(seen.range_count == 3);
    CHECK(seen.copy_count == 1 && seen.copies[0].bytes == BYTES);
    CHECK(seen.copies[0].kind == RTL_EVENT_DEVICE_TO_DEVICE && seen.copies[0].device == 0);
    CHECK(seen.named == (uint64_t)gettid() && strcmp(seen.name, "the host's") == 0);
    CHECK(seen.lost == 0);
    CHECK(rtlUnsubscribe() == 0);
    CHECK(range_of("open")->event.end == 0);
    compare_with_truth();
    check_ranges(queue);
    check_launches();
    check_clock();
}

static void end_sessions(void)
{
    start(&all);
    hsa_queue_t *queue = gpu_queue(&gpu, 256);
    run(queue, 10);
    CHECK(rtlStop() == 0);
    run(queue, 100);
    CHECK(rtlStart() == 0);
    run(queue, 20);
    CHECK(rtlFlush(PATIENCE_MS) == 0 && seen.kernel_count == 30 && seen.stops == 1);
    CHECK(rtlUnsubscribe() == 0);
    unsigned calls = seen.calls;
    run(queue, 100);
    CHECK(rtlFlush(10) == -1 && errno == ESRCH);
    CHECK(seen.calls == calls);
    CHECK(rtlSubscribe(&all, &seen) == 0);
    run(queue, 3);
    CHECK(rtlFlush(PATIENCE_MS) == 0 && seen.kernel_count == 33);
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    CHECK(rtlFlush(PATIENCE_MS) == 0 && seen.kernel_count == 33);
    CHECK(rtlUnsubscribe() == 0);
    CHECK(rtlUnsubscribe() == -1 && errno == ESRCH);
}

static void count_at_exit(void)
{
    CHECK(seen.kernel_count == 500);
    if (wrong > 0)
        _exit(1);
}

static void end_exit(void)
{
    CHECK(atexit(count_at_exit) == 0);
    start(&all);
    run(gpu_queue(&gpu, 256), 500);
}

static void end_slow(void)
{
    nap_us = 20000;
    start(&all);
    hsa_queue_t *queue = gpu_queue(&gpu, 256);
    for (unsigned i = 0; i < SLOW / 1000; i++)
        run(queue, 1000);
    nap_us = 0;
    CHECK(rtlFlush(PATIENCE_MS) == 0);
    run(queue, 1); /* the batch that it comes in tells the last losses */
    CHECK(rtlFlush(PATIENCE_MS) == 0);
    CHECK(seen.kernel_count + seen.lost == SLOW + 1);
    CHECK(rtlUnsubscribe() == 0);
}

static void end_refused(void)
{
    static const rtl_callbacks_t nothing = {.size = sizeof nothing};
    static const rtl_callbacks_t small = {.size = 8, .kernels = take_kernels};
    static const rtl_callbacks_t fast = {
        .size = sizeof fast, .mode = "fast", .kernels = take_kernels};
    static const rtl_callbacks_t trying = {.size = sizeof trying, .kernels = take_and_try};
    CHECK(rtlFlush(10) == -1 && errno == ESRCH);
    CHECK(rtlUnsubscribe() == -1 && errno == ESRCH);
    CHECK(rtlSubscribe(NULL, NULL) == -1 && errno == EINVAL);
    CHECK(rtlSubscribe(&nothing, NULL) == -1 && errno == EINVAL);
    CHECK(rtlSubscribe(&small, NULL) == -1 && errno == EINVAL);
    CHECK(rtlSubscribe(&fast, NULL) == -1 && errno == EINVAL);
    start(&trying);
    CHECK(rtlSubscribe(&all, NULL) == -1 && errno == EBUSY);
    run(gpu_queue(&gpu, 256), 10);
    CHECK(rtlFlush(PATIENCE_MS) == 0);
    for (unsigned i = 0; i < 3; i++)
        CHECK(seen.forbidden[i] == EDEADLK);
    CHECK(seen.kernel_count == 10);
    CHECK(rtlUnsubscribe() == 0);
}

static void end_child(char *self)
{
    char way[] = "alone";
    char *arguments[] = {self, way, NULL};
    int status = 0;
    start(&all);
    run(gpu_queue(&gpu, 256), 10);
    pid_t child = fork();
    if (child == 0) {
        (void)execv(self, arguments);
        _exit(3);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(rtlFlush(PATIENCE_MS) == 0 && seen.kernel_count == 10);
    CHECK(rtlUnsubscribe() == 0);
}

static void end_alone(void)
{
    gpu_open(&gpu);
    CHECK(rtlRecording() == 0);
    CHECK(rtlSubscribe(&all, &seen) == -1);
    run(gpu_queue(&gpu, 256), 10);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "truth") == 0)
        end_truth();
    else if (strcmp(way, "sessions") == 0)
        end_sessions();
    else if (strcmp(way, "exit") == 0)
        end_exit();
    else if (strcmp(way, "slow") == 0)
        end_slow();
    else if (strcmp(way, "refused") == 0)
        end_refused();
    else if (strcmp(way, "child") == 0)
        end_child(argv[0]);
    else if (strcmp(way, "alone") == 0)
        end_alone();
    else
        return 2;
    CHECK(!seen.other_thread);
    return wrong > 0;
}
