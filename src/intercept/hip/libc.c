/*
 * libc's dlsym and dlvsym, of which librtl.so exports others. With libc's dlvsym the rest is found
 * by the version that only libc has; that one itself is looked up in libc's own table.
 */
#include "intercept/hip/libc.h"

#include "intercept/base/objects.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

rtl_hip_function rtl_hip_as_function(void *symbol)
{
    rtl_hip_function function;
    memcpy(&function, &symbol, sizeof function);
    return function;
}

void *rtl_hip_as_symbol(rtl_hip_function function)
{
    void *symbol;
    memcpy(&symbol, &function, sizeof symbol);
    return symbol;
}

/* Up to glibc 2.33 it is in a library of its own. */
static bool is_libc(const char *path)
{
    const char *name = rtl_object_base_name(path);
    return rtl_object_begins(name, "libc.so") || rtl_object_begins(name, "libc-") ||
           rtl_object_begins(name, "libdl.so") || rtl_object_begins(name, "libdl-");
}

/* By the list that debuggers read, since this may be the first that happens in the process: a
 * sanitizer that asks for functions has a dl_iterate_phdr of its own, which is not ready then. libc
 * is in it from the start. */
static uintptr_t find_dlvsym(void)
{
    uintptr_t function = 0;
    for (const struct link_map *map = _r_debug.r_map; map != NULL && function == 0;
         map = map->l_next) {
        const struct dl_phdr_info info = {.dlpi_addr = map->l_addr, .dlpi_name = map->l_name};
        struct rtl_object object;
        if (is_libc(map->l_name) && rtl_object_read_section(&info, map->l_ld, &object))
            function = rtl_object_function(&object, "dlvsym");
    }
    return function;
}

rtl_dlvsym_function *rtl_libc_dlvsym(void)
{
    static _Atomic(rtl_dlvsym_function *) known;
    rtl_dlvsym_function *function = atomic_load_explicit(&known, memory_order_relaxed);
    if (function == NULL) {
        function = (rtl_dlvsym_function *)rtl_hip_as_function((void *)find_dlvsym());
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

rtl_hip_function rtl_hip_own_symbol(const void *address, const char *name)
{
    Dl_info info;
    struct link_map *object = NULL;
    if (dladdr1(address, &info, (void **)&object, RTLD_DL_LINKMAP) == 0)
        return NULL;
    void *library = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = library != NULL ? rtl_dlsym(library, name) : NULL;
    if (library != NULL)
        (void)dlclose(library);
    return rtl_hip_as_function(symbol);
}
