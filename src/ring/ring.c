/*
 * A record is committed by the word at its first slot: a function of its position, so that neither
 * a record of the last lap nor a slot in the middle of a longer record can be taken for it. The
 * reader clears the first word of every slot that it has read before it gives the slot back.
 *
 *     head ----> reserved by writers, filled in any order, committed one by one
 *     tail ----> read in order; never passes a record that is reserved and not committed,
 *                unless the process is dead
 *
 * A draft has a word of its own there until it is committed or given up.
 */
#include "ring/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PACKED_LEAST 4u /* fewer are not worth it */
#define SOON         3u /* slots to prefetch behind a record: as many as a host call takes */

static uint32_t commit_word(uint64_t position)
{
    return (uint32_t)((position * UINT64_C(0x9E3779B97F4A7C15)) >> 32) | 1u;
}

/* Likewise for a record that is written and not committed. */
static uint32_t draft_word(uint64_t position)
{
    return (commit_word(position) & ~1u) | 2u;
}

static unsigned char *slot_at(const struct rtl_ring *ring, uint64_t position)
{
    return ring->slots + (position & ring->mask) * RTL_SLOT_SIZE;
}

static _Atomic uint32_t *commit_at(const struct rtl_ring *ring, uint64_t position)
{
    return (_Atomic uint32_t *)(void *)slot_at(ring, position);
}

/* Reserves memory beyond the `usable` slots, unless another thread has just done so. False: there
 * is no more, or was none a moment ago: the worker tries again, not who is in a hurry. */
static bool extend(struct rtl_ring *ring, uint64_t usable)
{
    if (!rtl_ring_is_short(ring)) {
        int saved = errno;
        (void)rtl_ring_reserve_piece(ring, RTL_RING_SMALL_PIECE);
        errno = saved;
    }
    return atomic_load_explicit(&ring->header->usable, memory_order_relaxed) != usable;
}

static uint64_t next_lap(const struct rtl_ring *ring, uint64_t position)
{
    return (position | ring->mask) + 1;
}

/* What a writer wants: between 1 and `most` slots, all of them if `whole`, while `spare` are free.
 */
struct want {
    uint64_t most, spare;
    bool whole;
};

/* How many of the wanted slots so much room has. */
static uint64_t fitting(struct want want, uint64_t room)
{
    if (room >= want.most)
        return want.most;
    return want.whole ? 0 : room;
}

static uint64_t between(uint64_t begin, uint64_t end)
{
    return end > begin ? end - begin : 0;
}

/* Whether what must stay free is free: of a ring that has not all its memory and gets no more,
 * likewise a part of what it has. */
static bool has_spare(const struct rtl_ring *ring, uint64_t head, uint64_t end, struct want want)
{
    if (want.spare == 0 || !rtl_ring_is_short(ring))
        return head + want.spare <= end;
    uint64_t capacity = rtl_ring_capacity(ring);
    return rtl_ring_pending(ring) + want.spare * capacity / (ring->mask + 1) <= capacity;
}

/* How many of the wanted slots there are from `head` on, or from the next lap on (*at) where memory
 * ends before and there is no more. */
static __attribute__((noinline)) uint64_t find_room(struct rtl_ring *ring, uint64_t head,
                                                    struct want want, uint64_t *at)
{
    struct rtl_ring_header *header = ring->header;
    for (;;) {
        uint64_t end = atomic_load_explicit(&header->tail, memory_order_acquire) + ring->mask + 1;
        uint64_t usable = atomic_load_explicit(&header->usable, memory_order_relaxed);
        uint64_t next = next_lap(ring, head);
        uint64_t memory = next - (ring->mask + 1) + usable; /* ends here in this lap */
        bool ends_early = usable < ring->mask + 1 && memory < end;
        *at = head;
        if (!has_spare(ring, head, end, want))
            return 0;
        atomic_store_explicit(&ring->read_end, rtl_ring_is_short(ring) ? 0 : end,
                              memory_order_relaxed);
        atomic_store_explicit(&ring->end, ends_early ? memory : end, memory_order_release);
        uint64_t count = fitting(want, between(head, ends_early ? memory : end));
        if (count > 0 || !ends_early)
            return count;
        if (extend(ring, usable))
            continue;
        *at = next;
        return fitting(want, between(next, end < next + usable ? end : next + usable));
    }
}

/* True if so many slots are known to be there, with memory, and `spare` beyond them, which need
 * none yet: the reader has read what was there a lap before. */
