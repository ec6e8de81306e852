#include "store/heap.h"

#include <stdlib.h>

static bool before(const struct rtl_heap_item *a, const struct rtl_heap_item *b)
{
    int order = rtl_key_compare(&a->key, &b->key);
    return order ? order < 0 : a->tie < b->tie;
}

static void sift_down(struct rtl_heap *heap)
{
    struct rtl_heap_item *items = heap->items;
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= heap->count)
            return;
        if (child + 1 < heap->count && before(&items[child + 1], &items[child]))
            child++;
        if (!before(&items[child], &items[i]))
            return;
        struct rtl_heap_item moved = items[i];
        items[i] = items[child];
        items[child] = moved;
        i = child;
    }
}

bool rtl_heap_push(struct rtl_heap *heap, struct rtl_heap_item item)
{
    if (heap->count == heap->capacity) {
        size_t capacity = heap->capacity ? heap->capacity * 2 : 16;
        struct rtl_heap_item *items = realloc(heap->items, capacity * sizeof *items);
        if (!items)
            return false;
        heap->items = items;
        heap->capacity = capacity;
    }
    size_t i = heap->count++;
    while (i && before(&item, &heap->items[(i - 1) / 2])) {
        heap->items[i] = heap->items[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap->items[i] = item;
    return true;
}

void rtl_heap_advance(struct rtl_heap *heap, struct rtl_key key)
{
    heap->items[0].key = key;
    sift_down(heap);
}

void rtl_heap_pop(struct rtl_heap *heap)
{
    heap->items[0] = heap->items[--heap->count];
    sift_down(heap);
}

void rtl_heap_free(struct rtl_heap *heap)
{
    free(heap->items);
    *heap = (struct rtl_heap){0};
}
