#include "intercept/queue/borrow.h"

#include <hsa/amd_hsa_signal.h>
#include <stddef.h>

/* A word is, from the top: a tag of the signal, the record's queue (index + 1), its sequence
 * number. 0 is none. A busy entry has all ones for the queue and, in the low bits, the signal. */
#define SEQUENCE_BITS 45u
#define QUEUE_BITS    11u
#define SEQUENCE_MASK ((UINT64_C(1) << SEQUENCE_BITS) - 1)
#define QUEUE_MASK    ((UINT64_C(1) << QUEUE_BITS) - 1)
#define TAG_MASK      (UINT64_C(0xff) << (SEQUENCE_BITS + QUEUE_BITS))
#define ALIGNMENT                                                                                  \
    6u /* of a signal: low bits that are 0; no address has more than 45 above them                 \
        */

_Static_assert(RTL_BORROW_SETS == 1u << 10, "set_of yields 10 bits");
_Static_assert(RTL_BORROW_HOLDS == 1u << 8, "hold_of yields 8 bits");

static uint64_t hash_of(uint64_t handle)
{
    return (handle >> ALIGNMENT) * UINT64_C(0x9E3779B97F4A7C15);
}

static _Atomic uint64_t *set_of(struct rtl_borrow_table *table, uint64_t handle)
{
    return table->sets[hash_of(handle) >> 54];
}

static uint64_t tag_of(uint64_t handle)
{
    return hash_of(handle) << 10 & TAG_MASK;
}

static uint64_t pack(uint64_t handle, struct rtl_record_id id)
{
    return tag_of(handle) | (uint64_t)(id.queue_index + 1) << SEQUENCE_BITS |
           (id.sequence & SEQUENCE_MASK);
}

static struct rtl_record_id unpack(uint64_t word)
{
    struct rtl_record_id id = {(uint32_t)(word >> SEQUENCE_BITS & QUEUE_MASK) - 1,
                               word & SEQUENCE_MASK};
    return id;
}

static uint64_t busy_word_of(uint64_t handle)
{
    return tag_of(handle) | QUEUE_MASK << SEQUENCE_BITS | (handle >> ALIGNMENT & SEQUENCE_MASK);
}

static bool is_busy_word(uint64_t word)
{
    return (word >> SEQUENCE_BITS & QUEUE_MASK) == QUEUE_MASK;
}

/* The exclusive or has the tag's bits in the right place for one comparison. */
static bool is_of(uint64_t word, uint64_t tag)
{
    return (word ^ tag) >> (SEQUENCE_BITS + QUEUE_BITS) == 0 && word != 0;
}

/* The packet that a busy entry is of has completed its signal, as far as anybody can tell. */
static bool is_spent(uint64_t busy)
{
    const amd_signal_t *signal =
        (const amd_signal_t *)(uintptr_t)((busy & SEQUENCE_MASK) << ALIGNMENT);
    return __atomic_load_n(&signal->value, __ATOMIC_RELAXED) < 1;
}

/* What a word that has the tag of the signal means for a thread that wants it. */
enum claim {
    CLAIM_HELD,  /* it keeps others from it */
    CLAIM_OTHER, /* it is of another signal */
    CLAIM_STALE  /* it serves nobody any more */
};

/* A live record may be over: the program has armed the signal again unseen. One that is about to be
 * published may be of it. */
static enum claim claim_of(const struct rtl_borrow_table *table, uint64_t word, uint64_t handle)
{
    if (is_busy_word(word))
        return word == busy_word_of(handle) ? CLAIM_HELD : CLAIM_OTHER;
    switch (table->classify(unpack(word), handle)) {
    case RTL_BORROWER_LIVE:
        return table->finish != NULL && table->finish(unpack(word)) ? CLAIM_STALE : CLAIM_HELD;
    case RTL_BORROWER_COMING:
        return CLAIM_HELD;
    case RTL_BORROWER_STALE:
        return CLAIM_STALE;
    default:
        return CLAIM_OTHER;
    }
}

/* True if a word serves nobody any more. */
static bool is_free(const struct rtl_borrow_table *table, uint64_t word)
{
    if (word == 0)
        return true;
    if (is_busy_word(word))
        return is_spent(word);
    return table->classify(unpack(word), 0) == RTL_BORROWER_STALE;
}

static bool is_held(const struct rtl_borrow_table *table, _Atomic uint64_t *set, uint64_t handle,
                    unsigned but)
{
    uint64_t tag = tag_of(handle);
    for (unsigned i = 0; i < RTL_BORROW_WAYS; i++) {
        uint64_t word = atomic_load(&set[i]);
        if (is_of(word, tag) && i != but && claim_of(table, word, handle) == CLAIM_HELD)
            return true;
    }
    return false;
}

/* A place for the signal's word: where its last one was, or one that was never used; else
 * RTL_BORROW_WAYS. `*old`: the word that is there. False: another word keeps the signal. */
static bool find_place(const struct rtl_borrow_table *table, _Atomic uint64_t *set, uint64_t handle,
                       unsigned *place, uint64_t *old)
{
    uint64_t tag = tag_of(handle);
    *place = RTL_BORROW_WAYS;
    *old = 0;
    for (unsigned i = 0; i < RTL_BORROW_WAYS; i++) {
        uint64_t word = atomic_load(&set[i]);
        if (!is_of(word, tag))
            continue;
        enum claim claim = claim_of(table, word, handle);
        if (claim == CLAIM_HELD)
            return false;
        if (claim == CLAIM_STALE) {
            *place = i;
            *old = word;
        }
    }
    for (unsigned i = 0; i < RTL_BORROW_WAYS && *place == RTL_BORROW_WAYS; i++)
        if (atomic_load(&set[i]) == 0)
            *place = i;
    return true;
}

