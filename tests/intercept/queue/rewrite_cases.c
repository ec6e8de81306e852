#include "../../common/check.h"
#include "fake_records.h"
#include "fake_signals.h"
#include "intercept/queue/rewrite.h"

#include <hsa/hsa_ext_amd.h>

#define SLOTS UINT64_C(64)

/* One queue without a runtime. */
struct bench {
    struct rtl_pending pending;
    struct rtl_pool pool;
    struct rtl_borrow_table borrows;
    struct rtl_graph_pages pages;
    struct rtl_wire_ledger ledger;
    struct rtl_rewriter rewriter;
    unsigned helps;
    bool help_harvests;
    struct rtl_reserved slots[SLOTS];
    struct rtl_reservations reservations;
    struct rtl_launch_part parts[8]; /* what was told of launches */
    unsigned part_count;
    uint64_t head; /* of the launch that was headed last */
    uint32_t headed, found;
    _Alignas(64) hsa_kernel_dispatch_packet_t ring[SLOTS];
};

static struct bench bench;

static enum rtl_borrower classify(struct rtl_record_id id, uint64_t handle)
{
    return rtl_pending_classify(&bench.pending, id.sequence, handle);
}

/* Completes and harvests the oldest record when it is told to. */
static unsigned reclaim(void *context)
{
    (void)context;
    bench.helps++;
    if (!bench.help_harvests)
        return 0;
    struct rtl_kernel_facts facts;
    uint64_t head = atomic_load(&bench.pending.head);
    if (take_record(&bench.pending, &bench.pool, head, true, &facts) != RTL_TAKE_TAKEN)
        return 0;
    rtl_pending_advance(&bench.pending);
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)rtl_pool_handle(&bench.pool, facts.pool_id);
    signal->value = 1;
    rtl_pool_give(&bench.pool, &facts.pool_id, 1);
    return 1;
}

static uint32_t infer(uint32_t queue, uint64_t first, uint32_t packets)
{
    (void)first;
    return queue == 11 && packets == 1 ? ++bench.found : RTL_NONE;
}

static void set_head(uint32_t launch, uint64_t head)
{
    bench.headed = launch;
    bench.head = head;
}

static void pass(const struct rtl_launch_part *part)
{
    bench.parts[bench.part_count++ % 8] = *part;
}

static const struct rtl_launch_sink launches = {infer, set_head, pass};

static const char *set_up(enum rtl_mode mode, uint32_t signals)
{
    struct rtl_pool pool = bench.pool;
    struct rtl_pending pending = bench.pending;
    memset(&bench, 0, sizeof bench);
    bench.pool = pool;
    bench.pending = pending;
    CHECK(fake_records(&bench.pending, SLOTS));
    CHECK(fake_pool(&bench.pool, signals));
    bench.reservations.slots = bench.slots;
    bench.reservations.mask = SLOTS - 1;
    rtl_reservations_clear(&bench.reservations);
    bench.borrows.classify = classify;
    bench.rewriter = (struct rtl_rewriter){.pending = &bench.pending,
                                           .pool = &bench.pool,
                                           .borrows = &bench.borrows,
                                           .pages = &bench.pages,
                                           .ledger = &bench.ledger,
                                           .mode = mode,
                                           .reservations = &bench.reservations,
                                           .launches = &launches,
                                           .queue = 11,
                                           .queue_index = 5,
                                           .reclaim = reclaim};
    return NULL;
}

static void reserve(uint64_t first, uint32_t count, uint64_t correlation, uint32_t launch,
                    uint32_t flags)
{
    struct rtl_reservation note = {correlation, launch, launch == RTL_NONE ? 0 : 100, count, flags};
    rtl_reservations_note(&bench.reservations, first, &note);
}

static hsa_kernel_dispatch_packet_t *kernel(uint64_t index, uint64_t signal)
{
    hsa_kernel_dispatch_packet_t *packet = &bench.ring[index % SLOTS];
    memset(packet, 0, sizeof *packet);
    packet->header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER;
    packet->setup = 3;
    packet->workgroup_size_x = 64;
    packet->workgroup_size_y = 2;
    packet->workgroup_size_z = 1;
    packet->grid_size_x = (uint32_t)(1000 + index);
    packet->grid_size_y = 4;
    packet->grid_size_z = 1;
    packet->group_segment_size = 512;
    packet->kernel_object = 0x7f0000001040;
    packet->kernarg_address = &bench;
    packet->completion_signal.handle = signal;
    return packet;
}

static hsa_barrier_and_packet_t *barrier(uint64_t index, uint16_t type, uint64_t signal)
{
    hsa_barrier_and_packet_t *packet = (hsa_barrier_and_packet_t *)(void *)kernel(index, signal);
    memset(packet, 0, sizeof *packet);
    packet->header = type;
    packet->completion_signal.handle = signal;
    return packet;
}

static void rewrite(uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++)
        rtl_rewrite(&bench.rewriter, &bench.ring[i % SLOTS], i, 1, 9);
}

static enum rtl_take take(uint64_t sequence, struct rtl_kernel_facts *facts)
{
    return take_record(&bench.pending, &bench.pool, sequence, true, facts);
}

