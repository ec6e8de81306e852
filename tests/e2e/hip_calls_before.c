/* A library that is preloaded and has a function of HIP's, which goes on to the next. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int hipFree(void *memory);

int hipFree(void *memory)
{
    int (*next)(void *);
    void *symbol = dlsym(RTLD_NEXT, "hipFree");
    (void)printf("before hipFree: %s\n", symbol != NULL ? "there is a next" : "there is none");
    memcpy(&next, (const void *)&symbol, sizeof next);
    return next != NULL ? next(memory) : 302;
}
