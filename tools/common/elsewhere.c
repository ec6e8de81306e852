#include "common/elsewhere.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name, *here;
} commands[] = {
    {"convert", "export"},
    {"record", "trace"},
    {"run", "trace"},
    {"sample", "trace"},
    {"profile", "trace"},
    {"launch", "trace --start-off"},
    {"start", "ctl start"},
    {"stop", "ctl stop"},
    {"status", "ctl status"},
    {"sessions", "ctl status"},
    {"stats", "summary"},
    {"query", "sql"},
    {"analyze", "steps"},
    {"compare", "diff"},
    {"open", "view"},
    {"show", "view"},
    {"avail", "trace --metrics list"},
    {"metrics", "trace --metrics list"},
    {"counters", "trace --metrics list"},
    {"selftest", "doctor --selftest"},
    {"top", "sql FILE top"},
    {"busy", "sql FILE busy"},
    {"tables", "sql FILE .tables"},
    {"kernels", "summary"},
    {"copies", "sql FILE copies"},
    {"launches", "graph list"},
    {"version", "--version"},
};

#define TRACE   "rtl trace"
#define SUMMARY "rtl summary"
#define EXPORT  "rtl export"
#define SQL     "rtl sql"

static const char all_kinds[] =
    "mode full, the default, records kernels, copies, host calls of HIP, ranges and graph "
    "launches; -m chooses less";
static const char no_hsa[] =
    "that is not recorded; mode full, the default, has kernels, copies, host calls of HIP and "
    "ranges";
static const char no_libraries[] =
    "calls of libraries are not recorded by name; the kernels, copies and calls of HIP that they "
    "make are";
static const char memory_calls[] =
    "host calls that allocate are recorded with the others of HIP, and 'rtl memory FILE' adds them "
    "up";
static const char no_samples[] = "nothing is sampled inside of kernels; --metrics reads counters";
static const char no_attach[] =
    "a process that runs cannot be attached to: start the program under rtl trace --start-off (or "
    "with RTL_START=off), and then rtl ctl start -p PID whenever it is to be recorded";
static const char summary_follows[] =
    "the summary is shown when the program has ended, and by 'rtl summary FILE'";
static const char times_are_there[] = "each kernel has its times anyhow";
static const char whole_names[] =
    "names are recorded whole and without mangling; tables shorten them to the terminal's width, "
    "and not with --wide";
static const char counters_are_named[] =
    "counters are named by --metrics NAME,…, and --metrics list shows them";
static const char metrics_list[] = "it is --metrics list";
static const char one_file[] = "a trace is one file, -o FOLDER/NAME.db";
static const char formats_later[] =
    "what is recorded is a trace; 'rtl export FILE -F FORMAT' makes files of other formats of it";
static const char parts_of_time[] =
    "a part of the run is recorded by --delay and --duration, or by --start-off and "
    "'rtl ctl record TIME'";
static const char begins_off[] = "it is --start-off";
static const char all_kernels[] =
    "all kernels are recorded, and 'rtl summary FILE --kernel REGEX' shows some; --kernel names "
    "those of which --counting kernel reads counters";
static const char kernels_of_ranges[] = "'rtl ranges FILE --kernels' has the kernels of each range";
static const char forced[] = "it is --force (-f)";
static const char file_or_time[] =
    "a trace is one file, -o FOLDER/NAME.db, and a time to record is --duration";
static const char to_output[] = "it is --output (-o)";
static const char on_stdout[] =
    "tables go to the standard output, such as 'rtl summary FILE >TEXT'";
static const char all_reports[] =
    "the summary has all of them: kernels, copies, host calls, ranges and graphs";
static const char other_forms[] = "--json is for programs, and 'rtl export FILE -F csv' for tables";
static const char format_is[] = "the format is --format (-F)";
static const char headings_are[] = "it is --headings";
static const char json_is[] = "it is --json";
static const char csv_is[] =
    "'rtl export FILE -F csv --table TABLE' writes CSV, and --json is JSON";