const char *Rewrite_KernelWithoutSignalGetsOneAndNothingElseChanges(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    struct rtl_kernel_facts facts;
    hsa_kernel_dispatch_packet_t *packet = kernel(3, 0);
    hsa_kernel_dispatch_packet_t before = *packet;
    rewrite(3, 1);
    uint64_t signal = packet->completion_signal.handle;
    CHECK(signal != 0);
    packet->completion_signal.handle = 0;
    CHECK(memcmp(packet, &before, sizeof before) == 0);
    CHECK(take(0, &facts) == RTL_TAKE_WAITING);
    fake_complete(signal, 100, 250);
    CHECK(take(0, &facts) == RTL_TAKE_TAKEN);
    CHECK(facts.start == 100 && facts.end == 250 && facts.packet == 3 && facts.epoch == 9);
    CHECK(facts.kernel_object == 0x7f0000001040 && facts.group_size == 512 &&
          facts.app_signal == 0);
    CHECK(facts.grid[0] == 1003 && facts.grid[1] == 4 && facts.grid[2] == 1);
    CHECK(facts.block[0] == 64 && facts.block[1] == 2 && facts.block[2] == 1);
    CHECK(bench.ledger.seen == 1 && bench.ledger.packets == 1 && bench.ledger.borrowed == 0);
    return NULL;
}

const char *Rewrite_PlainSignalIsBorrowed(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    struct rtl_kernel_facts facts;
    struct rtl_record_id id;
    uint64_t own = fake_signal(1);
    hsa_kernel_dispatch_packet_t *packet = kernel(0, own);
    rewrite(0, 1);
    CHECK(packet->completion_signal.handle == own);
    CHECK(rtl_borrow_find(&bench.borrows, own, &id) && id.queue_index == 5 && id.sequence == 0);
    fake_complete(own, 7, 9);
    CHECK(take(0, &facts) == RTL_TAKE_TAKEN);
    CHECK(facts.app_signal == own && facts.pool_id == UINT32_MAX && facts.start == 7 &&
          facts.end == 9);
    CHECK(!rtl_borrow_find(&bench.borrows, own, &id));
    CHECK(bench.ledger.borrowed == 1 && bench.pending.to_forward == 0);
    return NULL;
}

static unsigned replaced;

static void count_replaced(void)
{
    replaced++;
}

/* The first finds no pool signal at hand, the second does; the third is in a host call. */
const char *Rewrite_CountingSignalIsReplaced(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    bench.rewriter.on_replaced = count_replaced;
    replaced = 0;
    reserve(2, 1, 78, RTL_NONE, 0);
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t own = fake_signal(2);
        hsa_kernel_dispatch_packet_t *packet = kernel(i, own);
        rewrite(i, 1);
        CHECK(packet->completion_signal.handle != own && packet->completion_signal.handle != 0);
        CHECK(bench.pending.to_forward == i + 1 && replaced == i + 1);
        fake_complete(packet->completion_signal.handle, 1, 2);
        struct rtl_kernel_facts facts;
        CHECK(take(i, &facts) == RTL_TAKE_TAKEN && facts.app_signal == own &&
              rtl_is_replaced(&facts));
        CHECK(facts.packet == i && facts.epoch == 9 && facts.correlation == (i == 2 ? 78 : 0));
        CHECK(facts.grid[0] == 1000 + i && facts.block[1] == 2 && facts.group_size == 512);
    }
    CHECK(bench.ledger.borrowed == 0 && bench.ledger.seen == 3 && bench.ledger.packets == 3);
    return NULL;
}

const char *Rewrite_SignalOfAPacketInFlightIsReplaced(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    uint64_t own = fake_signal(1);
    hsa_kernel_dispatch_packet_t *first = kernel(0, own);
    hsa_kernel_dispatch_packet_t *second = kernel(1, own);
    rewrite(0, 2);
    CHECK(first->completion_signal.handle == own);
    CHECK(second->completion_signal.handle != own);
    CHECK(bench.ledger.borrowed == 1 && bench.pending.to_forward == 1);
    return NULL;
}

const char *Rewrite_BarrierDoesNotWriteOverBorrowedTimes(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    struct rtl_kernel_facts facts;
    uint64_t own = fake_signal(1);
    kernel(0, own);
    hsa_barrier_and_packet_t *early = barrier(1, HSA_PACKET_TYPE_BARRIER_AND, own);
    rewrite(0, 2);
    CHECK(early->completion_signal.handle != own && bench.ledger.borrowed == 1);
    fake_complete(own, 1, 2);
    fake_complete(early->completion_signal.handle, 3, 4);
    CHECK(take(0, &facts) == RTL_TAKE_TAKEN && take(1, &facts) == RTL_TAKE_TAKEN);
    atomic_store(&bench.pending.to_forward, 0);
    hsa_barrier_and_packet_t *late = barrier(2, HSA_PACKET_TYPE_BARRIER_AND, own);
    rewrite(2, 1);
    CHECK(late->completion_signal.handle == own);
    return NULL;
}

/* A barrier without a record has the signal: a kernel may not read times there, which may be the
 * barrier's, until the signal has been armed again. */
