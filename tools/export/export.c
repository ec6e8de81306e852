/* rtl export: writes a trace in the formats of other tools. */
#include "export/export.h"

#include "common/command.h"
#include "common/elsewhere.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/show.h"
#include "common/trace_command.h"
#include "export/clickhouse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct exporter *const exporters[] = {
    &export_chrome, &export_perfetto,  &export_csv,  &export_rpd,
    &export_rocpd,  &export_rocprofv3, &export_html, &export_clickhouse};

enum { EXPORTERS = sizeof exporters / sizeof exporters[0] };

struct options {
    const char *path, *output, *table, *families;
    const struct exporter *exporter;
    struct filter filter;
    bool force, per_rank, gzip, no_counters;
    uint64_t split_size, detail, page_size;
    struct export_served *served;
    struct clickhouse clickhouse;
};

enum {
    KEY_TO = 256,
    KEY_SPLIT,
    KEY_PER_RANK,
    KEY_TABLE,
    KEY_DETAIL,
    KEY_PAGE_SIZE,
    KEY_FAMILIES,
    KEY_NO_COUNTERS
};

static const struct argp_option option_list[] = {
    {"format", 'F', "FORMAT", 0, "the format, see below", 0},
    {"to", KEY_TO, "TIME", 0, "leave out what began then or later", 0},
    {"output", 'o', "FILE", 0,
     "where to; - is the standard output (default: the trace's name with the format's ending)", 0},
    {"force", 'f', NULL, 0, "replace files that exist", 0},
    {"per-rank", KEY_PER_RANK, NULL, 0, "a file for each process: NAME-rankR.json", 0},
    {"split-size", KEY_SPLIT, "SIZE", 0,
     "begin a new file when one reaches this size, such as 400M: NAME-1.json, NAME-2.json, …", 0},
    {"gzip", 'z', NULL, 0,
     "pack chrome, perfetto, csv and rocprofv3 with gzip, as their readers take them; a FILE that "
     "ends in .gz is",
     0},
    {"no-counters", KEY_NO_COUNTERS, NULL, 0,
     "of perfetto and chrome: leave out rows of counters (kernels that run, depth of queues, "
     "hardware counters)",
     0},
    {"table", KEY_TABLE, "TABLE", 0,
     "of CSV: kernels (default), copies, api, ranges, launches, kernel_counters, range_counters or "
     "counter_collection",
     0},
    {"detail", KEY_DETAIL, "SIZE", 0,
     "of html: how much of the page single events may take (default: what the rest leaves)", 0},
    {"page-size", KEY_PAGE_SIZE, "SIZE", 0,
     "of html: how large the page may be, about; 20 MB by default, unless --detail is given", 0},
    {"families", KEY_FAMILIES, "FILE", 0,
     "of html: rules for families of kernels, before the built-in ones", 0},
    {0},
};

static const struct exporter *find_format(const char *name)
{
    for (size_t i = 0; i < EXPORTERS; ++i)
        if (strcasecmp(exporters[i]->name, name) == 0)
            return exporters[i];
    return NULL;
}

/* The same twice is no contradiction. */
static int take_format(const struct exporter *format, const struct exporter **exporter)
{
    if (*exporter && *exporter != format)
        return say_fail(EINVAL, "one format at a time: %s is a second one after %s", format->name,
                        (*exporter)->name);
    *exporter = format;
    return 0;
}

/* "perfetto, chrome or csv" */
static void list_formats(char *list, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < EXPORTERS && used < size; ++i)
        used += (size_t)snprintf(list + used, size - used, "%s%s",
                                 i == 0 ? "" : (i + 1 == EXPORTERS ? " or " : ", "),
                                 exporters[i]->name);
}

static int parse_format(const char *name, const struct exporter **exporter)
{
    char list[256];
    const struct exporter *format = find_format(name);
    const char *here = elsewhere_format(name);
    if (format)
        return take_format(format, exporter);
    if (here)
        return say_fail(EINVAL, "there is no format '%s': %s", name, here);
    list_formats(list, sizeof list);
    return say_fail(EINVAL, "there is no format '%s': it is %s", name, list);
}

static bool read_number(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || errno || *end)
        return false;
    *number = value;
    return true;
}

