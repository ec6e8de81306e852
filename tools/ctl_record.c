#include "ctl_record.h"

#include "analysis/account.h"
#include "common/clock.h"
#include "common/plain.h"
#include "common/private.h"
#include "common/show.h"

#include <rtl/rtl_trace.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_NS 3000000000u
#define LOOK_NS     50000000u

bool ctl_record_trace(const char *session, char *path, size_t size)
{
    int folder = rtl_private_folder(session);
    ssize_t length = folder >= 0 ? readlinkat(folder, "trace", path, size) : -1;
    int error = errno;
    if (folder >= 0)
        (void)close(folder);
    bool known = length > 0 && (size_t)length < size;
    if (known)
        path[length] = '\0';
    errno = length < 0 ? error : ENAMETOOLONG;
    return known;
}

/* The pauses by `rtl ctl` that began then: one for each process. */
static unsigned count_stopped(rtl_trace_t *trace, uint64_t since)
{
    const rtl_pause_t *pauses;
    size_t count;
    unsigned stopped = 0;
    if (rtlTracePauses(trace, &pauses, &count) == RTL_OK)
        for (size_t i = 0; i < count; ++i)
            stopped += pauses[i].start >= since && strcmp(pauses[i].why, "ctl") == 0;
    return stopped;
}

/* Kernels that were under way when it was stopped come later. */
static bool is_all_there(const char *path, uint64_t since, unsigned processes)
{
    rtl_trace_t *trace;
    struct verdict verdict;
    if (rtlTraceOpen(path, &trace, NULL, 0) != RTL_OK)
        return false;
    bool there = count_stopped(trace, since) >= processes &&
                 account_verdict(trace, &verdict) == RTL_OK && verdict.total.pending == 0 &&
                 verdict.total.unstored == 0;
    rtlTraceClose(trace);
    return there;
}

uint64_t ctl_record_kernels(const char *path)
{
    rtl_trace_t *trace;
    struct verdict verdict = {0};
    if (rtlTraceOpen(path, &trace, NULL, 0) != RTL_OK)
        return 0;
    (void)account_verdict(trace, &verdict);
    rtlTraceClose(trace);
    return verdict.total.stored;
}

void ctl_record_wait(const char *path, uint64_t since, unsigned processes)
{
    uint64_t begun = rtl_now();
    while (!is_all_there(path, since, processes) && rtl_now() - begun < PATIENCE_NS)
        rtl_nap(LOOK_NS);
}

void ctl_record_tell(const char *path, uint64_t kernels)
{
    (void)printf("recorded %s in %s\n", show_things(kernels, "kernel").text, plain(path));
}
