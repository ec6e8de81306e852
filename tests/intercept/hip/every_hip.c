#include "every_hip.h"

#include <errno.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

struct every_hip every_hip;

static void begin(const char *name)
{
    every_hip.name = name;
    every_hip.hash = 0;
    every_hip.calls++;
}

static hipError_t end(void)
{
    struct every_hip state = every_hip;
    if (state.within != NULL)
        state.within();
    every_hip = state;
    errno = EVERY_ERRNO;
    return state.result;
}

#define HASH(type, name, field) every_hip.hash = every_hash(every_hip.hash, &(name), sizeof(name));
#define CALL(name, hook, about, node, ...)                                                         \
    hipError_t name(RTL_LIST(RTL_PARAMETER, __VA_ARGS__))                                          \
    {                                                                                              \
        begin(#name);                                                                              \
        RTL_EACH(HASH, __VA_ARGS__)                                                                \
        return end();                                                                              \
    }
#define CALL_0(name)                                                                               \
    hipError_t name(void)                                                                          \
    {                                                                                              \
        begin(#name);                                                                              \
        return end();                                                                              \
    }
#define CALL_VOID(name, hook, about, node, ...)                                                    \
    void name(RTL_LIST(RTL_PARAMETER, __VA_ARGS__))                                                \
    {                                                                                              \
        begin(#name);                                                                              \
        RTL_EACH(HASH, __VA_ARGS__)                                                                \
        (void)end();                                                                               \
    }
#include "intercept/hip/entries.def"

/* Two that no wrapper stands before. */
RTL_EXPORTED hipError_t hipLibraryGetKernelCount(unsigned int *count, hipLibrary_t library);
RTL_EXPORTED hipError_t hipKernelGetName(const char **name, hipKernel_t kernel);

hipError_t hipLibraryGetKernelCount(unsigned int *count, hipLibrary_t library)
{
    (void)library;
    *count = every_hip.kernels;
    errno = 0;
    return hipSuccess;
}

hipError_t hipKernelGetName(const char **name, hipKernel_t kernel)
{
    *name = (const char *)kernel;
    errno = 0;
    return hipSuccess;
}
