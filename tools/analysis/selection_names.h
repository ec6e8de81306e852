/**
 * What filters name in a trace: processes, ranks, streams and GPUs.
 */
#ifndef RTL_TOOLS_SELECTION_NAMES_H
#define RTL_TOOLS_SELECTION_NAMES_H

#include "analysis/selection.h"

/** Things that there are, for a sentence: "1, 2 and 7 more". Zeroed memory is none. */
struct selection_names {
    char text[400];
    size_t used, count, shown;
    char whole[440]; /**< of selection_names_text */
};

/** Adds one; only the first few are kept. */
void selection_names_add(struct selection_names *names, const char *text);

/** All of them; lives as long as `names`. */
const char *selection_names_text(struct selection_names *names);

/** Each fills the selection's part with what the filter names; nothing where it names none.
 * EXIT_FINE, or EXIT_USAGE when a sentence has been said. */
int selection_name_processes(const char *path, struct selection *selection);
int selection_name_streams(const char *path, struct selection *selection);
int selection_name_gpus(rtl_trace_t *trace, const char *path, struct selection *selection);

#endif
