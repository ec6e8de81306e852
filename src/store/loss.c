#include "ring/wire.h"
#include "rtl/rtl_trace.h"

_Static_assert((int)RTL_LOSS_REASONS == (int)RTL_LOST_REASONS, "one list of reasons");

const char *rtlLossName(rtl_loss_t reason)
{
    static const char *const names[RTL_LOSS_REASONS] = {
        [RTL_LOSS_POOL] = "pool",       [RTL_LOSS_PENDING] = "pending",
        [RTL_LOSS_RING] = "ring",       [RTL_LOSS_SHUTDOWN] = "shutdown",
        [RTL_LOSS_REARMED] = "rearmed", [RTL_LOSS_KILLED] = "killed",
        [RTL_LOSS_NO_TIME] = "no_time", [RTL_LOSS_NOT_FOLLOWED] = "not_followed",
        [RTL_LOSS_SPACE] = "space",
    };
    return (unsigned)reason < RTL_LOSS_REASONS ? names[reason] : "unknown";
}
