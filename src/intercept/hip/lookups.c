/*
 * HIP's own look-ups give functions by their names: what they give is replaced by its wrapper,
 * while calls are recorded or not, since the program keeps it.
 */
#include "intercept/hip/libc.h"
#include "intercept/hip/resolve.h"

static void replace(hipError_t result, void **function)
{
    if (result != hipSuccess || function == NULL || !rtl_hip_possible())
        return;
    rtl_hip_function wrapper = rtl_hip_wrapper_of(rtl_hip_as_function(*function));
    if (wrapper != NULL)
        *function = rtl_hip_as_symbol(wrapper);
}

void rtl_hip_always_hipGetProcAddress(hipError_t result, const char *symbol, void **pfn,
                                      int hipVersion, uint64_t flags,
                                      hipDriverProcAddressQueryResult *symbolStatus)
{
    (void)symbol;
    (void)hipVersion;
    (void)flags;
    (void)symbolStatus;
    replace(result, pfn);
}

void rtl_hip_always_hipGetDriverEntryPoint(hipError_t result, const char *symbol, void **funcPtr,
                                           unsigned long long flags,
                                           hipDriverEntryPointQueryResult *status)
{
    (void)symbol;
    (void)flags;
    (void)status;
    replace(result, funcPtr);
}

void rtl_hip_always_hipGetDriverEntryPoint_spt(hipError_t result, const char *symbol,
                                               void **funcPtr, unsigned long long flags,
                                               hipDriverEntryPointQueryResult *status)
{
    rtl_hip_always_hipGetDriverEntryPoint(result, symbol, funcPtr, flags, status);
}
