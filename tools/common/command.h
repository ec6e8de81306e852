/**
 * The subcommands of rtl. Each has a file or folder of its own; argv[0] is "rtl NAME", the rest are
 * its arguments. They return the exit status of rtl.
 */
#ifndef RTL_TOOLS_COMMAND_H
#define RTL_TOOLS_COMMAND_H

#include "common/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** Exit statuses. `rtl trace` passes on what its program returned instead. */
enum {
    EXIT_FINE = 0,
    EXIT_DIFFERENT = 1, /**< the answer is no: incomplete, different, not possible here */
    EXIT_USAGE = 2,     /**< wrong options, unreadable input, unwritable output */
    EXIT_EMPTY = 3,     /**< nothing is missing, and nothing of what was asked for is there */
    EXIT_NOT_EXECUTABLE = 126, /**< as shells have it */
    EXIT_NOT_FOUND = 127
};

int cmd_trace(int argc, char **argv);
int cmd_attach(int argc, char **argv); /**< says what to do instead */
int cmd_collect(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_summary(int argc, char **argv);
int cmd_ranks(int argc, char **argv);
int cmd_steps(int argc, char **argv);
int cmd_idle(int argc, char **argv);
int cmd_graph(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_ranges(int argc, char **argv);
int cmd_memory(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_timeline(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_index(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_demo(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_sql(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_fleet(int argc, char **argv);
int cmd_view(int argc, char **argv);
int cmd_import(int argc, char **argv);

/* What a subcommand does for others. */

struct json_t;
struct rtl_trace;

/** rtl check: checks the trace at `path`, against truth logs if there are any, and writes what it
 * found to stdout. Returns an exit status. */
int check_show(const char *path, const char *const *logs, size_t log_count, bool json);

/** The same without truth logs, as `rtl check --json` has it: a new reference, or NULL when a
 * sentence has been said. */
struct json_t *check_json(struct rtl_trace *trace, const char *path);

/** rtl summary: writes the summary of the trace at `path` with the `top` largest kernels (0: all)
 * to `out`. Returns an exit status. */
int summary_show(const char *path, unsigned top, FILE *out);

struct selftest_request {
    const char *output; /**< of the report, NULL: rtl-selftest.json */
    bool force;         /**< it may replace any file */
    bool json;          /**< the report goes to stdout, in place of the tables */
    enum gpu gpu;
};

/** rtl doctor --selftest: records a program that knows what it did, compares, and reports.
 * `machine` is put into the report, and given up. Returns an exit status. */
int selftest_show(const struct selftest_request *request, struct json_t *machine);

/** Stands in the head of each page that rtl export writes. */
#define EXPORT_PAGE_HEAD "<title>RTL</title>"

#endif