const char *Rewrite_SignalOfABarrierInFlightIsReplaced(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    uint64_t own = fake_signal(1);
    uint64_t other = fake_signal(1);
    barrier(0, HSA_PACKET_TYPE_BARRIER_AND, own);
    hsa_kernel_dispatch_packet_t *shared = kernel(1, own);
    rewrite(0, 2);
    CHECK(bench.ring[0].completion_signal.handle == own);
    CHECK(shared->completion_signal.handle != own && bench.ledger.borrowed == 0);
    atomic_store(&bench.pending.to_forward, 0);
    hsa_kernel_dispatch_packet_t *free = kernel(2, other);
    rewrite(2, 1);
    CHECK(free->completion_signal.handle == other && bench.ledger.borrowed == 1);
    rtl_borrow_clear_busy(&bench.borrows, other);
    hsa_kernel_dispatch_packet_t *again = kernel(3, own);
    rewrite(3, 1);
    CHECK(again->completion_signal.handle != own);
    atomic_store(&bench.pending.to_forward, 0);
    rtl_borrow_clear_busy(&bench.borrows, own);
    again = kernel(4, own);
    rewrite(4, 1);
    CHECK(again->completion_signal.handle == own && bench.ledger.borrowed == 2);
    return NULL;
}

const char *Rewrite_BorrowingAgainAfterCompletion(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    struct rtl_kernel_facts facts;
    uint64_t own = fake_signal(1);
    for (uint64_t i = 0; i < 3 * SLOTS; i++) {
        hsa_kernel_dispatch_packet_t *packet = kernel(i, own);
        rewrite(i, 1);
        CHECK(packet->completion_signal.handle == own);
        fake_complete(own, i + 1, i + 2);
        CHECK(take(i, &facts) == RTL_TAKE_TAKEN && facts.packet == i && facts.start == i + 1);
        rtl_pending_advance(&bench.pending);
        ((amd_signal_t *)(uintptr_t)own)->value = 1;
    }
    CHECK(bench.ledger.borrowed == 3 * SLOTS);
    return NULL;
}

static bool finish(struct rtl_record_id id)
{
    struct rtl_kernel_facts facts;
    return take_rearmed_record(&bench.pending, id.sequence, &facts) && facts.end == 9;
}

const char *Rewrite_SignalThatWasArmedUnseenIsBorrowedAgain(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    bench.borrows.finish = finish;
    uint64_t own = fake_signal(1);
    kernel(0, own);
    rewrite(0, 1);
    hsa_kernel_dispatch_packet_t *second = kernel(1, own);
    rewrite(1, 1); /* the first is under way: not settled, replaced */
    CHECK(second->completion_signal.handle != own && bench.ledger.borrowed == 1);
    fake_complete(second->completion_signal.handle, 1, 2);
    struct rtl_kernel_facts facts;
    CHECK(take(1, &facts) == RTL_TAKE_TAKEN);
    atomic_store(&bench.pending.to_forward, 0);
    fake_complete(own, 7, 9);
    ((amd_signal_t *)(uintptr_t)own)->value = 1;
    hsa_kernel_dispatch_packet_t *third = kernel(2, own);
    rewrite(2, 1);
    CHECK(third->completion_signal.handle == own && bench.ledger.borrowed == 2);
    CHECK(take(0, &facts) == RTL_TAKE_DONE && take(2, &facts) == RTL_TAKE_WAITING);
    return NULL;
}

const char *Rewrite_StaleHandleOfThePoolIsDropped(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    uint64_t ours = fake_signal(1);
    CHECK(!rtl_signal_is_ours(ours));
    rtl_signal_tag_as_ours(ours);
    CHECK(rtl_signal_is_ours(ours));
    hsa_kernel_dispatch_packet_t *packet = kernel(0, ours);
    hsa_barrier_and_packet_t *behind = barrier(1, HSA_PACKET_TYPE_BARRIER_AND, ours);
    rewrite(0, 2);
    struct rtl_kernel_facts facts;
    CHECK(packet->completion_signal.handle != ours && packet->completion_signal.handle != 0);
    CHECK(behind->completion_signal.handle == 0);
    fake_complete(packet->completion_signal.handle, 1, 2);
    CHECK(take(0, &facts) == RTL_TAKE_TAKEN && facts.app_signal == 0);
    CHECK(bench.ledger.borrowed == 0 && atomic_load(&bench.pending.to_forward) == 0);
    return NULL;
}

const char *Rewrite_BarrierIsForwardedOnlyBehindAForward(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    struct rtl_kernel_facts facts;
    uint64_t own = fake_signal(1);
    uint64_t counting = fake_signal(5);
    hsa_barrier_and_packet_t *alone = barrier(0, HSA_PACKET_TYPE_BARRIER_AND, own);
    rewrite(0, 1);
    CHECK(alone->completion_signal.handle == own);
    (void)kernel(1, counting);
    hsa_barrier_and_packet_t *behind = barrier(2, HSA_PACKET_TYPE_BARRIER_OR, own);
    hsa_barrier_and_packet_t *without = barrier(3, HSA_PACKET_TYPE_BARRIER_AND, 0);
    rewrite(1, 3);
    CHECK(behind->completion_signal.handle != own && behind->completion_signal.handle != 0);
    CHECK(without->completion_signal.handle == 0);
    CHECK(bench.pending.to_forward == 2 && bench.ledger.seen == 1 && bench.ledger.packets == 4);
    fake_complete(behind->completion_signal.handle, 1, 2);
    CHECK(take(1, &facts) == RTL_TAKE_TAKEN);
    CHECK(facts.app_signal == own && (facts.flags & RTL_RECORD_BARRIER) != 0);
    return NULL;
}

