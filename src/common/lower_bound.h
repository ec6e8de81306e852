/**
 * Binary search in what is in order.
 */
#ifndef RTL_COMMON_LOWER_BOUND_H
#define RTL_COMMON_LOWER_BOUND_H

#include <stddef.h>

/** Sets the variable `at` to the first of the places 0 to `count` (not included) for which the
 * expression `before` is false, or to `count`. `before` tells by `at` whether the item there comes
 * before what is looked for; it is true for none behind one for which it is false. */
#define RTL_LOWER_BOUND(at, count, before)                                                         \
    do {                                                                                           \
        size_t rtl_low = 0;                                                                        \
        for (size_t rtl_high = (count); rtl_low < rtl_high;) {                                     \
            (at) = rtl_low + (rtl_high - rtl_low) / 2;                                             \
            if (before)                                                                            \
                rtl_low = (at) + 1;                                                                \
            else                                                                                   \
                rtl_high = (at);                                                                   \
        }                                                                                          \
        (at) = rtl_low;                                                                            \
    } while (0)

#endif
