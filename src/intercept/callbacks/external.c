#include "intercept/callbacks/external.h"

#include "common/pages.h"
#include "intercept/base/thread_context.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define NOTES       (1u << 18) /* a power of two */
#define BEING_SET   UINT64_MAX /* no correlation */
#define FIRST_DEPTH 16u

struct note {
    _Atomic uint64_t correlation, external;
};

/* An id on a stack. */
struct pushed {
    uint64_t external, ext_correlation;
};

struct stack {
    struct pushed *ids;
    uint32_t depth, capacity;
};

static struct note *_Atomic notes; /* NULL before they are wanted */
static _Atomic bool watched;

static _Thread_local struct stack *own __attribute__((tls_model("initial-exec")));
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

/* At the end of a thread. */
static void forget(void *memory)
{
    struct stack *stack = memory;
    free(stack->ids);
    free(stack);
    own = NULL;
    rtl_thread_context.external = rtl_thread_context.ext_correlation = 0;
    rtl_thread_context_set_range(rtl_thread_context.range);
}

static void set_up(void)
{
    has_key = pthread_key_create(&key, forget) == 0;
}

static struct stack *own_stack(void)
{
    if (own != NULL)
        return own;
    pthread_once(&once, set_up);
    own = calloc(1, sizeof *own);
    if (own != NULL && has_key)
        (void)pthread_setspecific(key, own);
    return own;
}

static bool has_room(struct stack *stack)
{
    if (stack->depth < stack->capacity)
        return true;
    uint32_t capacity = stack->capacity > 0 ? 2 * stack->capacity : FIRST_DEPTH;
    struct pushed *ids = realloc(stack->ids, capacity * sizeof *ids);
    if (ids == NULL)
        return false;
    stack->ids = ids;
    stack->capacity = capacity;
    return true;
}

static void go_to(struct pushed pushed)
{
    rtl_thread_context.external = pushed.external;
    rtl_thread_context.ext_correlation = pushed.ext_correlation;
    rtl_thread_context_set_range(rtl_thread_context.range);
}

void rtl_external_watch(void)
{
    struct note *none = NULL;
    struct note *made = atomic_load(&notes) == NULL ? rtl_pages(NOTES * sizeof *made) : NULL;
    if (made != NULL && !atomic_compare_exchange_strong(&notes, &none, made))
        rtl_pages_give(made, NOTES * sizeof *made);
    if (atomic_load(&notes) != NULL)
        atomic_store(&watched, true);
}

bool rtl_external_push(uint64_t id)
{
    int saved = errno;
    struct stack *stack = own_stack();
    bool room = stack != NULL && has_room(stack);
    if (room) {
        bool wanted = atomic_load_explicit(&watched, memory_order_relaxed);
        struct pushed pushed = {id, wanted ? rtl_thread_context_new_id() : 0};
        stack->ids[stack->depth++] = pushed;
        go_to(pushed);
        if (wanted)
            rtl_external_note(pushed.ext_correlation);
    }
    errno = saved;
    return room;
}

bool rtl_external_pop(uint64_t *last)
{
    static const struct pushed none;
    struct stack *stack = own;
    if (stack == NULL || stack->depth == 0)
        return false;
    if (last != NULL)
        *last = stack->ids[stack->depth - 1].external;
    stack->depth--;
    go_to(stack->depth > 0 ? stack->ids[stack->depth - 1] : none);
    return true;
}

static struct note *note_of(uint64_t correlation)
{
    struct note *all = atomic_load_explicit(&notes, memory_order_acquire);
    return all != NULL ? &all[correlation & (NOTES - 1)] : NULL;
}

/* Where two threads are at the same note, which few correlations share, it is the first one's. */
void rtl_external_note(uint64_t correlation)
{
    struct note *note = note_of(correlation);
    if (note == NULL ||
        atomic_exchange_explicit(&note->correlation, BEING_SET, memory_order_acq_rel) == BEING_SET)
        return;
    atomic_store_explicit(&note->external, rtl_thread_context.external, memory_order_release);
    atomic_store_explicit(&note->correlation, correlation, memory_order_release);
}

uint64_t rtl_external_of(uint64_t correlation)
{
    const struct note *note = note_of(correlation);
    if (note == NULL || correlation == 0 ||
        atomic_load_explicit(&note->correlation, memory_order_acquire) != correlation)
        return 0;
    uint64_t external = atomic_load_explicit(&note->external, memory_order_acquire);
    bool same = atomic_load_explicit(&note->correlation, memory_order_relaxed) == correlation;
    return same ? external : 0;
}
