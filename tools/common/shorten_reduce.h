/**
 * A name without the parts that go. For shorten.c.
 */
#ifndef RTL_TOOLS_SHORTEN_REDUCE_H
#define RTL_TOOLS_SHORTEN_REDUCE_H

#include "common/shorten_parts.h"

#define SHORTEN_ELLIPSIS       "..."
#define SHORTEN_ELLIPSIS_WIDTH 3u

/** Writes the name without the parts whose numbers are `gone`, and what stands for them; `out` has
 * room for all of the name. */
void shorten_reduce(const struct shorten_name *name, const bool *gone, char *out);

#endif
