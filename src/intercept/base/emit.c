#include "intercept/base/emit.h"

#include "common/clock.h"
#include "common/heap.h"
#include "intercept/base/account.h"
#include "ring/kinds.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LATER_MOST    ((size_t)32 << 20) /* bytes of records that wait, but for definitions */
#define LATER_AT_ONCE 64u                /* of these, sent without a look at the lock */

/* A record that found no room. */
struct kept {
    struct kept *next;
    enum rtl_wire_type type;
    size_t size;
    unsigned char body[];
};

/* A ring, and the definitions that wait for room in it. */
struct sink {
    struct rtl_ring *_Atomic ring;
    struct kept *first, **last; /* under the lock */
};

/* Other records that wait, for the ring and the tee together. */
struct later {
    pthread_mutex_t lock;
    struct kept *first, **last; /* under the lock */
    _Atomic size_t bytes;       /* of those that are kept; 0: there are none */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sink out = {.last = &out.first};
static struct sink tee = {.last = &tee.first};
static struct later later = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &later.first};
static _Atomic uint64_t missed;

static struct rtl_ring *ring_of(struct sink *sink)
{
    return atomic_load_explicit(&sink->ring, memory_order_acquire);
}

void rtl_emit_open(struct rtl_ring *to)
{
    rtl_account_open(to);
    atomic_store_explicit(&out.ring, to, memory_order_release);
}

void rtl_emit_tee(struct rtl_ring *to)
{
    atomic_store_explicit(&tee.ring, to, memory_order_release);
}

uint64_t rtl_emit_missed(void)
{
    return atomic_load_explicit(&missed, memory_order_relaxed);
}

void rtl_emit_forked(void)
{
    rtl_emit_open(NULL);
    rtl_emit_tee(NULL);
    rtl_heap_forked();
}

static void miss(uint64_t records)
{
    if (records > 0)
        atomic_fetch_add_explicit(&missed, records, memory_order_relaxed);
}

static uint64_t spare_of(const struct rtl_ring *to, unsigned eighths)
{
    return eighths == RTL_SPARE_FEW ? to->few : (to->mask + 1) / 8 * eighths;
}

static bool push(struct rtl_ring *to, enum rtl_wire_type type, const struct rtl_piece *pieces,
                 unsigned count, unsigned eighths)
{
    struct rtl_ring *other = ring_of(&tee);
    if (!rtl_ring_push_sparing(to, type, pieces, count, spare_of(to, eighths)))
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
    if (to == NULL || ring_of(&tee) != NULL)
        return NULL;
    place->ring = to;
    return rtl_ring_begin(to, size, spare_of(to, eighths), &place->at);
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
    struct rtl_ring *other = ring_of(&tee);
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
    unsigned drafted = rtl_ring_draft_kernels(draft->ring, kernels, count, &draft->draft);
    draft->other = drafted > 0 ? ring_of(&tee) : NULL;
    draft->in_second = 0;
    if (draft->other != NULL && has_room(draft->other, 1))
        draft->in_second = rtl_ring_draft_kernels(draft->other, kernels, drafted, &draft->second);
    return drafted;
}

bool rtl_emit_draft(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count,
                    unsigned eighths, struct rtl_emit_draft *draft)
{
    draft->ring = ring_of(&out);
    if (draft->ring == NULL || !rtl_ring_draft(draft->ring, type, pieces, count,
                                               spare_of(draft->ring, eighths), &draft->draft))
        return false;
    draft->other = ring_of(&tee);
    draft->in_second = draft->other != NULL &&
                       rtl_ring_draft(draft->other, type, pieces, count, 0, &draft->second);
    return true;
}

void rtl_emit_commit_kernels(const struct rtl_emit_draft *draft,
                             const struct rtl_wire_kernel *kernels, unsigned count)
{
    unsigned done = draft->in_second;
    rtl_ring_commit(draft->ring, &draft->draft);
    if (done > 0)
        rtl_ring_commit(draft->other, &draft->second);
    if (draft->other != NULL && done < count)
        miss(count - done - push_kernels(draft->other, kernels + done, count - done));
}

void rtl_emit_commit(const struct rtl_emit_draft *draft, enum rtl_wire_type type,
                     const struct rtl_piece *pieces, unsigned count)
{
    rtl_ring_commit(draft->ring, &draft->draft);
    if (draft->in_second > 0)
        rtl_ring_commit(draft->other, &draft->second);
    else if (draft->other != NULL && !rtl_ring_push(draft->other, type, pieces, count))
        miss(1);
}

void rtl_emit_give_up(const struct rtl_emit_draft *draft)
{
    rtl_ring_give_up(draft->ring, &draft->draft);
    if (draft->in_second > 0)
        rtl_ring_give_up(draft->other, &draft->second);
}

bool rtl_emit_room(uint64_t slots)
{
    struct rtl_ring *to = ring_of(&out);
    struct rtl_ring *other = ring_of(&tee);
    return to != NULL && has_room(to, slots) && (other == NULL || has_room(other, slots));
}

static size_t size_of(const struct rtl_piece *pieces, unsigned count)
{
    size_t size = 0;
    for (unsigned i = 0; i < count; i++)
        size += pieces[i].size;
    return size;
}

