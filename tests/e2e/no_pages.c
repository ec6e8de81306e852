/* Preloaded: the memory that librtl.so asks the system for (rtl_pages) is not there, once or from
 * then on. NO_PAGES="N once" or "N on": the request with that number, from 1. Leaves a file
 * `refused` behind if there were so many. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic unsigned long requests;

static bool is_of_librtl(const void *caller)
{
    Dl_info object;
    return dladdr(caller, &object) != 0 && object.dli_fname != NULL &&
           strstr(object.dli_fname, "/librtl.so") != NULL;
}

static bool is_refused(void)
{
    const char *wanted = secure_getenv("NO_PAGES");
    char *rest = NULL;
    unsigned long first = wanted != NULL ? strtoul(wanted, &rest, 10) : 0;
    unsigned long number = atomic_fetch_add(&requests, 1) + 1;
    return first != 0 && (number == first || (number > first && strcmp(rest, " on") == 0));
}

__attribute__((visibility("default"))) void *mmap(void *at, size_t length, int access, int flags,
                                                  int file, off_t offset)
{
    static _Atomic(void *(*)(void *, size_t, int, int, int, off_t)) real;
    if (atomic_load(&real) == NULL)
        atomic_store(&real,
                     (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap"));
    if ((flags & MAP_ANONYMOUS) != 0 && is_of_librtl(__builtin_return_address(0)) && is_refused()) {
        int left = open("refused", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (left >= 0)
            (void)close(left);
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return atomic_load(&real)(at, length, access, flags, file, offset);
}
