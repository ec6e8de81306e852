/**
 * The two ways into a queue: which one a new queue gets, and making it so.
 */
#ifndef RTL_INTERCEPT_QUEUE_INTERCEPTION_H
#define RTL_INTERCEPT_QUEUE_INTERCEPTION_H

#include "intercept/base/config.h"
#include "ring/wire.h"

#include <hsa/hsa.h>
#include <stdbool.h>

/** What the program asked hsa_queue_create for. */
struct rtl_queue_request {
    hsa_agent_t agent;
    uint32_t size;
    hsa_queue_type32_t type;
    void (*callback)(hsa_status_t, hsa_queue_t *, void *);
    void *data;
    uint32_t private_size, group_size;
};

/** How a queue was made. */
struct rtl_queue_made {
    enum rtl_interception interception;
    const char *why;  /**< RTL_UNTRACKED: why it cannot be followed, static storage */
    uint32_t id;      /**< in the trace; RTL_NONE: none yet */
    bool described;   /**< the program's handle is an amd_queue_t */
    bool never_wraps; /**< RTL_INTERCEPTED: no batch may run over the end of the ring */
    uint32_t maker;   /**< who asked for it (makers.h); set by the caller of
                         rtl_interception_create_queue */
};

/** Takes the settings. Before the first queue. */
void rtl_interception_open(const struct rtl_config *config);

/** Makes a queue on a GPU agent, in the way that the settings and the runtime allow. The first call
 * may look into the runtime for some milliseconds. Any thread. */
hsa_status_t rtl_interception_create_queue(const struct rtl_queue_request *request,
                                           hsa_queue_t **queue, struct rtl_queue_made *made);

/** Why the runtime's intercept queue is not used, in a part of a sentence, NULL if it is or nobody
 * has wanted one yet. Any thread. */
const char *rtl_interception_fault(void);

/** Why a queue that somebody else has made may not be interposed, NULL if it may. Any thread. */
const char *rtl_interception_why_not_interposed(void);

#endif
