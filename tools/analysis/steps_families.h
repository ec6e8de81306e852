/**
 * Where the kernels of steps spend their time, by family (family.h).
 */
#ifndef RTL_TOOLS_STEPS_FAMILIES_H
#define RTL_TOOLS_STEPS_FAMILIES_H

#include "analysis/family.h"
#include "analysis/stats.h"
#include "common/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Kernels that began in steps; ns: the sum of their durations. */
struct family_time {
    const char *family; /**< the rules' */
    uint64_t ns, kernels;
    struct stats each;      /**< of a step, ns; empty: not asked for */
    uint64_t step, step_ns; /**< the step that is not in `each` yet; kernels 0: none */
};

/** Of a phase; zeroed memory is empty. In the order in which they came. */
struct family_times {
    struct family_time *list;
    size_t count;
};

/** Zeroed but for the rules, it has seen no name. */
struct steps_families {
    struct family_rules *rules;
    bool each_step;        /**< `each` is asked for */
    const char **families; /**< seen so far, by number */
    size_t count;
    struct rtl_index by_name; /**< their numbers, by the address of a name */
};

/** Adds a kernel of a step, whose number is not below that of the one before. `name` has an address
 * of its own, as those of a trace have. Memory that is short ends the program with a sentence. */
void steps_families_add(struct steps_families *families, struct family_times *times, uint64_t step,
                        const char *name, uint64_t ns);

/** Once all kernels of `steps` steps are there: `each` has them all, those last that have no kernel
 * of the family. */
void steps_families_end(const struct steps_families *families, struct family_times *times,
                        uint64_t steps);

/** Puts those with most time first, those without kernels last. */
void family_times_sort(struct family_times *times);

void family_times_free(struct family_times *times);
void steps_families_free(struct steps_families *families);

#endif
