/**
 * Where a run of steps ends because the program did something else before the next one, without a
 * graph: a server whose prefills are eager kernels and whose tokens are launches of a graph.
 */
#ifndef RTL_TOOLS_STEPS_SPLIT_H
#define RTL_TOOLS_STEPS_SPLIT_H

#include "analysis/steps.h"

/** Ends runs behind the steps, found by launches and measured once, that have so many eager kernels
 * that what their graphs do was done once more: beyond those of half of their phase's steps as many
 * as their graphs have kernels, and more than twice as many. Whether there was one; what was
 * measured does not hold then. */
bool steps_split(struct steps *steps);

#endif