static const struct {
    const char *command, *option, *here;
} options[] = {
    {TRACE, "--sys-trace", all_kinds},
    {TRACE, "--runtime-trace", all_kinds},
    {TRACE, "--hip-trace", all_kinds},
    {TRACE, "--hip-runtime-trace", all_kinds},
    {TRACE, "--hip-api", all_kinds},
    {TRACE, "--hip-activity", all_kinds},
    {TRACE, "--kernel-trace", all_kinds},
    {TRACE, "--memory-copy-trace", all_kinds},
    {TRACE, "--roctx-trace", all_kinds},
    {TRACE, "--marker-trace", all_kinds},
    {TRACE, "--trace", all_kinds},
    {TRACE, "--cuda-graph-trace", all_kinds},
    {TRACE, "-t", all_kinds},
    {TRACE, "-r", all_kinds},
    {TRACE, "-s", all_kinds},
    {TRACE, "--hsa-trace", no_hsa},
    {TRACE, "--hsa-api", no_hsa},
    {TRACE, "--hsa-activity", no_hsa},
    {TRACE, "--hsa-core-trace", no_hsa},
    {TRACE, "--hsa-amd-trace", no_hsa},
    {TRACE, "--hsa-image-trace", no_hsa},
    {TRACE, "--hsa-finalizer-trace", no_hsa},
    {TRACE, "--hip-compiler-trace", no_hsa},
    {TRACE, "--scratch-memory-trace", no_hsa},
    {TRACE, "--rccl-trace", no_libraries},
    {TRACE, "--rocdecode-trace", no_libraries},
    {TRACE, "--memory-allocation-trace", memory_calls},
    {TRACE, "--cuda-memory-usage", memory_calls},
    {TRACE, "--pid", no_attach},
    {TRACE, "--attach", no_attach},
    {TRACE, "-p", no_attach},
    {TRACE, "--att", no_samples},
    {TRACE, "--pc-sampling-beta-enabled", no_samples},
    {TRACE, "--stats", summary_follows},
    {TRACE, "--summary", summary_follows},
    {TRACE, "-S", summary_follows},
    {TRACE, "--timestamp", times_are_there},
    {TRACE, "--basenames", whole_names},
    {TRACE, "--truncate-kernels", whole_names},
    {TRACE, "--mangled-kernels", whole_names},
    {TRACE, "-T", whole_names},
    {TRACE, "-M", whole_names},
    {TRACE, "--input", counters_are_named},
    {TRACE, "-i", counters_are_named},
    {TRACE, "--pmc", counters_are_named},
    {TRACE, "--list-basic", metrics_list},
    {TRACE, "--list-derived", metrics_list},
    {TRACE, "--list-counters", metrics_list},
    {TRACE, "--list-avail", metrics_list},
    {TRACE, "-L", metrics_list},
    {TRACE, "--output-directory", one_file},
    {TRACE, "--output-path", one_file},
    {TRACE, "-d", file_or_time},
    {TRACE, "--output-file", to_output},
    {TRACE, "--output-format", formats_later},
    {TRACE, "--plugin", formats_later},
    {TRACE, "--export", formats_later},
    {TRACE, "--trace-start", begins_off},
    {TRACE, "--trace-period", parts_of_time},
    {TRACE, "--collection-period", parts_of_time},
    {TRACE, "--capture-range", parts_of_time},
    {TRACE, "-P", parts_of_time},
    {TRACE, "-c", parts_of_time},
    {TRACE, "--kernel-include-regex", all_kernels},
    {TRACE, "--kernel-exclude-regex", all_kernels},
    {TRACE, "--kernel-iteration-range", all_kernels},
    {TRACE, "--roctx-rename", kernels_of_ranges},
    {TRACE, "--kernel-rename", kernels_of_ranges},
    {TRACE, "--force-overwrite", forced},
    {SUMMARY, "--report", all_reports},
    {SUMMARY, "--stats", all_reports},
    {SUMMARY, "-r", all_reports},
    {SUMMARY, "--format", other_forms},
    {SUMMARY, "--csv", other_forms},
    {SUMMARY, "-f", other_forms},
    {SUMMARY, "--output", on_stdout},
    {SUMMARY, "-o", on_stdout},
    {EXPORT, "--type", format_is},
    {EXPORT, "--output-format", format_is},
    {EXPORT, "-t", format_is},
    {EXPORT, "--force-overwrite", forced},
    {SQL, "--header", headings_are},
    {SQL, "--headers", headings_are},
    {SQL, "-header", headings_are},
    {SQL, "-json", json_is},
    {SQL, "--csv", csv_is},
    {SQL, "-csv", csv_is},
};

const char *elsewhere_command(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; ++i)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].here;
    return NULL;
}

const char *elsewhere_option(const char *command, const char *option)
{
    size_t length = strcspn(option, "=");
    for (size_t i = 0; i < sizeof options / sizeof options[0]; ++i)
        if (strcmp(command, options[i].command) == 0 &&
            strncmp(option, options[i].option, length) == 0 && options[i].option[length] == '\0')
            return options[i].here;
    return NULL;
}

static const struct {
    const char *name, *here;
} formats[] = {
    {"json", "chrome and rocprofv3 are JSON"},
    {"kineto", "it is chrome"},
    {"trace", "it is chrome"},
    {"pftrace", "it is perfetto"},
    {"perfetto-trace", "it is perfetto"},
    {"proto", "it is perfetto"},
    {"sqlite", "rpd and rocpd are databases of SQLite, as the trace itself is (rtl sql)"},
    {"sqlite3", "rpd and rocpd are databases of SQLite, as the trace itself is (rtl sql)"},
    {"db", "rpd and rocpd are databases of SQLite, as the trace itself is (rtl sql)"},
    {"htm", "it is html"},
    {"text", "'rtl summary FILE' writes text"},
    {"txt", "'rtl summary FILE' writes text"},
};

const char *elsewhere_format(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; ++i)
        if (strcasecmp(name, formats[i].name) == 0)
            return formats[i].here;
    return NULL;
}

/* Of Nsight Systems' SQLite and of rocpd 3.0. */
static const struct {
    const char *name, *here;
} tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL", "kernels"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", "copies"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "api"},
    {"NVTX_EVENTS", "ranges"},
    {"rocpd_kernel_dispatch", "kernels"},
    {"rocpd_memory_copy", "copies"},
    {"rocpd_region", "api"},
    {"rocpd_info_agent", "agents"},
    {"rocpd_info_process", "processes"},
    {"rocpd_info_thread", "threads"},
};

const char *elsewhere_table(const char *name)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; ++i)
        if (strcasecmp(name, tables[i].name) == 0)
            return tables[i].here;
    return NULL;
}
