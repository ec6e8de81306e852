#include "analysis/graph_id.h"

#include "common/command.h"
#include "common/open.h"
#include "common/say.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number from 1, and behind it `after`. */
static bool read_number(const char **text, uint32_t *number)
{
    char *end;
    errno = 0;
    if (!isdigit((unsigned char)**text))
        return false;
    unsigned long long value = strtoull(*text, &end, 10);
    if (errno || value == 0 || value >= RTL_TRACE_NONE)
        return false;
    *number = (uint32_t)value;
    *text = end;
    return true;
}

bool graph_id_read(const char *text, struct graph_id *id)
{
    *id = (struct graph_id){0};
    if (!read_number(&text, &id->graph))
        return false;
    if (*text == ':') {
        ++text;
        id->process = id->graph;
        if (!read_number(&text, &id->graph))
            return false;
    }
    if (*text == '.') {
        ++text;
        if (!read_number(&text, &id->generation))
            return false;
    }
    return *text == '\0';
}

bool graph_id_read_launch(const char *text, struct graph_id *id, uint32_t *launch)
{
    const char *colon = strrchr(text, ':');
    char graph[48];
    if (!colon || (size_t)(colon - text) >= sizeof graph)
        return false;
    (void)snprintf(graph, sizeof graph, "%.*s", (int)(colon - text), text);
    ++colon;
    return graph_id_read(graph, id) && read_number(&colon, launch) && *colon == '\0';
}

static bool fits(const struct graph_id *id, const rtl_graph_t *graph)
{
    return (id->process == 0 || id->process == graph->process) && id->graph == graph->graph;
}

/* The graphs that there are, shortened: "1, 2, 3 and 7 more"; those near to the one that was asked
 * for first. */
static int say_graphs(const char *path, const struct graph_id *id, const rtl_graph_t *graphs,
                      size_t count)
{
    enum { NEAR = 4 };
    const rtl_graph_t *near[NEAR] = {0};
    size_t different = 0;
    char list[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; ++i) {
        if (i > 0 && graphs[i].process == graphs[i - 1].process &&
            graphs[i].graph == graphs[i - 1].graph)
            continue;
        /* Sorted by number, so the last ones below and the first ones above are near. */
        if (different >= NEAR && graphs[i].graph <= id->graph)
            memmove(near, near + 1, (NEAR - 1) * sizeof(const rtl_graph_t *));
        if (different < NEAR || graphs[i].graph <= id->graph)
            near[different < NEAR ? different : NEAR - 1] = &graphs[i];
        ++different;
    }
    bool processes = count && graphs[0].process != graphs[count - 1].process;
    for (size_t i = 0; i < NEAR && near[i]; ++i) {
        int length = processes ? snprintf(list + used, sizeof list - used, "%s%" PRIu32 ":%" PRIu32,
                                          i ? ", " : "", near[i]->process, near[i]->graph)
                               : snprintf(list + used, sizeof list - used, "%s%" PRIu32,
                                          i ? ", " : "", near[i]->graph);
        used += (size_t)length;
    }
    char asked[32];
    if (id->process)
        (void)snprintf(asked, sizeof asked, "%" PRIu32 ":%" PRIu32, id->process, id->graph);
    else
        (void)snprintf(asked, sizeof asked, "%" PRIu32, id->graph);
    if (different > NEAR)
        return say_fail(EXIT_USAGE, "%s has no graph %s: it has %s and %zu more", path, asked, list,
                        different - NEAR);
    return say_fail(EXIT_USAGE, "%s has no graph %s: it has %s", path, asked, list);
}

/* `graphs` are those from the second process on that has it. */
static int say_ambiguous(const char *path, const struct graph_id *id, uint32_t first,
                         const rtl_graph_t *graphs, size_t count)
{
    uint32_t second = graphs->process;
    bool more = false;
    for (size_t i = 0; i < count; ++i)
        more = more || (fits(id, &graphs[i]) && graphs[i].process != second);
    return say_fail(EXIT_USAGE,
                    "%s has a graph %" PRIu32 " in several processes: write %" PRIu32 ":%" PRIu32
                    "%s%" PRIu32 ":%" PRIu32 "%s",
                    path, id->graph, first, id->graph, more ? ", " : " or ", second, id->graph,
                    more ? " or another one that rtl graph list shows" : "");
}

/* Modes without host calls: nothing tells then that HIP launches a graph. */
const char *graph_id_why_none(rtl_trace_t *trace)
{
    const rtl_process_t *processes;
    size_t count;
    if (rtlTraceProcesses(trace, &processes, &count) != RTL_OK || count == 0)
        return "";
    for (size_t i = 0; i < count; ++i)
        if (strcmp(processes[i].mode, "lite") != 0 && strcmp(processes[i].mode, "standard") != 0)
            return "";
    return ": the modes lite and standard record no launches of graphs (rtl trace -m full does)";
}

int graph_id_find(rtl_trace_t *trace, const char *path, struct graph_id *id,
                  const rtl_graph_t **generations, size_t *count)
{
    const rtl_graph_t *graphs;
    size_t all;
    const rtl_graph_t *first = NULL;
    uint32_t latest = 0;
    *count = 0;
    if (rtlTraceGraphs(trace, &graphs, &all) != RTL_OK)
        return open_failed(trace, path);
    if (all == 0)
        return say_fail(EXIT_USAGE, "%s has no graphs%s", path, graph_id_why_none(trace));
    for (size_t i = 0; i < all; ++i) {
        if (!fits(id, &graphs[i]))
            continue;
        if (first && first->process != graphs[i].process)
            return say_ambiguous(path, id, first->process, &graphs[i], all - i);
        first = first ? first : &graphs[i];
        latest = graphs[i].generation;
        if (id->generation == 0 || id->generation == latest) {
            *generations = *count ? *generations : &graphs[i];
            ++*count;
        }
    }
    if (!first)
        return say_graphs(path, id, graphs, all);
    if (*count == 0 && first->generation == latest)
        return say_fail(EXIT_USAGE,
                        "%s: graph %" PRIu32 " has no generation %" PRIu32 ": it has only %" PRIu32,
                        path, id->graph, id->generation, latest);
    if (*count == 0)
        return say_fail(EXIT_USAGE,
                        "%s: graph %" PRIu32 " has no generation %" PRIu32 ": it has %" PRIu32
                        " to %" PRIu32,
                        path, id->graph, id->generation, first->generation, latest);
    id->process = first->process;
    return EXIT_FINE;
}

struct graph_name graph_id_name(rtl_trace_t *trace, uint32_t process, uint32_t graph)
{
    const rtl_graph_t *graphs;
    size_t count;
    struct graph_name name;
    bool several = rtlTraceGraphs(trace, &graphs, &count) == RTL_OK && count &&
                   graphs[0].process != graphs[count - 1].process;
    if (several)
        (void)snprintf(name.text, sizeof name.text, "%" PRIu32 ":%" PRIu32, process, graph);
    else
        (void)snprintf(name.text, sizeof name.text, "%" PRIu32, graph);
    return name;
}
