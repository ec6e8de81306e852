#include "intercept/base/thread_context.h"

#include "intercept/base/threads.h"
#include "ring/wire.h"

#include <unistd.h>

#define IDS_AT_ONCE 256u /* taken from the counter, so that threads do not fight over its line */

_Thread_local struct rtl_thread_context rtl_thread_context
    __attribute__((tls_model("initial-exec"))) = {.launch = RTL_NONE};

_Atomic uint32_t rtl_calls_state = RTL_CALLS_UNDECIDED;

static _Atomic uint64_t next_ids = 1;

static _Thread_local struct {
    uint64_t next, end;
} ids __attribute__((tls_model("initial-exec")));

uint64_t rtl_thread_context_new_id(void)
{
    if (ids.next == ids.end) {
        ids.next = atomic_fetch_add_explicit(&next_ids, IDS_AT_ONCE, memory_order_relaxed);
        ids.end = ids.next + IDS_AT_ONCE;
    }
    return ids.next++;
}

void rtl_thread_context_ids_after(uint64_t id)
{
    if (ids.next <= id)
        ids.next = ids.end;
}

/* Not in what stands on this file alone. */
#pragma weak rtl_threads_meet

static __attribute__((noinline, cold)) uint32_t meet(void)
{
    uint32_t tid = (uint32_t)gettid();
    rtl_thread_context.thread = rtl_threads_meet != NULL ? rtl_threads_meet(tid) : tid;
    return rtl_thread_context.thread;
}

uint32_t rtl_thread_context_thread(void)
{
    return rtl_thread_context.thread != 0 ? rtl_thread_context.thread : meet();
}
