#include "analysis/metrics_names.h"

#include "common/table.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const char with_flat[] = "with flat instructions, which are not in it there";
static const char of_one[] = "summed over all instances of its block, not of one of them";

/* Of rocprofiler's metrics.xml and rocprofiler-sdk's counter_defs.yaml. */
static const struct {
    const char *name, *metric;
    const char *unit;    /* that of the other tool, NULL: the same */
    const char *differs; /* NULL: nothing else does */
} names[] = {
    {"FETCH_SIZE", "fetch_bytes", "KB", NULL},
    {"FetchSize", "fetch_bytes", "KB", NULL},
    {"WRITE_SIZE", "write_bytes", "KB", NULL},
    {"WriteSize", "write_bytes", "KB", NULL},
    {"L2CacheHit", "l2_hit", NULL, NULL},
    {"GPUBusy", "gpu_busy", NULL, NULL},
    {"GPU_UTIL", "gpu_busy", NULL, NULL},
    {"Wavefronts", "waves", NULL, NULL},
    {"VALUInsts", "valu_per_wave", NULL, NULL},
    {"SALUInsts", "salu_per_wave", NULL, NULL},
    {"SFetchInsts", "smem_per_wave", NULL, NULL},
    {"VFetchInsts", "vmem_reads_per_wave", NULL, with_flat},
    {"VWriteInsts", "vmem_writes_per_wave", NULL, with_flat},
    {"LDSInsts", "lds_per_wave", NULL, with_flat},
    {"VALUUtilization", "valu_lanes", NULL, NULL},
};

/* Those that need what a GPU has of a unit, or a maximum over instances. */
static const struct {
    const char *name, *counters;
} made[] = {
    {"VALUBusy", "SQ_ACTIVE_INST_VALU,GRBM_GUI_ACTIVE"},
    {"SALUBusy", "SQ_INST_CYCLES_SALU,GRBM_GUI_ACTIVE"},
    {"MfmaUtil", "SQ_VALU_MFMA_BUSY_CYCLES,GRBM_GUI_ACTIVE"},
    {"MemUnitBusy", "TA_TA_BUSY,GRBM_GUI_ACTIVE"},
    {"MemUnitStalled", "TCP_TCP_TA_DATA_STALL_CYCLES,GRBM_GUI_ACTIVE"},
    {"WriteUnitStalled", "TCC_EA_WRREQ_STALL,GRBM_GUI_ACTIVE"},
    {"MemWrites32B", "TCC_EA_WRREQ,TCC_EA_WRREQ_64B"},
    {"WRITE_REQ_32B", "TCC_EA_WRREQ,TCC_EA_WRREQ_64B"},
    {"TA_BUSY_avr", "TA_TA_BUSY"},
    {"TA_BUSY_max", "TA_TA_BUSY"},
    {"TCC_WRREQ_STALL_max", "TCC_EA_WRREQ_STALL"},
    {"ALUStalledByLDS", "SQ_WAIT_INST_LDS,SQ_WAVES,GRBM_GUI_ACTIVE"},
    {"LDSBankConflict", "SQ_LDS_BANK_CONFLICT,GRBM_GUI_ACTIVE"},
    {"GDSInsts", "SQ_INSTS_GDS,SQ_WAVES"},
    {"OccupancyPercent", "SQ_WAVE_CYCLES,GRBM_GUI_ACTIVE"},
    {"MeanOccupancyPerCU", "SQ_WAVE_CYCLES,GRBM_GUI_ACTIVE"},
    {"MeanOccupancyPerActiveCU", "SQ_WAVE_CYCLES,SQ_BUSY_CU_CYCLES"},
};

/* The counter whose name is the first `length` letters. */
static const struct rtl_metric *find_counter(const char *name, size_t length)
{
    char counter[128];
    if (length == 0 || length >= sizeof counter)
        return NULL;
    (void)snprintf(counter, sizeof counter, "%.*s", (int)length, name);
    const struct rtl_metric *metric = rtl_metric_find(counter);
    return metric && metric->over ? metric : NULL;
}

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name);
    return length > strlen(ending) && strcasecmp(name + length - strlen(ending), ending) == 0;
}

/* A counter over the instances of its block: TCC_HIT_sum, which all values are here; or of one:
 * TCC_HIT[3], TCC_HIT_max. */
static bool find_over_instances(const char *name, struct metrics_elsewhere *found)
{
    static const char *const endings[] = {"_sum", "_max", "_min", "_avr", "_avg"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; ++i)
        if (ends_with(name, endings[i])) {
            found->metric = find_counter(name, strlen(name) - strlen(endings[i]));
            found->differs = i > 0 ? of_one : NULL;
        }
    if (ends_with(name, "]")) {
        found->metric = find_counter(name, strcspn(name, "["));
        found->differs = of_one;
    }
    return found->metric != NULL;
}

bool metrics_named_elsewhere(const char *name, struct metrics_elsewhere *found)
{
    *found = (struct metrics_elsewhere){0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (strcasecmp(names[i].name, name) == 0) {
            found->metric = rtl_metric_find(names[i].metric);
            found->unit = names[i].unit;
            found->differs = names[i].differs;
            return true;
        }
    for (size_t i = 0; i < sizeof made / sizeof made[0]; ++i)
        if (strcasecmp(made[i].name, name) == 0) {
            found->counters = made[i].counters;
            return true;
        }
    return find_over_instances(name, found);
}

static void show_name(struct table *table, const char *name, const char *unit, const char *here,
                      const char *differs)
{
    char cell[128];
    (void)snprintf(cell, sizeof cell, "%s%s%s%s", name, unit ? " (" : "", unit ? unit : "",
                   unit ? ")" : "");
    table_cell(table, cell);
    (void)snprintf(cell, sizeof cell, "%s%s%s", here, differs ? ", " : "", differs ? differs : "");
    table_cell(table, cell);
}

void metrics_show_names(void)
{
    static const char *const heading[] = {"elsewhere", "here"};
    struct table *table = table_new("ll");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        show_name(table, names[i].name, names[i].unit, names[i].metric, names[i].differs);
    for (size_t i = 0; i < sizeof made / sizeof made[0]; ++i)
        show_name(table, made[i].name, NULL, made[i].counters, "of which it is made");
    table_print(table, stdout);
}
