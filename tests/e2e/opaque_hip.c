/* A HIP in as far as opaque.c needs one: to launch a graph is to do what the program says. */
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void opaque_hip_launches(void (*launch)(void));
EXPORT int hipGraphLaunch(void *exec, void *stream);
EXPORT int hipMalloc(void **pointer, size_t size);

static void (*launches)(void);

void opaque_hip_launches(void (*launch)(void))
{
    launches = launch;
}

int hipGraphLaunch(void *exec, void *stream)
{
    (void)exec;
    (void)stream;
    if (launches != NULL)
        launches();
    return 0;
}

/* By which librtl.so finds a HIP. */
int hipMalloc(void **pointer, size_t size)
{
    (void)size;
    *pointer = NULL;
    return 2; /* hipErrorOutOfMemory */
}
