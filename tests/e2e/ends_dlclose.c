/*
 * ends_dlclose MODULE: uses the GPU through a module that it loads, and unloads that again before
 * it ends. What a profiler left behind in the process must not run code that is gone.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "ends_dlclose MODULE\n");
        return 2;
    }
    for (int round = 0; round < 2; round++) {
        void *module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        int (*run)(void) = NULL;
        /* As POSIX has it: ISO C knows no cast from an object to a function. */
        if (module)
            *(void **)&run = dlsym(module, "e2e_module_run");
        if (!run) {
            // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
            (void)fprintf(stderr, "ends_dlclose: %s\n", dlerror());
            return 3;
        }
        (void)printf("main: kernels %d\n", run());
        (void)fflush(stdout);
        (void)dlclose(module);
    }
    return 8;
}