static inline bool is_known(const struct rtl_ring *ring, uint64_t head, uint64_t slots,
                            uint64_t spare)
{
    return head + slots <= atomic_load_explicit(&ring->end, memory_order_acquire) &&
           (spare == 0 ||
            head + slots + spare <= atomic_load_explicit(&ring->read_end, memory_order_relaxed));
}

/* The reader is told of the rest of the lap that is gone past: it has not come there yet, nor could
 * a lap later anybody get so far before it has. */
static __attribute__((noinline)) uint64_t reserve_found(struct rtl_ring *ring, uint64_t head,
                                                        struct want want, uint64_t *position)
{
    struct rtl_ring_header *header = ring->header;
    uint64_t count;
    do {
        count = find_room(ring, head, want, position);
    } while (count > 0 &&
             !atomic_compare_exchange_weak_explicit(&header->head, &head, *position + count,
                                                    memory_order_relaxed, memory_order_relaxed));
    if (count > 0 && *position != head)
        atomic_store_explicit(&header->gap, head, memory_order_release);
    return count;
}

/* Reserves what is wanted; 0 when there is no room. What the reader writes is looked at only when
 * what was known of it is used up. */
static inline uint64_t reserve(struct rtl_ring *ring, struct want want, uint64_t *position)
{
    struct rtl_ring_header *header = ring->header;
    uint64_t head = atomic_load_explicit(&header->head, memory_order_relaxed);
    while (is_known(ring, head, want.most, want.spare)) {
        *position = head;
        if (atomic_compare_exchange_weak_explicit(&header->head, &head, head + want.most,
                                                  memory_order_relaxed, memory_order_relaxed))
            return want.most;
    }
    return reserve_found(ring, head, want, position);
}

static void publish(struct rtl_ring *ring, uint64_t position, enum rtl_wire_type type,
                    uint16_t slots, uint32_t word)
{
    struct rtl_wire_header *header = (struct rtl_wire_header *)(void *)slot_at(ring, position);
    header->type = (uint16_t)type;
    header->slots = slots;
    atomic_store_explicit(commit_at(ring, position), word, memory_order_release);
}

static void commit(struct rtl_ring *ring, uint64_t position, enum rtl_wire_type type,
                   uint16_t slots)
{
    publish(ring, position, type, slots, commit_word(position));
}

/* Copies into the ring's bytes from `offset` behind the record's start, around the end if need be.
 */
static void copy_in(struct rtl_ring *ring, uint64_t position, size_t offset, const void *data,
                    size_t size)
{
    size_t whole = (size_t)(ring->mask + 1) * RTL_SLOT_SIZE;
    size_t at = ((size_t)position * RTL_SLOT_SIZE + offset) & (whole - 1);
    size_t first = whole - at < size ? whole - at : size;
    if (first > 0)
        memcpy(ring->slots + at, data, first);
    if (size > first)
        memcpy(ring->slots, (const unsigned char *)data + first, size - first);
}

static __attribute__((noinline)) void copy_around(struct rtl_ring *ring, uint64_t position,
                                                  const struct rtl_piece *pieces, unsigned count)
{
    size_t offset = sizeof(struct rtl_wire_header);
    for (unsigned i = 0; i < count; i++) {
        copy_in(ring, position, offset, pieces[i].data, pieces[i].size);
        offset += pieces[i].size;
    }
}

static void copy_straight(unsigned char *record, const struct rtl_piece *pieces, unsigned count)
{
    unsigned char *at = record + sizeof(struct rtl_wire_header);
    for (unsigned i = 0; i < count; i++) {
        if (pieces[i].size > 0)
            memcpy(at, pieces[i].data, pieces[i].size);
        at += pieces[i].size;
    }
}

/* The next records will be like this one, and the reader has had their lines: those of the next but
 * one, which are there when it is written. Beyond the ring's end that does no harm. */
static void prefetch(const unsigned char *slot)
{
    for (unsigned i = 0; i < SOON; i++)
        __builtin_prefetch(slot + (size_t)i * RTL_SLOT_SIZE, 1);
}

/* Slots for a record of so many bytes. */
static uint64_t slots_for(size_t size)
{
    return (size + sizeof(struct rtl_wire_header) + RTL_SLOT_SIZE - 1) / RTL_SLOT_SIZE;
}

static bool is_too_long(const struct rtl_ring *ring, uint64_t slots)
{
    return slots > (ring->mask + 1) / 4 || slots > UINT16_MAX;
}

/* True if the ring's end is not within a record there. */
static bool is_straight(const struct rtl_ring *ring, uint64_t position, uint64_t slots)
{
    return (position & ring->mask) + slots <= ring->mask + 1;
}

