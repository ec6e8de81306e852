/**
 * What rocpd keeps of an agent in its column extdata: the agent as rocprofiler-sdk describes it, in
 * JSON. rocpd's converters take an agent's numbers from there and stop at a key that is missing.
 */
#ifndef RTL_TOOLS_EXPORT_ROCPD_AGENT_H
#define RTL_TOOLS_EXPORT_ROCPD_AGENT_H

#include <rtl/rtl_trace.h>

/** What rocprofiler-sdk calls the vendor of an agent. */
const char *rocpd_agent_vendor(const rtl_agent_t *agent);

/** The number of an agent among those of its type in the process. `place` is that of the agent in
 * `items`, which is the list that rtlTraceAgents gives. */
uint32_t rocpd_agent_type_index(const rtl_agent_t *items, size_t place);

/** The JSON, with every key that the converters ask for; what a trace does not know is 0. The
 * caller frees it; NULL when memory is short. */
char *rocpd_agent_json(const rtl_agent_t *items, size_t place);

#endif
