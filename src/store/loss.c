#include "ring/wire.h"
#include "rtl/rtl_trace.h"
#include "store/text.h"

_Static_assert((int)RTL_LOSS_REASONS == (int)RTL_LOST_REASONS, "one list of reasons");

const char *rtlLossName(rtl_loss_t reason)
{
    static const char *const names[RTL_LOSS_REASONS] = {
        [RTL_LOSS_POOL] = "pool",           [RTL_LOSS_PENDING] = "pending",
        [RTL_LOSS_RING] = "ring",           [RTL_LOSS_SHUTDOWN] = "shutdown",
        [RTL_LOSS_REARMED] = "rearmed",     [RTL_LOSS_KILLED] = "killed",
        [RTL_LOSS_NO_TIME] = "no_time",     [RTL_LOSS_NOT_FOLLOWED] = "not_followed",
        [RTL_LOSS_SPACE] = "space",         [RTL_LOSS_MEMORY] = "memory",
        [RTL_LOSS_MALFORMED] = "malformed",
    };
    return (unsigned)reason < RTL_LOSS_REASONS ? names[reason] : "unknown";
}

_Static_assert((int)RTL_OPAQUES == (int)RTL_OPAQUE_KINDS, "one list of opaque packets");

const char *rtlOpaqueName(rtl_opaque_t what)
{
    static const char *const names[RTL_OPAQUES] = {
        [RTL_OPAQUE_OF_PM4] = "pm4",
        [RTL_OPAQUE_OF_INDIRECT] = "indirect",
        [RTL_OPAQUE_OF_VENDOR] = "vendor",
        [RTL_OPAQUE_OF_DIRECT] = "direct",
    };
    return (unsigned)what < RTL_OPAQUES ? names[what] : "unknown";
}

const char *rtl_text_kind(uint32_t kind)
{
    static const char *const names[RTL_KINDS] = {
        [RTL_KIND_CALLS] = "calls",           [RTL_KIND_RANGES] = "ranges",
        [RTL_KIND_RANGE_ENDS] = "range_ends", [RTL_KIND_MARKS] = "marks",
        [RTL_KIND_LAUNCHES] = "launches",     [RTL_KIND_BATCHES] = "batches",
        [RTL_KIND_GRAPHS] = "graphs",         [RTL_KIND_SAMPLES] = "samples",
        [RTL_KIND_NAMES] = "names",           [RTL_KIND_DEFINITIONS] = "definitions",
        [RTL_KIND_PROCESSES] = "processes",
    };
    return kind < RTL_KINDS ? names[kind] : "unknown";
}
