/*
 * What rewriting alone costs, without a runtime: the pure module with warm caches.
 *
 *     bench_rewrite KIND BATCH PACKETS [THREADS]
 *
 * KIND of the kernels' own signals: `none`, `borrowed` (at 1), `replaced` (at 2); or `call`,
 * `launch`, `found`: none, and each batch was reserved at once, in a host call, for a graph launch
 * of HIP's or outside of host calls (then it gets a fingerprint). THREADS, 1 when absent, each with
 * a queue of its own, share the pool and the table of borrowed signals, as queues of a program do.
 * Prints one line of JSON: ns per packet in rtl_rewrite, for reading the times and recycling
 * afterwards, and of the floor (reading and writing each packet's 64 bytes once, with another
 * signal), medians over rounds, the largest of the threads; and how many packets there were, those
 * of rounds for warming up included.
 *
 * Instructions per packet (of `harvest` and of the floor, `swap`, likewise):
 *     valgrind --tool=callgrind --toggle-collect=rtl_rewrite bench_rewrite none 1 100000
 */
#include "intercept/queue/rewrite.h"
#include "timing.h"

#include <hsa/amd_hsa_signal.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define GROUP   256u /* packets of a round */
#define POOL    8192u
#define RECORDS 8192u
#define MOST    64u
#define WARM_UP 16u
#define WORDS   (sizeof(hsa_kernel_dispatch_packet_t) / sizeof(uint64_t)) /* the signal is last */

enum kind { KIND_NONE, KIND_BORROWED, KIND_REPLACED, KIND_CALL, KIND_LAUNCH, KIND_FOUND, KINDS };

struct lane {
    _Alignas(64) hsa_kernel_dispatch_packet_t packets[GROUP];
    _Alignas(64) amd_signal_t owns[GROUP];
    struct rtl_pending pending;
    struct rtl_rewriter rewriter;
    struct rtl_reservations reservations; /* without notes each packet is a run of its own */
    struct rtl_reserved slots[GROUP];
    struct rtl_wire_ledger ledger;
    double *rewriting, *harvesting, *floors; /* ns per packet, by round */
    uint64_t kept[GROUP];                    /* signals that the floor has put elsewhere */
    pthread_t thread;
};

static _Alignas(64) amd_signal_t pool_signals[POOL];
static struct rtl_pool pool;
static struct rtl_borrow_table borrows;
static struct rtl_graph_pages graph_pages;
static struct lane lanes[MOST];
static pthread_barrier_t gate;
static enum kind kind;
static unsigned batch;
static unsigned long rounds;
static double scale;

static enum rtl_borrower classify(struct rtl_record_id id, uint64_t handle)
{
    return rtl_pending_classify(&lanes[id.queue_index].pending, id.sequence, handle);
}

static unsigned reclaim(void *context)
{
    (void)context;
    return 0;
}

static void set_head(uint32_t launch, uint64_t head)
{
    (void)launch;
    (void)head;
}

static void pass(const struct rtl_launch_part *part)
{
    (void)part;
}

static const struct rtl_launch_sink launches = {.set_head = set_head, .pass = pass};

static bool create(void *context, uint64_t *handle)
{
    unsigned *made = context;
    amd_signal_t *signal = &pool_signals[(*made)++];
    signal->kind = AMD_SIGNAL_KIND_USER;
    signal->value = 1;
    *handle = (uintptr_t)signal;
    return true;
}

static void destroy(void *context, uint64_t handle)
{
    (void)context;
    (void)handle;
}

/* As a program writes them; the device has not completed the last round's before. */
static void write_packets(struct lane *lane)
{
    for (unsigned i = 0; i < GROUP; i++) {
        amd_signal_t *own = &lane->owns[i];
        own->kind = AMD_SIGNAL_KIND_USER;
        own->value = kind == KIND_BORROWED ? 1 : 2;
        lane->packets[i].header = HSA_PACKET_TYPE_KERNEL_DISPATCH;
        lane->packets[i].completion_signal.handle =
            kind == KIND_BORROWED || kind == KIND_REPLACED ? (uintptr_t)own : 0;
    }
}

