#include "store/sums.h"

#include <string.h>

const struct rtl_sum rtl_sums[RTL_SUMS] = {
    {"kernel_chunks", "chunk", "checksum", "data",
     "process,queue,kernels,packet_min,packet_max,start_min,end_max", false},
    {"api_chunks", "chunk", "checksum", "data",
     "process,calls,words,start_min,end_max,correlation_min,correlation_max", false},
    {"graph_plans", "plan", "checksum", "data", "process,plan,graph,generation,begins,kernels",
     false},
    {"launch_chunks", "chunk", "checksum", "data",
     "process,launches,spans,headed,launch_min,launch_max,time_min,time_max,correlation_min,"
     "correlation_max",
     false},
    {"sample_chunks", "chunk", "checksum", "data",
     "process,queue,samples,counts,owner_min,owner_max", false},
    {"symbol_blocks", "block", "checksum", "data", "process,symbols,bytes,symbol_min,symbol_max",
     true},
    {"stat_blocks", "block", "checksum", "data", "process,groups,bins,kernels", true},
    {"stat_chunks", "chunk", "checksum", "data", "chunk,shapes,busy", true},
    {"launch_chunks", "chunk", "summary_checksum", "summary",
     "process,launches,spans,headed,launch_min,launch_max,time_min,time_max,correlation_min,"
     "correlation_max",
     false},
};

const struct rtl_sum *rtl_sum_by_checksum(const char *table, const char *column)
{
    for (int i = 0; i < RTL_SUMS; i++)
        if (strcmp(rtl_sums[i].table, table) == 0 && strcmp(rtl_sums[i].checksum, column) == 0)
            return &rtl_sums[i];
    return NULL;
}

const struct rtl_sum *rtl_sum_by_blob(const char *table, const char *column)
{
    for (int i = 0; i < RTL_SUMS; i++)
        if (strcmp(rtl_sums[i].table, table) == 0 && strcmp(rtl_sums[i].blob, column) == 0)
            return &rtl_sums[i];
    return NULL;
}

uint64_t rtl_sum_field(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_NULL ? UINT32_MAX
                                                    : (uint64_t)sqlite3_value_int64(value);
}
