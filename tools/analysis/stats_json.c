#include "analysis/stats_json.h"

#include "common/open.h"

json_t *graph_stats_json(struct stats *stats)
{
    if (stats->count == 0)
        return json_null();
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:b}", "count", open_number(stats->count),
        "total_ns", open_number(stats->total), "min_ns", open_number(stats->min), "p50_ns",
        open_number(stats_quantile(stats, 500)), "p90_ns", open_number(stats_quantile(stats, 900)),
        "p99_ns", open_number(stats_quantile(stats, 990)), "max_ns", open_number(stats->max),
        "mean_ns", stats->mean, "cv", stats_variation(stats), "exact", (int)stats_exact(stats));
}

json_t *graph_sizes_json(const uint32_t sizes[3])
{
    return json_pack("[I, I, I]", (json_int_t)sizes[0], (json_int_t)sizes[1], (json_int_t)sizes[2]);
}
