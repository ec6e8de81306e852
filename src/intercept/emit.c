#include "intercept/emit.h"

#include "common/clock.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A definition that found no room. */
struct kept {
    struct kept *next;
    enum rtl_wire_type type;
    size_t size;
    unsigned char body[];
};

/* A ring, and the definitions that wait for room in it. */
struct way {
    struct rtl_ring *_Atomic ring;
    struct kept *first, **last; /* under the lock */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct way out = {.last = &out.first};
static struct way beside = {.last = &beside.first};
static _Atomic uint64_t missed;

static struct rtl_ring *ring_of(struct way *way)
{
    return atomic_load_explicit(&way->ring, memory_order_acquire);
}

void rtl_emit_open(struct rtl_ring *to)
{
    atomic_store_explicit(&out.ring, to, memory_order_release);
}

void rtl_emit_beside(struct rtl_ring *to)
{
    atomic_store_explicit(&beside.ring, to, memory_order_release);
}

uint64_t rtl_emit_missed(void)
{
    return atomic_load_explicit(&missed, memory_order_relaxed);
}

void rtl_emit_forked(void)
{
    rtl_emit_open(NULL);
    rtl_emit_beside(NULL);
}

static void miss(uint64_t records)
{
    if (records > 0)
        atomic_fetch_add_explicit(&missed, records, memory_order_relaxed);
}

static bool push(struct rtl_ring *to, enum rtl_wire_type type, const struct rtl_piece *pieces,
                 unsigned count, unsigned eighths)
{
    struct rtl_ring *other = ring_of(&beside);
    if (!rtl_ring_push_sparing(to, type, pieces, count, (to->mask + 1) / 8 * eighths))
        return false;
    if (other != NULL && !rtl_ring_push(other, type, pieces, count))
        miss(1);
    return true;
}

bool rtl_emit_try(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count)
{
    struct rtl_ring *to = ring_of(&out);
    return to != NULL && push(to, type, pieces, count, 0);
}

bool rtl_emit_has_spare(unsigned eighths)
{
    struct rtl_ring *to = ring_of(&out);
    return to != NULL && rtl_ring_pending(to) <= rtl_ring_capacity(to) / 8 * (8 - eighths);
}

bool rtl_emit_try_spare(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count,
                        unsigned eighths)
{
    struct rtl_ring *to = ring_of(&out);
    return to != NULL && push(to, type, pieces, count, eighths);
}

void *rtl_emit_begin(size_t size, unsigned eighths, struct rtl_emit_place *place)
{
    struct rtl_ring *to = ring_of(&out);
    if (to == NULL || ring_of(&beside) != NULL)
        return NULL;
    place->ring = to;
    return rtl_ring_begin(to, size, (to->mask + 1) / 8 * eighths, &place->at);
}

void rtl_emit_end(enum rtl_wire_type type, const struct rtl_emit_place *place)
{
    rtl_ring_end(place->ring, type, &place->at);
}

/* What kernels may fill of a ring. The rest is left to definitions: without a point of its clock,
 * say, a kernel's times mean nothing, and what is kept when the process ends is gone. */
static bool has_room(const struct rtl_ring *to, uint64_t slots)
{
    uint64_t whole = rtl_ring_capacity(to);
    return rtl_ring_pending(to) + slots <= whole - whole / 16;
}

enum rtl_lost rtl_emit_why(void)
{
    const struct rtl_ring *to = ring_of(&out);
    return to != NULL && rtl_ring_is_short(to) ? RTL_LOST_SPACE : RTL_LOST_RING;
}

static unsigned push_kernels(struct rtl_ring *to, const struct rtl_wire_kernel *kernels,
                             unsigned count)
{
    return has_room(to, 1) ? rtl_ring_push_kernels(to, kernels, count) : 0;
}

unsigned rtl_emit_kernels(const struct rtl_wire_kernel *kernels, unsigned count)
{
    struct rtl_ring *to = ring_of(&out);
    struct rtl_ring *other = ring_of(&beside);
    unsigned sent = to != NULL ? push_kernels(to, kernels, count) : 0;
    if (other != NULL && sent > 0)
        miss(sent - push_kernels(other, kernels, sent));
    return sent;
}

unsigned rtl_emit_draft_kernels(const struct rtl_wire_kernel *kernels, unsigned count,
                                struct rtl_emit_draft *draft)
{
    draft->ring = ring_of(&out);
    if (draft->ring == NULL || !has_room(draft->ring, 1))
        return 0;
    return rtl_ring_draft_kernels(draft->ring, kernels, count, &draft->draft);
}

bool rtl_emit_draft(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count,
                    struct rtl_emit_draft *draft)
{
    draft->ring = ring_of(&out);
    return draft->ring != NULL && rtl_ring_draft(draft->ring, type, pieces, count, &draft->draft);
}

void rtl_emit_commit_kernels(const struct rtl_emit_draft *draft,
                             const struct rtl_wire_kernel *kernels, unsigned count)
{
    struct rtl_ring *other = ring_of(&beside);
    rtl_ring_commit(draft->ring, &draft->draft);
    if (other != NULL)
        miss(count - push_kernels(other, kernels, count));
}

void rtl_emit_commit(const struct rtl_emit_draft *draft, enum rtl_wire_type type,
                     const struct rtl_piece *pieces, unsigned count)
{
    struct rtl_ring *other = ring_of(&beside);
    rtl_ring_commit(draft->ring, &draft->draft);
    if (other != NULL && !rtl_ring_push(other, type, pieces, count))
        miss(1);
}

void rtl_emit_give_up(const struct rtl_emit_draft *draft)
{
    rtl_ring_give_up(draft->ring, &draft->draft);
}

bool rtl_emit_room(uint64_t slots)
{
    struct rtl_ring *to = ring_of(&out);
    struct rtl_ring *other = ring_of(&beside);
    return to != NULL && has_room(to, slots) && (other == NULL || has_room(other, slots));
}

static void keep(struct way *way, enum rtl_wire_type type, const struct rtl_piece *pieces,
                 unsigned count)
{
    size_t size = 0;
    for (unsigned i = 0; i < count; i++)
        size += pieces[i].size;
    struct kept *item = malloc(sizeof *item + size);
    if (item == NULL)
        return;
    item->next = NULL;
    item->type = type;
    item->size = size;
    unsigned char *at = item->body;
    for (unsigned i = 0; i < count; i++) {
        if (pieces[i].size > 0)
            memcpy(at, pieces[i].data, pieces[i].size);
        at += pieces[i].size;
    }
    *way->last = item;
    way->last = &item->next;
}

/* Under the lock. */
static void define(struct way *way, enum rtl_wire_type type, const struct rtl_piece *pieces,
                   unsigned count)
{
    struct rtl_ring *to = ring_of(way);
    if (to != NULL && (way->first != NULL || !rtl_ring_push(to, type, pieces, count)))
        keep(way, type, pieces, count);
}

void rtl_emit_definition(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count)
{
    if (atomic_load_explicit(&out.ring, memory_order_relaxed) == NULL)
        return;
    pthread_mutex_lock(&lock);
    define(&out, type, pieces, count);
    define(&beside, type, pieces, count);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static bool flush(struct way *way)
{
    struct rtl_ring *to = ring_of(way);
    while (to != NULL && way->first != NULL) {
        struct kept *item = way->first;
        struct rtl_piece piece = {item->body, item->size};
        if (!rtl_ring_push(to, item->type, &piece, 1))
            break;
        way->first = item->next;
        if (way->first == NULL)
            way->last = &way->first;
        free(item);
    }
    return way->first == NULL;
}

bool rtl_emit_flush(void)
{
    pthread_mutex_lock(&lock);
    bool all = flush(&out);
    all = flush(&beside) && all;
    pthread_mutex_unlock(&lock);
    return all;
}

void rtl_emit_note(uint32_t queue, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is the line above
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    if ((size_t)length >= sizeof text)
        length = sizeof text - 1;
    struct rtl_wire_note note = {
        .time_ns = rtl_now(), .queue = queue, .text_length = (uint16_t)length};
    struct rtl_piece pieces[] = {{&note, sizeof note}, {text, (size_t)length}};
    rtl_emit_definition(RTL_WIRE_NOTE, pieces, 2);
}
