/*
 * A model of the intercept queue of ROCr, bugs included, for tests on a runtime that has another
 * one: a tool that puts queues of its own in the place of the runtime's.
 *
 *     HSA_TOOLS_LIB="…/intercept_model.so TOOL…" MODEL_GENERATION=G2 PROGRAM
 *
 * MODEL_GENERATION: G1 one packet a call (ROCr 5.2 to 7.1). UNSTAGED all packets that are ready in
 * one call, by a pointer into the ring, also where they go beyond its end and go on at its begin
 * (first builds with batches). G2 as UNSTAGED, but packets that wrap are copied into a buffer of
 * 256 packets first (7.2). G3 the same with a buffer as large as the queue (after 7.2).
 *
 * The bugs do not depend on luck here: where G2 would write behind its buffer the process ends with
 * a sentence and the status 86; packets that are passed on from beyond the ring's end end it with
 * the status 87, and an interceptor that reads them itself meets a page that cannot be read.
 *
 * MODEL_REPORT=FILE gets one line of JSON when the runtime is shut down or the process ends:
 * generation; queues; callbacks: calls of an outermost interceptor; packets in these calls;
 * largest: the most packets of a call; overflow: how often packets found the lower queue full,
 * which a tool that sees to it never lets happen; altered: calls after which the packets that the
 * interceptor was given had changed.
 *
 * Modelled after InterceptQueue and QueueProxy in core/runtime/intercept_queue.cpp and
 * core/inc/intercept_queue.h of ROCr 5.2.3 and 6.2.4 and of ROCm/rocm-systems between October 2025
 * and September 2026 (pull requests 1194, 2185, 4066, 7874): the order of the calls, who makes
 * them, the indexes, pointers and counts; work under a lock on the thread that rings, a doorbell's
 * value without a meaning; a submission all or nothing, the list of what did not fit, the barrier
 * that wakes a thread when there is room again; a doorbell that is rung in a callback is left to
 * that thread.
 *
 * Not modelled: what ROCr 5.2.3 does when a call goes on after packets did not fit (it may reorder
 * them) and when an interceptor calls the writer twice (up to 5.7 it leaves an array); the wake-ups
 * that G2 and G3 lose and the crashes they have with a full queue; marker packets; doorbells that
 * the device rings, or that are rung by anything but a store; hsa_amd_queue_cu_get_mask and
 * hsa_amd_queue_get_info. The retry thread is the model's, not the runtime's.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names);
EXPORT void OnUnload(void);

enum model_generation model_generation;

static void choose_generation(void)
{
    static const char *const names[MODEL_GENERATIONS] = {"G1", "UNSTAGED", "G2", "G3"};
    const char *name = getenv("MODEL_GENERATION"); // NOLINT(concurrency-mt-unsafe)
    unsigned i = 0;
    while (i < MODEL_GENERATIONS && (name == NULL || strcmp(name, names[i]) != 0))
        i++;
    if (i == MODEL_GENERATIONS)
        model_die(1, "MODEL_GENERATION is '%s'; it must be G1, UNSTAGED, G2 or G3",
                  name != NULL ? name : "");
    model_generation = (enum model_generation)i;
}

#define STORE(name)                                                                                \
    static void name(hsa_signal_t signal, hsa_signal_value_t value)                                \
    {                                                                                              \
        struct model_queue *queue = model_queue_of_doorbell(signal);                               \
        if (queue != NULL)                                                                         \
            model_process(queue);                                                                  \
        else                                                                                       \
            rtl_api.hsa_signal_##name(signal, value);                                              \
    }

STORE(store_relaxed)
STORE(store_screlease)

bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    (void)version;
    (void)failed;
    (void)names;
    const char *missing = "";
    model_process_id = getpid();
    choose_generation();
    if (!rtl_api_take(table, &missing))
        model_die(1, "the runtime has no entry %s", missing);
    model_queues_hook();
    rtl_api_hook(RTL_ENTRY_hsa_signal_store_relaxed, (void (*)(void))store_relaxed);
    rtl_api_hook(RTL_ENTRY_hsa_signal_store_screlease, (void (*)(void))store_screlease);
    return true;
}

void OnUnload(void)
{
    model_retry_stop();
    model_report();
}

/* A program that ends without hsa_shut_down. */
__attribute__((destructor)) static void end(void)
{
    model_report();
}
