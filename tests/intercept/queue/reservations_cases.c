/*
 * Notes of where packets come from: each is found as long as packets of it are to be submitted,
 * wherever it went, and those of a queue that keeps up stay near.
 */
#include "../../common/check.h"
#include "intercept/queue/reservations.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#define SIZE      256u /* packets of the queue */
#define SLOTS     UINT64_C(1024)
#define NEAR      32u
#define PACKETS   UINT64_C(200000)
#define PRODUCERS 3u

static struct rtl_reserved slots[SLOTS], near[NEAR];
static struct rtl_reservations notes;
static _Atomic uint64_t submitted, reserved;

static void set_up(void)
{
    memset(slots, 0, sizeof slots);
    memset(near, 0, sizeof near);
    notes = (struct rtl_reservations){.slots = slots,
                                      .mask = SLOTS - 1,
                                      .near = near,
                                      .near_mask = NEAR - 1,
                                      .submitted = &submitted};
    atomic_store(&submitted, 0);
    atomic_store(&reserved, 0);
}

static uint64_t mix(uint64_t number)
{
    number = (number + 1) * UINT64_C(0x9E3779B97F4A7C15);
    number = (number ^ number >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    return number ^ number >> 31;
}

/* All about a reservation follows from its first packet. */
static struct rtl_reservation made(uint64_t first)
{
    static const uint32_t counts[] = {1, 1, 1, 2, 5, 16, NEAR, 3 * NEAR};
    struct rtl_reservation plain = {.launch = RTL_NONE, .count = 1, .flags = RTL_RESERVED_OUTSIDE};
    struct rtl_reservation reservation = {.correlation = mix(first),
                                          .launch = (uint32_t)mix(first + 1),
                                          .ordinal = (uint32_t)mix(first + 2),
                                          .count = counts[mix(first + 3) % 8],
                                          .flags = RTL_RESERVED_INFERRED};
    return mix(first + 4) % 4 == 0 ? plain : reservation;
}

static bool is_there(uint64_t first)
{
    struct rtl_reservation expected = made(first);
    struct rtl_reservation found = rtl_reservations_at(&notes, first);
    return (rtl_reservations_find(&notes, first) != NULL) == !rtl_reservation_is_plain(&expected) &&
           found.correlation == expected.correlation && found.launch == expected.launch &&
           found.ordinal == expected.ordinal && found.count == expected.count &&
           found.flags == expected.flags;
}

static void note(uint64_t first)
{
    struct rtl_reservation reservation = made(first);
    if (!rtl_reservation_is_plain(&reservation))
        rtl_reservations_note(&notes, first, &reservation);
}

/* Every reservation of which something is to be submitted is found, and nothing between. */
static const char *look_through(uint64_t from)
{
    uint64_t end = atomic_load(&reserved);
    for (uint64_t first = from; first < end; first += made(first).count) {
        if (first + made(first).count <= atomic_load(&submitted))
            continue;
        CHECK(is_there(first));
        for (uint32_t i = 1; i < made(first).count; i++)
            CHECK(rtl_reservations_find(&notes, first + i) == NULL);
    }
    return NULL;
}

/* Reservations pile up at times, to more than a full queue, and are submitted in parts. */
const char *Reservations_AreFoundUntilTheyAreSubmitted(void)
{
    uint64_t oldest = 0; /* of which something is to be submitted */
    set_up();
    for (uint64_t step = 0; atomic_load(&submitted) < PACKETS; step++) {
        uint64_t first = atomic_load(&reserved);
        uint64_t left = atomic_load(&submitted);
        if (first + made(first).count - oldest <= SLOTS && mix(step) % 64 < step / 1000 % 64) {
            note(first);
            atomic_store(&reserved, first + made(first).count);
        } else if (left < first) {
            atomic_store(&submitted, left + 1 + mix(step + 1) % (first - left));
        }
        while (oldest + made(oldest).count <= atomic_load(&submitted))
            oldest += made(oldest).count;
        CHECK_DONE(look_through(oldest));
    }
    CHECK(atomic_load(&notes.far));
    return NULL;
}

const char *Reservations_OfAQueueThatKeepsUpAreNear(void)
{
    set_up();
    while (atomic_load(&reserved) < PACKETS) {
        uint64_t first = atomic_load(&reserved);
        note(first);
        atomic_store(&reserved, first + made(first).count);
        CHECK(is_there(first));
        atomic_store(&submitted, first + made(first).count);
    }
    CHECK(!atomic_load(&notes.far));
    for (uint64_t i = 0; i < SLOTS; i++)
        CHECK(atomic_load(&slots[i].first) == 0);
    return NULL;
}

const char *Reservations_AreForgottenWithTheirQueue(void)
{
    set_up();
    for (uint64_t first = 0; first < SIZE; first += made(first).count) {
        note(first);
        atomic_store(&reserved, first + made(first).count);
    }
    rtl_reservations_clear(&notes);
    note(PACKETS); /* from here on others may be there again */
    for (uint64_t first = 0; first < SIZE; first++)
        CHECK(rtl_reservations_find(&notes, first) == NULL);
    return NULL;
}

/* ---- several producers ---- */

static _Atomic uint64_t written[SIZE]; /* index of the packet in a slot + 1 */

static uint64_t reserve(void)
{
    uint64_t first = atomic_load(&reserved);
    while (!atomic_compare_exchange_weak(&reserved, &first, first + made(first).count))
        ;
    return first;
}

static void *produce(void *context)
{
    (void)context;
    for (uint64_t first = reserve(); first < PACKETS; first = reserve()) {
        uint32_t count = made(first).count;
        note(first);
        for (uint64_t at = first; at < first + count; at++) {
            while (at >= atomic_load(&submitted) + SIZE)
                sched_yield(); /* until there is room */
            atomic_store_explicit(&written[at % SIZE], at + 1, memory_order_release);
        }
    }
    return NULL;
}

/* Submits what is written; false: a note was not what it should be. */
static bool submit(void)
{
    uint64_t next = 0; /* reservation */
    bool right = true;
    for (uint64_t at = 0; at < PACKETS; at++) {
        while (atomic_load_explicit(&written[at % SIZE], memory_order_acquire) != at + 1)
            sched_yield();
        if (at == next) {
            right = right && is_there(at);
            next += made(at).count;
        }
        atomic_store_explicit(&submitted, at + 1, memory_order_release);
    }
    atomic_store(&submitted, PACKETS + SIZE); /* the last ones may run over the end */
    return right;
}

const char *Reservations_OfSeveralProducersAreFound(void)
{
    pthread_t threads[PRODUCERS];
    set_up();
    memset(written, 0, sizeof written);
    for (unsigned i = 0; i < PRODUCERS; i++)
        CHECK(pthread_create(&threads[i], NULL, produce, NULL) == 0);
    bool right = submit();
    for (unsigned i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    CHECK(right);
    return NULL;
}
