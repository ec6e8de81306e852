/*
 * libc's dlsym, of which librtl.so exports another: found by its version, which only libc has.
 */
#include "intercept/hip/resolve.h"

#include <dlfcn.h>
#include <stdatomic.h>

rtl_dlsym_function *rtl_libc_dlsym(void)
{
    static _Atomic(rtl_dlsym_function *) known;
    rtl_dlsym_function *function = atomic_load_explicit(&known, memory_order_relaxed);
    if (function == NULL) {
        /* This version is in every glibc for x86-64. */
        void *symbol = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        function = (rtl_dlsym_function *)rtl_hip_as_function(symbol);
        atomic_store_explicit(&known, function, memory_order_relaxed);
    }
    return function;
}

void *rtl_dlsym(void *handle, const char *name)
{
    return rtl_libc_dlsym()(handle, name);
}
