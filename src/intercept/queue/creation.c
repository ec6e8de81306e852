#include "intercept/queue/creation.h"

#include "intercept/base/api.h"
#include "intercept/base/emit.h"
#include "intercept/base/recording.h"
#include "intercept/queue/interception.h"
#include "intercept/queue/lifecycle.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

#define KNOWN_VERSION    1u
#define ENGINE_COMPUTE   0u
#define IN_DEVICE_MEMORY 3u /* flags: the ring, the queue's descriptor */

/* Those of the table that was handed over, NULL where it has none. */
static rtl_queue_create_t *create_in_table;
static rtl_queue_release_t *release_in_table;
static rtl_creation_find_next *find_next;
static _Atomic bool told_moved, told_unknown;

/* The flags come back: the descriptor is the program's. */
static hsa_status_t create_here(rtl_queue_create_t *create, hsa_agent_t agent,
                                struct rtl_queue_desc *descs, uint32_t count)
{
    uint16_t *flags = calloc(count, sizeof *flags);
    unsigned moved = 0;
    for (uint32_t i = 0; flags != NULL && i < count; i++) {
        flags[i] = descs[i].flags;
        if (descs[i].engine != ENGINE_COMPUTE || (flags[i] & IN_DEVICE_MEMORY) == 0)
            continue;
        descs[i].flags &= (uint16_t)~IN_DEVICE_MEMORY;
        moved++;
    }
    hsa_status_t status = create(agent, descs, count);
    int saved = errno; /* the runtime's */
    for (uint32_t i = 0; flags != NULL && i < count; i++)
        descs[i].flags = flags[i];
    free(flags);
    if (moved > 0 && !atomic_exchange(&told_moved, true))
        rtl_emit_note(RTL_NONE,
                      "the program asks for queues in device memory: RTL has them made in "
                      "host memory, where it can read their packets");
    errno = saved;
    return status;
}

static bool are_known(const struct rtl_queue_desc *descs, uint32_t count)
{
    /* Of an unknown version the size is not known either, so the first one decides. */
    return descs != NULL && count > 0 && count <= UINT16_MAX && descs[0].version == KNOWN_VERSION;
}

static hsa_status_t create(rtl_queue_create_t *go_on, hsa_agent_t agent,
                           struct rtl_queue_desc *descs, uint32_t count)
{
    int saved = errno;
    bool looks = rtl_recording_is_on() && rtl_interception_why_not_interposed() == NULL;
    if (looks && are_known(descs, count))
        return create_here(go_on, agent, descs, count);
    if (looks && descs != NULL && count > 0 && !atomic_exchange(&told_unknown, true))
        rtl_emit_note(RTL_NONE,
                      "the program makes queues by descriptors of version %u, which RTL does not "
                      "know: it has not looked into them",
                      descs[0].version);
    errno = saved;
    return go_on(agent, descs, count);
}

static hsa_status_t create_from_table(hsa_agent_t agent, struct rtl_queue_desc *descs,
                                      uint32_t count)
{
    return create(create_in_table, agent, descs, count);
}

static hsa_status_t release_from_table(hsa_queue_t *queue)
{
    rtl_queues_release_handle(queue);
    return release_in_table(queue);
}

/* A newer hsa_ext_amd.h declares them with a type of its own. */
EXPORT hsa_status_t rtl_queue_create(hsa_agent_t agent, struct rtl_queue_desc *descs,
                                     uint32_t count) __asm__("hsa_amd_queue_create");
EXPORT hsa_status_t rtl_queue_release(hsa_queue_t *queue) __asm__("hsa_amd_counted_queue_release");

static const char *const names[] = {"hsa_amd_queue_create", "hsa_amd_counted_queue_release"};

/* Without a function of libc's, which a sanitizer that asks for a name may not have yet. */
static bool is(const char *name, const char *wanted)
{
    while (*wanted != '\0' && *name == *wanted) {
        name++;
        wanted++;
    }
    return *name == *wanted;
}

bool rtl_creation_has(const char *name)
{
    return is(name, names[0]) || is(name, names[1]);
}

static void *next(const char *name)
{
    return find_next != NULL ? find_next(name) : NULL;
}

void *rtl_creation_instead_of(const char *name, void *found)
{
    void *own[2];
    memcpy(&own[0], &(rtl_queue_create_t *){rtl_queue_create}, sizeof own[0]);
    memcpy(&own[1], &(rtl_queue_release_t *){rtl_queue_release}, sizeof own[1]);
    return found != NULL && found == next(name) ? own[is(name, names[1])] : found;
}

hsa_status_t rtl_queue_create(hsa_agent_t agent, struct rtl_queue_desc *descs, uint32_t count)
{
    rtl_queue_create_t *function;
    memcpy(&function, &(void *){next(names[0])}, sizeof function);
    return function != NULL ? create(function, agent, descs, count) : HSA_STATUS_ERROR;
}

hsa_status_t rtl_queue_release(hsa_queue_t *queue)
{
    rtl_queue_release_t *function;
    memcpy(&function, &(void *){next(names[1])}, sizeof function);
    if (function == NULL)
        return HSA_STATUS_ERROR;
    rtl_queues_release_handle(queue);
    return function(queue);
}

void rtl_creation_begin(rtl_creation_find_next *find)
{
    find_next = find;
}

void rtl_creation_hook(void)
{
    create_in_table = rtl_api.hsa_amd_queue_create;
    release_in_table = rtl_api.hsa_amd_counted_queue_release;
    RTL_HOOK(hsa_amd_queue_create, create_from_table);
    RTL_HOOK(hsa_amd_counted_queue_release, release_from_table);
}