const char *Rewrite_UnknownVendorPacketIsLeftAlone(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    uint64_t own = fake_signal(1);
    (void)kernel(0, fake_signal(2)); /* a forward is owed from here on */
    for (uint8_t format = 0; format < 5; format++) {
        hsa_barrier_and_packet_t *packet = barrier(1, HSA_PACKET_TYPE_VENDOR_SPECIFIC, own);
        ((hsa_amd_barrier_value_packet_t *)(void *)packet)->header.AmdFormat = format;
        rewrite(format == 0 ? 0 : 1, format == 0 ? 2 : 1);
        CHECK((packet->completion_signal.handle != own) == (format >= 1 && format <= 3));
    }
    return NULL;
}

/* ROCm 7's kernel with clusters: the layout of its hsa_ext_amd.h, byte by byte. */
const char *Rewrite_ExtendedDispatchIsAKernel(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    unsigned char *packet = (unsigned char *)kernel(2, 0);
    const unsigned char body[] = {
        HSA_PACKET_TYPE_VENDOR_SPECIFIC,
        0,
        3,
        3, /* header, format, dimensions */
        64,
        0,
        2,
        0,
        1,
        0,
        0,
        0, /* workgroup size, reserved */
        5,
        0,
        0,
        0,
        7,
        0,
        1,
        0, /* clusters in x, y, z */
        2,
        3,
        1,
        0, /* cluster size, hint */
        0,
        0,
        0,
        0,
        0,
        2,
        0,
        0, /* private, group segment size */
        0x40,
        0x10,
        0,
        0,
        0,
        0x7f,
        0,
        0, /* kernel object */
    };
    memset(packet, 0, 64);
    memcpy(packet, body, sizeof body);
    rewrite(2, 1);
    CHECK(bench.ledger.seen == 1);
    struct rtl_kernel_facts facts;
    fake_complete(bench.ring[2].completion_signal.handle, 10, 20);
    CHECK(take(0, &facts) == RTL_TAKE_TAKEN && facts.packet == 2);
    CHECK(facts.kernel_object == 0x7f0000001040 && facts.group_size == 512);
    CHECK(facts.block[0] == 64 && facts.block[1] == 2 && facts.block[2] == 1);
    CHECK(facts.grid[0] == 5 * 2 * 64 && facts.grid[1] == 7 * 3 * 2 && facts.grid[2] == 1);
    bench.ring[2].completion_signal.handle = 0;
    CHECK(memcmp(packet, body, sizeof body) == 0);
    return NULL;
}

/* With progress packets, one of four packets in a row carries a signal even if none is recorded. */
const char *Rewrite_MarksTellHowFarTheDeviceIs(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    bench.rewriter.progress_every = 4;
    for (uint64_t i = 0; i < 12; i++)
        (void)barrier(i, HSA_PACKET_TYPE_BARRIER_AND, 0);
    (void)kernel(5, 0);
    rewrite(0, 12);
    for (uint64_t i = 0; i < 12; i++)
        CHECK((bench.ring[i].completion_signal.handle != 0) == (i == 3 || i == 5 || i == 9));
    struct rtl_kernel_facts facts;
    fake_complete(bench.ring[3].completion_signal.handle, 1, 2);
    CHECK(take(0, &facts) == RTL_TAKE_TAKEN && facts.packet == 3);
    CHECK((facts.flags & RTL_RECORD_BARRIER) != 0 && !rtl_is_replaced(&facts));
    CHECK(bench.ledger.seen == 1 && bench.ledger.packets == 12);
    return NULL;
}

const char *Rewrite_PausedLeavesKernelsOut(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    bench.rewriter.paused = true;
    hsa_kernel_dispatch_packet_t *packet = kernel(0, 0);
    rewrite(0, 1);
    CHECK(packet->completion_signal.handle == 0);
    CHECK(bench.ledger.seen == 1 && bench.ledger.skipped == 1);
    return NULL;
}

/* How many of a single kernel, a single one with a signal, and a batch of two are rewritten or
 * borrowed; all four are submitted together, as happens when one thread submits for others. */
static const char *count_records(enum rtl_mode mode, uint64_t *single, uint64_t *own,
                                 uint64_t *batch)
{
    CHECK_DONE(set_up(mode, 64));
    uint64_t signal = fake_signal(1);
    (void)kernel(0, 0);
    (void)kernel(1, signal);
    (void)kernel(2, 0);
    (void)kernel(3, 0);
    reserve(0, 1, 0, RTL_NONE, 0);
    reserve(1, 1, 0, RTL_NONE, 0);
    reserve(2, 2, 0, RTL_NONE, 0);
    rewrite(0, 4);
    *single = bench.ring[0].completion_signal.handle != 0;
    *own = bench.ledger.borrowed;
    *batch = (bench.ring[2].completion_signal.handle != 0) +
             (bench.ring[3].completion_signal.handle != 0);
    CHECK(bench.pending.tail == *single + *own + *batch);
    CHECK(bench.ledger.seen == 4);
    CHECK(bench.ledger.skipped == 4 - bench.pending.tail);
    return NULL;
}

