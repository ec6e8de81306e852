#include "softgpu/sdma.h"

#include "softgpu/clock.h"
#include "softgpu/events.h"
#include "softgpu/exec.h"

#include <hsa/amd_hsa_signal.h>
#include <stddef.h>
#include <string.h>

enum {
    BURST_BYTES =
        64 << 10, /* packets read in one visit, so that a busy queue does not starve the others */
    MAX_DWORDS = 13, /* the longest packet: a rectangular copy */
    LOOK_AHEAD_BYTES = 64 << 10,
    COUNT_BITS = 30, /* of a length; older engines have 22, and zeros above them */
};

/* Operations in bits 0-7 of a packet's first dword, sub-operations in bits 8-15. */
enum {
    OP_NOP = 0,
    OP_COPY = 1,
    OP_FENCE = 5,
    OP_TRAP = 6,
    OP_POLL = 8,
    OP_ATOMIC = 10,
    OP_FILL = 11,
    OP_TIMESTAMP = 13,
    OP_GCR = 17,
    COPY_LINEAR = 0,
    COPY_RECTANGLE = 4,
    ATOMIC_ADD64 = 47,
};

/* Comparisons of a poll. */
enum { POLL_ALWAYS, POLL_LT, POLL_LE, POLL_EQ, POLL_NE, POLL_GE, POLL_GT };

/* What came of a packet. */
typedef enum sg_outcome {
    SG_DONE,   /* go on behind it */
    SG_WAIT,   /* look at it again later */
    SG_UNKNOWN /* not a packet of this engine */
} sg_outcome_t;

static uint32_t bits(uint32_t word, unsigned from, unsigned count)
{
    return (word >> from) & ((1U << count) - 1);
}

static uint64_t address(const uint32_t *low)
{
    return (uint64_t)low[1] << 32 | low[0];
}

/* Length of a packet in dwords, 0 if unknown. */
static uint32_t length(uint32_t header)
{
    switch (bits(header, 0, 8)) {
    case OP_NOP:
        return 1 + bits(header, 16, 14);
    case OP_COPY:
        switch (bits(header, 8, 8)) {
        case COPY_LINEAR:
            return 7;
        case COPY_RECTANGLE:
            return 13;
        default:
            return 0;
        }
    case OP_FENCE:
        return 4;
    case OP_TRAP:
        return 2;
    case OP_POLL:
        return 6;
    case OP_ATOMIC:
        return 8;
    case OP_FILL:
    case OP_GCR:
        return 5;
    case OP_TIMESTAMP:
        return 3;
    default:
        return 0;
    }
}

static void read_ring(const sg_queue_t *queue, uint64_t index, uint32_t *words, uint32_t count)
{
    uint64_t mask = queue->ring_bytes - 1;
    for (uint32_t i = 0; i < count; i++)
        memcpy(&words[i], (const char *)queue->ring + ((index + 4 * (uint64_t)i) & mask), 4);
}

/* ---- copies ---- */

/* A rectangle in elements of 1 << shift bytes; pitches and sizes are stored less one. */
typedef struct sg_rectangle {
    uint32_t shift;
    uint32_t width, height, depth;
    uint64_t src, dst;
    uint64_t src_pitch, src_slice, dst_pitch, dst_slice;
} sg_rectangle_t;

static uint64_t corner(const uint32_t *words, uint32_t shift, uint64_t pitch, uint64_t slice)
{
    uint64_t x = bits(words[2], 0, 14);
    uint64_t y = bits(words[2], 16, 14);
    uint64_t z = bits(words[3], 0, 11);
    return address(words) + (x << shift) + y * pitch + z * slice;
}

static sg_rectangle_t read_rectangle(const uint32_t *words)
{
    sg_rectangle_t r;
    r.shift = bits(words[0], 29, 3);
    r.src_pitch = (uint64_t)(bits(words[4], 13, 19) + 1) << r.shift;
    r.src_slice = (uint64_t)(bits(words[5], 0, 28) + 1) << r.shift;
    r.dst_pitch = (uint64_t)(bits(words[9], 13, 19) + 1) << r.shift;
    r.dst_slice = (uint64_t)(bits(words[10], 0, 28) + 1) << r.shift;
    r.src = corner(&words[1], r.shift, r.src_pitch, r.src_slice);
    r.dst = corner(&words[6], r.shift, r.dst_pitch, r.dst_slice);
    r.width = bits(words[11], 0, 14) + 1;
    r.height = bits(words[11], 16, 14) + 1;
    r.depth = bits(words[12], 0, 11) + 1;
    return r;
}

