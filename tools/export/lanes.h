/**
 * Lanes: rows that are needed to show what overlaps in time. What runs on one stream or queue goes
 * into its first lane that is free, so that no row shows two things at once.
 */
#ifndef RTL_TOOLS_EXPORT_LANES_H
#define RTL_TOOLS_EXPORT_LANES_H

#include <stddef.h>
#include <stdint.h>

struct lane_key {
    uint32_t process, kind; /**< kind: of `id`, the caller's */
    uint64_t id;
    uint32_t gpu;
};

struct lane {
    struct lane_key key;
    unsigned number;   /**< among those with this key, from 0 */
    uint64_t busy;     /**< it is free from then on */
    uint64_t end;      /**< when the last thing in it ends */
    const void *owner; /**< what it is kept for, NULL if for nobody */
    int told;          /**< the caller's: the part has a description of it */
    size_t next;       /**< place of the next with this key, from 1; 0: there is none */
};

/** Zeroed memory is empty. */
struct lanes {
    struct lane *list;
    size_t count, capacity;
    size_t *table; /**< the place of a key's first lane, from 1; 0: free */
    size_t table_size;
};

/** A lane for [start, end): that of `owner` (may be NULL), if it is free, else the first that is
 * nobody's and free at `start`. One with another owner is free after `busy`; the caller changes
 * `owner` and `busy`. Starts must not fall. It lives until the next call; NULL when memory is
 * short. */
struct lane *lanes_take(struct lanes *lanes, const struct lane_key *key, const void *owner,
                        uint64_t start, uint64_t end);

void lanes_free(struct lanes *lanes);

#endif
