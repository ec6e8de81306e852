/**
 * A device for those who have none: streams are threads of the CPU, kernels are functions. It shows
 * how a backend is traced through PrivateUse1TracingApi.h; docs/kineto.md walks through it.
 *
 * Functions return 0 or an errno. Any thread.
 */
#ifndef RTL_KINETO_OPENREG_H
#define RTL_KINETO_OPENREG_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define OPENREG_API __attribute__((visibility("default")))
#else
#define OPENREG_API
#endif

/** What is given to one runs in order, one after another. NULL is the default stream. */
typedef struct openregStream *openregStream_t;

typedef void (*openregKernel_t)(void *argument);

OPENREG_API int openregStreamCreate(openregStream_t *stream);

/** Waits for what it has, and ends it. Not for the default stream. */
OPENREG_API int openregStreamDestroy(openregStream_t stream);

/** Runs `kernel(argument)` on the stream. `name` is copied. */
OPENREG_API int openregLaunchKernel(const char *name, openregKernel_t kernel, void *argument,
                                    openregStream_t stream);

/** Runs a kernel named `name` that keeps the device busy for so long. */
OPENREG_API int openregSpin(const char *name, unsigned microseconds, openregStream_t stream);

OPENREG_API int openregMalloc(void **memory, size_t bytes);
OPENREG_API int openregFree(void *memory);
OPENREG_API int openregMemcpyAsync(void *to, const void *from, size_t bytes,
                                   openregStream_t stream);
OPENREG_API int openregMemsetAsync(void *memory, int value, size_t bytes, openregStream_t stream);

/** Wait for what a stream, or the device, was given before. */
OPENREG_API int openregStreamSynchronize(openregStream_t stream);
OPENREG_API int openregDeviceSynchronize(void);

#ifdef __cplusplus
}
#endif

#endif
