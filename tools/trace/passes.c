#include "trace/passes.h"

#include <rtl/rtl_trace.h>
#include <stdio.h>
#include <string.h>

/* What a process that cannot count noted of that. */
static void find_note(rtl_trace_t *trace, uint32_t process, struct passes *passes)
{
    const rtl_note_t *notes;
    size_t count;
    if (passes->why[0] || rtlTraceNotes(trace, &notes, &count) != RTL_OK)
        return;
    for (size_t i = 0; i < count && !passes->why[0]; ++i)
        if (notes[i].process == process && strstr(notes[i].text, "counter"))
            (void)snprintf(passes->why, sizeof passes->why, "%s", notes[i].text);
}

/* Queues that take no packets of RTL, devices that cannot count. */
static bool find_unreached(rtl_trace_t *trace, struct passes *passes)
{
    const rtl_trace_uncounted_t *list;
    size_t count;
    if (rtlTraceUncounted(trace, &list, &count) != RTL_OK)
        return false;
    for (size_t i = 0; i < count; ++i)
        if (strcmp(list[i].why, "queue") == 0 || strcmp(list[i].why, "device") == 0) {
            passes->unreached = true;
            find_note(trace, list[i].process, passes);
        }
    return true;
}

/* Kernels that --kernel leaves out, unless it asked for others: those in replays are not counted
 * either way. */
static bool find_unmatched(rtl_trace_t *trace, struct passes *passes)
{
    const rtl_trace_uncounted_t *list;
    rtl_trace_info_t info;
    size_t count;
    bool others = false;
    if (rtlTraceInfo(trace, &info) != RTL_OK || rtlTraceUncounted(trace, &list, &count) != RTL_OK)
        return false;
    for (size_t i = 0; i < count; ++i)
        if (strcmp(list[i].why, "name") == 0)
            passes->unmatched += list[i].count;
        else
            others = true;
    if (others || info.kernel_samples > 0)
        passes->unmatched = 0;
    return true;
}

bool passes_read(const char *path, struct passes *passes)
{
    rtl_trace_t *trace;
    const rtl_trace_counting_t *list;
    size_t count;
    memset(passes, 0, sizeof *passes);
    if (rtlTraceOpen(path, &trace, NULL, 0) != RTL_OK)
        return false;
    bool read = rtlTraceCounting(trace, &list, &count) == RTL_OK;
    for (size_t i = 0; read && i < count; ++i) {
        passes->asked = true;
        if (list[i].passes > passes->count)
            passes->count = list[i].passes;
        if (list[i].passes > 0)
            continue;
        passes->refused = true;
        find_note(trace, list[i].process, passes);
    }
    read = read && find_unreached(trace, passes) && find_unmatched(trace, passes);
    rtlTraceClose(trace);
    return read;
}

static bool came_before(const rtl_trace_counter_t *counters, size_t index)
{
    for (size_t i = 0; i < index; ++i)
        if (counters[i].pass == counters[index].pass &&
            strcmp(counters[i].name, counters[index].name) == 0)
            return true;
    return false;
}

bool passes_counters(const char *path, unsigned pass, char *text, size_t size)
{
    rtl_trace_t *trace;
    const rtl_trace_counter_t *counters;
    size_t count;
    size_t used = 0;
    text[0] = '\0';
    if (rtlTraceOpen(path, &trace, NULL, 0) != RTL_OK)
        return false;
    bool read = rtlTraceCounters(trace, &counters, &count) == RTL_OK;
    for (size_t i = 0; read && i < count && used < size; ++i)
        if (counters[i].pass == pass && !came_before(counters, i))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     counters[i].name);
    rtlTraceClose(trace);
    return read;
}
