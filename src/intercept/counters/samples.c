#include "intercept/counters/samples.h"

#include "common/clock.h"
#include "intercept/base/api.h"
#include "intercept/queue/aql.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS             512u /* made at once */
#define FREE_SLOTS        128u /* fewer: more are made */
#define START_PATIENCE_NS UINT64_C(1000000000)
#define READ_PATIENCE_NS  UINT64_C(2000000000) /* of a read that others wait for */

/* A profile whose read packet may be in flight. */
struct rtl_read_slot {
    struct rtl_read_slot *next; /* free, or in flight */
    struct rtl_aql_profile *profile;
    uint64_t own;     /* signal */
    uint64_t waiting; /* signal that tells that it was executed */
    uint64_t since;   /* ns */
    struct rtl_counter_sample *sample;
    struct rtl_reader *reader;
};

/* ---- samples ---- */

struct rtl_counter_sample *rtl_counter_sampler_take(struct rtl_counter_sampler *sampler)
{
    struct rtl_counter_sample *sample = sampler->free_samples;
    size_t values = sampler->device->event_count;
    if (sample != NULL)
        sampler->free_samples = sample->next;
    else
        sample = malloc(sizeof *sample + values * sizeof sample->values[0]);
    if (sample != NULL)
        *sample = (struct rtl_counter_sample){.users = 1};
    return sample;
}

void rtl_counter_sampler_drop(struct rtl_counter_sampler *sampler,
                              struct rtl_counter_sample *sample)
{
    if (sample == NULL || --sample->users > 0)
        return;
    sample->next = sampler->free_samples;
    sampler->free_samples = sample;
}

/* ---- slots ---- */

static void give_slot(struct rtl_counter_sampler *sampler, struct rtl_read_slot *slot)
{
    slot->next = sampler->free_slots;
    sampler->free_slots = slot;
    sampler->free_count++;
}

/* Not under the lock: slow. */
static bool make_slots(struct rtl_counter_sampler *sampler)
{
    struct rtl_read_slot *slots = calloc(SLOTS, sizeof *slots);
    struct rtl_aql_block *block =
        slots != NULL ? rtl_counters_profiles(sampler->device, SLOTS) : NULL;
    if (block == NULL) {
        free(slots);
        return false;
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        slots[i].profile = rtl_aql_profile(block, i);
        slots[i].own = rtl_internal_signal(0);
    }
    pthread_mutex_lock(sampler->lock);
    sampler->blocks[sampler->block_count] = block;
    sampler->slots[sampler->block_count++] = slots;
    for (uint32_t i = 0; i < SLOTS && slots[i].own != 0; i++)
        give_slot(sampler, &slots[i]);
    pthread_mutex_unlock(sampler->lock);
    return true;
}

bool rtl_counter_sampler_read(struct rtl_counter_sampler *sampler,
                              struct rtl_counter_sample *sample, struct rtl_reader *reader,
                              uint64_t signal, void *packet)
{
    struct rtl_read_slot *slot = sampler->free_slots;
    if (slot == NULL)
        return false;
    sampler->free_slots = slot->next;
    sampler->free_count--;
    slot->sample = sample;
    slot->reader = reader;
    slot->waiting = signal != 0 ? signal : slot->own;
    slot->since = rtl_now();
    rtl_internal_set(slot->waiting, 1);
    slot->next = sampler->in_flight;
    sampler->in_flight = slot;
    sample->users++; /* the slot's */
    if (reader != NULL)
        atomic_fetch_add_explicit(&reader->reading, 1, memory_order_relaxed);
    memcpy(packet, rtl_aql_read(slot->profile), RTL_PACKET_SIZE);
    rtl_aql_set_signal(packet, slot->waiting);
    return true;
}

bool rtl_counter_sampler_read_now(struct rtl_counter_sampler *sampler,
                                  struct rtl_counter_sample *sample, struct rtl_reader *reader,
                                  uint64_t signal)
{
    struct rtl_aql_packet packet;
    if (!rtl_internal_has_room(&sampler->own) ||
        !rtl_counter_sampler_read(sampler, sample, reader, signal, &packet))
        return false;
    rtl_internal_put(&sampler->own, &packet);
    return true;
}

static void finish(struct rtl_counter_sampler *sampler, struct rtl_read_slot *slot, bool executed)
{
    struct rtl_counter_sample *sample = slot->sample;
    sample->failed = !executed || !rtl_aql_values(slot->profile, sample->values);
    sample->done = true;
    rtl_counter_sampler_drop(sampler, sample);
    if (slot->reader != NULL)
        atomic_fetch_sub_explicit(&slot->reader->reading, 1, memory_order_relaxed);
    slot->sample = NULL;
}

