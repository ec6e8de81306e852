// In a test's plugin of the software GPU: where the process has HIP, the cache in front of comgr is
// loaded before HIP opens comgr, by its soname, which it does after it has found the GPU.
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int is_hip(struct dl_phdr_info *library, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    return library->dlpi_name && strstr(library->dlpi_name, "libamdhip64.so") != NULL;
}

__attribute__((constructor)) static void load_cache(void)
{
    const char *wanted =
        secure_getenv("RTL_TEST_COMGR_CACHE"); // off: where HIP's own need of memory matters
    if (!(wanted && strcmp(wanted, "off") == 0) && dl_iterate_phdr(is_hip, NULL)) {
        dlopen(COMGR_CACHE, RTLD_LAZY); // without it HIP finds the real one
    }
}