const char *Rewrite_ModesChoose(void)
{
    uint64_t single;
    uint64_t own;
    uint64_t batch;
    CHECK_DONE(count_records(RTL_MODE_LITE, &single, &own, &batch));
    CHECK(single == 1 && own == 0 && batch == 0);
    CHECK_DONE(count_records(RTL_MODE_STANDARD, &single, &own, &batch));
    CHECK(single == 1 && own == 1 && batch == 0);
    CHECK_DONE(count_records(RTL_MODE_HIP, &single, &own, &batch));
    CHECK(single == 1 && own == 1 && batch == 0);
    CHECK_DONE(count_records(RTL_MODE_FULL, &single, &own, &batch));
    CHECK(single == 1 && own == 1 && batch == 2);
    return NULL;
}

const char *Rewrite_EmptyPoolIsCounted(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 2));
    for (uint64_t i = 0; i < 5; i++)
        (void)kernel(i, 0);
    rewrite(0, 5);
    CHECK(bench.ring[1].completion_signal.handle != 0);
    for (int i = 2; i < 5; i++)
        CHECK(bench.ring[i].completion_signal.handle == 0);
    CHECK(bench.ledger.seen == 5 && bench.ledger.lost[RTL_LOST_POOL] == 3 && bench.helps > 0);
    CHECK(bench.pending.tail == 2);
    return NULL;
}

const char *Rewrite_FullRecordsAreCounted(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 2 * SLOTS));
    for (uint64_t i = 0; i < SLOTS; i++)
        (void)kernel(i, 0);
    rewrite(0, SLOTS);
    CHECK(bench.ledger.lost[RTL_LOST_PENDING] == 0);
    hsa_kernel_dispatch_packet_t *packet = kernel(0, 0);
    rewrite(SLOTS, 1);
    CHECK(packet->completion_signal.handle == 0);
    CHECK(bench.ledger.lost[RTL_LOST_PENDING] == 1 && bench.helps > 0);
    return NULL;
}

const char *Rewrite_HelpMakesRoom(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 1));
    bench.help_harvests = true;
    for (uint64_t i = 0; i < 3 * SLOTS; i++) {
        hsa_kernel_dispatch_packet_t *packet = kernel(i, 0);
        rewrite(i, 1);
        CHECK(packet->completion_signal.handle != 0);
        fake_complete(packet->completion_signal.handle, i + 1, i + 2);
    }
    CHECK(bench.ledger.lost[RTL_LOST_POOL] == 0 && bench.ledger.lost[RTL_LOST_PENDING] == 0);
    CHECK(bench.helps == 3 * SLOTS - 1);
    return NULL;
}

/* Eight queues with one kernel each in a pool of 64: what the first ones have at hand must not
 * leave the last without. */
const char *Rewrite_SmallPoolIsShared(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    struct rtl_rewriter queues[8];
    for (uint64_t i = 0; i < 8; i++) {
        queues[i] = bench.rewriter;
        rtl_rewrite(&queues[i], kernel(i, 0), i, 1, 9);
        CHECK(bench.ring[i].completion_signal.handle != 0);
    }
    CHECK(bench.helps == 0 && bench.ledger.lost[RTL_LOST_POOL] == 0);
    for (unsigned i = 0; i < 8; i++)
        rtl_rewrite_release(&queues[i]);
    CHECK(atomic_load(&bench.pool.free) == 64 - 8);
    return NULL;
}

static unsigned told_low;

static void on_low_watermark(void)
{
    told_low++;
}

/* Nothing is harvested: it is told from half of the signals on, once for each piece of them. */
const char *Rewrite_ScarceSignalsAreTold(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    bench.rewriter.on_low_watermark = on_low_watermark;
    told_low = 0;
    for (uint64_t i = 0; i < 40; i++) {
        (void)kernel(i, 0);
        rewrite(i, 1);
        CHECK(i > 32 || told_low == 0);
    }
    CHECK(told_low > 0 && told_low <= 8);
    return NULL;
}

const char *Rewrite_PacketsWrap(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    uint64_t first = 1000 * SLOTS - 3;
    for (uint64_t i = first; i < first + 6; i++)
        (void)kernel(i, 0);
    rewrite(first, 6);
    for (uint64_t i = first; i < first + 6; i++) {
        struct rtl_kernel_facts facts;
        fake_complete(bench.ring[i % SLOTS].completion_signal.handle, 1, 2);
        CHECK(take(i - first, &facts) == RTL_TAKE_TAKEN && facts.packet == i);
        CHECK(facts.grid[0] == (uint32_t)(1000 + i));
    }
    return NULL;
}

/* A reservation of three for a launch of HIP's, of which the middle one is a barrier; then one that
 * no hook saw; then one of a host call that is no launch. */
