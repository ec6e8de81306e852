/**
 * A trace into the tables of a ClickHouse: each row once, whatever happens in between.
 *
 * docs/fleet.md, "Each row once", has the reasoning.
 */
#ifndef RTL_TOOLS_FLEET_LOAD_H
#define RTL_TOOLS_FLEET_LOAD_H

#include <stdint.h>

/** Options as the command line has them; 0 and NULL: not given. */
struct load_options {
    const char **urls; /**< of the servers; the first one takes the rows */
    unsigned url_count;
    const char *cluster;
    const char **labels; /**< KEY=VALUE */
    unsigned label_count;
    unsigned ttl_days, jobs, sample;
    unsigned patience; /**< seconds that a server may be away, or another one may load the run */
    unsigned has_patience;
};

#define LOAD_PATIENCE  60u
#define LOAD_JOBS      2u
#define LOAD_JOBS_MOST 64u

/** Loads traces, and says of each what was done. EXIT_FINE, or EXIT_USAGE when a sentence has been
 * said. */
int load_traces(const char *const *paths, unsigned count, const struct load_options *options);

#endif
