/*
 * hip_ways WAY LIBRARY...: opens libraries that use HIP (hip_ways_library.hip) and has each replay
 * a graph, in one process. It is linked with no HIP itself. WAY: how they are opened.
 *
 *     local      dlopen with RTLD_LOCAL
 *     deep       with RTLD_DEEPBIND
 *     deep-lazy  the same, bound when first called
 *     dlmopen    in a namespace of its own
 *     dlvsym     local; the library itself finds HIP's functions with dlvsym
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPLAYS 100
#define MOST    8

static void *open_library(const char *way, const char *path)
{
    if (strcmp(way, "dlmopen") == 0)
        return dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
    int deep = strncmp(way, "deep", 4) == 0 ? RTLD_DEEPBIND : 0;
    int binding = strcmp(way, "deep-lazy") == 0 ? RTLD_LAZY : RTLD_NOW;
    return dlopen(path, binding | RTLD_LOCAL | deep);
}

int main(int argc, char **argv)
{
    void *libraries[MOST];
    for (int i = 2; i < argc && i < MOST; i++) {
        libraries[i] = open_library(argv[1], argv[i]);
        if (libraries[i] == NULL) {
            (void)fprintf(stderr, "%s\n", dlerror()); // NOLINT(concurrency-mt-unsafe): one thread
            return 2;
        }
    }
    for (int i = 2; i < argc && i < MOST; i++) {
        int (*run)(int, int);
        void *symbol = dlsym(libraries[i], "run");
        memcpy(&run, &symbol, sizeof run);
        if (symbol == NULL || run(REPLAYS, strcmp(argv[1], "dlvsym") == 0) != 0)
            return 1;
    }
    return 0;
}