void *rtl_ring_begin(struct rtl_ring *ring, size_t size, uint64_t spare,
                     struct rtl_ring_place *place)
{
    _Atomic uint64_t *next = &ring->header->head;
    uint64_t slots = slots_for(size);
    uint64_t head = atomic_load_explicit(next, memory_order_relaxed);
    do {
        if (!is_known(ring, head, slots, spare) || !is_straight(ring, head, slots) ||
            is_too_long(ring, slots))
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(next, &head, head + slots, memory_order_relaxed,
                                                    memory_order_relaxed));
    *place = (struct rtl_ring_place){head, (uint16_t)slots};
    return slot_at(ring, head) + sizeof(struct rtl_wire_header);
}

void rtl_ring_end(struct rtl_ring *ring, enum rtl_wire_type type,
                  const struct rtl_ring_place *place)
{
    commit(ring, place->position, type, place->slots);
    prefetch(slot_at(ring, place->position) + (size_t)2 * place->slots * RTL_SLOT_SIZE);
}

/* Writes a record where it has been reserved, but for its header. */
static void put(struct rtl_ring *ring, uint64_t position, uint64_t slots,
                const struct rtl_piece *pieces, unsigned count)
{
    if (is_straight(ring, position, slots))
        copy_straight(slot_at(ring, position), pieces, count);
    else
        copy_around(ring, position, pieces, count);
}

static uint64_t slots_of(const struct rtl_piece *pieces, unsigned count)
{
    size_t size = 0;
    for (unsigned i = 0; i < count; i++)
        size += pieces[i].size;
    return slots_for(size);
}

bool rtl_ring_push_sparing(struct rtl_ring *ring, enum rtl_wire_type type,
                           const struct rtl_piece *pieces, unsigned count, uint64_t spare)
{
    uint64_t slots = slots_of(pieces, count);
    uint64_t position;
    if (is_too_long(ring, slots) ||
        reserve(ring, (struct want){.most = slots, .spare = spare, .whole = true}, &position) == 0)
        return false;
    put(ring, position, slots, pieces, count);
    commit(ring, position, type, (uint16_t)slots);
    prefetch(slot_at(ring, position) + 2 * slots * RTL_SLOT_SIZE);
    return true;
}

bool rtl_ring_push(struct rtl_ring *ring, enum rtl_wire_type type, const struct rtl_piece *pieces,
                   unsigned count)
{
    return rtl_ring_push_sparing(ring, type, pieces, count, 0);
}

bool rtl_ring_draft(struct rtl_ring *ring, enum rtl_wire_type type, const struct rtl_piece *pieces,
                    unsigned count, uint64_t spare, struct rtl_ring_draft *draft)
{
    uint64_t slots = slots_of(pieces, count);
    uint64_t position;
    if (is_too_long(ring, slots) ||
        reserve(ring, (struct want){.most = slots, .spare = spare, .whole = true}, &position) == 0)
        return false;
    put(ring, position, slots, pieces, count);
    publish(ring, position, type, (uint16_t)slots, draft_word(position));
    *draft = (struct rtl_ring_draft){position, (uint16_t)slots, 1, (uint16_t)type};
    return true;
}

static unsigned draft_single(struct rtl_ring *ring, const struct rtl_wire_kernel *kernels,
                             unsigned count, struct rtl_ring_draft *draft)
{
    uint64_t position;
    struct want want = {.most = count};
    uint64_t got = reserve(ring, want, &position);
    for (uint64_t i = 0; i < got; i++) {
        memcpy(slot_at(ring, position + i) + sizeof(struct rtl_wire_header), &kernels[i],
               sizeof *kernels);
        publish(ring, position + i, RTL_WIRE_KERNEL, 1, draft_word(position + i));
    }
    *draft = (struct rtl_ring_draft){position, 1, (uint16_t)got, RTL_WIRE_KERNEL};
    return (unsigned)got;
}

static void put_pack(struct rtl_ring *ring, uint64_t position, const struct rtl_pack *pack)
{
    size_t offset = sizeof(struct rtl_wire_header);
    size_t size = sizeof pack->head + pack->head.kernels * sizeof *pack->kernels;
    copy_in(ring, position, offset, pack, size);
    if (pack->head.origins > 0)
        copy_in(ring, position, offset + size, pack->origins,
                pack->head.origins * sizeof *pack->origins);
}