/* A packet of the program's may be waiting for a read in our own queue. A device that does not do
 * it is broken; the program's queue goes on, and the slot is never used again. */
static bool is_overdue(const struct rtl_read_slot *slot)
{
    return slot->waiting != slot->own && rtl_now() - slot->since > READ_PATIENCE_NS;
}

unsigned rtl_counter_sampler_collect(struct rtl_counter_sampler *sampler, bool *busy)
{
    unsigned count = 0;
    pthread_mutex_lock(sampler->lock);
    for (struct rtl_read_slot **at = &sampler->in_flight; *at != NULL;) {
        struct rtl_read_slot *slot = *at;
        bool executed = rtl_internal_value(slot->waiting) <= 0;
        bool overdue = !executed && is_overdue(slot);
        if (!executed && !overdue) {
            at = &slot->next;
            continue;
        }
        *at = slot->next;
        finish(sampler, slot, executed);
        if (executed)
            give_slot(sampler, slot);
        else
            rtl_internal_set(slot->waiting, 0);
        count++;
    }
    *busy = *busy || sampler->in_flight != NULL;
    bool scarce = sampler->free_count < FREE_SLOTS && sampler->block_count < RTL_SAMPLER_BLOCKS;
    pthread_mutex_unlock(sampler->lock);
    if (scarce)
        (void)make_slots(sampler);
    return count;
}

bool rtl_counter_sampler_abandon(struct rtl_counter_sampler *sampler, struct rtl_reader *reader,
                                 uint64_t signal)
{
    bool waits = false;
    for (struct rtl_read_slot **at = &sampler->in_flight; *at != NULL;) {
        struct rtl_read_slot *slot = *at;
        bool executed = rtl_internal_value(slot->waiting) <= 0;
        if (slot->reader == reader && (executed || slot->waiting != signal)) {
            *at = slot->next;
            finish(sampler, slot, executed);
            give_slot(sampler, slot);
            continue;
        }
        if (slot->reader == reader) {
            slot->reader = NULL;
            waits = true;
        }
        at = &slot->next;
    }
    return waits;
}

/* ---- devices ---- */

/* The counters run from here on. */
static bool start(struct rtl_counter_sampler *sampler)
{
    const struct rtl_read_slot *slot = sampler->free_slots;
    struct rtl_aql_packet packet = *rtl_aql_start(slot->profile);
    rtl_internal_set(slot->own, 1);
    rtl_aql_set_signal(&packet, slot->own);
    rtl_internal_put(&sampler->own, &packet);
    return rtl_internal_wait(slot->own, START_PATIENCE_NS);
}

bool rtl_counter_sampler_open(struct rtl_counter_sampler *sampler,
                              struct rtl_counters_agent *device, pthread_mutex_t *lock)
{
    sampler->device = device;
    sampler->lock = lock;
    if (!rtl_internal_try(device) || !rtl_internal_open(&sampler->own, device->handle))
        return false;
    sampler->enable_memory = rtl_aql_enable(device->handle, &sampler->enable);
    return make_slots(sampler) && sampler->free_slots != NULL && start(sampler);
}

static void free_samples(struct rtl_counter_sampler *sampler)
{
    while (sampler->free_samples != NULL) {
        struct rtl_counter_sample *sample = sampler->free_samples;
        sampler->free_samples = sample->next;
        free(sample);
    }
}

void rtl_counter_sampler_close(struct rtl_counter_sampler *sampler)
{
    while (sampler->in_flight != NULL) {
        struct rtl_read_slot *slot = sampler->in_flight;
        sampler->in_flight = slot->next;
        finish(sampler, slot, rtl_internal_value(slot->waiting) <= 0);
    }
    rtl_internal_close(&sampler->own);
    rtl_aql_free_enable(sampler->enable_memory);
    for (uint32_t i = 0; i < sampler->block_count; i++) {
        for (uint32_t j = 0; j < SLOTS && sampler->slots[i][j].own != 0; j++)
            rtl_api.hsa_signal_destroy((hsa_signal_t){sampler->slots[i][j].own});
        rtl_aql_free(sampler->blocks[i]);
        free(sampler->slots[i]);
    }
    free_samples(sampler);
    *sampler = (struct rtl_counter_sampler){.device = sampler->device, .lock = sampler->lock};
}