static bool is_used(const struct rtl_borrow_table *table)
{
    return atomic_load_explicit(&table->used, memory_order_relaxed);
}

/* Puts a word for the signal into its set, unless another keeps it from there. Two that come at the
 * same time see each other: one of them at least gives way. */
static bool put(struct rtl_borrow_table *table, uint64_t handle, uint64_t word)
{
    _Atomic uint64_t *set = set_of(table, handle);
    unsigned place;
    uint64_t old;
    if (!is_used(table))
        atomic_store(&table->used, true);
    if (!find_place(table, set, handle, &place, &old))
        return false;
    bool is_put =
        place < RTL_BORROW_WAYS && atomic_compare_exchange_strong(&set[place], &old, word);
    for (unsigned i = 0; i < RTL_BORROW_WAYS && !is_put; i++) {
        place = i;
        old = atomic_load(&set[i]);
        is_put = is_free(table, old) && atomic_compare_exchange_strong(&set[i], &old, word);
    }
    if (!is_put || !is_held(table, set, handle, place))
        return is_put;
    atomic_compare_exchange_strong(&set[place], &word, 0);
    return false;
}

static void take_out(struct rtl_borrow_table *table, uint64_t handle, uint64_t word)
{
    _Atomic uint64_t *set = set_of(table, handle);
    for (unsigned i = 0; i < RTL_BORROW_WAYS; i++) {
        uint64_t expected = word;
        if (atomic_compare_exchange_strong(&set[i], &expected, 0))
            return;
    }
}

static _Atomic bool *hold_of(struct rtl_borrow_table *table, uint64_t handle)
{
    return &table->holds[hash_of(handle) >> 56];
}

/* A borrower enters its word and then looks for a holder of the signal; the holder takes it and
 * then looks for words. One of them at least sees the other. */
bool rtl_borrow_enter(struct rtl_borrow_table *table, uint64_t handle, struct rtl_record_id id)
{
    uint64_t word = pack(handle, id);
    if (!put(table, handle, word))
        return false;
    if (!atomic_load(hold_of(table, handle)))
        return true;
    take_out(table, handle, word);
    return false;
}

static bool is_coming(struct rtl_borrow_table *table, uint64_t handle)
{
    _Atomic uint64_t *set = set_of(table, handle);
    uint64_t tag = tag_of(handle);
    if (!atomic_load(&table->used))
        return false;
    for (unsigned i = 0; i < RTL_BORROW_WAYS; i++) {
        uint64_t word = atomic_load(&set[i]);
        if (is_of(word, tag) && !is_busy_word(word) &&
            table->classify(unpack(word), handle) == RTL_BORROWER_COMING)
            return true;
    }
    return false;
}

bool rtl_borrow_hold(struct rtl_borrow_table *table, uint64_t handle)
{
    if (atomic_exchange(hold_of(table, handle), true))
        return false;
    if (!is_coming(table, handle))
        return true;
    rtl_borrow_let_go(table, handle);
    return false;
}

void rtl_borrow_let_go(struct rtl_borrow_table *table, uint64_t handle)
{
    atomic_store_explicit(hold_of(table, handle), false, memory_order_release);
}

bool rtl_borrow_is_contended(struct rtl_borrow_table *table, uint64_t handle)
{
    return atomic_load(hold_of(table, handle)) || is_coming(table, handle);
}

void rtl_borrow_forked(struct rtl_borrow_table *table)
{
    for (unsigned i = 0; i < RTL_BORROW_HOLDS; i++)
        atomic_store(&table->holds[i], false);
}

static _Atomic uint64_t *find_busy(struct rtl_borrow_table *table, uint64_t handle)
{
    _Atomic uint64_t *set = set_of(table, handle);
    uint64_t busy = busy_word_of(handle);
    for (unsigned i = 0; i < RTL_BORROW_WAYS; i++)
        if (atomic_load_explicit(&set[i], memory_order_relaxed) == busy)
            return &set[i];
    return NULL;
}

bool rtl_borrow_set_busy(struct rtl_borrow_table *table, uint64_t handle)
{
    return find_busy(table, handle) != NULL || put(table, handle, busy_word_of(handle));
}

void rtl_borrow_clear_busy(struct rtl_borrow_table *table, uint64_t handle)
{
    _Atomic uint64_t *place = is_used(table) ? find_busy(table, handle) : NULL;
    uint64_t busy = busy_word_of(handle);
    if (place != NULL)
        atomic_compare_exchange_strong(place, &busy, 0);
}

bool rtl_borrow_find(struct rtl_borrow_table *table, uint64_t handle, struct rtl_record_id *id)
{
    _Atomic uint64_t *set = set_of(table, handle);
    uint64_t tag = tag_of(handle);
    if (!is_used(table))
        return false;
    for (unsigned i = 0; i < RTL_BORROW_WAYS; i++) {
        uint64_t word = atomic_load_explicit(&set[i], memory_order_acquire);
        if (!is_of(word, tag) || is_busy_word(word))
            continue;
        *id = unpack(word);
        if (table->classify(*id, handle) == RTL_BORROWER_LIVE)
            return true;
    }
    return false;
}

bool rtl_borrow_in_use(struct rtl_borrow_table *table, uint64_t handle)
{
    struct rtl_record_id id;
    return rtl_borrow_find(table, handle, &id) && (table->finish == NULL || !table->finish(id));
}