static uint64_t extent(uint64_t pitch, uint64_t slice, const sg_rectangle_t *r)
{
    return (r->depth - 1) * slice + (r->height - 1) * pitch + ((uint64_t)r->width << r->shift);
}

/* Memory that neither the driver gave out nor the program registered is not mapped on the device.
 */
static bool mapped(uint64_t start, uint64_t bytes)
{
    while (bytes > 0) {
        uint64_t covered = 0;
        if (!sg_memory_host(start, &covered))
            return false;
        if (covered >= bytes)
            return true;
        start += covered;
        bytes -= covered;
    }
    return true;
}

static uint64_t smaller(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* Of bytes that are mapped; in one piece unless they lie in several allocations. */
static void copy(uint64_t dst, uint64_t src, uint64_t bytes)
{
    while (bytes > 0) {
        uint64_t piece = 0;
        uint64_t other = 0;
        const void *from = sg_memory_host(src, &piece);
        void *to = sg_memory_host(dst, &other);
        if (!from || !to)
            return; /* freed while it is copied: a mistake of the program */
        piece = smaller(smaller(piece, other), bytes);
        memmove(to, from, piece);
        src += piece;
        dst += piece;
        bytes -= piece;
    }
}

/* As on hardware: the engine stops at the packet, and the process is told through its memory event.
 */
static sg_outcome_t fault(sg_queue_t *queue, uint64_t at)
{
    sg_debug("SDMA queue %u: 0x%llx is not mapped on the device", queue->ordinal,
             (unsigned long long)at);
    (void)sg_event_memory_fault(queue->gpu + 1, at);
    return SG_UNKNOWN;
}

static sg_outcome_t do_copy(sg_queue_t *queue, uint64_t dst, uint64_t src, uint64_t bytes)
{
    if (!mapped(src, bytes))
        return fault(queue, src);
    if (!mapped(dst, bytes))
        return fault(queue, dst);
    copy(dst, src, bytes);
    return SG_DONE;
}

static sg_outcome_t do_rectangle(sg_queue_t *queue, const sg_rectangle_t *r)
{
    if (!mapped(r->src, extent(r->src_pitch, r->src_slice, r)))
        return fault(queue, r->src);
    if (!mapped(r->dst, extent(r->dst_pitch, r->dst_slice, r)))
        return fault(queue, r->dst);
    size_t row = (size_t)r->width << r->shift;
    for (uint32_t z = 0; z < r->depth; z++)
        for (uint32_t y = 0; y < r->height; y++)
            copy(r->dst + z * r->dst_slice + y * r->dst_pitch,
                 r->src + z * r->src_slice + y * r->src_pitch, row);
    return SG_DONE;
}

/* Elements of 1, 2 or 4 bytes by the size field. ROCr fills dwords; its count is of bytes, less 4.
 */
static uint64_t fill_bytes(const uint32_t *words)
{
    uint32_t shift = bits(words[0], 30, 2);
    return bits(words[4], 0, COUNT_BITS) + (UINT64_C(1) << shift);
}

static sg_outcome_t do_fill(sg_queue_t *queue, const uint32_t *words)
{
    uint64_t dst = address(&words[1]);
    uint64_t bytes = fill_bytes(words);
    if (!mapped(dst, bytes))
        return fault(queue, dst);
    uint64_t element = UINT64_C(1) << bits(words[0], 30, 2);
    if (element > 4)
        return SG_UNKNOWN;
    for (uint64_t done = 0; done < bytes;) {
        uint64_t piece = 0;
        char *to = sg_memory_host(dst + done, &piece);
        if (!to)
            break;
        piece = smaller(piece, bytes - done);
        for (uint64_t i = 0; i + element <= piece; i += element)
            memcpy(to + i, &words[3], element);
        done += piece;
    }
    return SG_DONE;
}

/* The signal that the running command will decrement: its atomic lies behind its copies. 0 if the
 * command ends otherwise. */
static uint64_t command_signal(const sg_queue_t *queue)
{
    uint64_t index = queue->sdma.next;
    uint64_t end = index + LOOK_AHEAD_BYTES;
    if (end > queue->sdma.limit)
        end = queue->sdma.limit;
    while (index < end) {
        uint32_t words[3];
        read_ring(queue, index, words, 3);
        uint32_t op = bits(words[0], 0, 8);
        if (op == OP_ATOMIC)
            return address(&words[1]) - offsetof(amd_signal_t, value);
        uint32_t dwords = length(words[0]);
        if (dwords == 0 || op == OP_TRAP)
            return 0;
        index += 4 * (uint64_t)dwords;
    }
    return 0;
}

static void set_times(softgpu_truth_entry_t *entry, uint64_t start, uint64_t end)
{
    entry->start_ticks = start;
    entry->end_ticks = end;
    entry->start_ns = start * SG_NS_PER_TICK;
    entry->end_ns = end * SG_NS_PER_TICK;
}

static void describe(const sg_queue_t *queue, softgpu_truth_kind_t kind,
                     softgpu_truth_entry_t *entry)
{
    memset(entry, 0, sizeof(*entry));
    entry->kind = kind;
    entry->pid = queue->pid;
    entry->gpu = queue->gpu;
    entry->queue = queue->ordinal;
    entry->queue_address = (uintptr_t)queue->ring;
    entry->index = queue->sdma.next;
    entry->name = "";
}

/* The log has the host's addresses. */
static uint64_t of_host(uint64_t address)
{
    uint64_t bytes = 0;
    const void *host = sg_memory_host(address, &bytes);
    return host ? (uintptr_t)host : address;
}

/* What a copy or fill moves, for the log and the duration. */
static void measure(const uint32_t *words, softgpu_truth_entry_t *entry)
{
    if (bits(words[0], 0, 8) == OP_FILL) {
        entry->bytes = fill_bytes(words);
        entry->dst = of_host(address(&words[1]));
    } else if (bits(words[0], 8, 8) == COPY_LINEAR) {
        entry->bytes = (uint64_t)bits(words[1], 0, COUNT_BITS) + 1;
        entry->src = of_host(address(&words[3]));
        entry->dst = of_host(address(&words[5]));
    } else {
        sg_rectangle_t r = read_rectangle(words);
        entry->bytes = ((uint64_t)r.width << r.shift) * r.height * r.depth;
        entry->src = of_host(r.src);
        entry->dst = of_host(r.dst);
    }
}

static sg_outcome_t move(sg_queue_t *queue, const uint32_t *words)
{
    if (bits(words[0], 0, 8) == OP_FILL)
        return do_fill(queue, words);
    if (bits(words[0], 8, 8) == COPY_RECTANGLE) {
        sg_rectangle_t r = read_rectangle(words);
        return do_rectangle(queue, &r);
    }
    return do_copy(queue, address(&words[5]), address(&words[3]),
                   (uint64_t)bits(words[1], 0, COUNT_BITS) + 1);
}

/* The copies and timestamps of one command follow each other without a gap: each begins where the
 * last ended, on the device's time, so that the times in the signal are those in the truth log. */
static uint64_t command_time(sg_queue_t *queue)
{
    if (queue->sdma.time == 0)
        queue->sdma.time = sg_clock_ticks();
    return queue->sdma.time;
}

static sg_outcome_t copy_or_fill(sg_queue_t *queue, const uint32_t *words)
{
    sg_sdma_t *sdma = &queue->sdma;
    if (sdma->until == 0) {
        uint64_t start = command_time(queue);
        describe(queue, SOFTGPU_TRUTH_COPY, &sdma->entry);
        measure(words, &sdma->entry);
        sdma->entry.signal = sg_truth_on() ? command_signal(queue) : 0;
        set_times(&sdma->entry, start, start + sg_model_copy_ticks(sdma->entry.bytes));
        sg_outcome_t outcome = move(queue, words);
        if (outcome != SG_DONE)
            return outcome;
        sdma->until = sdma->entry.end_ticks;
    }
    if (sg_clock_ticks() < sdma->until) {
        queue->wake = sdma->until;
        return SG_WAIT;
    }
    sdma->time = sdma->until;
    sdma->until = 0;
    if (sg_truth_on())
        sg_truth_write(&sdma->entry);
    return SG_DONE;
}

/* ---- everything else ---- */

static bool compare(uint32_t function, uint32_t value, uint32_t reference)
{
    switch (function) {
    case POLL_ALWAYS:
        return true;
    case POLL_LT:
        return value < reference;
    case POLL_LE:
        return value <= reference;
    case POLL_EQ:
        return value == reference;
    case POLL_NE:
        return value != reference;
    case POLL_GE:
        return value >= reference;
    default:
        return value > reference;
    }
}

/* A poll of memory waits; without that flag the packet is an HDP flush, which host memory does not
 * need. */
static sg_outcome_t poll_memory(sg_queue_t *queue, const uint32_t *words)
{
    if (bits(words[0], 31, 1) == 0)
        return SG_DONE;
    queue->sdma.time = 0;
    uint32_t value = atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)address(&words[1]),
                                          memory_order_acquire);
    return compare(bits(words[0], 28, 3), value & words[4], words[3]) ? SG_DONE : SG_WAIT;
}