static void complete(struct lane *lane, uint64_t round)
{
    for (unsigned i = 0; i < GROUP; i++) {
        uint64_t handle = lane->packets[i].completion_signal.handle;
        amd_signal_t *signal = (amd_signal_t *)(uintptr_t)handle;
        signal->start_ts = signal->end_ts = round + 1;
        signal->value--;
    }
}

static void note_batches(struct lane *lane, uint64_t first)
{
    struct rtl_reservation note = {
        .launch = kind == KIND_CALL ? RTL_NONE : 1, .count = batch, .correlation = 1};
    if (kind == KIND_FOUND)
        note.flags = RTL_RESERVED_INFERRED;
    for (unsigned i = 0; i < GROUP && kind >= KIND_CALL; i += batch) {
        note.correlation += kind == KIND_CALL;
        rtl_reservations_note(&lane->reservations, first + i, &note);
    }
}

/* The least that a profiler does that sees a packet before the device does; volatile, so that every
 * word of it is read and written. */
static __attribute__((noinline)) void swap(struct lane *lane)
{
    for (unsigned i = 0; i < GROUP; i++) {
        volatile uint64_t *words = (volatile uint64_t *)(void *)&lane->packets[i];
        for (unsigned word = 0; word + 1 < WORDS; word++)
            words[word] = words[word];
        lane->kept[i] = words[WORDS - 1];
        words[WORDS - 1] = (uintptr_t)&pool_signals[i];
    }
}

static double measure_floor(struct lane *lane)
{
    unsigned long long begin = __rdtsc();
    swap(lane);
    double ticks = (double)(__rdtsc() - begin);
    for (unsigned i = 0; i < GROUP; i++)
        lane->packets[i].completion_signal.handle = lane->kept[i];
    return ticks / scale / GROUP;
}

static void rewrite(struct lane *lane, uint64_t first)
{
    for (unsigned i = 0; i < GROUP; i += batch)
        rtl_rewrite(&lane->rewriter, &lane->packets[i], first + i, batch, 0);
}

/* Takes the records of a round and recycles its signals, 64 at a time as harvest.c does. */
static __attribute__((noinline)) void harvest(struct lane *lane, uint64_t first)
{
    uint32_t ids[64];
    unsigned count = 0;
    for (unsigned i = 0; i < GROUP; i++) {
        struct rtl_kernel_facts facts;
        if (rtl_pending_look(&lane->pending, &pool, first + i, true, &facts) != RTL_TAKE_TAKEN ||
            !rtl_pending_claim(&lane->pending, first + i))
            abort();
        if (rtl_is_replaced(&facts))
            atomic_fetch_sub_explicit(&lane->pending.to_forward, 1, memory_order_release);
        if (facts.pool_id == UINT32_MAX)
            continue;
        ((amd_signal_t *)(uintptr_t)rtl_pool_handle(&pool, facts.pool_id))->value = 1;
        ids[count++] = facts.pool_id;
        if (count == 64) {
            rtl_pool_give(&pool, ids, count);
            count = 0;
        }
    }
    rtl_pool_give(&pool, ids, count);
    rtl_pending_advance(&lane->pending);
}

static void *run(void *argument)
{
    struct lane *lane = argument;
    (void)pthread_barrier_wait(&gate);
    for (unsigned long round = 0; round < rounds + WARM_UP; round++) {
        uint64_t first = round * GROUP;
        write_packets(lane);
        note_batches(lane, first);
        double lowest = measure_floor(lane);
        unsigned long long begin = __rdtsc();
        rewrite(lane, first);
        unsigned long long middle = __rdtsc();
        complete(lane, round);
        unsigned long long again = __rdtsc();
        harvest(lane, first);
        unsigned long long end = __rdtsc();
        if (round < WARM_UP)
            continue;
        lane->floors[round - WARM_UP] = lowest;
        lane->rewriting[round - WARM_UP] = (double)(middle - begin) / scale / GROUP;
        lane->harvesting[round - WARM_UP] = (double)(end - again) / scale / GROUP;
    }
    return NULL;
}

