#include "intercept/queue/interception.h"

#include "common/log.h"
#include "intercept/base/api.h"
#include "intercept/queue/intercept_abi.h"

#include <errno.h>
#include <pthread.h>

/* The runtimes whose intercept queue handles a batch wrongly that wraps. */
#define WRAPS_WRONGLY(abi)                                                                         \
    ((abi) == RTL_INTERCEPT_ABI_BATCH_UNSTAGED || (abi) == RTL_INTERCEPT_ABI_BATCH_SHORT_STAGING)

static enum rtl_interception_setting setting;
static bool forced; /* interception is for the counters' sake */
static enum rtl_mode mode;
static enum rtl_intercept_abi abi;
static const char *refusal; /* why interception is refused, NULL if it is not */
static bool probed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void rtl_interception_open(const struct rtl_config *config)
{
    setting = config->interception;
    forced = config->interception_forced;
    mode = config->mode;
    probed = false;
}

#define OVERFLOWS                                                                                  \
    "this HSA runtime's intercept queue overflows its staging buffer when a batch wraps; mend "    \
    "the "                                                                                         \
    "runtime with patches/0001-intercept-queue-staging-buffer.patch of RTL's sources"
#define READS_PAST                                                                                 \
    "this HSA runtime's intercept queue reads past its ring when a batch wraps; mend the runtime " \
    "with patches/0002-intercept-queue-batch-across-the-wrap.patch of RTL's sources"
#define REFUSED(why)                                                                               \
    "RTL_QUEUE=intercept: full mode is refused, because " why " or use RTL_QUEUE=interpose"

static const char *why_refused(void)
{
    if (abi == RTL_INTERCEPT_ABI_UNKNOWN)
        return "RTL_QUEUE=intercept: this HSA runtime has no intercept queue that RTL knows; use "
               "RTL_QUEUE=interpose";
    if (mode != RTL_MODE_FULL || !WRAPS_WRONGLY(abi))
        return NULL;
    return abi == RTL_INTERCEPT_ABI_BATCH_SHORT_STAGING ? REFUSED(OVERFLOWS) : REFUSED(READS_PAST);
}

const char *rtl_interception_fault(void)
{
    if (refusal == NULL)
        return NULL;
    if (abi == RTL_INTERCEPT_ABI_UNKNOWN)
        return "this HSA runtime has none that RTL knows";
    return abi == RTL_INTERCEPT_ABI_BATCH_SHORT_STAGING ? OVERFLOWS : READS_PAST;
}

/* Once per load; says what is refused. */
static void probe(hsa_agent_t agent)
{
    pthread_mutex_lock(&lock);
    if (!probed) {
        int saved = errno;
        abi = rtl_intercept_abi_probe(agent);
        errno = saved;
        refusal = why_refused();
        rtl_debug("intercept queues of this runtime: %s", rtl_intercept_abi_name(abi));
        if (refusal != NULL && !forced)
            rtl_complain("%s", refusal);
        probed = true;
    }
    pthread_mutex_unlock(&lock);
}

static hsa_status_t create_plain(const struct rtl_queue_request *request, hsa_queue_t **queue)
{
    return rtl_api.hsa_queue_create(request->agent, request->size, request->type, request->callback,
                                    request->data, request->private_size, request->group_size,
                                    queue);
}

/* A cooperative queue is handed out to all who ask for one: it has to be the runtime's. */
static bool may_intercept(const struct rtl_queue_request *request)
{
    if (setting != RTL_INTERCEPTION_INTERCEPT || request->type == HSA_QUEUE_TYPE_COOPERATIVE)
        return false;
    probe(request->agent);
    return refusal == NULL;
}

hsa_status_t rtl_interception_create_queue(const struct rtl_queue_request *request,
                                           hsa_queue_t **queue, struct rtl_queue_made *made)
{
    *made =
        (struct rtl_queue_made){.interception = RTL_INTERPOSED, .id = RTL_NONE, .described = true};
    if (may_intercept(request)) {
        hsa_status_t status = rtl_api.hsa_amd_queue_intercept_create(
            request->agent, request->size, request->type, request->callback, request->data,
            request->private_size, request->group_size, queue);
        made->interception = RTL_INTERCEPTED;
        made->never_wraps = WRAPS_WRONGLY(abi);
        return status;
    }
    if (setting == RTL_INTERCEPTION_INTERCEPT && refusal != NULL && !forced) {
        made->interception = RTL_UNTRACKED;
        made->why = refusal;
    }
    return create_plain(request, queue);
}

const char *rtl_interception_why_not_interposed(void)
{
    return setting == RTL_INTERCEPTION_INTERCEPT && !forced
               ? "it was not made by hsa_queue_create while RTL was there, and RTL_QUEUE=intercept "
                 "needs an intercept queue"
               : NULL;
}
