/**
 * Arguments of host calls as RPD's recorder writes them, "stream = 0x55d0 | graph = 0x55e0", which
 * its tools cut at the bars; and texts that come again and again, of which one row is enough.
 */
#ifndef RTL_TOOLS_EXPORT_RPD_ARGUMENTS_H
#define RTL_TOOLS_EXPORT_RPD_ARGUMENTS_H

#include "common/texts.h"

#include <rtl/rtl_trace.h>

#include <stdbool.h>
#include <stddef.h>

/** Writes the arguments of a call, cut off to fit `size` bytes with the terminator. What the call
 * has filled is called without its pointer's p, as there: "*pGraph=…" is "graph = …"; NULL is
 * 0x0. */
void rpd_arguments(const rtl_api_t *api, char *text, size_t size);

/** The texts that came last; so many that memory does not grow with a trace. Zeroed memory is
 * empty. */
struct rpd_recent {
    struct texts texts;
    int64_t before; /**< texts that were let go */
};

/** The number of a text, from 0; a text that was let go gets another one. `added` tells whether the
 * number is new. -1 when memory is short. */
int64_t rpd_recent_number(struct rpd_recent *recent, const char *text, bool *added);

void rpd_recent_free(struct rpd_recent *recent);

#endif