/* As many kernels as one record can take, or as there is room for. */
static unsigned draft_packed(struct rtl_ring *ring, const struct rtl_wire_kernel *kernels,
                             unsigned count, struct rtl_ring_draft *draft)
{
    struct rtl_pack pack;
    uint64_t position;
    unsigned packed = rtl_pack(&pack, kernels, count, RTL_PACK_MOST_SLOTS);
    if (packed < PACKED_LEAST)
        return draft_single(ring, kernels, packed > 0 ? packed : 1, draft);
    uint64_t slots = rtl_pack_slots(&pack);
    struct want whole = {.most = slots, .whole = true};
    if (reserve(ring, whole, &position) == 0) {
        struct want rest = {.most = slots - 1};
        slots = reserve(ring, rest, &position);
        if (slots == 0)
            return 0;
        packed = rtl_pack(&pack, kernels, count, slots);
    }
    put_pack(ring, position, &pack);
    publish(ring, position, RTL_WIRE_KERNELS, (uint16_t)slots, draft_word(position));
    *draft = (struct rtl_ring_draft){position, (uint16_t)slots, 1, RTL_WIRE_KERNELS};
    return packed;
}

unsigned rtl_ring_draft_kernels(struct rtl_ring *ring, const struct rtl_wire_kernel *kernels,
                                unsigned count, struct rtl_ring_draft *draft)
{
    return count < PACKED_LEAST ? draft_single(ring, kernels, count, draft)
                                : draft_packed(ring, kernels, count, draft);
}

static void end_draft(struct rtl_ring *ring, const struct rtl_ring_draft *draft, uint16_t type)
{
    for (uint64_t i = 0; i < draft->records; i++)
        commit(ring, draft->position + i, (enum rtl_wire_type)type, draft->slots);
}

void rtl_ring_commit(struct rtl_ring *ring, const struct rtl_ring_draft *draft)
{
    end_draft(ring, draft, draft->type);
}

void rtl_ring_give_up(struct rtl_ring *ring, const struct rtl_ring_draft *draft)
{
    end_draft(ring, draft, RTL_WIRE_VOID);
}

unsigned rtl_ring_push_kernels(struct rtl_ring *ring, const struct rtl_wire_kernel *kernels,
                               unsigned count)
{
    unsigned done = 0;
    while (done < count) {
        struct rtl_ring_draft draft;
        unsigned some = rtl_ring_draft_kernels(ring, kernels + done, count - done, &draft);
        if (some == 0)
            break;
        rtl_ring_commit(ring, &draft);
        done += some;
    }
    return done;
}

void rtl_ring_close(struct rtl_ring *ring)
{
    atomic_store_explicit(&ring->header->state, RTL_RING_CLOSED, memory_order_release);
}

bool rtl_ring_closed(const struct rtl_ring *ring)
{
    return atomic_load_explicit(&ring->header->state, memory_order_acquire) == RTL_RING_CLOSED;
}

bool rtl_ring_replaced(const struct rtl_ring *ring)
{
    return atomic_load_explicit(&ring->header->state, memory_order_acquire) == RTL_RING_REPLACED;
}

/* What was gone past is not there: it is told only after `head` has passed it. */
uint64_t rtl_ring_pending(const struct rtl_ring *ring)
{
    const struct rtl_ring_header *header = ring->header;
    uint64_t gap = atomic_load_explicit(&header->gap, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&header->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&header->head, memory_order_relaxed);
    bool between = gap >= tail && next_lap(ring, gap) <= head && gap != 0;
    return head - tail - (between ? next_lap(ring, gap) - gap : 0);
}

uint64_t rtl_ring_capacity(const struct rtl_ring *ring)
{
    return rtl_ring_is_short(ring)
               ? atomic_load_explicit(&ring->header->usable, memory_order_relaxed)
               : ring->mask + 1;
}

static void clear(struct rtl_ring *ring, uint64_t position, uint64_t slots)
{
    for (uint64_t i = 0; i < slots; i++)
        atomic_store_explicit(commit_at(ring, position + i), 0, memory_order_relaxed);
}

static void hand(const struct rtl_wire_header *header, const unsigned char *body,
                 rtl_ring_handler handler, void *context)
{
    size_t size = (size_t)header->slots * RTL_SLOT_SIZE - sizeof *header;
    if (header->type == RTL_WIRE_VOID)
        return;
    if (header->type != RTL_WIRE_KERNELS || !rtl_unpack(body, size, handler, context))
        handler(context, (enum rtl_wire_type)header->type, body, size);
}

/* Hands a record that runs over the end of the ring to the handler in one piece. For kernels that
 * takes no memory, so that none are lost for want of it. */
