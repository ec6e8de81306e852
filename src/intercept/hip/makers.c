#include "intercept/hip/makers.h"

#include "intercept/base/emit.h"
#include "intercept/base/objects.h"
#include "intercept/hip/libc.h"
#include "intercept/hip/resolve.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MOST_MAKERS 16u
#define MOST_QUEUES RTL_LEDGER_ROWS

/* An object that has made queues, or loaded kernels of ROCclr's. One that is unloaded stays. */
struct maker {
    uintptr_t base;
    char *name;        /* "" is the program */
    bool exports;      /* HIP's functions */
    bool opencl;       /* exports OpenCL's */
    bool rocclr;       /* has loaded kernels of ROCclr's */
    uint32_t reported; /* RTL_HIP_CALLS_* that the trace has, RTL_NONE if nothing */
};

struct made {
    uint32_t queue, maker;
};

static struct maker makers[MOST_MAKERS];
static uint32_t maker_count;
static struct made queues[MOST_QUEUES];
static uint32_t queue_count;
static enum rtl_mode mode;
static bool switched_off, indirect;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_setting(const char *name, const char *wanted)
{
    const char *value = getenv(name); // NOLINT(concurrency-mt-unsafe): read once, at load
    return value != NULL && strcmp(value, wanted) == 0;
}

void rtl_makers_open(const struct rtl_config *config)
{
    rtl_hip_when_resolved(rtl_makers_look);
    mode = config->mode;
    switched_off = is_setting("RTL_PRELOAD", "off");
    indirect = is_setting("AMD_DIRECT_DISPATCH", "0");
}

static bool is_hip(const struct maker *maker)
{
    return maker->exports || (maker->rocclr && !maker->opencl);
}

/* ---- objects ---- */

/* While the linker's lock is held no memory is taken: who gives that out may ask for the lock. */
struct search {
    uintptr_t address;
    struct maker found;
    char name[PATH_MAX]; /* cut off, if need be */
};

static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    struct rtl_object object;
    (void)size;
    if (!rtl_object_has(info, search->address))
        return 0;
    bool readable = rtl_object_read(info, &object);
    search->found = (struct maker){
        .base = info->dlpi_addr,
        .exports = readable && rtl_hip_is_library(&object),
        .opencl = readable && rtl_object_function(&object, "clGetPlatformInfo") != 0,
        .reported = RTL_NONE,
    };
    size_t length = strnlen(info->dlpi_name, sizeof search->name - 1);
    memcpy(search->name, info->dlpi_name, length);
    search->name[length] = '\0';
    return 1;
}

static uint32_t place_of(const struct search *search)
{
    uint32_t i = 0;
    while (i < maker_count &&
           (makers[i].base != search->found.base || strcmp(makers[i].name, search->name) != 0))
        i++;
    return i;
}

/* Under the lock. */
static bool enter(const struct search *search)
{
    char *name = maker_count < MOST_MAKERS ? strdup(search->name) : NULL;
    if (name == NULL)
        return false;
    makers[maker_count] = search->found;
    makers[maker_count++].name = name;
    return true;
}

uint32_t rtl_makers_at(const void *address)
{
    struct search search;
    search.address = (uintptr_t)address;
    if (dl_iterate_phdr(look_at, &search) == 0)
        return RTL_NONE;
    pthread_mutex_lock(&lock);
    uint32_t place = place_of(&search);
    bool known = place < maker_count || enter(&search);
    pthread_mutex_unlock(&lock);
    return known ? place : RTL_NONE;
}

/* ---- what is said ---- */

/* The object that wrappers go on to. */
struct real {
    uintptr_t address, base;
    bool is_hip;
};

static int look_at_real(struct dl_phdr_info *info, size_t size, void *data)
{
    struct real *real = data;
    struct rtl_object object;
    (void)size;
    if (!rtl_object_has(info, real->address))
        return 0;
    real->base = info->dlpi_addr;
    real->is_hip = rtl_object_read(info, &object) && rtl_hip_is_library(&object);
    return 1;
}