const char *Rewrite_KernelsNameWhereTheyComeFrom(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    struct rtl_kernel_facts facts;
    reserve(10, 3, 77, 4, 0);
    reserve(14, 1, 78, RTL_NONE, 0);
    for (uint64_t i = 10; i < 15; i++)
        (void)kernel(i, 0);
    (void)barrier(11, HSA_PACKET_TYPE_BARRIER_AND, 0);
    rewrite(10, 5);
    static const uint32_t packets[] = {10, 12, 13, 14};
    static const uint64_t correlations[] = {77, 77, 0, 78};
    static const uint32_t ordinals[] = {100, 102, RTL_NONE, RTL_NONE};
    for (unsigned i = 0; i < 4; i++) {
        fake_complete(bench.ring[packets[i]].completion_signal.handle, 1, 2);
        CHECK(take(i, &facts) == RTL_TAKE_TAKEN && facts.packet == packets[i]);
        CHECK(facts.correlation == correlations[i] && facts.ordinal == ordinals[i]);
        CHECK(facts.launch == (i < 2 ? 4 : RTL_NONE));
    }
    uint32_t kernels = 0;
    for (unsigned i = 0; i < bench.part_count; i++) {
        CHECK(bench.parts[i].launch == 4 && bench.parts[i].unseen == 0);
        kernels += bench.parts[i].kernels;
    }
    CHECK(bench.part_count == 3 && kernels == 2);
    return NULL;
}

/* A replay of three kernels and a barrier, of which the mode takes the kernel that is reserved
 * alone. */
const char *Rewrite_LaunchesKnowWhatTheModeLeavesOut(void)
{
    CHECK_DONE(set_up(RTL_MODE_HIP, 64));
    reserve(10, 1, 77, 4, 0);
    reserve(11, 3, 77, 4, 0);
    for (uint64_t i = 10; i < 14; i++)
        (void)kernel(i, 0);
    (void)barrier(12, HSA_PACKET_TYPE_BARRIER_AND, 0);
    rewrite(10, 4);
    struct rtl_launch_part sum = {0};
    for (unsigned i = 0; i < bench.part_count; i++) {
        CHECK(bench.parts[i].launch == 4);
        sum.packets += bench.parts[i].packets;
        sum.kernels += bench.parts[i].kernels;
        sum.left_out += bench.parts[i].left_out;
    }
    CHECK(sum.packets == 4 && sum.kernels == 3 && sum.left_out == 2);
    CHECK(bench.ledger.skipped == 2 && bench.ledger.seen == 3);
    return NULL;
}

/* A packet of the vendor's for each of eight formats from `first` on. */
static void write_formats(uint64_t first)
{
    for (uint64_t i = 0; i < 8; i++) {
        hsa_barrier_and_packet_t *packet = barrier(first + i, HSA_PACKET_TYPE_VENDOR_SPECIFIC, 0);
        ((hsa_amd_barrier_value_packet_t *)(void *)packet)->header.AmdFormat = (uint8_t)i;
    }
}

/* Of the eight formats one is a kernel and one a barrier of the runtime's. The others are what
 * nobody can look into: of a launch if HIP has told of it. */
const char *Rewrite_PacketsThatCannotBeLookedInto(void)
{
    static const uint64_t wanted[RTL_OPAQUE_KINDS] = {
        [RTL_OPAQUE_PM4] = 1, [RTL_OPAQUE_INDIRECT] = 3, [RTL_OPAQUE_VENDOR] = 2};
    static const uint32_t inferred = RTL_RESERVED_INFERRED | RTL_RESERVED_OUTSIDE;
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    reserve(8, 8, 77, 4, 0);
    reserve(16, 8, 0, 5, inferred);
    reserve(24, 8, 0, RTL_NONE, RTL_RESERVED_LEFT_OUT);
    uint32_t unseen = 0;
    for (uint64_t first = 0; first < 40; first += 8) {
        bench.part_count = 0;
        bench.rewriter.paused = first == 32;
        write_formats(first);
        rewrite(first, 8);
        for (unsigned i = 0; i < bench.part_count && i < 8; i++) {
            CHECK(bench.parts[i].launch == 4 || bench.parts[i].unseen == 0);
            unseen += bench.parts[i].unseen;
        }
    }
    CHECK(unseen == 6 && bench.ledger.seen == 5);
    for (unsigned i = 0; i < RTL_OPAQUE_KINDS; i++) {
        CHECK(bench.ledger.opaque[i] == 3 * wanted[i]);
        CHECK(bench.ledger.opaque_of_graphs[i] == wanted[i]);
    }
    return NULL;
}

/* Takes the records from `sequence` on, which are of the kernels [first, end) of one launch. */
static const char *check_row(uint64_t sequence, uint64_t first, uint64_t end, uint64_t correlation)
{
    for (uint64_t i = first; i < end; i++) {
        struct rtl_kernel_facts facts;
        fake_complete(bench.ring[i % SLOTS].completion_signal.handle, i, i + 1);
        CHECK(take(sequence + i - first, &facts) == RTL_TAKE_TAKEN && facts.packet == i);
        CHECK(facts.correlation == correlation && facts.launch == correlation + 1);
        CHECK(facts.start == i && facts.grid[0] == 1000 + i && facts.epoch == 9);
        CHECK(facts.app_signal == 0 && facts.pool_id != UINT32_MAX && facts.kernel_object != 0);
        ((amd_signal_t *)(uintptr_t)rtl_pool_handle(&bench.pool, facts.pool_id))->value = 1;
        rtl_pool_give(&bench.pool, &facts.pool_id, 1);
    }
    rtl_pending_advance(&bench.pending);
    return NULL;
}

/* Batches that are rewritten at once, whose records lie across two slabs and whose signals are not
 * all at hand at first. */
