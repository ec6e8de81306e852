/* For LD_PRELOAD: /proc/self/mountinfo is the file that MOUNTS names. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *);
    void *found = dlsym(RTLD_NEXT, "fopen");
    memcpy(&next, &found, sizeof found);
    const char *mounts = getenv("MOUNTS"); // NOLINT(concurrency-mt-unsafe): nobody changes it
    return next(mounts && strcmp(path, "/proc/self/mountinfo") == 0 ? mounts : path, mode);
}
