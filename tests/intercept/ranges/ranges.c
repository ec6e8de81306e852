/*
 * ranges WAY: ranges in every way, of which the program knows what it has submitted in each.
 *
 *   nest     64 ranges in each other, kernels on two queues and copies on the way in and out
 *   threads  ranges that four threads are in at once, with ranges of their own within
 *   many     100 000 ranges in one (RANGES_MANY: so many), with ten kernels each
 *   random   pushes, pops, too many of them, and kernels as they fall
 *
 *   twins    a range of rtl.h and one of roctx in it, with the same work
 *   counted  ranges of which hardware counters are read as well, see docs/softgpu-counters.md
 *   hang     a kernel that cannot begin before its range has ended
 *
 * RANGES_BY chooses the functions by which ranges are set, rtl or roctx.
 *
 * With RANGES_SESSION set it asks a session (rtl_session.h) at the end, and compares what it says
 * with that knowledge and with what the device has executed (SOFTGPU_TRUTH). What pops told before,
 * while the device was at it, is the same. What the program knows is written to RANGES_EXPECTED: a
 * line for each range with its name, its parent's, the bytes that were copied in it, its begin and
 * end as its pop told them (else 0), what the session told of it, its metrics and the packets
 * "queue:index" of it alone, in their order.
 */
#include "gpu.h"

#include <hsa/hsa_ext_amd.h>
#include <rtl/rtl_callbacks.h>
#include <rtl/rtl_session.h>
#include <softgpu/truth.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEPTH       64u
#define THREADS     4u
#define MANY        100000u
#define MOST_RANGES (MANY + 1000u)
#define TICK_NS     10u
#define BYTES       4096u
#define PATIENCE_MS 60000u

int roctxRangePushA(const char *message);
int roctxRangePop(void);

static const char *const metric_names[] = {
    "kernels",     "kernel_time",     "kernel_time_max", "kernel_time_mean", "work_items",
    "work_groups", "work_group_size", "lane_use",        "lds_max",          "scratch_max",
    "copied",      "gpu_active",      "concurrency",     "kernel_overlap",   "copy_hidden"};
static const char counted_names[] =
    "waves,SQ_WAVES,waves_max,valu_per_wave,SQ_INSTS_VALU,l2_hit,fetch_bytes,write_bytes";
#define METRICS (sizeof metric_names / sizeof *metric_names)

/* Packets that were submitted in a range, one behind the other. */
struct piece {
    struct piece *next;
    hsa_queue_t *queue;
    uint64_t first;
    uint32_t count;
};

struct range {
    uint64_t id;
    struct range *parent;
    struct piece *pieces, **last;
    uint64_t copies;
    rtl_range_result_t popped; /* all 0 if its pop was not asked */
    rtl_range_result_t told;   /* all 0 if the session was not asked */
    double metrics[METRICS];   /* if it was; NAN without a value */
    double waves, l2_hit;      /* of hardware counters, where they are read */
    char name[24];
    /* With the ranges within it. */
    uint64_t kernels, all_copies, work_items;
};

static struct gpu gpu;
static struct gpu_packet packets[64];
static struct range ranges[MOST_RANGES];
static _Atomic unsigned range_count;
static _Thread_local struct range *innermost;
static unsigned wrong;
static bool session;
static bool counting, kernel_mode; /* hardware counters, and how (RTL_COUNTING) */
/* By which functions ranges are set (RANGES_BY), and of which sessions tell (RTL_RANGES). Where it
 * is both, every second one is set by rtl.h, the others by roctx: they are the same. */
static enum by { BY_BOTH, BY_RTL, BY_ROCTX } set_by, measured_by;
static unsigned ask_every = 1; /* pop by rtlRangePop */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "ranges: line %d: not true: %s\n", __LINE__, #condition);        \
            wrong++;                                                                               \
        }                                                                                          \
    } while (0)

/* ---- setting ranges, and knowing of them ---- */

static struct range *made(struct range *parent)
{
    unsigned number = range_count++;
    struct range *range = &ranges[number];
    range->parent = parent;
    range->last = &range->pieces;
    (void)snprintf(range->name, sizeof range->name, "range %u", number);
    return range;
}

static bool is_by_rtl(const struct range *range)
{
    return set_by == BY_BOTH ? (range - ranges) % 2 == 0 : set_by == BY_RTL;
}

static bool is_measured(const struct range *range)
{
    return measured_by == BY_BOTH || is_by_rtl(range) == (measured_by == BY_RTL);
}

static const struct range *measured(const struct range *range)
{
    while (range != NULL && !is_measured(range))
        range = range->parent;
    return range;
}

static uint64_t id_of(const struct range *range)
{
    return range != NULL ? range->id : 0;
}