static enum rtl_hip_calls calls_in_front(const struct maker *maker)
{
    struct real real = {.address = (uintptr_t)rtl_hip_as_symbol(rtl_hip_known(RTL_HIP_hipMalloc))};
    if (real.address == 0 || dl_iterate_phdr(look_at_real, &real) == 0)
        return RTL_HIP_CALLS_PASSED_BY;
    /* What is no HIP itself goes on to one: another library that wraps it. */
    if (real.base != maker->base && real.is_hip)
        return RTL_HIP_CALLS_OTHER_COPY;
    return indirect ? RTL_HIP_CALLS_INDIRECT : RTL_HIP_CALLS_FOLLOWED;
}

static enum rtl_hip_calls calls_of(const struct maker *maker)
{
    if (mode != RTL_MODE_HIP && mode != RTL_MODE_FULL)
        return RTL_HIP_CALLS_LEFT_OUT;
    if (!maker->exports || maker->name[0] == '\0')
        return RTL_HIP_CALLS_STATIC;
    switch (rtl_hip_place()) {
    case RTL_HIP_IN_FRONT:
        return calls_in_front(maker);
    case RTL_HIP_IN_NAMESPACE:
        return RTL_HIP_CALLS_NAMESPACE;
    case RTL_HIP_BEHIND:
        break;
    }
    return switched_off ? RTL_HIP_CALLS_OFF : RTL_HIP_CALLS_NOT_PRELOADED;
}

static void tell(uint32_t queue, const struct maker *maker)
{
    struct rtl_wire_hip_queue wire = {.queue = queue,
                                      .calls = maker->reported,
                                      .library_length =
                                          (uint16_t)strnlen(maker->name, PATH_MAX - 1)};
    struct rtl_piece pieces[] = {{&wire, sizeof wire}, {maker->name, wire.library_length}};
    rtl_emit_definition(RTL_WIRE_HIP_QUEUE, pieces, 2);
}

/* Under the lock. */
static void look(uint32_t number)
{
    struct maker *maker = &makers[number];
    uint32_t calls = is_hip(maker) ? (uint32_t)calls_of(maker) : RTL_NONE;
    if (calls == maker->reported)
        return;
    maker->reported = calls;
    for (uint32_t i = 0; i < queue_count; i++)
        if (queues[i].maker == number)
            tell(queues[i].queue, maker);
}

void rtl_makers_queue(uint32_t maker, uint32_t queue)
{
    if (maker == RTL_NONE)
        return;
    pthread_mutex_lock(&lock);
    look(maker);
    if (makers[maker].reported != RTL_NONE)
        tell(queue, &makers[maker]);
    if (queue_count < MOST_QUEUES)
        queues[queue_count++] = (struct made){queue, maker};
    pthread_mutex_unlock(&lock);
}

void rtl_makers_rocclr(const void *address)
{
    uint32_t maker = rtl_makers_at(address);
    if (maker == RTL_NONE)
        return;
    pthread_mutex_lock(&lock);
    makers[maker].rocclr = true;
    look(maker);
    pthread_mutex_unlock(&lock);
}

void rtl_makers_look(void)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < maker_count; i++)
        look(i);
    pthread_mutex_unlock(&lock);
}

static const char *why(uint32_t calls)
{
    static const char *const texts[] = {
        [RTL_HIP_CALLS_OFF] = "RTL_PRELOAD=off",
        [RTL_HIP_CALLS_NOT_PRELOADED] = "librtl.so is not preloaded",
        [RTL_HIP_CALLS_NAMESPACE] = "it was opened in a namespace of its own (dlmopen)",
        [RTL_HIP_CALLS_PASSED_BY] = "none came through librtl.so (RTLD_DEEPBIND, for one)",
        [RTL_HIP_CALLS_OTHER_COPY] = "librtl.so follows another copy of HIP",
        [RTL_HIP_CALLS_STATIC] = "it is linked statically",
    };
    return calls < sizeof texts / sizeof *texts ? texts[calls] : NULL;
}

void rtl_makers_account(void)
{
    rtl_makers_look();
    for (uint32_t i = 0; i < maker_count; i++) {
        const struct maker *maker = &makers[i];
        if (why(maker->reported) != NULL)
            rtl_emit_note(RTL_NONE,
                          "the host calls, streams and graphs of the HIP in %s are not in the "
                          "trace: %s",
                          maker->name[0] != '\0' ? maker->name : "the program",
                          why(maker->reported));
    }
}
