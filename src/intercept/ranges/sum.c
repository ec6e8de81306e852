#include "intercept/ranges/sum.h"

#include <stdlib.h>
#include <string.h>

static int by_start(const void *left, const void *right, void *context)
{
    const struct rtl_kept *kept = context;
    uint64_t a = kept->work[*(const uint32_t *)left].work.start;
    uint64_t b = kept->work[*(const uint32_t *)right].work.start;
    return (a > b) - (a < b);
}

bool rtl_kept_sum(struct rtl_kept_sum *sum, struct rtl_kept *kept,
                  const struct rtl_kept_range *range)
{
    struct rtl_kept_list list = {0};
    if (!rtl_kept_gather(kept, range, &list)) {
        rtl_kept_sum_free(sum);
        return false;
    }
    if (sum->id == range->id && sum->list.count == list.count) {
        sum->list.launches = list.launches;
        free(list.places);
        return true;
    }
    rtl_kept_sum_free(sum);
    if (list.count > 0)
        qsort_r(list.places, list.count, sizeof *list.places, by_start, kept);
    sum->id = range->id;
    sum->list = list;
    for (size_t i = 0; i < list.count; i++)
        rtl_range_time_add(&sum->time, range->start, range->end, &kept->work[list.places[i]].work);
    return true;
}

void rtl_kept_sum_free(struct rtl_kept_sum *sum)
{
    free(sum->list.places);
    memset(sum, 0, sizeof *sum);
}
