/**
 * What the slices of the page are: kernels with their shapes, and copies by kind, numbered from 0.
 * Host calls and graphs are texts of the page.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_ITEMS_H
#define RTL_TOOLS_EXPORT_HTML_ITEMS_H

#include <stddef.h>
#include <stdint.h>

#define HTML_ITEM_NUMBERS 10u

/** A kernel: name (a text), mangled name (a text), grid, block, group and private size. A copy:
 * name, engine (texts), src, dst. */
struct html_item {
    uint32_t numbers[HTML_ITEM_NUMBERS];
};

/** Zeroed memory is empty. */
struct html_items {
    struct html_item *list;
    size_t count, capacity;
    uint32_t *table; /**< number + 1, 0: free */
    size_t table_size;
};

/** The number of an item, which is copied if it is new; UINT32_MAX when memory is short. */
uint32_t html_items_number(struct html_items *items, const struct html_item *item);

void html_items_free(struct html_items *items);

#endif
