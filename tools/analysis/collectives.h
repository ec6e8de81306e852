/**
 * The kernels of collectives in a trace: those in which ranks wait for each other.
 */
#ifndef RTL_TOOLS_COLLECTIVES_H
#define RTL_TOOLS_COLLECTIVES_H

#include <rtl/rtl_trace.h>

#include <stdbool.h>

/** A kernel; its name belongs to the trace. Times are ns on the trace's clock. */
struct collective {
    uint64_t start, end;
    uint32_t process, gpu;
    const char *name;
};

/** Which kernels are wanted, by their demangled names; each name is asked for once. */
struct collectives_wanted {
    bool (*is)(void *context, const char *name);
    void *context;
};

/** Whether all ranks wait for each other in kernels of this name, by the rules for families (struct
 * family_rules *): collectives but those in which what sends may end before the others have come.
 * For collectives_wanted. */
bool collectives_wait(void *rules, const char *name);

/** Reads those that pass the selection, by process and start. Unpacks in threads, and nothing where
 * no kernel has such a name. The caller frees the list. On failure rtlTraceError tells, and there
 * is no list. Memory that is short ends the program with a sentence. */
rtl_status_t collectives_read(rtl_trace_t *trace, const struct collectives_wanted *wanted,
                              struct collective **list, size_t *count);

#endif
