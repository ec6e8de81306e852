/* rtl graph: finds the part that is meant. */
#include "graph/parts.h"

#include "common/command.h"
#include "common/say.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *does;
} parts[] = {
    {"list", graph_list, "the graphs of a trace, and how long their launches take"},
    {"show", graph_show, "where the time of a graph goes, node by node"},
    {"launches", graph_launches, "the launches of a graph: outliers, and whether they get longer"},
    {"costs", graph_costs, "what it cost the host to make and to change graphs"},
    {"diff", graph_diff, "two graphs, generations or traces, node by node"},
};

enum { PARTS = sizeof parts / sizeof parts[0] };

static int print_help(void)
{
    (void)printf("Usage: rtl graph PART [OPTION...] FILE...\n"
                 "Looks at the graphs of a trace and their replays.\n\n"
                 "Parts:\n");
    for (size_t i = 0; i < PARTS; ++i)
        (void)printf("  %-8s  %s\n", parts[i].name, parts[i].does);
    (void)printf("\n"
                 "Graphs are named by their number; 3.2 is generation 2 of graph 3, and 1:3 the\n"
                 "graph 3 of process 1.\n\n"
                 "Examples:\n"
                 "  rtl graph list trace.db            which graphs are there?\n"
                 "  rtl graph show trace.db 3          which nodes of graph 3 are slow?\n"
                 "  rtl graph launches trace.db 3      which of its replays are outliers?\n"
                 "  rtl graph diff a.db b.db 3         what got slower from a to b?\n"
                 "  rtl graph show --help              the options of a part\n");
    return EXIT_FINE;
}

int cmd_graph(int argc, char **argv)
{
    static char full_name[32];
    if (argc < 2)
        return say_fail(EXIT_USAGE,
                        "rtl graph is list, show, launches, costs or diff: see rtl graph --help");
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "-?") == 0)
        return print_help();
    for (size_t i = 0; i < PARTS; ++i) {
        if (strcmp(name, parts[i].name) != 0)
            continue;
        (void)snprintf(full_name, sizeof full_name, "rtl graph %s", name);
        argv[1] = full_name;
        return parts[i].run(argc - 1, argv + 1);
    }
    return say_fail(EXIT_USAGE, "rtl graph is list, show, launches, costs or diff, not '%s'", name);
}
