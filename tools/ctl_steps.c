#include "ctl_steps.h"

#include "analysis/steps.h"
#include "common/command.h"
#include "common/say.h"
#include "ctl_record.h"

#include <errno.h>

int ctl_steps_trace(const char *session, char *path, size_t size)
{
    if (ctl_record_trace(session, path, size))
        return EXIT_FINE;
    return say_fail(EXIT_USAGE,
                    "the trace of session %s is not known, so its steps cannot be "
                    "counted: %s",
                    session, say_errno(errno));
}

uint64_t ctl_steps_count(const char *path)
{
    struct steps steps = {0};
    rtl_trace_t *trace;
    uint64_t count = 0;
    char error[256];
    if (rtlTraceOpen(path, &trace, error, sizeof error) != RTL_OK)
        return 0;
    if (steps_find(trace, &steps) == RTL_OK)
        for (size_t i = 0; i < steps.count; ++i)
            count += steps.threads[i].count;
    steps_free(&steps);
    rtlTraceClose(trace);
    return count;
}
