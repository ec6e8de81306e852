/*
 * A library whose constructor opens another, HIP_WAYS_LIBRARY, with RTLD_DEEPBIND, and has it
 * replay its graph twice. What opens this one in the same way gets no word before that is over.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

int run(int count, int by_version);

static int (*next)(int count, int by_version);

__attribute__((constructor)) static void begin(void)
{
    const char *path = secure_getenv("HIP_WAYS_LIBRARY");
    void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_DEEPBIND) : NULL;
    void *symbol = library != NULL ? dlsym(library, "run") : NULL;
    memcpy(&next, &symbol, sizeof next);
    if (symbol == NULL || next(2, 0) != 0)
        abort();
}

int run(int count, int by_version)
{
    return next(count, by_version);
}
