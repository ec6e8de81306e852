/**
 * Whether durations get longer: how the comparison of the last quarter with the first is told.
 */
#ifndef RTL_TOOLS_TREND_H
#define RTL_TOOLS_TREND_H

#include "analysis/compare.h"

#include <jansson.h>
#include <stdio.h>

/** Writes a line "  trend: …"; `things` is what the durations are of, in the plural. */
void trend_show(const struct comparison *trend, const char *things, FILE *out);

/** The verdict, both p50 in ns, and p (null: too few). A new reference. */
json_t *trend_json(const struct comparison *trend);

#endif
