#include "intercept/base/recording.h"

#include <rtl/rtl.h>

_Atomic bool rtl_recording_stopped;
static _Atomic bool on;

void rtl_recording_set(bool to)
{
    atomic_store(&on, to);
}

bool rtl_recording_is_on(void)
{
    return atomic_load(&on);
}

bool rtl_recording_stop(bool stop)
{
    return atomic_exchange(&rtl_recording_stopped, stop) != stop;
}

int rtlRecording(void)
{
    return rtl_recording_is_on();
}