static void push(void)
{
    struct range *range = made(innermost);
    if (is_by_rtl(range))
        (void)rtlRangePush(range->name);
    else
        (void)roctxRangePushA(range->name);
    range->id = rtlRangeCurrent();
    CHECK(range->id != 0 && (range->parent == NULL || range->id > range->parent->id));
    innermost = range;
}

static uint64_t now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_BOOTTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Its times may be so much off. */
#define OFF_NS 1000u

/* Without a session, or a range in it, the range's times are known. */
static void check_popped(const struct range *range, uint64_t before, uint64_t after)
{
    const rtl_range_result_t *popped = &range->popped;
    CHECK(popped->error == (!session ? ESRCH : is_measured(range) ? 0 : ENOENT));
    CHECK(popped->id == range->id && popped->wall_ns == popped->end - popped->start);
    CHECK(popped->parent == id_of(popped->error == 0 ? measured(range->parent) : range->parent));
    CHECK(popped->end + OFF_NS >= before && popped->end <= after + OFF_NS);
    CHECK(popped->start < popped->end);
    CHECK(popped->thread == (uint32_t)gettid());
    if (popped->error != 0)
        CHECK(popped->text == NULL && popped->kernels == 0 && popped->active_ns == 0);
}

static void pop(void)
{
    ptrdiff_t number = innermost - ranges;
    bool asks = number % ask_every == 0;
    bool by_roctx = set_by == BY_BOTH ? number % 3 == 0 : set_by == BY_ROCTX;
    CHECK(rtlRangeCurrent() == innermost->id);
    if (by_roctx) {
        CHECK(roctxRangePop() >= 0);
    } else {
        uint64_t before = now_ns();
        errno = EDOM;
        CHECK(rtlRangePop(asks ? &innermost->popped : NULL) >= 0 && errno == EDOM);
        if (asks)
            check_popped(innermost, before, now_ns());
    }
    innermost = innermost->parent;
}

static void leave(const struct range *entered)
{
    rtl_range_result_t result;
    CHECK(rtlRangePop(&result) == 1);
    CHECK(result.error == EINPROGRESS && result.id == entered->id && result.end == 0);
}

static void pop_nothing(void)
{
    rtl_range_result_t result = {.id = 1, .kernels = 1};
    CHECK(rtlRangePop(NULL) == -1 && roctxRangePop() == -1);
    CHECK(rtlRangePop(&result) == -1 && result.error == ENOENT);
    CHECK(result.id == 0 && result.kernels == 0 && rtlRangeCurrent() == 0);
}

static void run(hsa_queue_t *queue, uint32_t count)
{
    struct piece *piece = calloc(1, sizeof *piece);
    if (piece == NULL)
        exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
    piece->queue = queue;
    piece->first = hsa_queue_load_write_index_relaxed(queue);
    piece->count = count;
    gpu_submit(&gpu, queue, packets, count);
    if (innermost == NULL) {
        free(piece);
        return;
    }
    *innermost->last = piece;
    innermost->last = &piece->next;
}

