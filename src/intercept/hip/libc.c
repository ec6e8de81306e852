/*
 * libc's dlsym and dlvsym, of which librtl.so exports others. With libc's dlvsym the rest is found
 * by the version that only libc has; that one itself is looked up in libc's own table.
 */
#include "intercept/hip/resolve.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

/* Up to glibc 2.33 it is in a library of its own. */
static bool is_libc(const char *path)
{
    const char *name = rtl_object_base_name(path);
    return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-", 5) == 0 ||
           strncmp(name, "libdl.so", 8) == 0 || strncmp(name, "libdl-", 6) == 0;
}

static int look_at_libc(struct dl_phdr_info *info, size_t size, void *data)
{
    struct rtl_object object;
    uintptr_t *function = data;
    (void)size;
    if (is_libc(info->dlpi_name) && rtl_object_read(info, &object))
        *function = rtl_object_function(&object, "dlvsym");
    return *function != 0;
}

rtl_dlvsym_function *rtl_libc_dlvsym(void)
{
    static _Atomic(rtl_dlvsym_function *) known;
    rtl_dlvsym_function *function = atomic_load_explicit(&known, memory_order_relaxed);
    if (function == NULL) {
        uintptr_t address = 0;
        (void)dl_iterate_phdr(look_at_libc, &address);
        function = (rtl_dlvsym_function *)rtl_hip_as_function((void *)address);
        atomic_store_explicit(&known, function, memory_order_relaxed);
    }
    return function;
}

rtl_dlsym_function *rtl_libc_dlsym(void)
{
    static _Atomic(rtl_dlsym_function *) known;
    rtl_dlsym_function *function = atomic_load_explicit(&known, memory_order_relaxed);
    if (function == NULL) {
        /* This version is in every glibc for x86-64. */
        void *symbol = rtl_libc_dlvsym()(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        function = (rtl_dlsym_function *)rtl_hip_as_function(symbol);
        atomic_store_explicit(&known, function, memory_order_relaxed);
    }
    return function;
}

void *rtl_dlsym(void *handle, const char *name)
{
    return rtl_libc_dlsym()(handle, name);
}