static sg_outcome_t atomic_add(sg_queue_t *queue, const uint32_t *words)
{
    sg_sdma_t *sdma = &queue->sdma;
    if (bits(words[0], 25, 7) != ATOMIC_ADD64)
        return SG_UNKNOWN;
    uint64_t delay = sg_settings()->delay_ticks;
    if (delay > 0 && sdma->until == 0)
        sdma->until = sg_clock_ticks() + sg_random(&queue->delays) % (delay + 1);
    if (sdma->until != 0 && sg_clock_ticks() < sdma->until) {
        queue->wake = sdma->until;
        return SG_WAIT;
    }
    sdma->until = 0;
    sdma->time = 0;
    (void)atomic_fetch_add_explicit((_Atomic uint64_t *)(uintptr_t)address(&words[1]),
                                    address(&words[3]), memory_order_release);
    return SG_DONE;
}

static sg_outcome_t execute(sg_queue_t *queue, const uint32_t *words)
{
    switch (bits(words[0], 0, 8)) {
    case OP_COPY:
    case OP_FILL:
        return copy_or_fill(queue, words);
    case OP_POLL:
        return poll_memory(queue, words);
    case OP_ATOMIC:
        return atomic_add(queue, words);
    case OP_FENCE:
        queue->sdma.time = 0;
        atomic_store_explicit((_Atomic uint32_t *)(uintptr_t)address(&words[1]), words[3],
                              memory_order_release);
        return SG_DONE;
    case OP_TRAP:
        queue->sdma.time = 0;
        sg_event_raise(bits(words[1], 0, 28));
        return SG_DONE;
    case OP_TIMESTAMP: {
        uint64_t time = command_time(queue);
        memcpy((void *)(uintptr_t)address(&words[1]), &time, sizeof(time));
        return SG_DONE;
    }
    default: /* no-operation and cache control */
        return SG_DONE;
    }
}

