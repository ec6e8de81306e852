/**
 * How often a test repeats what chance, or the instruction that is chosen, makes different: all of
 * it as it stands alone and in script/test --all, a quarter in the everyday run, which sets
 * RTL_TEST_BRIEF.
 */
#ifndef RTL_TESTS_COMMON_BRIEF_H
#define RTL_TESTS_COMMON_BRIEF_H

#include <stdint.h>
#include <stdlib.h>

/** 4 in the everyday run, else 1: how many steps are one there. */
static inline uint32_t rtl_test_stride(void)
{
    const char *brief = secure_getenv("RTL_TEST_BRIEF");
    return brief && *brief ? 4 : 1;
}

/** `all`, or a quarter of it and at least one. */
static inline uint32_t rtl_test_times(uint32_t all)
{
    return (all + rtl_test_stride() - 1) / rtl_test_stride();
}

#endif
