/**
 * The agents of the machine, as the runtime lists them, and the clocks of the GPUs among them.
 */
#ifndef RTL_INTERCEPT_BASE_AGENTS_H
#define RTL_INTERCEPT_BASE_AGENTS_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

/** Lists the agents and sends their definitions; called when the tool is loaded, again after
 * another hsa_init. */
void rtl_agents_list(void);

/** Id of an agent, RTL_NONE if it is not known. Any thread, after rtl_agents_list. */
uint32_t rtl_agents_id(hsa_agent_t agent);

/** The agent of an id. */
hsa_agent_t rtl_agents_handle(uint32_t id);

/** True if the agent is a GPU. */
bool rtl_agents_is_gpu(hsa_agent_t agent);

/** Number of GPU agents, and the agent of a GPU's ordinal. */
uint32_t rtl_agents_gpus(void);
hsa_agent_t rtl_agents_gpu(uint32_t gpu);

/** Tells that `ticks` was seen on an agent's clock (0: nothing was, yet): sends a clock point when
 * the last one is old enough; nothing happens for agents that are no GPU. Any thread but not on a
 * hot path: it reads the clock. */
void rtl_agents_clock(uint32_t agent, uint64_t ticks);

/** Sends a last clock point of each GPU that has shown new ticks, and a snapshot of the host's
 * clocks. Any thread. */
void rtl_agents_clock_end(void);

/** Reads the host's clocks together and sends the tightest of several tries. Any thread. */
void rtl_agents_snapshot_clocks(void);

/** Whether there is a clock point of the agent, or never will be: kernels can be read in time. Any
 * thread. */
bool rtl_agents_has_clock(uint32_t id);

/** Sends the first points of an agent's clock for a tick of it, as rtl_agents_clock; while another
 * thread does so, waits for it, some 0.1 s at most. Any thread that may make system calls. */
void rtl_agents_first_clock(uint32_t id, uint64_t ticks);

#endif