/* A copy of a record; NULL if memory is short. */
static struct kept *copy_of(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count)
{
    size_t size = size_of(pieces, count);
    struct kept *item = rtl_heap_take(sizeof *item + size);
    if (item == NULL)
        return NULL;
    item->next = NULL;
    item->type = type;
    item->size = size;
    unsigned char *at = item->body;
    for (unsigned i = 0; i < count; i++) {
        if (pieces[i].size > 0)
            memcpy(at, pieces[i].data, pieces[i].size);
        at += pieces[i].size;
    }
    return item;
}

static void keep(struct sink *sink, enum rtl_wire_type type, const struct rtl_piece *pieces,
                 unsigned count)
{
    struct kept *item = copy_of(type, pieces, count);
    enum rtl_kind kind = rtl_kind_of(type, pieces[0].data);
    if (item == NULL) {
        if (sink == &out)
            rtl_account_lose(kind, RTL_LOST_MEMORY, 1);
        else
            miss(1);
        return;
    }
    if (sink == &out)
        rtl_account_wait(kind, 1);
    *sink->last = item;
    sink->last = &item->next;
}

/* Under the lock. */
static void define(struct sink *sink, enum rtl_wire_type type, const struct rtl_piece *pieces,
                   unsigned count)
{
    struct rtl_ring *to = ring_of(sink);
    if (to != NULL && (sink->first != NULL || !rtl_ring_push(to, type, pieces, count)))
        keep(sink, type, pieces, count);
}

void rtl_emit_definition(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count)
{
    if (atomic_load_explicit(&out.ring, memory_order_relaxed) == NULL)
        return;
    pthread_mutex_lock(&lock);
    define(&out, type, pieces, count);
    define(&tee, type, pieces, count);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static bool flush(struct sink *sink)
{
    struct rtl_ring *to = ring_of(sink);
    while (to != NULL && sink->first != NULL) {
        struct kept *item = sink->first;
        struct rtl_piece piece = {item->body, item->size};
        if (!rtl_ring_push(to, item->type, &piece, 1))
            break;
        sink->first = item->next;
        if (sink->first == NULL)
            sink->last = &sink->first;
        if (sink == &out)
            rtl_account_waited(rtl_kind_of(item->type, item->body), 1);
        rtl_heap_give(item, sizeof *item + item->size);
    }
    return sink->first == NULL;
}

/* Under the lock of `later`. */
static void put_back(struct kept *items)
{
    if (items == NULL)
        return;
    struct kept **end = &items->next;
    while (*end != NULL)
        end = &(*end)->next;
    *end = later.first;
    if (later.first == NULL)
        later.last = end;
    later.first = items;
}

/* So many from the front of what waits. */
static struct kept *take_some(unsigned most)
{
    pthread_mutex_lock(&later.lock);
    struct kept *items = later.first;
    struct kept **end = &items;
    for (unsigned i = 0; i < most && *end != NULL; i++)
        end = &(*end)->next;
    later.first = *end;
    if (later.first == NULL)
        later.last = &later.first;
    *end = NULL;
    pthread_mutex_unlock(&later.lock);
    return items;
}

/* False if one found no room. */
static bool send_later(struct kept **items)
{
    while (*items != NULL) {
        struct kept *item = *items;
        struct rtl_piece piece = {item->body, item->size};
        if (!rtl_emit_try_spare(item->type, &piece, 1, RTL_SPARE_FEW))
            return false;
        *items = item->next;
        rtl_account_waited(rtl_kind_of(item->type, item->body), 1);
        atomic_fetch_sub_explicit(&later.bytes, sizeof *item + item->size, memory_order_relaxed);
        rtl_heap_give(item, sizeof *item + item->size);
    }
    return true;
}

/* The threads of the program need the lock to keep more: it is not held while the ring is written.
 */
static bool flush_later(void)
{
    while (atomic_load_explicit(&later.bytes, memory_order_relaxed) > 0) {
        struct kept *items = take_some(LATER_AT_ONCE);
        if (items == NULL)
            return false; /* somebody else has them in hand */
        if (send_later(&items))
            continue;
        pthread_mutex_lock(&later.lock);
        put_back(items);
        pthread_mutex_unlock(&later.lock);
        return false;
    }
    return true;
}

bool rtl_emit_flush(void)
{
    pthread_mutex_lock(&lock);
    bool all = flush(&out);
    all = flush(&tee) && all;
    pthread_mutex_unlock(&lock);
    return flush_later() && all;
}

/* False if it is too much, or memory is short. */
static bool keep_later(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count)
{
    size_t size = sizeof(struct kept) + size_of(pieces, count);
    size_t before = atomic_fetch_add_explicit(&later.bytes, size, memory_order_relaxed);
    struct kept *item = before + size <= LATER_MOST ? copy_of(type, pieces, count) : NULL;
    if (item == NULL) {
        atomic_fetch_sub_explicit(&later.bytes, size, memory_order_relaxed);
        return false;
    }
    rtl_account_wait(rtl_kind_of(type, pieces[0].data), 1);
    pthread_mutex_lock(&later.lock);
    *later.last = item;
    later.last = &item->next;
    pthread_mutex_unlock(&later.lock);
    return true;
}

/* What waits goes first: records stay in their order. */
bool rtl_emit_or_keep(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count)
{
    if (ring_of(&out) == NULL)
        return false;
    if (atomic_load_explicit(&later.bytes, memory_order_relaxed) == 0 &&
        rtl_emit_try_spare(type, pieces, count, RTL_SPARE_FEW))
        return true;
    int saved = errno;
    bool kept = keep_later(type, pieces, count);
    errno = saved;
    return kept;
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
