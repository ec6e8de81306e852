/**
 * Ranks as JSON, for who shows them. Each function returns a new reference.
 */
#ifndef RTL_TOOLS_RANKS_JSON_H
#define RTL_TOOLS_RANKS_JSON_H

#include "analysis/ranks.h"

#include <jansson.h>

/** What `rtl ranks --json` has of a rank. */
json_t *ranks_json_rank(const struct ranks *ranks, struct rank *rank);

/** The list of hosts. */
json_t *ranks_json_hosts(const struct ranks *ranks);

#endif
