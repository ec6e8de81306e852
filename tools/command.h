/**
 * The subcommands of rtl. Each has a file of its own; argv[0] is "rtl NAME", the rest are its
 * arguments. They return the exit status of rtl.
 */
#ifndef RTL_TOOLS_COMMAND_H
#define RTL_TOOLS_COMMAND_H

/** Exit statuses. `rtl trace` passes on what its program returned instead. */
enum {
    EXIT_FINE = 0,
    EXIT_DIFFERENT = 1,        /**< the answer is no: incomplete, different, not possible here */
    EXIT_USAGE = 2,            /**< wrong options, unreadable input, unwritable output */
    EXIT_NOT_EXECUTABLE = 126, /**< as shells have it */
    EXIT_NOT_FOUND = 127
};

int cmd_trace(int argc, char **argv);
int cmd_attach(int argc, char **argv); /**< says what to do instead */
int cmd_collect(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_summary(int argc, char **argv);
int cmd_graph(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_ranges(int argc, char **argv);
int cmd_timeline(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_demo(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_sql(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_view(int argc, char **argv);
int cmd_import(int argc, char **argv);

#endif
