/* Preloaded: leaves a file `allocated` behind if RTL's worker asks the C library for memory, or
 * gives some back: the first time glibc sets 64 MiB of addresses aside for it. */
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static void look(void)
{
    char name[16] = "";
    if (prctl(PR_GET_NAME, name) == 0 && strcmp(name, "rtl-worker") == 0) {
        int left = open("allocated", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (left >= 0)
            (void)close(left);
    }
}

EXPORT void *malloc(size_t size)
{
    look();
    return __libc_malloc(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
    look();
    return __libc_calloc(count, size);
}

EXPORT void *realloc(void *memory, size_t size)
{
    look();
    return __libc_realloc(memory, size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    look();
    return __libc_memalign(alignment, size);
}

EXPORT void free(void *memory)
{
    if (memory != NULL)
        look();
    __libc_free(memory);
}
