#include "intercept/hip/graph_execs.h"

#include <stdlib.h>

#define FEWEST_PLACES 256u

/* Open addressing. A wider table takes the place of a full one, which stays for those who are just
 * looking there; together they are no larger than the last. */
struct table {
    struct table *before; /* the one whose place it took */
    size_t count;         /* a power of two */
    size_t used;          /* places whose key is not 0 */
    struct {
        _Atomic uint64_t key;                /* 0: never used */
        struct rtl_graph_exec *_Atomic exec; /* NULL: removed */
    } places[];
};

static struct table *_Atomic current_table;
static struct rtl_graph_exec *free_execs;

static size_t first_place(const struct table *table, uint64_t key)
{
    return ((key >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (table->count - 1);
}

/* The place of a key, or the one where it would be entered: a table always has free places. */
static size_t place_of(const struct table *table, uint64_t key)
{
    size_t at = first_place(table, key);
    for (;; at = (at + 1) & (table->count - 1)) {
        uint64_t found = atomic_load_explicit(&table->places[at].key, memory_order_acquire);
        if (found == key || found == 0)
            return at;
    }
}

struct rtl_graph_exec *rtl_graph_execs_find(uint64_t handle)
{
    const struct table *table = atomic_load_explicit(&current_table, memory_order_acquire);
    if (table == NULL)
        return NULL;
    size_t at = place_of(table, handle);
    return atomic_load_explicit(&table->places[at].exec, memory_order_acquire);
}

static void set(struct table *table, uint64_t key, struct rtl_graph_exec *exec)
{
    size_t at = place_of(table, key);
    atomic_store_explicit(&table->places[at].exec, exec, memory_order_release);
    if (atomic_load_explicit(&table->places[at].key, memory_order_relaxed) == 0) {
        table->used++;
        atomic_store_explicit(&table->places[at].key, key, memory_order_release);
    }
}

/* A table with room for one more key, NULL without memory. */
static struct table *table_with_room(void)
{
    struct table *table = atomic_load_explicit(&current_table, memory_order_relaxed);
    if (table != NULL && 2 * (table->used + 1) <= table->count)
        return table;
    size_t count = table != NULL ? 2 * table->count : FEWEST_PLACES;
    struct table *wider = calloc(1, sizeof *wider + count * sizeof wider->places[0]);
    if (wider == NULL)
        return NULL;
    wider->before = table;
    wider->count = count;
    for (size_t i = 0; table != NULL && i < table->count; i++) {
        struct rtl_graph_exec *exec =
            atomic_load_explicit(&table->places[i].exec, memory_order_relaxed);
        if (exec != NULL)
            set(wider, exec->handle, exec);
    }
    atomic_store_explicit(&current_table, wider, memory_order_release);
    return wider;
}

void rtl_graph_execs_forget(uint64_t handle)
{
    struct rtl_graph_exec *exec = rtl_graph_execs_find(handle);
    if (exec == NULL)
        return;
    set(atomic_load_explicit(&current_table, memory_order_relaxed), handle, NULL);
    rtl_graph_nodes_free(&exec->nodes);
    exec->next_free = free_execs;
    free_execs = exec;
}

struct rtl_graph_exec *rtl_graph_execs_enter(uint64_t handle)
{
    rtl_graph_execs_forget(handle);
    struct table *table = table_with_room();
    struct rtl_graph_exec *exec = free_execs;
    if (table == NULL || (exec == NULL && (exec = calloc(1, sizeof *exec)) == NULL))
        return NULL;
    if (exec == free_execs)
        free_execs = exec->next_free;
    atomic_store_explicit(&exec->current, 0, memory_order_relaxed);
    exec->handle = handle;
    exec->source = exec->correlation = 0;
    exec->graph = exec->generation = 0;
    exec->unknown = false;
    exec->next_free = NULL;
    set(table, handle, exec);
    return exec;
}