const char *Rewrite_LargeBatchesGoOnInTheNextSlab(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 50));
    for (uint64_t batch = 0; batch < 9; batch++) {
        uint64_t first = batch * SLOTS;
        reserve(first, 40, 500 + batch, (uint32_t)(501 + batch), 0);
        for (uint64_t i = first; i < first + 40; i++)
            (void)kernel(i, 0);
        rtl_rewrite(&bench.rewriter, bench.ring, first, 40, 9);
        CHECK(atomic_load(&bench.pending.tail) == (batch + 1) * 40);
        CHECK_DONE(check_row(batch * 40, first, first + 40, 500 + batch));
    }
    CHECK(bench.ledger.seen == UINT64_C(9) * 40 && bench.ledger.lost[RTL_LOST_POOL] == 0);
    return NULL;
}

/* Help is asked for only where the pool is empty, and what is lost is counted once. */
const char *Rewrite_SignalsRunOutInABatch(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 25));
    reserve(0, 40, 500, 501, 0);
    for (uint64_t i = 0; i < 40; i++)
        (void)kernel(i, 0);
    rtl_rewrite(&bench.rewriter, bench.ring, 0, 25, 9);
    CHECK(bench.helps == 0 && bench.ledger.seen == 25);
    rtl_rewrite(&bench.rewriter, &bench.ring[25], 25, 15, 9);
    CHECK(bench.helps > 0 && bench.ledger.seen == 40);
    CHECK(bench.ledger.lost[RTL_LOST_POOL] == 15 && bench.ledger.lost[RTL_LOST_PENDING] == 0);
    for (uint64_t i = 25; i < 40; i++)
        CHECK(bench.ring[i].completion_signal.handle == 0);
    return check_row(0, 0, 25, 500);
}

/* A barrier and a kernel with a signal of its own among them. */
const char *Rewrite_BatchOfManyKindsKeepsItsOrder(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    struct rtl_kernel_facts facts;
    uint64_t own = fake_signal(1);
    reserve(0, 30, 7, 8, 0);
    for (uint64_t i = 0; i < 30; i++)
        (void)kernel(i, i == 20 ? own : 0);
    (void)barrier(10, HSA_PACKET_TYPE_BARRIER_AND, 0);
    rtl_rewrite(&bench.rewriter, bench.ring, 0, 30, 9);
    CHECK(bench.ring[10].completion_signal.handle == 0);
    CHECK(bench.ring[20].completion_signal.handle == own);
    CHECK_DONE(check_row(0, 0, 10, 7));
    CHECK_DONE(check_row(10, 11, 20, 7));
    fake_complete(own, 5, 6);
    CHECK(take(19, &facts) == RTL_TAKE_TAKEN && facts.app_signal == own && facts.ordinal == 120);
    CHECK_DONE(check_row(20, 21, 30, 7));
    return NULL;
}

/* An origin is kept for records alone: a slab has room for as many of both. */
const char *Rewrite_BarriersTakeNoPlaceForOrigins(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    for (uint64_t i = 0; i < UINT64_C(3) * RTL_SLAB; i++) {
        reserve(i, 1, 100 + i, (uint32_t)(101 + i), 0);
        (void)barrier(i, HSA_PACKET_TYPE_BARRIER_AND, 0);
        rtl_rewrite(&bench.rewriter, &bench.ring[i % SLOTS], i, 1, 9);
        CHECK(bench.pending.last.place == UINT64_MAX);
    }
    return NULL;
}

/* A kernel alone and a batch of two behind it, twice: the second time the first is known as the
 * head of a replay. Its fingerprint is what was told the first time. */
const char *Rewrite_HeadOfReplayIsKnownAgain(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    for (uint64_t first = 0; first < 6; first += 3) {
        reserve(first, 1, 0, RTL_NONE, RTL_RESERVED_OUTSIDE);
        reserve(first + 1, 2, 0, (uint32_t)(40 + first),
                RTL_RESERVED_OUTSIDE | RTL_RESERVED_INFERRED);
        for (uint64_t i = 0; i < 3; i++)
            kernel(first + i, 0)->grid_size_x = (uint32_t)(5 + i);
        rtl_rewrite(&bench.rewriter, &bench.ring[first], first, 3, 9);
    }
    CHECK(bench.headed == 40 && bench.found == 1 && bench.part_count == 3);
    CHECK(bench.parts[0].launch == 40 && bench.parts[0].packets == 2);
    CHECK(bench.parts[1].launch == 1 && bench.parts[1].packets == 1);
    CHECK(bench.parts[1].fingerprint == bench.head && bench.head != 0);
    CHECK(bench.parts[2].launch == 43 && bench.parts[2].kernels == 2);
    CHECK(bench.parts[2].fingerprint == bench.parts[0].fingerprint);
    CHECK(bench.parts[2].fingerprint != bench.head);
    return NULL;
}

/* A batch of two and a kernel alone right behind it, twice: the second time it is known. Behind a
 * batch that is not full nothing more of a replay comes. */
