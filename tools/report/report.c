/* rtl report: one page about a trace, to be read without RTL. */
#include "report/parts.h"

#include "analysis/steps_by.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/output.h"
#include "common/page.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/show.h"
#include "common/trace_command.h"
#include "common/written.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAME "rtl-report.html"
#define OWN   "<title>RTL report</title>" /* in the head of each report */

struct options {
    const char *path;
    const char *output;   /* NULL: named after the trace */
    const char *families; /* file of rules, NULL: none */
    struct steps_choice by;
    bool force, json;
};

/* All of a report. NULL when a sentence has been said. */
static json_t *read_all(rtl_trace_t *trace, const char *path, struct family_rules *rules,
                        struct steps *steps)
{
    json_t *verdict = report_verdict(trace, path);
    if (!verdict)
        return NULL;
    struct {
        const char *key;
        json_t *value;
    } parts[] = {
        {"recording", report_recording(trace, path)}, {"steps", report_steps(trace, steps)},
        {"ranks", report_ranks(trace, steps, rules)}, {"kernels", report_kernels(trace, rules)},
        {"layers", report_layers(trace, rules)},      {"idle", report_idle(trace)},
    };
    json_t *report = json_pack("{s:i, s:o}", "version", 1, "verdict", verdict);
    bool whole = true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        whole = whole && parts[i].value;
        (void)json_object_set_new(report, parts[i].key, parts[i].value);
    }
    if (whole)
        return report;
    json_decref(report);
    (void)open_failed(trace, path);
    return NULL;
}

/* "trace.db" -> "trace-report.html" in the folder that the user is in. */
static int name_output(const struct options *options, char *name, size_t size)
{
    const char *slash = strrchr(options->path, '/');
    const char *base = slash ? slash + 1 : options->path;
    const char *dot = strrchr(base, '.');
    int stem = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
    if (options->output)
        (void)snprintf(name, size, "%s", options->output);
    else if ((size_t)snprintf(name, size, "%.*s-report.html", stem, base) >= size)
        return say_fail(EXIT_USAGE, "'%s' is too long a name: name the report by -o", base);
    return EXIT_FINE;
}

static int write_report(const struct options *options, const struct page_frame *frame,
                        const json_t *report)
{
    char name[PATH_MAX];
    struct output output = {0};
    const struct output_rules rules = {.kind = OUTPUT_STREAM,
                                       .force = options->force,
                                       .dash = true,
                                       .own = OWN,
                                       .inputs = &options->path,
                                       .input_count = 1};
    int status = name_output(options, name, sizeof name);
    if (status == EXIT_FINE)
        status = output_begin(&output, name, &rules);
    if (status != EXIT_FINE)
        return status;
    int error = page_write(output.fd, frame, report, "rtlReport.start()");
    if (error == 0)
        error = output_close(&output);
    if (error == 0)
        status = output_commit(&output);
    else
        status = say_fail(EXIT_USAGE, "%s could not be written: %s", name, say_errno(error));
    output_drop(&output);
    if (status == EXIT_FINE && strcmp(name, "-") != 0 && !written_to_none())
        (void)printf("%s\n", show_terminal(stdout) ? plain(name) : name);
    return status;
}

/* A trace may well have no steps, unless somebody has said what they are. */
static int find_steps(const struct options *options, rtl_trace_t *trace, struct steps *steps)
{
    struct steps_choice choice = options->by;
    int status = steps_by_find(trace, options->path, &choice, steps);
    if (status == EXIT_FINE && steps->count == 0 && choice.by != STEPS_BY_AUTO)
        status = steps_by_none(trace, options->path, &choice, steps);
    return status;
}

static int make(const struct options *options, rtl_trace_t *trace, struct family_rules *rules)
{
    struct page_frame frame = {0};
    if (!options->json && page_frame_read(FRAME, &frame) != EXIT_FINE) {
        page_frame_free(&frame);
        return EXIT_USAGE;
    }
    struct steps steps = {.families = {.rules = rules}};
    int status = find_steps(options, trace, &steps);
    json_t *report = status == EXIT_FINE ? read_all(trace, options->path, rules, &steps) : NULL;
    steps_free(&steps);
    if (!report)
        status = EXIT_USAGE;
    else if (options->json)
        status = open_print_json(json_incref(report), EXIT_FINE);
    else
        status = write_report(options, &frame, report);
    json_decref(report);
    page_frame_free(&frame);
    return status;
}

enum { KEY_FAMILIES = 256 };

static const struct argp_option option_list[] = {
    {"output", 'o', "FILE", 0,
     "write the report to FILE, - for the standard output; by default TRACE-report.html in this "
     "folder",
     0},
    {"force", 'f', NULL, 0,
     "replace FILE whatever it is; a report that rtl has made is replaced without it", 0},
    {"by", 'b', "WHAT", 0, STEPS_BY_HELP, 0},
    {"families", KEY_FAMILIES, "FILE", 0, "rules for families of kernels, before the built-in ones",
     0},
    {"json", 'j', NULL, 0, "write what the report holds as JSON to the standard output", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'o':
        options->output = value;
        return 0;
    case 'f':
        options->force = true;
        return 0;
    case 'b':
        return parse_once("by", value, &options->by.text) ? EINVAL
                                                          : steps_by_parse(value, &options->by);
    case KEY_FAMILIES:
        return parse_once("families", value, &options->families);
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        return trace_command_take(value, &options->path);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cmd_report(int argc, char **argv)
{
    static const char doc[] =
        "Writes one page about a trace, to be read in a browser without RTL and without a network: "
        "its steps and what they cost, the ranks of a job, where the time went, why the GPUs were "
        "idle, and whether "
        "all is there."
        "\vThe page is one small file. For a timeline of single events see rtl view.\n\n"
        "Examples:\n"
        "  rtl report trace.db\n"
        "  rtl report trace.db -o report.html";
    static const struct argp argp = {option_list, parse_option, "FILE", doc, NULL, NULL, NULL};
    struct options options = {0};
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    if (trace_command_needs(options.path, "rtl report FILE"))
        return EXIT_USAGE;
    if (options.json && options.output)
        return say_fail(EXIT_USAGE, "--json writes to the standard output: without -o");
    struct family_rules *rules = family_rules_read(options.families);
    if (!rules)
        return EXIT_USAGE;
    rtl_trace_t *trace = open_trace(options.path);
    int status = trace ? make(&options, trace, rules) : EXIT_USAGE;
    if (trace)
        rtlTraceClose(trace);
    family_rules_free(rules);
    return status;
}
