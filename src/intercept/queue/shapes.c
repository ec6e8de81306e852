/*
 * An open-addressed table that only grows. A thread that finds a half-written entry, or no free
 * one, defines a shape of its own and does not enter it: two ids for equal shapes do no harm,
 * waiting would.
 */
#include "intercept/queue/shapes.h"

#include "common/pages.h"
#include "intercept/base/emit.h"
#include "intercept/base/symbols.h"

#define PLACE_BITS  15u
#define ENTRIES     (1u << PLACE_BITS)
#define PROBES      32u
#define FRONT_BITS  9u /* the first entries, where most programs' shapes all are */
#define FRONT       (1u << FRONT_BITS)
#define FRONT_TRIES 2u /* of the probes */

enum entry_state { ENTRY_FREE, ENTRY_BUSY, ENTRY_READY };

/* All that is in the packet, in words: a kernel is looked up for each that has completed. */
struct key {
    uint64_t kernel_object, plane, depth, block; /* grid x and y; z and group size; x, y, z */
};

struct entry {
    _Alignas(64) _Atomic uint32_t state;
    uint32_t shape;
    uint32_t symbol;
    struct key key;
};

static struct entry *entries;
static _Atomic uint32_t next_shape;

static struct key key_of(const struct rtl_kernel_facts *facts)
{
    return (struct key){.kernel_object = facts->kernel_object,
                        .plane = facts->grid[0] | (uint64_t)facts->grid[1] << 32,
                        .depth = facts->grid[2] | (uint64_t)facts->group_size << 32,
                        .block = facts->block[0] | (uint64_t)facts->block[1] << 16 |
                                 (uint64_t)facts->block[2] << 32};
}

/* The upper bits; odd numbers without a pattern, so that each word reaches them by itself. */
static uint64_t place_of(const struct key *key)
{
    uint64_t hash = key->kernel_object * UINT64_C(0x9E3779B97F4A7C15) ^
                    key->plane * UINT64_C(0xBF58476D1CE4E5B9) ^
                    key->depth * UINT64_C(0x94D049BB133111EB) ^
                    key->block * UINT64_C(0xD6E8FEB86659FD93);
    return hash >> (64 - PLACE_BITS);
}

/* An entry that is looked at for the first time costs up to two page faults, and an interrupt of
 * the other cores: that is seldom so in the first ones, which have memory. */
static struct entry *entry_of(uint64_t place, unsigned probe)
{
    if (probe < FRONT_TRIES)
        return &entries[((place >> (PLACE_BITS - FRONT_BITS)) + probe) % FRONT];
    return &entries[(place + probe) % ENTRIES];
}

static bool equal(const struct key *left, const struct key *right)
{
    return left->kernel_object == right->kernel_object && left->plane == right->plane &&
           left->depth == right->depth && left->block == right->block;
}

static bool define(const struct rtl_kernel_facts *facts, const struct rtl_symbol_found *symbol,
                   uint32_t *shape)
{
    *shape = atomic_fetch_add_explicit(&next_shape, 1, memory_order_relaxed);
    struct rtl_wire_shape wire = {
        .shape = *shape,
        .symbol = symbol->symbol,
        .grid = {facts->grid[0], facts->grid[1], facts->grid[2]},
        .block = {facts->block[0], facts->block[1], facts->block[2]},
        .group_size = facts->group_size,
        .private_size = symbol->private_size,
        .kernel_object = facts->kernel_object,
    };
    struct rtl_piece piece = {&wire, sizeof wire};
    return rtl_emit_try(RTL_WIRE_SHAPE, &piece, 1);
}

/* Defines a shape and enters it in a free place. */
static bool enter(struct entry *entry, const struct key *key, const struct rtl_kernel_facts *facts,
                  const struct rtl_symbol_found *symbol, uint32_t *shape)
{
    uint32_t expected = ENTRY_FREE;
    if (!atomic_compare_exchange_strong_explicit(&entry->state, &expected, ENTRY_BUSY,
                                                 memory_order_acquire, memory_order_relaxed))
        return define(facts, symbol, shape);
    if (!define(facts, symbol, shape)) {
        atomic_store_explicit(&entry->state, ENTRY_FREE, memory_order_release);
        return false;
    }
    entry->shape = *shape;
    entry->symbol = symbol->symbol;
    entry->key = *key;
    atomic_store_explicit(&entry->state, ENTRY_READY, memory_order_release);
    return true;
}

bool rtl_shapes_find(const struct rtl_kernel_facts *facts, uint32_t *shape)
{
    struct rtl_symbol_found symbol = rtl_symbols_find(facts->kernel_object, facts->epoch);
    struct key key = key_of(facts);
    uint64_t place = place_of(&key);
    for (unsigned probe = 0; probe < PROBES; probe++) {
        struct entry *entry = entry_of(place, probe);
        uint32_t state = atomic_load_explicit(&entry->state, memory_order_acquire);
        if (state == ENTRY_FREE)
            return enter(entry, &key, facts, &symbol, shape);
        if (state == ENTRY_READY && entry->symbol == symbol.symbol && equal(&entry->key, &key)) {
            *shape = entry->shape;
            return true;
        }
    }
    return define(facts, &symbol, shape);
}

bool rtl_shapes_begin(void)
{
    if (entries == NULL)
        entries = rtl_pages(ENTRIES * sizeof *entries);
    return entries != NULL;
}

void rtl_shapes_prefault(void)
{
    rtl_prefault(entries, entries + FRONT);
}