/* The engine hangs on what it does not know, as hardware does. */
static void fail(sg_queue_t *queue, uint32_t header)
{
    softgpu_truth_entry_t entry;
    describe(queue, SOFTGPU_TRUTH_ERROR, &entry);
    uint64_t now = sg_clock_ticks();
    set_times(&entry, now, now);
    if (sg_truth_on())
        sg_truth_write(&entry);
    sg_debug("SDMA queue %u stopped at packet 0x%08x", queue->ordinal, header);
    queue->sdma.failed = true;
}

static void listen(sg_queue_t *queue)
{
    uint64_t announced = atomic_load_explicit(queue->doorbell, memory_order_acquire);
    if (announced > queue->sdma.limit)
        queue->sdma.limit = announced;
    if (!sg_settings()->read_ahead)
        return;
    announced = atomic_load_explicit(queue->sdma.write_pointer, memory_order_acquire);
    if (announced > queue->sdma.limit)
        queue->sdma.limit = announced;
}

bool sg_sdma_serve(sg_queue_t *queue)
{
    sg_sdma_t *sdma = &queue->sdma;
    listen(queue);
    uint64_t begin = sdma->next;
    while (!sdma->failed && sdma->next < sdma->limit && sdma->next - begin < BURST_BYTES) {
        uint32_t words[MAX_DWORDS] = {0};
        read_ring(queue, sdma->next, words, 1);
        uint32_t dwords = length(words[0]);
        if (dwords > 1 && dwords <= MAX_DWORDS)
            read_ring(queue, sdma->next, words, dwords);
        sg_outcome_t outcome = dwords == 0 ? SG_UNKNOWN : execute(queue, words);
        if (outcome == SG_UNKNOWN)
            fail(queue, words[0]);
        if (outcome != SG_DONE)
            break;
        sdma->next += 4 * (uint64_t)dwords;
        atomic_store_explicit(sdma->read_pointer, sdma->next, memory_order_release);
    }
    if (sdma->next == sdma->limit)
        sdma->time = 0;
    return sdma->next != begin;
}
