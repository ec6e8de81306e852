/**
 * Memory that a process may still take under the limits it was given (setrlimit).
 */
#ifndef RTL_COMMON_ALLOWANCE_H
#define RTL_COMMON_ALLOWANCE_H

#include <stdint.h>

struct rtl_allowance {
    int resource;   /**< RLIMIT_AS, or RLIMIT_DATA: what is private and can be written to */
    uint64_t limit; /**< bytes; UINT64_MAX: there is none */
    uint64_t left;  /**< bytes below the limit that are not taken yet; UINT64_MAX: no limit */
};

/** The limit alone, which is known at once. Any thread. */
uint64_t rtl_allowance_limit(int resource);

/** What this process has of one of the two. Reads a file of the system's. Any thread; keeps errno.
 */
struct rtl_allowance rtl_allowance(int resource);

/** The one of which less is left. */
struct rtl_allowance rtl_allowance_least(void);

/** "RLIMIT_AS, ulimit -v" or "RLIMIT_DATA, ulimit -d". */
const char *rtl_allowance_name(int resource);

#endif