/* A time; formats were once named here as well, and scripts have them so. */
static int parse_to(struct options *options, const char *text)
{
    const struct exporter *format = find_format(text);
    if (format)
        return take_format(format, &options->exporter);
    if (isalpha((unsigned char)text[0])) {
        char list[256];
        list_formats(list, sizeof list);
        return say_fail(EINVAL, "'%s' is no time for --to, and no format: --format is %s", text,
                        list);
    }
    return filter_take(&options->filter, FILTER_TO, text);
}

static int parse_size(const char *option, const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    size_t length = strlen(text);
    const char *unit = length ? strchr(units, toupper((unsigned char)text[length - 1])) : NULL;
    unsigned shift = unit && *unit ? 10 * (unsigned)(unit - units + 1) : 0;
    char digits[24] = "";
    if (length < sizeof digits)
        memcpy(digits, text, shift ? length - 1 : length);
    uint64_t number;
    if (!read_number(digits, &number) || number == 0 || number > UINT64_MAX >> shift)
        return say_fail(EINVAL, "'%s' is no size for --%s: write one such as 400M", text, option);
    *bytes = number << shift;
    return 0;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'F':
        return parse_format(value, &options->exporter);
    case 'o':
        options->output = value;
        return 0;
    case 'f':
        options->force = true;
        return 0;
    case KEY_TO:
        return parse_to(options, value);
    case KEY_PER_RANK:
        options->per_rank = true;
        return 0;
    case KEY_SPLIT:
        return parse_size("split-size", value, &options->split_size);
    case KEY_DETAIL:
        return parse_size("detail", value, &options->detail);
    case KEY_PAGE_SIZE:
        return parse_size("page-size", value, &options->page_size);
    case 'z':
        options->gzip = true;
        return 0;
    case KEY_NO_COUNTERS:
        options->no_counters = true;
        return 0;
    case KEY_FAMILIES:
        return parse_once("families", value, &options->families);
    case KEY_TABLE:
        options->table = value;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->filter;
        state->child_inputs[1] = &options->clickhouse;
        return 0;
    case ARGP_KEY_ARG:
        clickhouse_path(&options->clickhouse, value);
        options->path = options->clickhouse.paths[0];
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int check_can(const struct options *options)
{
    unsigned can = options->exporter->can;
    const char *name = options->exporter->name;
    bool to_stdout = options->output && strcmp(options->output, "-") == 0;
    if (options->split_size && !(can & EXPORT_SPLITS))
        return say_fail(EXIT_USAGE, "--split-size: %s cannot be split", name);
    if (options->per_rank && !(can & EXPORT_PER_RANK))
        return say_fail(EXIT_USAGE, "--per-rank: %s is one file for all", name);
    if (options->table && !(can & EXPORT_TABLES))
        return say_fail(EXIT_USAGE, "--table: %s is not a table", name);
    if (options->detail && !(can & EXPORT_DETAIL))
        return say_fail(EXIT_USAGE, "--detail: %s has all there is", name);
    if (options->page_size && !(can & EXPORT_DETAIL))
        return say_fail(EXIT_USAGE, "--page-size: %s has all there is", name);
    if (options->families && !(can & EXPORT_FAMILIES))
        return say_fail(EXIT_USAGE, "--families: %s has no families of kernels", name);
    bool by_name = options->output && export_is_packed(options->output);
    if (options->gzip && !(can & EXPORT_GZIP))
        return say_fail(EXIT_USAGE, "%s%s: nobody reads %s packed", by_name ? "-o " : "--gzip",
                        by_name ? plain(options->output) : "", name);
    if (options->no_counters && !(can & EXPORT_COUNTERS))
        return say_fail(EXIT_USAGE, "--no-counters: %s has no rows of them", name);
    if (to_stdout && !(can & EXPORT_STREAMS))
        return say_fail(EXIT_USAGE, "-o -: %s needs a file", name);
    if (to_stdout && (options->split_size || options->per_rank))
        return say_fail(EXIT_USAGE, "-o -: there is one standard output, and --%s makes files",
                        options->per_rank ? "per-rank" : "split-size");
    return EXIT_FINE;
}

/* Processes. */

static void choose(struct export *export)
{
    export->wanted = memory_new(export->process_count + 1, sizeof *export->wanted);
    for (size_t i = 0; i < export->process_count; ++i)
        export->wanted[i] = selection_has_process(&export->selection, export->processes[i].process);
}

static bool is_window(const struct export *export)
{
    return export->served && export->served->window;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

/* What is asked for, of what the options leave. */
static void narrow(struct export *export, const struct export_served *window)
{
    uint64_t from = sum(window->zero, window->from);
    uint64_t to = sum(window->zero, window->to);
    if (from > export->from)
        export->from = from;
    if (export->to == 0 || to < export->to)
        export->to = to;
}

static int prepare(struct export *export, const struct options *options)
{
    rtl_status_t status = rtlTraceInfo(export->trace, &export->info);
    if (status == RTL_OK)
        status = rtlTraceProcesses(export->trace, &export->processes, &export->process_count);
    if (status != RTL_OK)
        return open_failed(export->trace, export->path);
    int result = selection_apply(export->trace, export->path, &options->filter, &export->selection);
    if (result != EXIT_FINE)
        return result;
    export->from = export->selection.from;
    export->to = export->selection.to;
    if (is_window(export))
        narrow(export, export->served);
    export->progress.shown = show_terminal(stderr);
    export->progress.most =
        export->info.kernels + export->info.copies + export->info.calls + export->info.ranges;
    choose(export);
    return export_files_begin(export, options->output);
}

/* A window that was meant for another trace, or in other units, is told, and so are filters that
 * leave nothing: of --kernel no kernel, whatever calls there are; a trace that holds nothing anyhow
 * makes a file that holds nothing. */
static int check_any(struct export *export)
{
    const rtl_trace_info_t *info = &export->info;
    const rtl_graph_launch_t *launches;
    size_t launch_count = 0;
    bool any = true;
    bool kernels = filter_given(export->selection.filter, FILTER_KERNEL);
    if (!selection_is(&export->selection) || is_window(export))
        return EXIT_FINE;
    int status = export_any(export, kernels ? EXPORT_KERNEL : EXPORT_ALL, &any);
    if (status != EXIT_FINE || any)
        return status;
    if (rtl_trace_select(export->trace, NULL) != RTL_OK ||
        rtlTraceGraphLaunches(export->trace, &launches, &launch_count) != RTL_OK)
        return open_failed(export->trace, export->path);
    if (info->kernels + info->copies + info->calls + info->ranges + launch_count == 0)
        return EXIT_FINE;
    if (filter_given(export->selection.filter, FILTER_ALL & ~FILTER_TIMES))
        return say_fail(EXIT_DIFFERENT, "%s of %s is left: %s", kernels ? "no kernel" : "nothing",
                        export->path, selection_text(&export->selection));
    return say_fail(EXIT_DIFFERENT,
                    "nothing that is wanted of %s lies in the time of --from and --to: it was "
                    "recorded for %s",
                    export->path, show_duration((double)(info->end - info->start)).text);
}

static int run_per_rank(struct export *export)
{
    int status = EXIT_FINE;
    for (size_t i = 0; i < export->process_count && status == EXIT_FINE; ++i) {
        if (!export->wanted[i])
            continue;
        export->only = &export->processes[i];
        export->files.part = 0;
        status = export->exporter->run(export);
    }
    return status;
}

/* What the files have no place for. */
static int say_filter(const struct export *export)
{
    uint64_t kernels = 0;
    if (!selection_is(&export->selection) || is_window(export))
        return EXIT_FINE;
    if (selection_kernels(export->trace, &export->selection, &kernels) != RTL_OK)
        return open_failed(export->trace, export->path);
    say("%s: %s of %s", selection_text(&export->selection),
        kernels ? show_count(kernels).text : "none",
        show_things(export->info.kernels, "kernel").text);
    return EXIT_FINE;
}

static int run(struct export *export, const struct options *options)
{
    int status = prepare(export, options);
    if (status == EXIT_FINE)
        status = check_any(export);
    if (status == EXIT_FINE)
        status = export->per_rank ? run_per_rank(export) : export->exporter->run(export);
    if (status == EXIT_FINE)
        status = export_files_commit(export);
    if (status == EXIT_FINE)
        status = say_filter(export);
    export_files_end(export);
    selection_free(&export->selection);
    free(export->wanted);
    return status;
}

static bool has_ending(const char *output, size_t length, const char *ending)
{
    size_t size = strlen(ending);
    return length > size && strncmp(output + length - size, ending, size) == 0;
}

/* Where several formats have an ending, the first one is meant. */
static const struct exporter *format_of(const char *output)
{
    size_t length = output ? strlen(output) : 0;
    if (output && export_is_packed(output))
        length -= strlen(EXPORT_PACKED);
    if (has_ending(output, length, ".pftrace"))
        return &export_perfetto;
    for (size_t i = 0; i < EXPORTERS; ++i)
        if (exporters[i]->ending[0] && has_ending(output, length, exporters[i]->ending))
            return exporters[i];
    return NULL;
}

/* Rows of a part would look like those of a whole run. */
static int check_server(const struct options *options)
{
    if (options->output)
        return say_fail(EXIT_USAGE, "-o: clickhouse makes no file");
    if (filter_given(&options->filter, FILTER_ALL))
        return say_fail(EXIT_USAGE, "clickhouse takes whole runs: no filter goes with it");
    return check_can(options);
}

static int check_options(const struct options *options)
{
    const struct clickhouse *clickhouse = &options->clickhouse;
    if (trace_command_needs(options->path, "rtl export FILE --format FORMAT"))
        return EXIT_USAGE;
    if (!options->exporter)
        return say_fail(EXIT_USAGE, "no format was named, and the output's name does not tell it: "
                                    "rtl export FILE --format FORMAT");
    if (options->exporter->can & EXPORT_SERVER)
        return check_server(options);
    if (clickhouse->given)
        return say_fail(EXIT_USAGE, "--%s goes with --to clickhouse", clickhouse->given);
    if (clickhouse->count > 1)
        return say_fail(EXIT_USAGE, "one trace at a time: '%s' is a second one",
                        clickhouse->paths[1]);
    return check_can(options);
}

static int with_trace(const struct options *options)
{
    static struct export export;
    struct family_rules *families = NULL;
    if (options->exporter->can & EXPORT_FAMILIES &&
        !(families = family_rules_read(options->families)))
        return EXIT_USAGE;
    export = (struct export){.path = options->path,
                             .trace = open_trace(options->path),
                             .exporter = options->exporter,
                             .split_size = options->split_size,
                             .table = options->table,
                             .detail = options->detail,
                             .page_size = options->page_size,
                             .families = families,
                             .force = options->force,
                             .per_rank = options->per_rank,
                             .gzip = options->gzip,
                             .no_counters = options->no_counters,
                             .served = options->served};
    int status = export.trace ? run(&export, options) : EXIT_USAGE;
    rtlTraceClose(export.trace);
    family_rules_free(families);
    return status;
}

static int export_by(int argc, char **argv, struct export_served *served)
{
    static const char doc[] =
        "Writes a trace in the format of other tools."
        "\vFormats:\n"
        "  chrome     JSON of Chrome in Kineto's dialect: Perfetto, HTA, TraceLens\n"
        "  perfetto   Perfetto's own: tracks, launches of graphs, counters\n"
        "  csv        a table, with the columns that SQL has\n"
        "  rpd        a database of rocmProfileData, schema version 3\n"
        "  rocpd      a database of rocprofiler-sdk, rocpd 3.0\n"
        "  rocprofv3  JSON as rocprofv3 writes it, for TraceLens\n"
        "  html       a page for the browser, one file that needs no network\n"
        "  clickhouse a database server, with the runs of many hosts\n\n"
        "Files get their names, which are printed then, when all is written; those that exist "
        "stay, "
        "unless -f is given.\n\n"
        "Examples:\n"
        "  rtl export trace.db --format csv --table launches -o -\n"
        "  rtl export --to clickhouse --url http://db:8123/gpus --label job=42 rank*.db";
    const struct argp_child children[] = {filter_children(FILTER_ALL & ~FILTER_TO)[0],
                                          {&clickhouse_argp, 0, "Of clickhouse:", 2},
                                          {0}};
    const struct argp argp = {.options = option_list,
                              .parser = parse_option,
                              .args_doc = "FILE",
                              .doc = doc,
                              .children = children};
    static struct options options;
    int status = EXIT_USAGE;
    options.served = served;
    bool parsed = parse(&argp, argc, argv, 0, &options) == 0;
    if (parsed && !options.exporter)
        options.exporter = format_of(options.output);
    if (parsed && options.output && export_is_packed(options.output))
        options.gzip = true;
    if (parsed && check_options(&options) == EXIT_FINE)
        status = options.exporter->can & EXPORT_SERVER ? clickhouse_run(&options.clickhouse)
                                                       : with_trace(&options);
    filter_free(&options.filter);
    clickhouse_free(&options.clickhouse);
    return status;
}

int cmd_export(int argc, char **argv)
{
    return export_by(argc, argv, NULL);
}

int export_served(int argc, char **argv, struct export_served *served)
{
    return export_by(argc, argv, served);
}
