/*
 * An open-addressed table that only grows. A thread that finds a half-written entry, or no free
 * one, defines a shape of its own and does not enter it: two ids for equal shapes do no harm,
 * waiting would.
 */
#include "intercept/shapes.h"

#include "intercept/emit.h"
#include "intercept/symbols.h"

#define ENTRIES 32768u
#define PROBES  32u

enum entry_state { ENTRY_FREE, ENTRY_BUSY, ENTRY_READY };

struct entry {
    _Atomic uint32_t state;
    uint32_t shape;
    uint64_t kernel_object;
    uint32_t symbol;
    uint32_t grid[3];
    uint32_t group_size;
    uint16_t block[3];
};

static struct entry entries[ENTRIES];
static _Atomic uint32_t next_shape;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

static uint64_t hash_of(const struct rtl_kernel_facts *facts, uint32_t symbol)
{
    uint64_t hash = mix(facts->kernel_object, symbol | (uint64_t)facts->group_size << 32);
    hash = mix(hash, facts->grid[0] | (uint64_t)facts->grid[1] << 32);
    return mix(hash, facts->grid[2] | (uint64_t)facts->block[0] << 32 |
                         (uint64_t)facts->block[1] << 42 | (uint64_t)facts->block[2] << 53);
}

static bool equal(const struct entry *entry, const struct rtl_kernel_facts *facts, uint32_t symbol)
{
    return entry->kernel_object == facts->kernel_object && entry->symbol == symbol &&
           entry->grid[0] == facts->grid[0] && entry->grid[1] == facts->grid[1] &&
           entry->grid[2] == facts->grid[2] && entry->group_size == facts->group_size &&
           entry->block[0] == facts->block[0] && entry->block[1] == facts->block[1] &&
           entry->block[2] == facts->block[2];
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

static void fill(struct entry *entry, const struct rtl_kernel_facts *facts, uint32_t symbol,
                 uint32_t shape)
{
    entry->shape = shape;
    entry->kernel_object = facts->kernel_object;
    entry->symbol = symbol;
    entry->group_size = facts->group_size;
    for (int i = 0; i < 3; i++) {
        entry->grid[i] = facts->grid[i];
        entry->block[i] = facts->block[i];
    }
}

/* Defines a shape and enters it in a free place. */
static bool enter(struct entry *entry, const struct rtl_kernel_facts *facts,
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
    fill(entry, facts, symbol->symbol, *shape);
    atomic_store_explicit(&entry->state, ENTRY_READY, memory_order_release);
    return true;
}

bool rtl_shapes_find(const struct rtl_kernel_facts *facts, uint32_t *shape)
{
    struct rtl_symbol_found symbol = rtl_symbols_find(facts->kernel_object, facts->epoch);
    uint64_t hash = hash_of(facts, symbol.symbol);
    for (unsigned probe = 0; probe < PROBES; probe++) {
        struct entry *entry = &entries[(hash + probe) & (ENTRIES - 1)];
        uint32_t state = atomic_load_explicit(&entry->state, memory_order_acquire);
        if (state == ENTRY_FREE)
            return enter(entry, facts, &symbol, shape);
        if (state == ENTRY_READY && equal(entry, facts, symbol.symbol)) {
            *shape = entry->shape;
            return true;
        }
    }
    return define(facts, &symbol, shape);
}
