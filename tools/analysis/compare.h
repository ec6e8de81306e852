/**
 * Whether two series of durations differ, and by how much.
 *
 * The test is that of Mann and Whitney, which asks nothing of the distributions. Replays that
 * follow each other are alike (clocks, caches), so fewer of them count: n (1 - r) / (1 + r), where
 * r is the correlation of the ranks of neighbours, 0 at least. The interval of the difference of
 * the medians is that of Price and Bonett (2002), made wider by the same.
 */
#ifndef RTL_TOOLS_COMPARE_H
#define RTL_TOOLS_COMPARE_H

#include "analysis/stats.h"

/** Fewer values on a side and nothing is said. */
#define COMPARE_LEAST 8u

enum compare_verdict { COMPARE_ALIKE, COMPARE_SLOWER, COMPARE_FASTER, COMPARE_TOO_FEW };

struct comparison {
    double a, b;       /**< medians */
    double difference; /**< b - a */
    double low, high;  /**< of the difference, with a confidence of 95 % */
    double
        p; /**< that chance alone makes them differ so; compare_family makes it that of a family */
    enum compare_verdict verdict; /**< set by compare_family */
};

/** Compares two series; verdict is COMPARE_TOO_FEW or COMPARE_ALIKE. */
void compare(struct stats *a, struct stats *b, struct comparison *comparison);

/** The variance of the median of a series, by Price and Bonett, made wider for neighbours that are
 * alike; 0 of one value. */
double compare_median_variance(struct stats *stats);

/** Makes the p of comparisons that are looked at together right for that (Holm 1979), and gives the
 * verdicts: one is slower or faster where p is below 0.01 and the interval leaves out 0. */
void compare_family(struct comparison *const *family, size_t count);

/** "slower", "faster", "alike", "too few" */
const char *compare_name(enum compare_verdict verdict);

#endif
