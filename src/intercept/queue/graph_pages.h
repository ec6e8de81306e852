/**
 * Pages that graphs have arguments of kernels in, of all queues.
 *
 * HIP keeps the arguments of a graph's kernels in memory of that graph's own, and those of eager
 * launches in memory of a queue; memory is given out in pages, so that no page has arguments of
 * both. Packets that are reserved at once outside of host calls are of a graph, so that kernels
 * with arguments in the same pages are, too, be they reserved alone.
 *
 * A page that is forgotten, because another one needed its place, is noted again by the next
 * replay. Any thread, lock-free.
 */
#ifndef RTL_INTERCEPT_QUEUE_GRAPH_PAGES_H
#define RTL_INTERCEPT_QUEUE_GRAPH_PAGES_H

#include "graph/arguments.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RTL_GRAPH_PAGES 1024u

struct rtl_graph_pages {
    _Atomic bool any;
    _Atomic uint64_t pages[RTL_GRAPH_PAGES]; /**< by their numbers; 0: none */
};

/** Whether there are any. Nearly always all that is asked: a program without graphs has none. */
static inline bool rtl_graph_pages_any(const struct rtl_graph_pages *pages)
{
    return atomic_load_explicit(&pages->any, memory_order_relaxed);
}

/** Whether arguments at the address are a graph's. */
static inline bool rtl_graph_pages_have(const struct rtl_graph_pages *pages, uint64_t arguments)
{
    uint64_t page = rtl_arguments_page(arguments);
    return page != 0 && atomic_load_explicit(&pages->pages[page % RTL_GRAPH_PAGES],
                                             memory_order_relaxed) == page;
}

/** Notes that arguments at the address are a graph's. */
static inline void rtl_graph_pages_add(struct rtl_graph_pages *pages, uint64_t arguments)
{
    uint64_t page = rtl_arguments_page(arguments);
    if (page == 0 || rtl_graph_pages_have(pages, arguments))
        return;
    atomic_store_explicit(&pages->pages[page % RTL_GRAPH_PAGES], page, memory_order_relaxed);
    atomic_store_explicit(&pages->any, true, memory_order_relaxed);
}

#endif
