#include "intercept/counters/chosen.h"

#include "common/log.h"
#include "common/regexp.h"
#include "intercept/base/symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".kd" /* of the names of kernel descriptors */

/* https://itanium-cxx-abi.github.io/cxx-abi/abi.html#demangler */
typedef char *(*demangler)(const char *mangled, char *buffer, size_t *length, int *status);

/* Set before the first kernel is loaded. */
static bool chooses;
static regex_t wanted;
static demangler demangle; /* NULL: there is none */

/* The HSA runtime is C++ and has brought libstdc++; librtl.so is C and asks for none. Not under a
 * lock of ours: the linker has one, which a thread may hold that loads kernels in a constructor. */
static void find_demangler(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
    memcpy(&demangle, &symbol, sizeof demangle);
    /* The library stays: the runtime needs it. */
}

static bool matches_text(const char *name)
{
    return regexec(&wanted, name, 0, NULL, 0) == 0;
}

/* Without the prefix the demangler would take a C name for a type. */
static bool matches(const char *name, size_t length)
{
    if (length > strlen(SUFFIX) &&
        memcmp(name + length - strlen(SUFFIX), SUFFIX, strlen(SUFFIX)) == 0)
        length -= strlen(SUFFIX);
    char *copy = strndup(name, length);
    if (copy == NULL)
        return false;
    int status = 0;
    bool mangled = demangle != NULL && strncmp(copy, "_Z", 2) == 0;
    char *plain = mangled ? demangle(copy, NULL, NULL, &status) : NULL;
    bool found = matches_text(plain != NULL ? plain : copy);
    free(plain);
    free(copy);
    return found;
}

void rtl_counters_choose(const char *pattern)
{
    char why[1200];
    int error = rtl_regexp_compile(&wanted, pattern, why, sizeof why);
    if (error == 0) {
        chooses = true;
        find_demangler();
        rtl_symbols_mark(matches);
        return;
    }
    rtl_complain("RTL_METRICS_KERNEL: %s; all kernels are counted",
                 error == EINVAL ? why : "memory is short");
}

bool rtl_counters_is_chosen(uint64_t kernel_object)
{
    return !chooses || rtl_symbols_find(kernel_object, rtl_symbols_epoch()).marked;
}
