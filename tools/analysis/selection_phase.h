/**
 * Which steps a filter's phase means.
 */
#ifndef RTL_TOOLS_SELECTION_PHASE_H
#define RTL_TOOLS_SELECTION_PHASE_H

#include "analysis/selection.h"

/** Finds the steps of the trace, or where none are of such a name the ranges of the name, and fills
 * the selection's windows with those of the phase, whose process is the only one then. EXIT_FINE,
 * or EXIT_USAGE when a sentence has been said. */
int selection_name_phase(rtl_trace_t *trace, const char *path, struct selection *selection);

#endif
