/**
 * What addresses of kernels' arguments tell. HIP keeps those of a graph's kernels in memory of that
 * graph's own, one after the other (CLR's GraphKernelArgManager, 128 KiB or more), and those of
 * eager launches in memory of a queue. Memory is given out in pages of 4 KiB.
 */
#ifndef RTL_GRAPH_ARGUMENTS_H
#define RTL_GRAPH_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#define RTL_ARGUMENTS_PAGE 4096u

/** Arguments so many bytes apart are taken to be of one graph, also across the end of a page. */
#define RTL_ARGUMENTS_NEAR 512u

/** The page that arguments lie in, by its number. What lies in one has one owner. */
static inline uint64_t rtl_arguments_page(uint64_t arguments)
{
    return arguments / RTL_ARGUMENTS_PAGE;
}

/** Whether arguments lie in the same memory for certain; 0 is not known. */
static inline bool rtl_arguments_near(uint64_t a, uint64_t b)
{
    return a != 0 && b != 0 &&
           (rtl_arguments_page(a) == rtl_arguments_page(b) ||
            (a > b ? a - b : b - a) <= RTL_ARGUMENTS_NEAR);
}

#endif
