/**
 * What a file of RPD (rocmProfileData, schema versions 1 to 3) holds, given to a writer of traces.
 */
#ifndef RTL_TOOLS_IMPORT_RPD_H
#define RTL_TOOLS_IMPORT_RPD_H

#include "store/writer.h"

#include <stdint.h>

struct rpd_result {
    uint64_t kernels, copies, calls, ranges;
    uint64_t start, end; /**< of all that is in it, ns; 0 if nothing is */
    /** What a trace has no place for. */
    uint64_t monitors, counters, frames, graphs;
    int version;        /**< of its schema */
    char host[256];     /**< "" if it does not say */
    char command[4096]; /**< "" if it does not say */
};

/** Opens the file at `path`, makes what it holds known to the writer that `open` makes (with the
 * command line that the file names), and closes neither. EXIT_FINE, or EXIT_USAGE when a sentence
 * has been said. */
int rpd_import(const char *path, struct rtl_writer *(*open)(const char *command),
               struct rpd_result *result);

#endif
