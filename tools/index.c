/* rtl index: statistics for a trace that has none. */
#include "common/command.h"
#include "common/open.h"
#include "common/parse.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/show.h"
#include "common/trace_command.h"
#include "common/written.h"
#include "store/stats_make.h"

#include <stdio.h>

struct options {
    const char *path;
    bool json;
};

static int show(const struct options *options, const struct rtl_stats_done *done)
{
    if (options->json)
        return open_print_json(
            json_pack("{s:o, s:o, s:o, s:o, s:b}", "file", open_text(options->path), "kernels",
                      open_number(done->kernels), "groups", open_number(done->groups), "bytes",
                      open_number(done->bytes), "graphs", done->graphs),
            EXIT_FINE);
    if (!written_to_none())
        (void)printf("%s: statistics of %s kernels in %s groups, %s%s\n", plain(options->path),
                     show_count(done->kernels).text, show_count(done->groups).text,
                     show_bytes(done->bytes).text,
                     done->graphs ? "" : "; by graph there would be too many groups");
    return EXIT_FINE;
}

static int run(const struct options *options)
{
    char error[1024] = "";
    struct rtl_stats_done done;
    rtl_trace_t *trace = open_trace(options->path);
    if (!trace)
        return EXIT_USAGE;
    rtlTraceClose(trace);
    if (rtl_stats_add(options->path, &done, error, sizeof error) != RTL_OK)
        return say_fail(EXIT_USAGE, "%s", error);
    if (!done.made)
        return say_fail(EXIT_USAGE,
                        "the kernels of %s differ too much: statistics would be as large as they "
                        "are, and it has none now",
                        options->path);
    return show(options, &done);
}

static const struct argp_option option_list[] = {
    {"json", 'j', NULL, 0, "write what was done as JSON", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        return trace_command_take(value, &options->path);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cmd_index(int argc, char **argv)
{
    static const char doc[] =
        "Adds statistics of all kernels to a trace, so that sums over all of them are there at "
        "once."
        "\vA trace of 262 144 kernels or more gets them when its recording ends, as does one that "
        "'rtl merge' or 'rtl import' makes; this is for those of an earlier version. What else is "
        "in the trace stays as it is.";
    static const struct argp argp = {option_list, parse_option, "FILE", doc, NULL, NULL, NULL};
    struct options options = {0};
    if (parse(&argp, argc, argv, 0, &options) != 0)
        return EXIT_USAGE;
    int status = trace_command_needs(options.path, "rtl index FILE");
    return status == EXIT_FINE ? run(&options) : status;
}
