/**
 * The parts of `rtl graph`. Each takes argv[0] "rtl graph NAME" and returns the exit status of rtl.
 */
#ifndef RTL_TOOLS_GRAPH_H
#define RTL_TOOLS_GRAPH_H

#include "common/filter.h"

/** Filters of launches. */
#define GRAPH_FILTERS (FILTER_PROCESSES | FILTER_STREAM | FILTER_TIMES | FILTER_PHASE)

int graph_list(int argc, char **argv);
int graph_show(int argc, char **argv);
int graph_launches(int argc, char **argv);
int graph_costs(int argc, char **argv);
int graph_diff(int argc, char **argv);

#endif
