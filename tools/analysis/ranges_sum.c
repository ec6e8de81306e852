#include "analysis/ranges_sum.h"

#include "common/memory.h"

void ranges_sum_quantities(struct rtl_quantities *sum, const struct range_row *range)
{
    rtl_quantities_add(sum, &range->quantities);
    for (unsigned i = RTL_QUANTITY_KERNELS; i <= RTL_QUANTITY_WALL_NS; ++i)
        if (range->end || i != RTL_QUANTITY_WITHIN_NS)
            sum->values[i] += range->quantities.values[i];
}

void ranges_sum_counts(struct rtl_count **sum, const struct range_row *range, size_t count)
{
    if (!range->counts)
        return;
    if (!*sum)
        *sum = memory_new(count, sizeof **sum);
    for (size_t i = 0; i < count; ++i)
        rtl_count_merge(&(*sum)[i], &range->counts[i]);
}
