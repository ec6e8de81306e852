#include "export/html_own.h"

#include "common/memory.h"

#include <stdlib.h>

struct open_range {
    uint64_t end;
    uint32_t name;
};

struct html_own_thread {
    uint32_t process, thread;
    uint64_t at;             /* up to here all time is given away */
    struct open_range *open; /* in the order of their begins */
    size_t count, capacity;
};

static struct html_own_thread *thread_of(struct html_own *own, uint32_t process, uint32_t thread)
{
    for (size_t i = own->count; i > 0; --i)
        if (own->threads[i - 1].process == process && own->threads[i - 1].thread == thread)
            return &own->threads[i - 1];
    own->threads = memory_grown(own->threads, own->count + 1, sizeof *own->threads);
    own->threads[own->count] = (struct html_own_thread){.process = process, .thread = thread};
    return &own->threads[own->count++];
}

/* Gives the time up to `until` to those that are open. */
static void advance(struct html_own_thread *thread, uint64_t until, html_own_add_t add,
                    void *context)
{
    while (thread->count) {
        const struct open_range *last = &thread->open[thread->count - 1];
        uint64_t end = last->end < until ? last->end : until;
        if (end > thread->at) {
            add(context, last->name, end - thread->at);
            thread->at = end;
        }
        if (last->end > until)
            return;
        --thread->count;
    }
}

void html_own_take(struct html_own *own, uint32_t process, uint32_t number, uint32_t name,
                   uint64_t start, uint64_t end, html_own_add_t add, void *context)
{
    struct html_own_thread *thread = thread_of(own, process, number);
    advance(thread, start, add, context);
    if (start > thread->at)
        thread->at = start;
    if (thread->count == thread->capacity) {
        thread->capacity = thread->capacity ? 2 * thread->capacity : 16;
        thread->open = memory_grown(thread->open, thread->capacity, sizeof *thread->open);
    }
    thread->open[thread->count++] = (struct open_range){.end = end, .name = name};
}

void html_own_finish(struct html_own *own, html_own_add_t add, void *context)
{
    for (size_t i = 0; i < own->count; ++i)
        advance(&own->threads[i], UINT64_MAX, add, context);
}

void html_own_free(struct html_own *own)
{
    for (size_t i = 0; i < own->count; ++i)
        free(own->threads[i].open);
    free(own->threads);
    *own = (struct html_own){0};
}
