#include "intercept/queue/slabs.h"

#include "common/pages.h"

#define REGIONS_BYTES (RTL_SLABS_REGIONS * sizeof(struct rtl_record_slab * _Atomic))
#define LINKS_BYTES   ((size_t)RTL_SLABS_REGIONS * RTL_SLABS_REGION * sizeof(_Atomic uint32_t))

struct rtl_slabs rtl_slabs;

static struct rtl_record_slab none;

bool rtl_slabs_init(struct rtl_slabs *slabs)
{
    _Atomic uint32_t *links = rtl_pages(LINKS_BYTES);
    *slabs = (struct rtl_slabs){.unused.next = links, .region_count = 1};
    slabs->regions = rtl_pages(REGIONS_BYTES);
    if (links == NULL || slabs->regions == NULL) {
        rtl_slabs_end(slabs);
        return false;
    }
    atomic_init(&slabs->regions[0], &none);
    return true;
}

void rtl_slabs_end(struct rtl_slabs *slabs)
{
    uint32_t regions = atomic_load_explicit(&slabs->region_count, memory_order_relaxed);
    for (uint32_t i = 1; slabs->regions != NULL && i < regions; i++) {
        struct rtl_record_slab *region =
            atomic_load_explicit(&slabs->regions[i], memory_order_relaxed);
        if (region != NULL)
            rtl_pages_give(region, RTL_SLABS_REGION * sizeof *region);
    }
    if (slabs->regions != NULL)
        rtl_pages_give((void *)slabs->regions, REGIONS_BYTES);
    if (slabs->unused.next != NULL)
        rtl_pages_give((void *)slabs->unused.next, LINKS_BYTES);
    *slabs = (struct rtl_slabs){0};
}

/* Takes memory for a region, whose place is the caller's alone. */
static bool make_region(struct rtl_slabs *slabs, uint32_t place)
{
    struct rtl_record_slab *region = rtl_pages(RTL_SLABS_REGION * sizeof *region);
    if (region == NULL)
        return false;
    rtl_prefault(region, region + RTL_SLABS_REGION);
    atomic_store_explicit(&slabs->regions[place], region, memory_order_relaxed);
    return true;
}

/* The next place for a region; false if there are as many as there may be. */
static bool take_place(struct rtl_slabs *slabs, uint32_t *place)
{
    *place = atomic_load_explicit(&slabs->region_count, memory_order_relaxed);
    while (*place < RTL_SLABS_REGIONS)
        if (atomic_compare_exchange_weak_explicit(&slabs->region_count, place, *place + 1,
                                                  memory_order_relaxed, memory_order_relaxed))
            return true;
    return false;
}

/* Somebody else may have gone on to the next place: then this one stays empty. */
static void leave_place(struct rtl_slabs *slabs, uint32_t place)
{
    uint32_t next = place + 1;
    (void)atomic_compare_exchange_strong_explicit(&slabs->region_count, &next, place,
                                                  memory_order_relaxed, memory_order_relaxed);
}

static bool grow(struct rtl_slabs *slabs)
{
    uint32_t place;
    uint32_t numbers[RTL_SLABS_REGION];
    if (!take_place(slabs, &place))
        return false;
    if (!make_region(slabs, place)) {
        leave_place(slabs, place);
        return false;
    }
    for (uint32_t i = 0; i < RTL_SLABS_REGION; i++)
        numbers[i] = place * RTL_SLABS_REGION + i;
    atomic_fetch_add_explicit(&slabs->unused_count, RTL_SLABS_REGION, memory_order_relaxed);
    rtl_stack_push(&slabs->unused, numbers, RTL_SLABS_REGION);
    return true;
}

/* Others may take what one has made. */
static unsigned take_some(struct rtl_slabs *slabs, uint32_t *numbers, unsigned count)
{
    unsigned got;
    while ((got = rtl_stack_pop(&slabs->unused, numbers, count)) == 0)
        if (!grow(slabs))
            return 0;
    atomic_fetch_sub_explicit(&slabs->unused_count, got, memory_order_relaxed);
    return got;
}

unsigned rtl_slabs_take(struct rtl_slabs *slabs, uint32_t *numbers, unsigned count)
{
    unsigned all = 0;
    unsigned got = 1;
    for (; all < count && got > 0; all += got)
        got = take_some(slabs, numbers + all, count - all);
    return all;
}

void rtl_slabs_give(struct rtl_slabs *slabs, uint32_t number)
{
    struct rtl_record_slab *slab = rtl_slabs_at(slabs, number);
    for (unsigned i = 0; i < RTL_SLAB; i++)
        atomic_store_explicit(&slab->records[i].state, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&slabs->unused_count, 1, memory_order_relaxed);
    rtl_stack_push(&slabs->unused, &number, 1);
}

void rtl_slabs_reserve(struct rtl_slabs *slabs, uint32_t ahead)
{
    while (atomic_load_explicit(&slabs->unused_count, memory_order_relaxed) < ahead)
        if (!grow(slabs))
            return;
}