static bool begin_lane(unsigned slot)
{
    struct lane *lane = &lanes[slot];
    lane->rewriting = calloc(rounds, sizeof *lane->rewriting);
    lane->harvesting = calloc(rounds, sizeof *lane->harvesting);
    lane->floors = calloc(rounds, sizeof *lane->floors);
    lane->reservations = (struct rtl_reservations){.slots = lane->slots, .mask = GROUP - 1};
    lane->rewriter = (struct rtl_rewriter){.pending = &lane->pending,
                                           .pool = &pool,
                                           .borrows = &borrows,
                                           .pages = &graph_pages,
                                           .ledger = &lane->ledger,
                                           .mode = RTL_MODE_FULL,
                                           .reservations = &lane->reservations,
                                           .launches = &launches,
                                           .queue_index = slot,
                                           .reclaim = reclaim};
    return rtl_pending_init(&lane->pending, &rtl_slabs, RECORDS) && lane->rewriting != NULL &&
           lane->harvesting != NULL && lane->floors != NULL &&
           pthread_create(&lane->thread, NULL, run, lane) == 0;
}

struct figures {
    double rewriting, harvesting, lowest; /* ns per packet */
};

static double larger(double most, double *values)
{
    double median = quantile(values, rounds, 0.5);
    return median > most ? median : most;
}

static struct figures worst(unsigned threads)
{
    struct figures most = {0};
    for (unsigned i = 0; i < threads; i++) {
        most.rewriting = larger(most.rewriting, lanes[i].rewriting);
        most.harvesting = larger(most.harvesting, lanes[i].harvesting);
        most.lowest = larger(most.lowest, lanes[i].floors);
    }
    return most;
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"none", "borrowed", "replaced", "call", "launch", "found"};
    unsigned threads = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 1;
    unsigned made = 0;
    unsigned which = 0;
    while (argc > 3 && which < KINDS && strcmp(argv[1], kinds[which]) != 0)
        which++;
    kind = (enum kind)which;
    batch = argc > 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    rounds = argc > 3 ? strtoul(argv[3], NULL, 10) / GROUP : 0;
    if (which == KINDS || batch == 0 || GROUP % batch != 0 || rounds == 0 || threads == 0 ||
        threads > MOST / 2) {
        (void)fprintf(stderr,
                      "usage: bench_rewrite none|borrowed|replaced|call|launch|found BATCH PACKETS "
                      "[THREADS]; "
                      "BATCH divides %u, %u threads at most\n",
                      GROUP, MOST / 2);
        return 2;
    }
    borrows.classify = classify;
    scale = ticks_per_ns();
    struct rtl_pool_backend backend = {create, destroy, &made};
    if (!rtl_slabs_init(&rtl_slabs) || !rtl_pool_init(&pool, POOL, backend) ||
        rtl_pool_grow(&pool, POOL) != POOL || pthread_barrier_init(&gate, NULL, threads) != 0)
        return 3;
    for (unsigned i = 0; i < threads; i++)
        if (!begin_lane(i))
            return 3;
    for (unsigned i = 0; i < threads; i++)
        (void)pthread_join(lanes[i].thread, NULL);
    struct figures most = worst(threads);
    (void)printf("{\"kind\": \"%s\", \"batch\": %u, \"threads\": %u, \"items\": %lu, "
                 "\"rewrite_ns\": %.1f, \"harvest_ns\": %.1f, \"floor_ns\": %.1f}\n",
                 kinds[which], batch, threads, (rounds + WARM_UP) * GROUP * threads, most.rewriting,
                 most.harvesting, most.lowest);
    return 0;
}