const char *Rewrite_LastOfReplayIsKnownAgain(void)
{
    for (uint32_t size = 2; size <= 3; size++) {
        CHECK_DONE(set_up(RTL_MODE_FULL, 64));
        for (uint64_t replay = 0; replay < 2; replay++) {
            uint64_t first = replay * 8; /* not right behind the last: that would be a head */
            reserve(first, size, 0, (uint32_t)(40 + replay),
                    RTL_RESERVED_OUTSIDE | RTL_RESERVED_INFERRED);
            reserve(first + size, 1, 0, RTL_NONE, RTL_RESERVED_OUTSIDE);
            for (uint64_t i = 0; i <= size; i++)
                kernel(first + i, 0)->grid_size_x = (uint32_t)(5 + i);
            bench.ring[first + size].kernarg_address = (char *)&bench + 4096;
            rtl_rewrite(&bench.rewriter, &bench.ring[first], first, size + 1, 9);
        }
        CHECK(bench.headed == 0); /* there was nothing before the first batch */
        CHECK(bench.part_count == (size == 2 ? 3 : 2));
        CHECK(bench.found == (size == 2));
    }
    return NULL;
}

/* A kernel alone whose arguments lie in a page with those of a batch is a launch of its own, on
 * whatever queue, and one of another page is none. */
const char *Rewrite_ArgumentsInAPageOfGraphs(void)
{
    static const uintptr_t page = UINT64_C(1) << 32;
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    reserve(0, 3, 0, 40, RTL_RESERVED_OUTSIDE | RTL_RESERVED_INFERRED);
    for (uint64_t i = 0; i < 6; i++)
        kernel(i, 0)->kernarg_address = (void *)(page + i * 256);
    bench.ring[2].kernarg_address = (void *)(page + 4096);
    bench.ring[4].kernarg_address = (void *)(page + 8192);
    bench.ring[5].kernarg_address = (void *)(page + 4096 + 64);
    rtl_rewrite(&bench.rewriter, &bench.ring[3], 3, 1, 9);
    CHECK(bench.found == 0);
    rtl_rewrite(&bench.rewriter, bench.ring, 0, 3, 9);
    CHECK(bench.part_count == 1 && bench.parts[0].launch == 40);
    CHECK(bench.parts[0].arguments[0] == page && bench.parts[0].arguments[1] == page + 4096);
    rtl_rewrite(&bench.rewriter, &bench.ring[3], 3, 1, 9);
    rtl_rewrite(&bench.rewriter, &bench.ring[4], 4, 1, 9);
    rtl_rewrite(&bench.rewriter, &bench.ring[5], 5, 1, 9);
    CHECK(bench.found == 2 && bench.part_count == 3);
    CHECK(bench.parts[1].packets == 1 && bench.parts[1].arguments[0] == page + 768);
    CHECK(bench.parts[2].arguments[0] == page + 4096 + 64);
    CHECK(bench.parts[2].arguments[1] == bench.parts[2].arguments[0]);
    return NULL;
}

/* A kernel that is taken for the head of a replay may be an eager one: those with arguments in its
 * page are none of a graph. */
const char *Rewrite_HeadsSayNothingOfTheirPage(void)
{
    static const uintptr_t page = UINT64_C(1) << 32;
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    for (uint64_t first = 0; first < 9; first += 3) {
        reserve(first + 1, 2, 0, (uint32_t)(40 + first),
                RTL_RESERVED_OUTSIDE | RTL_RESERVED_INFERRED);
        for (uint64_t i = 0; i < 3; i++) {
            kernel(first + i, 0)->grid_size_x = 64;
            bench.ring[first + i].kernarg_address = (void *)(page + (i == 0 ? 4096 : 0));
        }
        if (first == 6) /* another one than the head */
            bench.ring[first].kernarg_address = (void *)(page + 4096 + 128);
        rtl_rewrite(&bench.rewriter, &bench.ring[first], first, 3, 9);
        CHECK(bench.found == (first >= 3));
    }
    return NULL;
}

/* Other kernargs are another fingerprint, other kernels in the same place, too. */
const char *Rewrite_FingerprintTellsKernargsApart(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t first = 2 * (uint64_t)i;
        reserve(first, 2, 0, 50 + i, RTL_RESERVED_INFERRED);
        for (uint64_t at = first; at < first + 2; at++)
            kernel(at, 0)->grid_size_x = 8;
        if (i == 2)
            kernel(first, 0)->kernarg_address = &bench.ledger;
        bench.ring[first].grid_size_x = 8;
        if (i == 3)
            bench.ring[first + 1].kernel_object += 64;
        rtl_rewrite(&bench.rewriter, &bench.ring[first], first, 2, 9);
    }
    CHECK(bench.part_count == 4 && bench.parts[0].fingerprint == bench.parts[1].fingerprint);
    CHECK(bench.parts[2].fingerprint != bench.parts[0].fingerprint);
    CHECK(bench.parts[3].fingerprint != bench.parts[0].fingerprint);
    CHECK(bench.parts[3].fingerprint != bench.parts[2].fingerprint);
    return NULL;
}

/* What is reserved and never written passes as unseen. */
const char *Rewrite_PacketsThatNeverComeAreTold(void)
{
    CHECK_DONE(set_up(RTL_MODE_FULL, 64));
    reserve(0, 4, 7, 9, 0);
    (void)kernel(0, 0);
    rewrite(0, 1);
    rtl_rewrite_skip(&bench.rewriter, 1, 4);
    CHECK(bench.part_count == 2 && bench.parts[0].kernels == 1 && bench.parts[0].unseen == 0);
    CHECK(bench.parts[1].launch == 9 && bench.parts[1].packets == 3);
    CHECK(bench.parts[1].kernels == 0 && bench.parts[1].unseen == 3);
    return NULL;
}
