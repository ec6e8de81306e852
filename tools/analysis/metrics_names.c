#include "analysis/metrics_names.h"

#include "common/table.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Of rocprofiler's metrics.xml and rocprofiler-sdk's counter_defs.yaml. */
static const struct {
    const char *name, *metric;
    const char *unit; /* that of the other tool, NULL: the same */
} names[] = {
    {"FETCH_SIZE", "fetch_bytes", "KB"},
    {"FetchSize", "fetch_bytes", "KB"},
    {"WRITE_SIZE", "write_bytes", "KB"},
    {"WriteSize", "write_bytes", "KB"},
    {"L2CacheHit", "l2_hit", NULL},
    {"GPUBusy", "gpu_busy", NULL},
    {"GPU_UTIL", "gpu_busy", NULL},
    {"Wavefronts", "waves", NULL},
    {"VALUInsts", "valu_per_wave", NULL},
    {"SALUInsts", "salu_per_wave", NULL},
    {"SFetchInsts", "smem_per_wave", NULL},
    {"VFetchInsts", "vmem_reads_per_wave", NULL},
    {"VWriteInsts", "vmem_writes_per_wave", NULL},
    {"LDSInsts", "lds_per_wave", NULL},
    {"VALUUtilization", "valu_lanes", NULL},
};

/* A counter's sum over the instances of its block, which all values are here: TCC_HIT_sum. */
static const struct rtl_metric *find_sum(const char *name)
{
    static const char ending[] = "_sum";
    char counter[128];
    size_t length = strlen(name);
    if (length < sizeof ending || length >= sizeof counter ||
        strcasecmp(name + length - (sizeof ending - 1), ending) != 0)
        return NULL;
    (void)snprintf(counter, sizeof counter, "%.*s", (int)(length - (sizeof ending - 1)), name);
    const struct rtl_metric *metric = rtl_metric_find(counter);
    return metric && metric->over ? metric : NULL;
}

const struct rtl_metric *metrics_named_elsewhere(const char *name, const char **unit)
{
    *unit = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (strcasecmp(names[i].name, name) == 0) {
            *unit = names[i].unit;
            return rtl_metric_find(names[i].metric);
        }
    return find_sum(name);
}

void metrics_show_names(void)
{
    static const char *const heading[] = {"elsewhere", "here"};
    struct table *table = table_new("ll");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        char cell[64];
        (void)snprintf(cell, sizeof cell, "%s%s%s%s", names[i].name, names[i].unit ? " (" : "",
                       names[i].unit ? names[i].unit : "", names[i].unit ? ")" : "");
        table_cell(table, cell);
        table_cell(table, names[i].metric);
    }
    table_print(table, stdout);
}
