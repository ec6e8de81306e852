/**
 * The steps of a trace as JSON.
 */
#ifndef RTL_TOOLS_STEPS_JSON_H
#define RTL_TOOLS_STEPS_JSON_H

#include "analysis/steps.h"

/** A phase: what a step of it costs, where its time goes, why it is idle. `number` is that of the
 * phase among those of all threads, from 1; `causes` are its thread's. A new reference. */
json_t *steps_phase_json(const struct idle_causes *causes, struct phase *phase, size_t number);

/** What a thread did in no step. A new reference. */
json_t *steps_outside_json(const struct idle_causes *causes, const struct steps_thread *thread);

/** "graphs_ns", "eager_ns", "copies_ns", "idle_ns". */
const char *steps_activity_key(enum activity kind);

/** "launches", "graph", "range", "kernels". */
const char *steps_by_name(enum steps_by by);

#endif
