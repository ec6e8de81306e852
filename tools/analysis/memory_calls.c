#include "analysis/memory_calls.h"

#include <string.h>

enum { ALLOCATES = 0, FREES = 1, VIRTUAL = 2 };

static const struct known_call {
    const char *name;
    unsigned does;
    enum memory_kind kind;
} known_calls[] = {
    {"hipMalloc", ALLOCATES, MEMORY_DEVICE},
    {"hipExtMallocWithFlags", ALLOCATES, MEMORY_DEVICE},
    {"hipMallocAsync", ALLOCATES, MEMORY_DEVICE},
    {"hipMallocFromPoolAsync", ALLOCATES, MEMORY_DEVICE},
    {"hipMallocPitch", ALLOCATES, MEMORY_DEVICE},
    {"hipMemAllocPitch", ALLOCATES, MEMORY_DEVICE},
    {"hipMemCreate", ALLOCATES | VIRTUAL, MEMORY_DEVICE},
    {"hipMallocManaged", ALLOCATES, MEMORY_MANAGED},
    {"hipHostMalloc", ALLOCATES, MEMORY_HOST},
    {"hipHostAlloc", ALLOCATES, MEMORY_HOST},
    {"hipMallocHost", ALLOCATES, MEMORY_HOST},
    {"hipMemAllocHost", ALLOCATES, MEMORY_HOST},
    {"hipFree", FREES, MEMORY_DEVICE},
    {"hipFreeAsync", FREES, MEMORY_DEVICE},
    {"hipMemRelease", FREES | VIRTUAL, MEMORY_DEVICE},
    {"hipHostFree", FREES, MEMORY_HOST},
    {"hipFreeHost", FREES, MEMORY_HOST},
};

const char *memory_kind_name(enum memory_kind kind)
{
    static const char *const names[MEMORY_KINDS] = {"device", "managed", "host"};
    return names[kind];
}

static const struct known_call *find_call(const char *name)
{
    if (strncmp(name, "hipM", 4) != 0 && strncmp(name, "hipF", 4) != 0 &&
        strncmp(name, "hipE", 4) != 0 && strncmp(name, "hipH", 4) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof known_calls / sizeof known_calls[0]; ++i)
        if (strcmp(name, known_calls[i].name) == 0)
            return &known_calls[i];
    return NULL;
}

/* The pointer, and the bytes: the product of what is a size or, behind one, a height. */
static void read_arguments(const rtl_api_t *api, uint64_t *pointer, uint64_t *bytes)
{
    rtl_argument_t argument;
    *pointer = 0;
    *bytes = 1;
    for (size_t i = 0; rtlApiArgument(api, i, &argument) == RTL_OK; ++i) {
        char type = argument.parameter.type;
        if (i == 0 && (type == 'P' || type == 'p'))
            *pointer = argument.words[0];
        else if (type == 'z' || strcmp(argument.parameter.name, "height") == 0)
            *bytes *= argument.words[0];
    }
}

bool memory_call(const rtl_api_t *api, struct memory_call *call)
{
    const struct known_call *known = find_call(api->name);
    if (!known)
        return false;
    *call = (struct memory_call){.kind = known->kind,
                                 .frees = (known->does & FREES) != 0,
                                 .is_virtual = (known->does & VIRTUAL) != 0};
    read_arguments(api, &call->pointer, &call->bytes);
    if (api->result != 0)
        call->pointer = 0;
    return true;
}
