#include "intercept/counters/chosen.h"

#include "common/log.h"
#include "common/regexp.h"
#include "intercept/base/emit.h"
#include "intercept/base/symbols.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".kd" /* of the names of kernel descriptors */

/* https://itanium-cxx-abi.github.io/cxx-abi/abi.html#demangler */
typedef char *(*demangler)(const char *mangled, char *buffer, size_t *length, int *status);

static regex_t wanted;

/* The HSA runtime is C++ and has brought libstdc++; librtl.so is C and asks for none. */
static demangler find_demangler(void)
{
    demangler found = NULL;
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    void *symbol = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
    memcpy(&found, &symbol, sizeof found);
    return found; /* the library stays: the runtime needs it */
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
    demangler demangle = strncmp(copy, "_Z", 2) == 0 ? find_demangler() : NULL;
    char *plain = demangle != NULL ? demangle(copy, NULL, NULL, &status) : NULL;
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
        rtl_symbols_mark(matches);
        return;
    }
    rtl_complain("RTL_METRICS_KERNEL: %s; all kernels are counted",
                 error == EINVAL ? why : "memory is short");
}
