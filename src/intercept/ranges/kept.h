/**
 * What a session keeps of ranges and their work (rtl_session.h): a tree of ranges, each with the
 * kernels and copies that were submitted in it.
 *
 * No locks: the session has one. Memory that is short is counted.
 */
#ifndef RTL_INTERCEPT_RANGES_KEPT_H
#define RTL_INTERCEPT_RANGES_KEPT_H

#include "common/range_time.h"

#include <rtl/rtl_callbacks.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RTL_KEPT_NONE UINT32_MAX

/** A kernel or copy. */
struct rtl_kept_work {
    struct rtl_range_work work;
    uint64_t correlation;
    uint64_t range; /**< 0 while it is not known */
    uint64_t packet, queue_address;
    const char *name;
    uint32_t next; /**< of the same range */
    uint32_t queue, device, launch, ordinal;
};

/** A range; one that has not ended is there if something was in it, or it is aside. */
struct rtl_kept_range {
    uint64_t id, parent, start, end; /**< end 0: it has not ended, and only `id` is known
                                         (aside: `parent` as well) */
    uint64_t launches;               /**< of graphs, in it alone */
    char *text;
    uint32_t thread;
    bool adopted;          /**< among those within its parent */
    bool aside;            /**< nobody asks for it: what is in it belongs to those around */
    uint32_t work;         /**< first of its own */
    uint32_t child, other; /**< first within it, next within the same */
};

/** What metrics need to know of a kernel. */
struct rtl_kept_shape {
    uint32_t grid[3], block[3]; /**< work-items */
    uint32_t lds_bytes, scratch_bytes;
};

/** A host call that was made in a range. */
struct rtl_kept_call {
    uint64_t correlation, range, start;
};

/** From ids to places. */
struct rtl_kept_places {
    uint64_t *ids; /**< 0: free */
    uint32_t *places;
    size_t size, used;
};

/** Room for one more item of `size` bytes behind `count` of them: `*items` grows if need be. False
 * if memory is short or places have run out. */
bool rtl_kept_room(void **items, size_t count, size_t *capacity, size_t size);

/** The place of an id, RTL_KEPT_NONE if it has none. */
uint32_t rtl_kept_look_up(const struct rtl_kept_places *places, uint64_t id);

/** Gives an id (not 0) a place, another one if it has one. False if memory is short. */
bool rtl_kept_enter(struct rtl_kept_places *places, uint64_t id, uint32_t place);

/** Zeroed memory is empty. */
struct rtl_kept {
    struct rtl_kept_work *work;
    struct rtl_kept_shape *shapes; /**< of each work, if `with_shapes` */
    bool with_shapes;              /**< set while it is empty */
    struct rtl_kept_range *ranges;
    struct rtl_kept_call *calls;
    size_t work_count, work_capacity, shape_capacity;
    size_t range_count, range_capacity;
    size_t call_count, call_capacity;
    struct rtl_kept_places range_places, call_places;
    uint32_t *unassigned; /**< work whose call has not returned yet */
    size_t unassigned_count, unassigned_capacity;
    uint64_t lost; /**< found no memory */
};

void rtl_kept_kernel(struct rtl_kept *kept, const rtl_kernel_event_t *event);
void rtl_kept_copy(struct rtl_kept *kept, const rtl_copy_event_t *event);
void rtl_kept_call(struct rtl_kept *kept, const rtl_call_event_t *event);
void rtl_kept_range(struct rtl_kept *kept, const rtl_range_event_t *event);
void rtl_kept_launch(struct rtl_kept *kept, const rtl_launch_event_t *event);

/** Assigns work whose call has returned since to the range of the call. Of the rest, that which
 * ended before `patient_since` is given up: its call was made in no range. */
void rtl_kept_assign(struct rtl_kept *kept, uint64_t patient_since);

/** The innermost range that is not aside, of that one and those around it; 0 if there is none. */
uint64_t rtl_kept_measured(const struct rtl_kept *kept, uint64_t id);

/** The range of that id if it has ended and is not aside, else NULL. */
const struct rtl_kept_range *rtl_kept_find(const struct rtl_kept *kept, uint64_t id);

/** What lies in a range and in those within it: places of its work. */
struct rtl_kept_list {
    uint32_t *places;
    size_t count;
    uint64_t launches;
};

/** False if memory is short. The caller frees `list->places`. */
bool rtl_kept_gather(const struct rtl_kept *kept, const struct rtl_kept_range *range,
                     struct rtl_kept_list *list);

/** When the call began that submitted the work; 0 if no call did, or it is not known. */
uint64_t rtl_kept_call_start(const struct rtl_kept *kept, const struct rtl_kept_work *work);

/** Frees all; `kept` is empty then. */
void rtl_kept_free(struct rtl_kept *kept);

#endif
