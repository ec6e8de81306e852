/**
 * The options of `rtl trace`.
 */
#ifndef RTL_TOOLS_TRACE_OPTIONS_H
#define RTL_TOOLS_TRACE_OPTIONS_H

#include "analysis/metrics.h"
#include "common/gpu.h"
#include "sync/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_options {
    const char *mode;
    const char *output; /**< pattern */
    bool replace, quiet, verbose;
    enum gpu gpu;
    uint64_t buffer;
    const char *delay, *duration; /**< as they were given */
    bool starts_off;
    const char *metric_names; /**< as they were given, NULL: none */
    struct metrics metrics;
    const char *counting;
    const char *kernel; /* pattern of names: only these are counted; NULL: all */
    const char *sync;   /**< as it was given, NULL: no other host's clock */
    bool sync_mpi;      /**< it is compared over MPI, not with `responder` */
    struct rtl_sync_address responder;
    bool list;
    char **program;
};

/** Reads the command line. 0, or EXIT_USAGE when a sentence has been said. */
int trace_options_parse(int argc, char **argv, struct trace_options *options);

/** The size of the ring that librtl will take in the child, bytes. */
size_t trace_options_ring(const struct trace_options *options);

#endif
