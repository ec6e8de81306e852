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

static struct rtl_ring *_Atomic ring;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *first_kept, **last_kept = &first_kept;

void rtl_emit_open(struct rtl_ring *to)
{
    atomic_store_explicit(&ring, to, memory_order_release);
}

void rtl_emit_forked(void)
{
    atomic_store_explicit(&ring, NULL, memory_order_release);
}

bool rtl_emit_try(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count)
{
    struct rtl_ring *to = atomic_load_explicit(&ring, memory_order_acquire);
    return to != NULL && rtl_ring_push(to, type, pieces, count);
}

bool rtl_emit_has_spare(unsigned eighths)
{
    struct rtl_ring *to = atomic_load_explicit(&ring, memory_order_acquire);
    return to != NULL && rtl_ring_pending(to) <= (to->mask + 1) / 8 * (8 - eighths);
}

bool rtl_emit_try_spare(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count,
                        unsigned eighths)
{
    struct rtl_ring *to = atomic_load_explicit(&ring, memory_order_acquire);
    return to != NULL && rtl_emit_has_spare(eighths) && rtl_ring_push(to, type, pieces, count);
}

unsigned rtl_emit_kernels(const struct rtl_wire_kernel *kernels, unsigned count)
{
    struct rtl_ring *to = atomic_load_explicit(&ring, memory_order_acquire);
    return to != NULL ? rtl_ring_push_kernels(to, kernels, count) : 0;
}

bool rtl_emit_room(uint64_t slots)
{
    struct rtl_ring *to = atomic_load_explicit(&ring, memory_order_acquire);
    return to != NULL && rtl_ring_pending(to) + slots <= to->mask + 1;
}

static void keep(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count)
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
    *last_kept = item;
    last_kept = &item->next;
}

void rtl_emit_definition(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count)
{
    if (atomic_load_explicit(&ring, memory_order_relaxed) == NULL)
        return;
    pthread_mutex_lock(&lock);
    if (first_kept != NULL || !rtl_emit_try(type, pieces, count))
        keep(type, pieces, count);
    pthread_mutex_unlock(&lock);
}

bool rtl_emit_flush(void)
{
    pthread_mutex_lock(&lock);
    while (first_kept != NULL) {
        struct kept *item = first_kept;
        struct rtl_piece piece = {item->body, item->size};
        if (!rtl_emit_try(item->type, &piece, 1))
            break;
        first_kept = item->next;
        if (first_kept == NULL)
            last_kept = &first_kept;
        free(item);
    }
    bool all = first_kept == NULL;
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