static void handle_wrapped(struct rtl_ring *ring, uint64_t position,
                           const struct rtl_wire_header *header, rtl_ring_handler handler,
                           void *context)
{
    _Alignas(8) unsigned char short_one[RTL_PACK_MOST_SLOTS * RTL_SLOT_SIZE];
    size_t size = (size_t)header->slots * RTL_SLOT_SIZE;
    size_t first = (size_t)(ring->mask + 1 - (position & ring->mask)) * RTL_SLOT_SIZE;
    unsigned char *whole = size <= sizeof short_one ? short_one : malloc(size);
    if (whole == NULL) {
        handler(context, (enum rtl_wire_type)header->type, NULL, 0);
        return;
    }
    memcpy(whole, slot_at(ring, position), first);
    memcpy(whole + first, ring->slots, size - first);
    hand(header, whole + sizeof *header, handler, context);
    if (whole != short_one)
        free(whole);
}

static void handle(struct rtl_ring *ring, uint64_t position, const struct rtl_wire_header *header,
                   rtl_ring_handler handler, void *context)
{
    if ((position & ring->mask) + header->slots > ring->mask + 1)
        handle_wrapped(ring, position, header, handler, context);
    else
        hand(header, slot_at(ring, position) + sizeof *header, handler, context);
}

/* Memory that nobody has reserved is not looked at: that would take it, and there may be none. */
static bool has_memory(const struct rtl_ring *ring, uint64_t tail)
{
    uint64_t usable = atomic_load_explicit(&ring->header->usable, memory_order_relaxed);
    return (tail & ring->mask) < usable;
}

/* True if a whole record is at `tail`, under that word; its header is copied, since the other
 * process owns the memory. */
static bool is_there(const struct rtl_ring *ring, uint64_t tail, uint32_t word,
                     struct rtl_wire_header *header)
{
    if (!has_memory(ring, tail) ||
        atomic_load_explicit(commit_at(ring, tail), memory_order_acquire) != word)
        return false;
    memcpy(header, slot_at(ring, tail), sizeof *header);
    return header->slots > 0 && header->slots <= (ring->mask + 1) / 4;
}

/* Whom a draft's records go to. */
struct drafted {
    rtl_ring_handler handler;
    void *context;
};

static void hand_drafted(void *context, enum rtl_wire_type type, const void *body, size_t size)
{
    const struct drafted *to = context;
    if (type == RTL_WIRE_KERNEL)
        type = RTL_WIRE_DRAFT_KERNEL;
    else if (type == RTL_WIRE_COPY)
        type = RTL_WIRE_DRAFT_COPY;
    else if (type == RTL_WIRE_LAUNCH)
        type = RTL_WIRE_DRAFT_LAUNCH;
    to->handler(to->context, type, body, size);
}

/* How many slots the process has reserved and left. */
static uint64_t left_by_dead(const struct rtl_ring *ring, uint64_t tail)
{
    uint64_t head = atomic_load_explicit(&ring->header->head, memory_order_acquire);
    return head - tail <= ring->mask + 1 ? head - tail : 0;
}

/* True if writers went past what is left of the lap. Who died in between has not told, but then
 * they have left something, and it cannot be here. */
static bool is_gone_past(const struct rtl_ring *ring, uint64_t tail, bool dead)
{
    uint64_t gap = atomic_load_explicit(&ring->header->gap, memory_order_acquire);
    return tail != 0 &&
           (gap == tail || (dead && !has_memory(ring, tail) && left_by_dead(ring, tail) > 0));
}

/* A living process's `head` is left alone: writers, who wait for its line, would have to fetch it
 * each time. The commit word says all. */
uint64_t rtl_ring_read(struct rtl_ring *ring, uint64_t most, bool dead, rtl_ring_handler handler,
                       void *context, uint64_t *torn)
{
    uint64_t tail = atomic_load_explicit(&ring->header->tail, memory_order_relaxed);
    uint64_t done = 0;
    for (uint64_t laps = 0; done + laps < most;) {
        struct rtl_wire_header header;
        uint64_t slots = 1;
        if (is_there(ring, tail, commit_word(tail), &header)) {
            slots = header.slots;
            handle(ring, tail, &header, handler, context);
        } else if (dead && is_there(ring, tail, draft_word(tail), &header)) {
            struct drafted to = {handler, context};
            slots = header.slots;
            handle(ring, tail, &header, hand_drafted, &to);
        } else if (is_gone_past(ring, tail, dead)) {
            tail = next_lap(ring, tail);
            atomic_store_explicit(&ring->header->tail, tail, memory_order_release);
            laps++;
            continue;
        } else if (dead && has_memory(ring, tail) && left_by_dead(ring, tail) > 0) {
            *torn += 1;
        } else {
            break;
        }
        clear(ring, tail, slots);
        done += slots;
        tail += slots;
        atomic_store_explicit(&ring->header->tail, tail, memory_order_release);
    }
    return done;
}
