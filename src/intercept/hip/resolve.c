/*
 * The HIP library of the program is found in one of two ways:
 *
 * - It is in the global scope, because the program is linked with it: RTLD_NEXT finds its
 * functions, and those of other preloaded libraries that stand behind librtl.so. HIP's symbols have
 * versions (hip_4.2 and later, each in one version only); dlsym takes the default one, which is the
 * one that programs are linked with.
 * - It came by dlopen with RTLD_LOCAL, as a dependency of a Python module, say. What was loaded
 * with it finds the wrappers all the same, since the global scope is searched first. The library is
 * then looked for among those that are loaded, by its name.
 *
 * All entries are resolved at the first call of any. Threads may do so at the same time; they find
 * the same. No lock is held, since dlsym waits for the linker's, and who holds that may call HIP.
 */
#include "intercept/hip/resolve.h"

#include "intercept/base/config.h"
#include "intercept/hip/libc.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

/* What is deprecated is wrapped all the same. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* With .so and a number behind it; Python packages bring libamdhip64-0123abcd.so, too. */
#define LIBRARY "libamdhip64"

static const char *const names[] = {
#define CALL(name, ...)      #name,
#define CALL_0(name)         #name,
#define CALL_VOID(name, ...) #name,
#include "intercept/hip/entries.def"
#undef CALL
#undef CALL_0
#undef CALL_VOID
};

static const rtl_hip_function wrappers[] = {
#define CALL(name, ...)      (rtl_hip_function)(name),
#define CALL_0(name)         (rtl_hip_function)(name),
#define CALL_VOID(name, ...) (rtl_hip_function)(name),
#include "intercept/hip/entries.def"
#undef CALL
#undef CALL_0
#undef CALL_VOID
};

static _Atomic(rtl_hip_function) found[RTL_HIP_ENTRIES];
static _Atomic bool resolved;
static void (*_Atomic when_resolved)(void);

bool rtl_hip_possible(void)
{
    static _Atomic int known; /* 0: not yet; else 1 + the answer */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer == 0) {
        answer = 1 + rtl_config_wants_calls();
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == 2;
}

bool rtl_hip_is_library(const struct rtl_object *object)
{
    /* The first is one that librtl.so has no wrapper of. */
    return rtl_object_function(object, "__hipRegisterFatBinary") != 0 &&
           rtl_object_function(object, "hipMalloc") != 0;
}

/* The name of the HIP library among those that are loaded. */
static int look_at_library(struct dl_phdr_info *info, size_t size, void *data)
{
    struct rtl_object object;
    const char *base = rtl_object_base_name(info->dlpi_name);
    bool named = strncmp(base, LIBRARY, strlen(LIBRARY)) == 0 && strstr(base, ".so") != NULL;
    (void)size;
    if (info->dlpi_name[0] == '\0' || strlen(info->dlpi_name) >= PATH_MAX ||
        (!named && !(rtl_object_read(info, &object) && rtl_hip_is_library(&object))))
        return 0;
    memcpy(data, info->dlpi_name, strlen(info->dlpi_name) + 1);
    return 1;
}

/* A handle of the HIP library that some dlopen has loaded. It is never given back: the real
 * functions must stay. */
static void *loaded_library(void)
{
    static void *_Atomic known;
    char path[PATH_MAX];
    void *library = atomic_load_explicit(&known, memory_order_relaxed);
    if (library == NULL && dl_iterate_phdr(look_at_library, path) != 0) {
        library = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
        atomic_store_explicit(&known, library, memory_order_relaxed);
    }
    return library;
}

rtl_hip_function rtl_hip_symbol(const char *name)
{
    void *symbol = rtl_dlsym(RTLD_NEXT, name);
    void *library = symbol == NULL ? loaded_library() : NULL;
    if (library != NULL)
        symbol = rtl_dlsym(library, name);
    (void)dlerror(); // NOLINT(concurrency-mt-unsafe): glibc's is of the thread
    return rtl_hip_as_function(symbol);
}

static bool resolve(void)
{
    if (rtl_hip_symbol(names[RTL_HIP_hipMalloc]) == NULL)
        return false;
    for (unsigned i = 0; i < RTL_HIP_ENTRIES; i++) {
        rtl_hip_function function = rtl_hip_symbol(names[i]);
        if (function == NULL || function == wrappers[i])
            continue;
        atomic_store_explicit(&found[i], function, memory_order_relaxed);
        atomic_store_explicit(&rtl_hip_functions[i], function, memory_order_relaxed);
    }
    atomic_store_explicit(&resolved, true, memory_order_release);
    void (*tell)(void) = atomic_load_explicit(&when_resolved, memory_order_acquire);
    if (tell != NULL)
        tell();
    return true;
}

void rtl_hip_when_resolved(void (*tell)(void))
{
    atomic_store_explicit(&when_resolved, tell, memory_order_release);
}

rtl_hip_function rtl_hip_find(enum rtl_hip_entry entry)
{
    if (!atomic_load_explicit(&resolved, memory_order_acquire) && !resolve())
        return NULL;
    return atomic_load_explicit(&found[entry], memory_order_relaxed);
}

rtl_hip_function rtl_hip_known(enum rtl_hip_entry entry)
{
    return atomic_load_explicit(&found[entry], memory_order_relaxed);
}

const char *rtl_hip_name(enum rtl_hip_entry entry)
{
    return names[entry];
}

static enum rtl_hip_place place;

static bool in_namespace(void)
{
    Dl_info info;
    struct link_map *map = NULL;
    Lmid_t space = LM_ID_BASE;
    return dladdr1(names, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 &&
           dlinfo(map, RTLD_DI_LMID, &space) == 0 && space != LM_ID_BASE;
}

/* What the program itself finds first, of all that was loaded with it. */
static bool in_front(void)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    if (program == NULL)
        return false;
    void *first = rtl_dlsym(program, names[RTL_HIP_hipMalloc]);
    (void)dlclose(program);
    return rtl_hip_as_function(first) == wrappers[RTL_HIP_hipMalloc];
}

void rtl_hip_find_place(void)
{
    if (in_namespace())
        place = RTL_HIP_IN_NAMESPACE;
    else if (in_front())
        place = RTL_HIP_IN_FRONT;
}

enum rtl_hip_place rtl_hip_place(void)
{
    return place;
}

enum rtl_hip_entry rtl_hip_named(const char *name)
{
    unsigned i = 0;
    while (i < RTL_HIP_ENTRIES && strcmp(names[i], name) != 0)
        i++;
    return (enum rtl_hip_entry)i;
}

rtl_hip_function rtl_hip_wrapper(enum rtl_hip_entry entry)
{
    return wrappers[entry];
}

rtl_hip_function rtl_hip_wrapper_of(rtl_hip_function function)
{
    for (unsigned i = 0; function != NULL && i < RTL_HIP_ENTRIES; i++)
        if (rtl_hip_find((enum rtl_hip_entry)i) == function)
            return wrappers[i];
    return NULL;
}
