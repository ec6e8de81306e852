#include "../../common/check.h"
#include "intercept/base/slice.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

#define NICE 7

static struct rtl_sched_attr attr_of_thread(void)
{
    struct rtl_sched_attr attr = {0};
    (void)syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0);
    return attr;
}

/* A thread whose turns were asked for to be short is as it was otherwise. */
static void *ask_nicely(void *unused)
{
    (void)unused;
    if (setpriority(PRIO_PROCESS, (id_t)gettid(), NICE) != 0)
        return (char *)"a thread cannot be made nicer";
    struct rtl_sched_attr before = attr_of_thread();
    errno = EDOM;
    rtl_sched_request_slice(RTL_SLICE_SHORTEST);
    if (errno != EDOM)
        return (char *)"errno is another one";
    struct rtl_sched_attr after = attr_of_thread();
    if (before.runtime != 0 && after.runtime != RTL_SLICE_SHORTEST)
        return (
            char *)"turns are not as short as asked for"; /* a system that has turns tells them */
    after.runtime = before.runtime;
    if (after.nice != NICE || memcmp(&after, &before, sizeof after) != 0)
        return (char *)"more has changed than the turns";
    return NULL;
}

/* Who runs when nobody else does is not to come sooner. */
static void *ask_idly(void *unused)
{
    (void)unused;
    struct sched_param param = {0};
    if (sched_setscheduler(0, SCHED_IDLE, &param) != 0)
        return (char *)"a thread cannot be made idle";
    struct rtl_sched_attr before = attr_of_thread();
    rtl_sched_request_slice(RTL_SLICE_SHORTEST);
    struct rtl_sched_attr after = attr_of_thread();
    return memcmp(&after, &before, sizeof after) == 0 ? NULL : (char *)"an idle thread has changed";
}

static const char *in_thread(void *(*function)(void *))
{
    pthread_t thread;
    void *said;
    CHECK(pthread_create(&thread, NULL, function, NULL) == 0 && pthread_join(thread, &said) == 0);
    return said;
}

const char *Slice_OnlyTheTurnsBecomeShort(void)
{
    return in_thread(ask_nicely);
}

const char *Slice_IdleThreadsAreLeftAlone(void)
{
    return in_thread(ask_idly);
}