static void copy(void)
{
    void *from = gpu_memory(&gpu, BYTES);
    void *to = gpu_memory(&gpu, BYTES);
    hsa_signal_t ready = gpu_signal(1);
    gpu_must(hsa_amd_memory_async_copy(to, gpu.agent, from, gpu.agent, BYTES, 0, NULL, ready),
             "copy");
    while (hsa_signal_wait_scacquire(ready, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
    gpu_must(hsa_signal_destroy(ready), "signal");
    gpu_must(hsa_memory_free(from), "memory");
    gpu_must(hsa_memory_free(to), "memory");
    innermost->copies++;
}

/* ---- ways ---- */

static void way_nest(void)
{
    hsa_queue_t *queue = gpu_queue(&gpu, 256);
    hsa_queue_t *other = gpu_queue(&gpu, 1024);
    run(queue, 7);
    for (unsigned i = 0; i < DEPTH; i++) {
        push();
        run(queue, 1 + i % 3);
        run(other, 1 + i % 5);
        if (i % 8 == 0)
            copy();
    }
    for (unsigned i = 0; i < DEPTH; i++) {
        run(other, 2);
        pop();
    }
    pop_nothing();
    push();
    run(queue, 5);
    gpu_drain(&gpu, queue);
    gpu_drain(&gpu, other);
    pop();
}

static pthread_barrier_t begun, shared_begun;

/* Each has set a range before there is one to enter: ids that it has in hand are less. */
static void *be_in(void *argument)
{
    struct range *shared = argument;
    hsa_queue_t *queue = gpu_queue(&gpu, 512);
    push();
    run(queue, 2);
    pop();
    (void)pthread_barrier_wait(&begun);
    (void)pthread_barrier_wait(&shared_begun);
    for (unsigned i = 0; i < 20; i++) {
        push();
        run(queue, 3);
        struct range *before = innermost;
        CHECK(rtlRangeEnter(shared->id) == 1 && rtlRangeCurrent() == shared->id);
        innermost = shared;
        push();
        run(queue, 1 + i % 4);
        pop();
        leave(shared);
        innermost = before;
        run(queue, 1);
        pop();
    }
    gpu_drain(&gpu, queue);
    CHECK(rtlRangeCurrent() == 0);
    return NULL;
}

/* In a thread that has set none, so that its id is new. */
static void *begin_shared(void *argument)
{
    struct range *shared = argument;
    shared->id = rtlRangeStart(shared->name);
    CHECK(shared->id != 0 && rtlRangeCurrent() == 0);
    return NULL;
}

static void way_threads(void)
{
    pthread_t threads[THREADS + 1];
    hsa_queue_t *queue = gpu_queue(&gpu, 256);
    struct range *shared = made(NULL);
    push();
    CHECK(pthread_barrier_init(&begun, NULL, THREADS + 1) == 0);
    CHECK(pthread_barrier_init(&shared_begun, NULL, THREADS + 1) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, be_in, shared) == 0);
    (void)pthread_barrier_wait(&begun);
    CHECK(pthread_create(&threads[THREADS], NULL, begin_shared, shared) == 0);
    CHECK(pthread_join(threads[THREADS], NULL) == 0);
    CHECK(rtlRangeEnter(shared->id + 1000000) == -1);
    CHECK(rtlRangeEnter(0) == -1);
    (void)pthread_barrier_wait(&shared_begun);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    struct range *outer = innermost;
    CHECK(rtlRangeEnter(shared->id) == 1);
    innermost = shared;
    run(queue, 9);
    leave(shared);
    innermost = outer;
    CHECK(rtlRangeStop(shared->id) == 0);
    CHECK(rtlRangeStop(shared->id) == -1);
    CHECK(rtlRangeEnter(shared->id) == -1 && rtlRangeCurrent() == outer->id);
    gpu_drain(&gpu, queue);
    pop();
}

static void way_many(void)
{
    hsa_queue_t *queue = gpu_queue(&gpu, 4096);
    const char *set = getenv("RANGES_MANY"); // NOLINT(concurrency-mt-unsafe)
    unsigned long many = set != NULL ? strtoul(set, NULL, 10) : MANY;
    CHECK(many > 0 && many <= MANY);
    ask_every = 5000;
    push();
    for (unsigned long i = 0; i < many && i < MANY; i++) {
        push();
        run(queue, 10);
        pop();
        if (i % 100 == 0)
            gpu_drain(&gpu, queue);
    }
    gpu_drain(&gpu, queue);
    pop();
}

static void way_random(void)
{
    hsa_queue_t *queues[] = {gpu_queue(&gpu, 256), gpu_queue(&gpu, 256), gpu_queue(&gpu, 2048)};
    unsigned state = 1;
    unsigned depth = 0;
    for (unsigned i = 0; i < 1000; i++) {
        state = state * 1103515245u + 12345u;
        unsigned what = (state >> 16) % 4;
        if (what == 0) {
            push();
            depth++;
        } else if (what == 1 && depth > 0) {
            pop();
            depth--;
        } else if (what == 1) {
            pop_nothing();
        } else {
            run(queues[(state >> 20) % 3], 1 + (state >> 24) % 9);
        }
    }
    for (; depth > 0; depth--)
        pop();
    for (unsigned i = 0; i < 3; i++)
        gpu_drain(&gpu, queues[i]);
}

/* The same work in a range of rtl.h and in one of roctx: all that is told of work is the same. */
static void way_twins(void)
{
    hsa_queue_t *queues[] = {gpu_queue(&gpu, 256), gpu_queue(&gpu, 512)};
    for (unsigned i = 0; i < 40; i++) {
        rtl_range_result_t inner;
        rtl_range_result_t outer;
        push();
        push();
        for (unsigned k = 0; k < 6; k++)
            run(queues[k % 2], 1 + (i + k) % 7);
        if (i % 4 == 0)
            copy();
        CHECK(rtlRangePop(&inner) == 1 && rtlRangePop(&outer) == 0);
        innermost = NULL;
        CHECK(inner.error == (session ? 0 : ESRCH) && outer.error == inner.error);
        CHECK(inner.parent == outer.id && (inner.kernels > 0) == session);
        inner.id = outer.id;
        inner.parent = outer.parent;
        inner.text = outer.text;
        inner.start = outer.start;
        inner.end = outer.end;
        inner.wall_ns = outer.wall_ns;
        inner.idle_ns = outer.idle_ns;
        CHECK(memcmp(&inner, &outer, sizeof inner) == 0);
    }
}

/* What comes behind it in the queue waits until `gate` is 0. */
static void wait_in_queue(hsa_queue_t *queue, hsa_signal_t gate)
{
    hsa_barrier_and_packet_t body = {.dep_signal = {gate}};
    uint16_t header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE;
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    void *slot = (char *)queue->base_address + (index & (queue->size - 1)) * sizeof body;
    body.header = HSA_PACKET_TYPE_INVALID;
    memcpy(slot, &body, sizeof body);
    atomic_store_explicit((_Atomic uint16_t *)slot, header, memory_order_release);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void way_hang(void)
{
    hsa_queue_t *queue = gpu_queue(&gpu, 256);
    hsa_signal_t gate = gpu_signal(1);
    push();
    run(queue, 3);
    pop();
    push();
    run(queue, 4);
    gpu_drain(&gpu, queue);
    wait_in_queue(queue, gate);
    run(queue, 5);
    rtl_range_result_t result;
    CHECK(rtlRangePop(&result) == 0 && result.id == innermost->id);
    CHECK(result.error == (session ? ETIMEDOUT : ESRCH) && result.wall_ns > 0);
    CHECK(result.kernels == (session ? 4u : 0u));
    innermost = innermost->parent;
    hsa_signal_store_screlease(gate, 0);
    gpu_drain(&gpu, queue);
}

/* ---- what is known ---- */

static void write_told(FILE *file, const rtl_range_result_t *told)
{
    const uint64_t numbers[] = {
        told->wall_ns,   told->kernels,    told->kernel_ns, told->busy_ns,    told->overlap_ns,
        told->copies,    told->copy_bytes, told->copy_ns,   told->copying_ns, told->copy_overlap_ns,
        told->active_ns, told->idle_ns,    told->first,     told->last,       told->graph_launches};
    for (size_t i = 0; told->id != 0 && i < sizeof numbers / sizeof *numbers; i++)
        (void)fprintf(file, "%" PRIu64 " ", numbers[i]);
    (void)fputc('\t', file);
}

static void write_metrics(FILE *file, const struct range *range)
{
    for (size_t i = 0; range->told.id != 0 && i < METRICS; i++)
        (void)fprintf(file, "%s=%.17g ", metric_names[i], range->metrics[i]);
    if (range->told.id != 0 && counting)
        (void)fprintf(file, "waves=%.17g l2_hit=%.17g ", range->waves, range->l2_hit);
    (void)fputc('\t', file);
}

static void write_expected(const char *path)
{
    FILE *file = fopen(path, "we");
    if (file == NULL)
        exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
    for (unsigned i = 0; i < range_count; i++) {
        const struct range *range = &ranges[i];
        (void)fprintf(file, "%s\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t", range->name,
                      range->parent != NULL ? range->parent->name : "", range->copies * BYTES,
                      range->popped.start, range->popped.end);
        write_told(file, &range->told);
        write_metrics(file, range);
        for (const struct piece *piece = range->pieces; piece != NULL; piece = piece->next)
            for (uint32_t k = 0; k < piece->count; k++)
                (void)fprintf(file, "%" PRIuPTR ":%" PRIu64 " ", (uintptr_t)piece->queue,
                              piece->first + k);
        (void)fputc('\n', file);
    }
    CHECK(fclose(file) == 0);
}

/* Parents stand before what is within them. */
static void sum_up(void)
{
    for (unsigned i = range_count; i-- > 0;) {
        struct range *range = &ranges[i];
        for (const struct piece *piece = range->pieces; piece != NULL; piece = piece->next) {
            range->kernels += piece->count;
            for (uint32_t k = 0; k < piece->count; k++)
                range->work_items += UINT64_C(128) * (packets[k].kernel + 1); /* see gpu_write */
        }
        range->all_copies += range->copies;
        if (range->parent != NULL) {
            range->parent->kernels += range->kernels;
            range->parent->work_items += range->work_items;
            range->parent->all_copies += range->all_copies;
        }
    }
}

/* ---- what the device executed ---- */

static softgpu_truth_entry_t *truth;
static size_t truth_count;

static int by_packet(const void *left, const void *right)
{
    const softgpu_truth_entry_t *a = left;
    const softgpu_truth_entry_t *b = right;
    if (a->queue_address != b->queue_address)
        return a->queue_address < b->queue_address ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void read_truth(void)
{
    char error[256];
    softgpu_truth_t *log = softgpu_truth_open(getenv("SOFTGPU_TRUTH"), error, // NOLINT
                                              sizeof error);
    softgpu_truth_entry_t entry;
    size_t capacity = 0;
    if (log == NULL) {
        (void)fprintf(stderr, "ranges: %s\n", error);
        exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
    }
    while (softgpu_truth_next(log, &entry) == 1) {
        if (entry.kind != SOFTGPU_TRUTH_KERNEL)
            continue;
        if (truth_count == capacity) {
            capacity = capacity > 0 ? 2 * capacity : 4096;
            truth = realloc(truth, capacity * sizeof *truth);
        }
        if (truth == NULL)
            exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
        truth[truth_count++] = entry; /* names live as long as the log, which stays open */
    }
    qsort(truth, truth_count, sizeof *truth, by_packet);
}

static const softgpu_truth_entry_t *executed(uint64_t queue, uint64_t packet)
{
    const softgpu_truth_entry_t key = {.queue_address = queue, .index = packet};
    return bsearch(&key, truth, truth_count, sizeof key, by_packet);
}

/* ---- what the session says ---- */

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static bool is_within(uint64_t id, const struct range *outer)
{
    const struct range *range = outer;
    while (range < ranges + range_count && range->id != id)
        range++;
    if (range == ranges + range_count)
        return false;
    while (range != NULL && range != outer)
        range = range->parent;
    return range != NULL;
}

static void check_time(const char *what, uint64_t time, uint64_t truth)
{
    CHECK(distance(time, truth) <= TICK_NS);
    if (distance(time, truth) > TICK_NS)
        (void)fprintf(stderr, "ranges: a kernel's %s is %lu, and should be %lu\n", what,
                      (unsigned long)time, (unsigned long)truth);
}

/* Each is one that the device executed, in this range or one within. Where counters are read the
 * device's queue is another one than the program's. */
static void check_kernel(const struct range *range, const rtl_range_kernel_t *kernel)
{
    const softgpu_truth_entry_t *entry = executed(kernel->queue_address, kernel->packet);
    CHECK(kernel->device == 0 && is_within(kernel->range, range));
    CHECK(entry != NULL || counting);
    if (entry == NULL)
        return;
    CHECK(kernel->name != NULL && strcmp(kernel->name, entry->name) == 0);
    check_time("start", kernel->start, entry->start_ns);
    check_time("end", kernel->end, entry->end_ns);
}

static int by_time(const void *left, const void *right)
{
    const int64_t *a = left;
    const int64_t *b = right;
    if (a[0] != b[0])
        return a[0] < b[0] ? -1 : 1;
    return (a[1] > b[1]) - (a[1] < b[1]);
}

/* Busy and overlapping time by their edges. */
static void check_times(const rtl_range_kernel_t *kernels, size_t count,
                        const rtl_range_result_t *result)
{
    int64_t(*edges)[2] = calloc(2 * count + 1, sizeof *edges);
    uint64_t total = 0;
    uint64_t times[2] = {0, 0};
    int64_t depth = 0;
    if (edges == NULL)
        exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
    for (size_t i = 0; i < count; i++) {
        edges[2 * i][0] = (int64_t)kernels[i].start;
        edges[2 * i][1] = 1;
        edges[2 * i + 1][0] = (int64_t)kernels[i].end;
        edges[2 * i + 1][1] = -1;
        total += kernels[i].end - kernels[i].start;
    }
    qsort(edges, 2 * count, sizeof *edges, by_time);
    for (size_t i = 0; i < 2 * count; i++) {
        uint64_t length = i > 0 ? (uint64_t)(edges[i][0] - edges[i - 1][0]) : 0;
        times[0] += depth >= 1 ? length : 0;
        times[1] += depth >= 2 ? length : 0;
        depth += edges[i][1];
    }
    CHECK(result->kernel_ns == total);
    CHECK(result->busy_ns == times[0] && result->overlap_ns == times[1]);
    free(edges);
}

static void check_names(const struct range *range, const rtl_range_result_t *result)
{
    rtl_range_kernels_t names[GPU_KERNELS];
    int64_t count = rtlSessionNames(range->id, names, GPU_KERNELS);
    uint64_t kernels = 0;
    uint64_t total = 0;
    CHECK(count >= 0 && count <= GPU_KERNELS && (count > 0) == (range->kernels > 0));
    for (int64_t i = 0; i < count && i < GPU_KERNELS; i++) {
        kernels += names[i].kernels;
        total += names[i].total_ns;
        CHECK(i == 0 || names[i].total_ns <= names[i - 1].total_ns);
        for (int64_t k = 0; k < i; k++)
            CHECK(strcmp(names[i].name, names[k].name) != 0);
    }
    CHECK(kernels == result->kernels && total == result->kernel_ns);
}

/* A number for the packets of a range. */
static uint64_t own_packets(const struct range *range)
{
    uint64_t sum = 0;
    for (const struct piece *piece = range->pieces; piece != NULL; piece = piece->next)
        for (uint32_t i = 0; i < piece->count; i++)
            sum += (piece->first + i) * 31 + (uintptr_t)piece->queue;
    return sum;
}

/* Its own, one by one: what lies in ranges that are not measured counts as well. */
static void check_own(const struct range *range, const rtl_range_kernel_t *kernels, size_t count)
{
    uint64_t own = 0;
    uint64_t expected = 0;
    for (unsigned i = 0; i < range_count; i++)
        if (measured(&ranges[i]) == range)
            expected += own_packets(&ranges[i]);
    for (size_t i = 0; i < count; i++) {
        if (kernels[i].range == range->id)
            own += kernels[i].packet * 31 + kernels[i].queue_address;
        CHECK(i == 0 || kernels[i - 1].range != kernels[i].range ||
              kernels[i - 1].queue != kernels[i].queue ||
              kernels[i - 1].packet < kernels[i].packet);
    }
    CHECK(own == expected);
}

static double metric_of(const struct range *range, const char *name)
{
    rtl_range_metric_t metric;
    errno = 0;
    if (rtlSessionMetric(range->id, name, &metric) != 0) {
        CHECK(errno == ENODATA);
        return NAN;
    }
    CHECK(strcmp(metric.name, name) == 0 && metric.unit[0] != '\0' && metric.formula[0] != '\0');
    CHECK((strcmp(metric.rule, "ratio of sums") == 0 ? metric.exact == 0
                                                     : metric.value == (double)metric.exact));
    return metric.value;
}

static bool is_ratio(double got, double over, double under)
{
    return under > 0 ? fabs(got - over / under) <= 1e-9 * fabs(got) : isnan(got);
}

/* As the program knows what it has submitted. */
static void check_metrics(struct range *range, const rtl_range_result_t *result)
{
    for (size_t i = 0; i < METRICS; i++)
        range->metrics[i] = metric_of(range, metric_names[i]);
    const double *metrics = range->metrics;
    double kernels = (double)range->kernels;
    double busy = (double)result->busy_ns;
    CHECK(metrics[0] == kernels && metrics[1] == (double)result->kernel_ns);
    CHECK(is_ratio(metrics[3], metrics[1], kernels));
    CHECK(metrics[4] == (double)range->work_items && metrics[5] == 2 * kernels);
    CHECK(is_ratio(metrics[6], metrics[4], metrics[5]));
    CHECK(kernels > 0 ? metrics[7] == 100 : isnan(metrics[7]));
    CHECK(metrics[10] == (double)result->copy_bytes);
    CHECK(is_ratio(metrics[11], 100 * (double)(result->wall_ns - result->idle_ns),
                   (double)result->wall_ns));
    CHECK(is_ratio(metrics[12], metrics[1], busy));
    CHECK(is_ratio(metrics[13], 100 * (double)result->overlap_ns, busy));
    CHECK(is_ratio(metrics[14], 100 * (double)result->copy_overlap_ns, (double)result->copying_ns));
}

/* As a pop and the session tell the same range. */
static void check_told(const struct range *range)
{
    const rtl_range_result_t *popped = &range->popped;
    const rtl_range_result_t *told = &range->told;
    CHECK(popped->id == told->id && popped->parent == told->parent && popped->text == told->text);
    CHECK(popped->thread == told->thread && popped->lost == told->lost);
    CHECK(popped->start == told->start && popped->end == told->end);
    CHECK(popped->kernels == told->kernels && popped->kernel_ns == told->kernel_ns);
    CHECK(popped->copies == told->copies && popped->copy_bytes == told->copy_bytes);
    CHECK(popped->graph_launches == told->graph_launches);
    CHECK(memcmp(popped, told, sizeof *told) == 0);
}

static void check_range(struct range *range)
{
    rtl_range_result_t result;
    if (!is_measured(range)) {
        CHECK(rtlSessionResult(range->id, PATIENCE_MS, &result) == -1 && errno == ENOENT);
        CHECK(rtlSessionKernels(range->id, NULL, 0) == -1 && errno == ENOENT);
        return;
    }
    CHECK(rtlSessionResult(range->id, PATIENCE_MS, &result) == 0);
    range->told = result;
    CHECK(result.id == range->id && strcmp(result.text, range->name) == 0 && result.lost == 0);
    CHECK(result.parent == id_of(measured(range->parent)));
    CHECK(result.kernels == range->kernels && result.copies == range->all_copies);
    CHECK(result.copy_bytes == range->all_copies * BYTES && result.graph_launches == 0);
    CHECK(result.wall_ns == result.end - result.start && result.wall_ns > 0);
    CHECK(result.active_ns == result.busy_ns + result.copying_ns - result.copy_overlap_ns);
    CHECK(result.idle_ns <= result.wall_ns && result.wall_ns - result.idle_ns <= result.active_ns);
    if (range->popped.id != 0 && range->popped.error == 0)
        check_told(range);
    rtl_range_kernel_t *kernels = calloc(range->kernels + 1, sizeof *kernels);
    int64_t count = rtlSessionKernels(range->id, kernels, range->kernels + 1);
    CHECK(count == (int64_t)range->kernels);
    if (kernels != NULL && count == (int64_t)range->kernels) {
        for (int64_t i = 0; i < count && range->kernels < 10000; i++)
            check_kernel(range, &kernels[i]);
        check_times(kernels, (size_t)count, &result);
        check_own(range, kernels, (size_t)count);
        check_names(range, &result);
    }
    free(kernels);
    check_metrics(range, &result);
    if (counting) {
        range->waves = metric_of(range, "waves");
        range->l2_hit = metric_of(range, "l2_hit");
    }
}

static bool says(const char *sentence)
{
    char said[256];
    size_t length = rtlSessionError(said, sizeof said);
    bool same = length == strlen(sentence) && strcmp(said, sentence) == 0;
    if (!same)
        (void)fprintf(stderr, "ranges: it says '%s'\n", said);
    return same;
}

/* What is no metric, or not to be had, changes nothing. */
static void choose_metrics(void)
{
    char names[512] = "";
    char cut[9] = "12345678";
    size_t used = 0;
    for (size_t i = 0; i < METRICS; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s,", metric_names[i]);
    CHECK(rtlSessionError(cut, sizeof cut) == 0 && cut[0] == '\0');
    if (counting)
        (void)snprintf(names + used, sizeof names - used, "%s", counted_names);
    CHECK(rtlSessionMetrics(names) == 0);
    CHECK(rtlSessionMetrics("kernels,lane_uze") == -1 && errno == EINVAL);
    CHECK(says("there is no metric 'lane_uze', did you mean 'lane_use'?"));
    CHECK(rtlSessionError(cut, sizeof cut) > sizeof cut && strcmp(cut, "there is") == 0);
    CHECK(rtlSessionMetrics("no such thing as this") == -1 && errno == EINVAL);
    CHECK(says("there is no metric 'no such thing as this'; `rtl ranges --metrics list` lists "
               "them"));
}

static void check_refusals(void)
{
    rtl_range_metric_t metric;
    CHECK(rtlSessionMetrics("kernels") == -1 && errno == EBUSY);
    CHECK(says("metrics are chosen before the session begins"));
    CHECK(rtlSessionMetric(ranges[0].id, "cycles_per_wave", &metric) == -1 && errno == EINVAL);
    CHECK(says("rtlSessionMetrics did not name the metric 'cycles_per_wave'"));
    CHECK(rtlSessionMetric(ranges[0].id, NULL, &metric) == -1 && errno == EINVAL);
    CHECK(rtlSessionMetric(ranges[0].id, "kernels", NULL) == -1 && errno == EINVAL);
    CHECK(rtlSessionMetric(UINT64_MAX, "kernels", &metric) == -1 && errno == ENOENT);
    CHECK(says("the session has no range 18446744073709551615 that has ended"));
}

/* ---- hardware counters ---- */

static rtl_range_metric_t counted(uint64_t id, const char *name)
{
    rtl_range_metric_t metric = {.value = -1};
    bool known = rtlSessionMetric(id, name, &metric) == 0;
    char why[256] = "";
    if (!known)
        (void)rtlSessionError(why, sizeof why);
    if (!known)
        (void)fprintf(stderr, "ranges: %s\n", why);
    CHECK(known);
    return metric;
}

/* Waves of 64 work-items; the groups are full. */
static void check_waves(const struct range *range, uint64_t kernels, uint64_t waves)
{
    rtl_range_metric_t metric = counted(range->id, "SQ_WAVES");
    CHECK(metric.exact == waves && metric.shared == 0);
    CHECK(metric.counted == (kernel_mode ? kernels : 1));
    CHECK(counted(range->id, "waves").exact == waves);
    metric = counted(range->id, "valu_per_wave");
    CHECK(is_ratio(metric.value, counted(range->id, "SQ_INSTS_VALU").value, (double)waves));
}

/* The caches' counters need two passes, and a process makes one. */
static void check_passes(const struct range *range)
{
    rtl_range_metric_t metric;
    CHECK(counted(range->id, "l2_hit").value >= 0);
    CHECK(rtlSessionMetric(range->id, "write_bytes", &metric) == -1 && errno == ENOTSUP);
    CHECK(says("'write_bytes' needs TCC_EA_WRREQ, which pass 2 of 2 reads, and this process makes "
               "pass 1: ask for fewer metrics at once"));
}

/* One queue and one thread, so that nothing else is on the device. */
static void way_counted(void)
{
    hsa_queue_t *queue = gpu_queue(&gpu, 256);
    struct range *shown[20];
    uint64_t waves[20];
    push();
    struct range *outer = innermost;
    uint64_t all = 0;
    uint64_t kernels = 0;
    for (unsigned i = 0; i < 20; i++) {
        push();
        shown[i] = innermost;
        run(queue, 1 + i % 7);
        waves[i] = 0;
        for (unsigned k = 0; k < 1 + i % 7; k++)
            waves[i] += UINT64_C(2) * (packets[k].kernel + 1);
        all += waves[i];
        kernels += 1 + i % 7;
        pop();
    }
    pop();
    gpu_drain(&gpu, queue);
    if (!session)
        return;
    CHECK(rtlFlush(PATIENCE_MS) == 0);
    check_passes(outer);
    for (unsigned i = 0; i < 20; i++)
        check_waves(shown[i], 1 + i % 7, waves[i]);
    check_waves(outer, kernels, all);
    rtl_range_metric_t metric;
    if (!kernel_mode) {
        CHECK(rtlSessionMetric(outer->id, "waves_max", &metric) == -1 && errno == ENODATA);
        CHECK(says("'waves_max' has no value: the range was counted as a whole"));
    } else {
        CHECK(counted(outer->id, "waves_max").exact == UINT64_C(2) * GPU_KERNELS);
    }
}

/* ---- again ---- */

static void take_nothing(void *context, const rtl_batch_t *batch, const rtl_kernel_event_t *events,
                         size_t count)
{
    (void)context;
    (void)batch;
    (void)events;
    (void)count;
}

/* What comes between sessions belongs to none; a trace, if there is one, goes on. */
static void begin_again(void)
{
    const rtl_callbacks_t callbacks = {.size = sizeof callbacks, .kernels = take_nothing};
    hsa_queue_t *queue = gpu_queue(&gpu, 256);
    rtl_range_result_t result;
    run(queue, 5);
    gpu_drain(&gpu, queue);
    if (getenv("RTL_SESSION") != NULL) // NOLINT(concurrency-mt-unsafe)
        CHECK(rtlSubscribe(&callbacks, NULL) == -1 && errno == EBUSY);
    CHECK(rtlSessionBegin() == 0 && rtlSessionRanges(NULL, 0) == 0);
    push();
    run(queue, 3);
    CHECK(rtlRangePop(&result) == 0 && result.error == (is_measured(innermost) ? 0 : ENOENT));
    CHECK(result.error != 0 || (result.kernels == 3 && result.lost == 0));
    innermost = NULL;
    CHECK(rtlSessionEnd() == 0 && rtlRecording() == 1);
    run(queue, 2);
    gpu_drain(&gpu, queue);
}

static void ask_session(void)
{
    rtl_range_result_t result;
    unsigned step = range_count > 1000 ? 997 : 1;
    unsigned told = 0;
    for (unsigned i = 0; i < range_count; i++)
        told += is_measured(&ranges[i]);
    read_truth();
    CHECK(rtlFlush(PATIENCE_MS) == 0);
    CHECK(rtlSessionRanges(NULL, 0) == (int64_t)told);
    for (unsigned i = 0; i < range_count && wrong < 20; i += step)
        check_range(&ranges[i]);
    CHECK(rtlSessionResult(UINT64_MAX, PATIENCE_MS, &result) == -1 && errno == ENOENT);
    push();
    CHECK(rtlSessionResult(innermost->id, PATIENCE_MS, &result) == -1 && errno == ENOENT);
    pop();
    CHECK(rtlSessionBegin() == -1 && errno == EBUSY);
    check_refusals();
    CHECK(rtlSessionEnd() == 0);
    CHECK(rtlSessionEnd() == -1 && errno == ESRCH);
    CHECK(rtlSessionResult(ranges[0].id, 1, &result) == -1 && errno == ESRCH);
    CHECK(rtlSessionRanges(NULL, 0) == -1 && errno == ESRCH);
    begin_again();
}

static enum by read_by(const char *variable)
{
    const char *set = getenv(variable); // NOLINT(concurrency-mt-unsafe)
    if (set == NULL || strcmp(set, "both") == 0)
        return BY_BOTH;
    return strcmp(set, "rtl") == 0 ? BY_RTL : BY_ROCTX;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"nest", way_nest},      {"threads", way_threads}, {"many", way_many},
                {"random", way_random},  {"hang", way_hang},       {"twins", way_twins},
                {"counted", way_counted}};
    const char *expected = getenv("RANGES_EXPECTED"); // NOLINT(concurrency-mt-unsafe)
    session = getenv("RANGES_SESSION") != NULL;       // NOLINT(concurrency-mt-unsafe)
    set_by = read_by("RANGES_BY");
    measured_by = read_by("RTL_RANGES");
    const char *mode = getenv("RTL_COUNTING"); // NOLINT(concurrency-mt-unsafe)
    counting = argc > 1 && strcmp(argv[1], "counted") == 0;
    kernel_mode = mode != NULL && strcmp(mode, "kernel") == 0;
    if (session) {
        choose_metrics();
        CHECK(rtlSessionBegin() == 0);
    }
    gpu_open(&gpu);
    for (unsigned i = 0; i < 64; i++)
        packets[i].kernel = i % GPU_KERNELS;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc > 1 && strcmp(argv[1], ways[i].name) == 0)
            ways[i].run();
    CHECK(range_count > 0);
    sum_up();
    if (session)
        ask_session();
    if (expected != NULL)
        write_expected(expected);
    return wrong > 0;
}
