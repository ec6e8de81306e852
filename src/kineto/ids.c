#include "kineto/ids.h"

#include "kineto/session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#define FIRST_DEPTH 64u

_Static_assert(PU1_SESSION_VENDORS <= 8, "a bit for each vendor");

/* Vendors that get ids: bits of their places. */
static _Atomic uint32_t pushing;
static const pu1_vendors_t *_Atomic pushed_to;
static _Atomic uint32_t session_number; /* of the last one that has begun */
static _Atomic uint64_t lost;

/* Which vendors had each push of the thread, in one session. Without memory a push is none's. */
static _Thread_local struct {
    uint32_t session;
    unsigned depth, capacity;
    uint8_t *places;
} pushes;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

void pu1_ids_begin(void)
{
    atomic_fetch_add(&session_number, 1);
    atomic_store(&lost, 0);
}

void pu1_ids_to(const pu1_vendors_t *vendors, uint32_t places)
{
    atomic_store(&pushed_to, vendors);
    atomic_store(&pushing, places);
}

uint64_t pu1_ids_lost(void)
{
    return atomic_load(&lost);
}

/* At the end of a thread, which may go on to push. */
static void forget_thread(void *memory)
{
    free(memory);
    pushes.places = NULL;
    pushes.depth = pushes.capacity = 0;
}

static void set_up(void)
{
    has_key = pthread_key_create(&key, forget_thread) == 0;
}

static bool has_room(void)
{
    if (pushes.depth < pushes.capacity)
        return true;
    unsigned capacity = pushes.capacity > 0 ? 2 * pushes.capacity : FIRST_DEPTH;
    uint8_t *places =
        capacity > pushes.depth ? realloc(pushes.places, capacity * sizeof *places) : NULL;
    if (places == NULL)
        return false;
    pushes.places = places;
    pushes.capacity = capacity;
    pthread_once(&once, set_up);
    if (has_key)
        (void)pthread_setspecific(key, places);
    return true;
}

static void take_off(void)
{
    unsigned depth = --pushes.depth;
    uint32_t places = depth < pushes.capacity ? pushes.places[depth] : 0;
    const pu1_vendors_t *vendors = atomic_load_explicit(&pushed_to, memory_order_relaxed);
    for (size_t i = 0; places >> i != 0; i++)
        if ((places >> i & 1) != 0)
            (void)vendors->items[i].api.popExternalCorrelationId(NULL);
}

/* A host whose session ends within a scope may never pop it. */
static void forget_other_sessions(void)
{
    uint32_t session = atomic_load_explicit(&session_number, memory_order_acquire);
    while (pushes.session != session && pushes.depth > 0)
        take_off();
    pushes.session = session;
}

/* Which of the vendors have taken it. */
static uint32_t push_to(const pu1_vendors_t *vendors, uint32_t places, uint64_t id)
{
    uint32_t taken = 0;
    for (size_t i = 0; places >> i != 0; i++)
        if ((places >> i & 1) != 0 &&
            vendors->items[i].api.pushExternalCorrelationId(id) == PU1_SUCCESS)
            taken |= 1u << i;
    return taken;
}

void pu1_session_push(uint64_t id)
{
    forget_other_sessions();
    uint32_t places = atomic_load_explicit(&pushing, memory_order_acquire);
    bool room = has_room();
    if (room) {
        uint32_t taken =
            push_to(atomic_load_explicit(&pushed_to, memory_order_relaxed), places, id);
        pushes.places[pushes.depth] = (uint8_t)taken;
        room = taken == places;
    }
    pushes.depth++;
    if (!room)
        atomic_fetch_add(&lost, 1);
}

void pu1_session_pop(void)
{
    forget_other_sessions();
    if (pushes.depth > 0)
        take_off();
}
