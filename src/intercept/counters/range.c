/*
 * One file: ranges, their uses on queues and the ends that queues wait to read are one state under
 * one lock, and nearly every function here changes two of the three.
 */
#include "intercept/counters/range.h"

#include "intercept/base/api.h"
#include "intercept/base/recording.h"
#include "intercept/base/thread_context.h"
#include "intercept/counters/samples.h"
#include "intercept/queue/aql.h"
#include "intercept/queue/harvest.h"
#include "intercept/ranges/ranges.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BOUNDARIES    4u /* for each slot of a ring: see reservations.h */
#define BUCKETS       1024u
#define LOOK          64u /* ranges that ended, in a round */
#define HARVEST       64u
#define MAX_EXPANSION 4u /* packets on the hardware for one of the program's, at most */

#define MOST_READING 128u /* reads of a queue in flight: no more packets before some came */

/* A range on a queue. */
struct use {
    struct use *next;     /* of the range */
    struct use *next_end; /* of the queue: it has ended */
    struct range *range;
    struct rtl_counters_agent *device;
    struct rtl_counters_queue *queue; /* NULL: it is no more */
    struct rtl_counter_sample *begin, *end;
    bool listed;           /* among the ends of the queue */
    _Atomic uint64_t last; /* packet */
    _Atomic uint64_t own;  /* packets, without those of ranges within it that are open */
    uint64_t total;        /* of the device, before its first packet */
    uint64_t others;       /* of the device's other queues, when it ended */
};

struct range {
    struct range *next;  /* in its bucket */
    struct range *later; /* ended, not sent */
    uint64_t id, parent;
    struct use *uses;
    bool ended, shared, failed;
    enum rtl_uncounted_why why;        /* of `failed` */
    struct rtl_counters_agent *device; /* of its first use, for the account */
};

/* Of a queue. */
struct rtl_counters_ranges {
    struct boundary {
        uint64_t packet;
        struct rtl_counter_sample *sample;
    } * boundaries; /* where ranges begin: a place for each packet of the ring */
    uint64_t mask;
    struct use *ends;
    uint64_t gate;           /* signal of a read in our own queue, for this one's ends */
    bool enabled;            /* its kernels are counted */
    bool gated;              /* such a read is in flight, or was the last thing */
    _Atomic uint32_t unread; /* boundaries, ends, and gates: nobody need look where it is 0 */
    struct rtl_reader reader;
    _Atomic uint64_t processed; /* packets before it have passed */
    _Atomic uint64_t total;     /* packets that were reserved */
};

static struct device {
    struct rtl_counter_sampler sampler;
    _Atomic uint64_t total; /* packets that were reserved in its queues */
} devices[RTL_MOST_COUNTED];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges[BUCKETS];
static struct range *first_ended, **last_ended = &first_ended;
static _Atomic uint32_t open_ranges;
static bool unfinished_counted; /* what is left has been counted as such */

/* The thread's innermost range on the queue that it used last. A push's alone: it ends in its
 * thread, before which the use lives. Initial-exec, as rtl_thread_context. */
static _Thread_local struct {
    uint64_t range;
    uint32_t queue; /* id */
    struct use *use;
} latest __attribute__((tls_model("initial-exec")));

static struct device *device_of(const struct rtl_counters_queue *queue)
{
    return &devices[rtl_counters_place(queue->device)];
}

static struct rtl_counter_sampler *sampler_of(const struct rtl_counters_queue *queue)
{
    return &device_of(queue)->sampler;
}

/* ---- queues ---- */

static bool make_ranges(struct rtl_counters_queue *queue)
{
    struct rtl_counters_ranges *made = calloc(1, sizeof *made);
    uint64_t size = BOUNDARIES * queue->queue->reserved_size;
    if (made == NULL)
        return false;
    made->mask = size - 1;
    made->boundaries = calloc(size, sizeof *made->boundaries);
    if (made->boundaries == NULL) {
        free(made);
        return false;
    }
    queue->ranges = made;
    return true;
}

static void clear(struct rtl_counters_ranges *queue)
{
    for (uint64_t i = 0; i <= queue->mask; i++)
        queue->boundaries[i] = (struct boundary){.packet = UINT64_MAX};
    queue->ends = NULL;
    queue->enabled = false;
    queue->gated = false;
    atomic_store(&queue->unread, 0);
    atomic_store(&queue->reader.reading, 0);
    atomic_store(&queue->total, 0);
}

static bool open_queue(struct rtl_counters_queue *queue)
{
    struct rtl_counter_sampler *sampler = sampler_of(queue);
    if (sampler->own.queue == NULL && !rtl_counter_sampler_open(sampler, queue->device, &lock))
        return false;
    if (queue->ranges == NULL && !make_ranges(queue))
        return false;
    clear(queue->ranges);
    atomic_store(&queue->ranges->processed, atomic_load(&queue->queue->submitted));
    queue->ranges->gate = rtl_internal_signal(0);
    return queue->ranges->gate != 0;
}

/* It may have so many reads of its own in flight: they end whatever other queues do. */
static uint64_t most(const struct rtl_counters_queue *queue)
{
    uint32_t reading = atomic_load_explicit(&queue->ranges->reader.reading, memory_order_relaxed);
    return reading < MOST_READING ? MOST_READING - reading : 0;
}

/* ---- ranges ---- */

static struct range **place_of(uint64_t id)
{
    struct range **at = &ranges[id % BUCKETS];
    while (*at != NULL && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

static void fail(struct range *range, enum rtl_uncounted_why why)
{
    range->failed = true;
    range->why = why;
}

/* Under the lock. NULL: no memory. */
static struct range *find_or_make(uint64_t id, uint64_t parent)
{
    struct range **place = place_of(id);
    if (*place == NULL) {
        *place = calloc(1, sizeof **place);
        if (*place == NULL)
            return NULL;
        (*place)->id = id;
        (*place)->parent = parent;
        atomic_fetch_add_explicit(&open_ranges, 1, memory_order_relaxed);
    }
    return *place;
}

static struct use *use_of(const struct range *range, const struct rtl_counters_queue *queue)
{
    struct use *use = range->uses;
    while (use != NULL && use->queue != queue)
        use = use->next;
    return use;
}

static void raise_to(_Atomic uint64_t *greatest, uint64_t value)
{
    uint64_t known = atomic_load_explicit(greatest, memory_order_relaxed);
    while (known < value &&
           !atomic_compare_exchange_weak_explicit(greatest, &known, value, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

static void add_packets(struct use *use, uint64_t first, uint64_t count)
{
    raise_to(&use->last, first + count - 1);
    atomic_fetch_add_explicit(&use->own, count, memory_order_relaxed);
}

static bool is_busy(const struct rtl_counters_queue *queue)
{
    struct rtl_pending *pending = &queue->queue->pending;
    if (atomic_load_explicit(&queue->queue->virtual_index, memory_order_relaxed) !=
        atomic_load_explicit(&queue->ranges->processed, memory_order_relaxed))
        return true;
    if (atomic_load_explicit(&pending->head, memory_order_acquire) !=
        atomic_load_explicit(&pending->tail, memory_order_acquire))
        (void)rtl_harvest(queue->queue, HARVEST, HARVEST);
    return atomic_load_explicit(&pending->head, memory_order_acquire) !=
               atomic_load_explicit(&pending->tail, memory_order_acquire) ||
           rtl_harvest_has_parked();
}

/* Whether other queues of the device have something to do. */
static bool others_are_busy(const struct rtl_counters_queue *than)
{
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        const struct rtl_counters_queue *queue = rtl_counters_queue_at(i);
        if (queue != NULL && queue != than && queue->device == than->device && is_busy(queue))
            return true;
    }
    return false;
}

static bool uses_device(const struct range *range, const struct rtl_counters_queue *queue)
{
    for (const struct use *use = range->uses; use != NULL; use = use->next)
        if (use->device == queue->device)
            return true;
    return false;
}

/* Under the lock. A range begins on a queue. NULL: no memory. */
static struct use *begin_use(struct range *range, struct rtl_counters_queue *queue, uint64_t total,
                             struct rtl_counter_sample **sample)
{
    struct use *use = calloc(1, sizeof *use);
    if (*sample == NULL)
        *sample = rtl_counter_sampler_take(sampler_of(queue));
    if (use == NULL || *sample == NULL) {
        free(use);
        fail(range, RTL_UNCOUNTED_MEMORY);
        return NULL;
    }
    range->shared = range->shared || (!uses_device(range, queue) && others_are_busy(queue));
    range->device = queue->device;
    use->range = range;
    use->device = queue->device;
    use->queue = queue;
    use->begin = *sample;
    use->begin->users++;
    use->total = total;
    use->next = range->uses;
    range->uses = use;
    return use;
}

/* Under the lock. */
static void set_boundary(struct rtl_counter_sampler *sampler, struct rtl_counters_ranges *queue,
                         uint64_t packet, struct rtl_counter_sample *sample)
{
    struct boundary *boundary = &queue->boundaries[packet & queue->mask];
    if (boundary->packet != UINT64_MAX) {
        boundary->sample->failed = true;
        rtl_counter_sampler_drop(sampler, boundary->sample);
        atomic_fetch_sub_explicit(&queue->unread, 1, memory_order_relaxed);
    }
    *boundary = (struct boundary){packet, sample};
    sample->users++;
    atomic_fetch_add_explicit(&queue->unread, 1, memory_order_release);
}

/* Under the lock: the ranges that the thread is in, from the outermost on. */
static void enter(struct rtl_counters_queue *queue, uint64_t first, uint64_t count, uint64_t total)
{
    struct rtl_counter_sample *sample = NULL;
    struct use *use = NULL;
    uint64_t id;
    uint64_t parent = 0;
    bool joined = false;
    for (uint32_t level = 0; rtl_range_at(level, &id, &joined); level++, parent = id) {
        struct range *range = find_or_make(id, parent);
        use = range != NULL ? use_of(range, queue) : NULL;
        if (range != NULL && use == NULL && !range->ended && !range->failed)
            use = begin_use(range, queue, total, &sample);
        if (use != NULL)
            raise_to(&use->last, first + count - 1);
    }
    if (sample != NULL && sample->users > 1)
        set_boundary(sampler_of(queue), queue->ranges, first, sample);
    rtl_counter_sampler_drop(sampler_of(queue), sample);
    if (use == NULL)
        return;
    atomic_fetch_add_explicit(&use->own, count, memory_order_relaxed);
    if (!joined) {
        latest.range = rtl_thread_context.range; /* or one within it that RTL_RANGES leaves out */
        latest.queue = queue->queue->id;
        latest.use = use;
    }
}

static void reserve(struct rtl_counters_queue *queue, uint64_t first, uint64_t count)
{
    struct device *device = device_of(queue);
    uint64_t total = atomic_fetch_add_explicit(&device->total, count, memory_order_relaxed);
    atomic_fetch_add_explicit(&queue->ranges->total, count, memory_order_relaxed);
    if (rtl_thread_context.range == 0 || count == 0)
        return;
    if (latest.range == rtl_thread_context.range && latest.queue == queue->queue->id) {
        add_packets(latest.use, first, count);
        return;
    }
    if (rtl_recording_is_stopped_here())
        return;
    int saved = errno;
    pthread_mutex_lock(&lock);
    enter(queue, first, count, total);
    pthread_mutex_unlock(&lock);
    errno = saved;
}

/* ---- ends ---- */

static uint64_t others_of(const struct rtl_counters_queue *queue)
{
    return atomic_load_explicit(&device_of(queue)->total, memory_order_relaxed) -
           atomic_load_explicit(&queue->ranges->total, memory_order_relaxed);
}

/* Under the lock. What the device does besides is known up to now. */
static void give_end(struct use *use, struct rtl_counter_sample *sample)
{
    use->end = sample;
    sample->users++;
    if (others_of(use->queue) != use->others)
        use->range->shared = true;
}

/* Under the lock: takes those off the list whose last packet comes before `packet`, and gives them
 * the sample (NULL: there is none). Returns how many. */
static uint32_t take_ends(struct rtl_counters_ranges *queue, uint64_t packet,
                          struct rtl_counter_sample *sample)
{
    uint32_t taken = 0;
    struct use **at = &queue->ends;
    while (*at != NULL) {
        struct use *use = *at;
        if (atomic_load_explicit(&use->last, memory_order_relaxed) >= packet) {
            at = &use->next_end;
            continue;
        }
        *at = use->next_end;
        use->listed = false;
        taken++;
        if (sample != NULL)
            give_end(use, sample);
        else
            fail(use->range, RTL_UNCOUNTED_MEMORY);
    }
    atomic_fetch_sub_explicit(&queue->unread, taken, memory_order_relaxed);
    return taken;
}

static bool has_ends(const struct rtl_counters_ranges *queue, uint64_t packet)
{
    for (const struct use *use = queue->ends; use != NULL; use = use->next_end)
        if (atomic_load_explicit(&use->last, memory_order_relaxed) < packet)
            return true;
    return false;
}

/* Under the lock. All that the queue was given is done: its ranges can end by a read of ours. */
static bool end_idle(struct rtl_counters_queue *queue)
{
    struct rtl_counters_ranges *own = queue->ranges;
    struct rtl_counter_sampler *sampler = sampler_of(queue);
    uint64_t processed = atomic_load_explicit(&own->processed, memory_order_acquire);
    if (!has_ends(own, processed) || is_busy(queue) || !rtl_internal_has_room(&sampler->own) ||
        (own->gated && rtl_internal_value(own->gate) > 0))
        return false;
    struct rtl_counter_sample *sample = rtl_counter_sampler_take(sampler);
    bool read =
        sample != NULL && rtl_counter_sampler_read_now(sampler, sample, &own->reader, own->gate);
    (void)take_ends(own, processed, read ? sample : NULL);
    rtl_counter_sampler_drop(sampler, sample);
    if (!read)
        return false;
    if (!own->gated)
        atomic_fetch_add_explicit(&own->unread, 1, memory_order_release);
    own->gated = true;
    return true;
}

/* Under the lock: a range within one that is open hands on what it did. */
static void hand_on(const struct range *range)
{
    const struct range *parent = range->parent != 0 ? *place_of(range->parent) : NULL;
    for (const struct use *use = range->uses; use != NULL && parent != NULL; use = use->next) {
        struct use *outer = use->queue != NULL ? use_of(parent, use->queue) : NULL;
        if (outer == NULL)
            continue;
        raise_to(&outer->last, atomic_load_explicit(&use->last, memory_order_relaxed));
        atomic_fetch_add_explicit(&outer->own,
                                  atomic_load_explicit(&use->own, memory_order_relaxed),
                                  memory_order_relaxed);
    }
}

/* Under the lock. Packets that were reserved on the device since the range began there, and that
 * are not its own. */
static bool had_company(const struct range *range, const struct rtl_counters_agent *device)
{
    uint64_t own = 0;
    uint64_t total = UINT64_MAX;
    for (const struct use *use = range->uses; use != NULL; use = use->next) {
        if (use->device != device)
            continue;
        own += atomic_load_explicit(&use->own, memory_order_relaxed);
        if (use->total < total)
            total = use->total;
    }
    return atomic_load_explicit(&devices[rtl_counters_place(device)].total, memory_order_relaxed) -
               total !=
           own;
}

static void end_use(struct use *use)
{
    if (use->queue == NULL)
        return;
    struct rtl_counters_ranges *queue = use->queue->ranges;
    if (had_company(use->range, use->queue->device))
        use->range->shared = true;
    use->others = others_of(use->queue);
    use->next_end = queue->ends;
    use->listed = true;
    queue->ends = use;
    atomic_fetch_add_explicit(&queue->unread, 1, memory_order_release);
    (void)end_idle(use->queue);
}

void rtl_counters_range_ended(uint64_t id)
{
    if (atomic_load_explicit(&open_ranges, memory_order_relaxed) == 0)
        return;
    int saved = errno;
    pthread_mutex_lock(&lock);
    struct range *range = *place_of(id);
    if (range != NULL && !range->ended) {
        range->ended = true;
        hand_on(range);
        for (struct use *use = range->uses; use != NULL; use = use->next)
            end_use(use);
        range->later = NULL;
        *last_ended = range;
        last_ended = &range->later;
    }
    if (latest.range == id)
        latest.range = 0;
    pthread_mutex_unlock(&lock);
    errno = saved;
}

/* ---- packets ---- */

/* Under the lock. A boundary at this packet, and those ends that lie before it, are one read. */
static uint64_t put_boundary(struct rtl_counters_queue *queue, uint64_t index, unsigned char *out)
{
    struct rtl_counters_ranges *own = queue->ranges;
    struct rtl_counter_sampler *sampler = sampler_of(queue);
    struct boundary *boundary = &own->boundaries[index & own->mask];
    uint64_t packets = 0;
    if (own->gated) {
        if (rtl_internal_value(own->gate) > 0)
            rtl_aql_barrier(out + RTL_PACKET_SIZE * packets++, own->gate, 0);
        own->gated = false;
        atomic_fetch_sub_explicit(&own->unread, 1, memory_order_relaxed);
    }
    bool begins = boundary->packet == index;
    if (!begins && !has_ends(own, index))
        return packets;
    struct rtl_counter_sample *sample =
        begins ? boundary->sample : rtl_counter_sampler_take(sampler);
    bool read = sample != NULL && rtl_counter_sampler_read(sampler, sample, &own->reader, 0,
                                                           out + RTL_PACKET_SIZE * packets);
    if (sample != NULL)
        sample->failed = !read;
    if (begins) {
        boundary->packet = UINT64_MAX;
        atomic_fetch_sub_explicit(&own->unread, 1, memory_order_relaxed);
    }
    (void)take_ends(own, index, read ? sample : NULL);
    rtl_counter_sampler_drop(sampler, sample);
    packets += read;
    return packets;
}

/* Before the queue's first packet. */
static uint64_t put_enable(struct rtl_counters_queue *queue, unsigned char *out)
{
    const struct rtl_counter_sampler *sampler = sampler_of(queue);
    if (queue->ranges->enabled)
        return 0;
    queue->ranges->enabled = true;
    if (sampler->enable_memory == NULL)
        return 0;
    memcpy(out, &sampler->enable, RTL_PACKET_SIZE);
    return 1;
}

static uint64_t put_packet(struct rtl_counters_queue *queue, const void *packet, uint64_t index,
                           unsigned char *out)
{
    struct rtl_counters_ranges *own = queue->ranges;
    uint64_t packets = put_enable(queue, out);
    if (atomic_load_explicit(&own->unread, memory_order_acquire) != 0) {
        pthread_mutex_lock(&lock);
        packets += put_boundary(queue, index, out + RTL_PACKET_SIZE * packets);
        atomic_store_explicit(&own->processed, index + 1, memory_order_release);
        pthread_mutex_unlock(&lock);
    } else {
        atomic_store_explicit(&own->processed, index + 1, memory_order_release);
    }
    memcpy(out + RTL_PACKET_SIZE * packets, packet, RTL_PACKET_SIZE);
    if (packets > 0)
        rtl_aql_set_barrier(out + RTL_PACKET_SIZE * packets);
    return packets + 1;
}

/* ---- the counter thread ---- */

static bool is_read(const struct rtl_counter_sample *sample)
{
    return sample != NULL && (sample->done || sample->failed);
}

/* Under the lock. True if nothing more comes of a range that has ended. */
static bool is_complete(const struct range *range)
{
    for (const struct use *use = range->uses; use != NULL && !range->failed; use = use->next)
        if (!is_read(use->begin) || !is_read(use->end))
            return false;
    return true;
}

/* A range that failed stays as long as a queue knows it. */
static bool is_free(const struct range *range)
{
    for (const struct use *use = range->uses; use != NULL; use = use->next)
        if (use->listed)
            return false;
    return true;
}

/* Counters only rise: the earliest sample is the least one. */
static bool sum_up(const struct range *range, const struct rtl_counters_agent *device,
                   uint64_t *values)
{
    uint64_t begin[RTL_MOST_COUNTERS];
    bool any = false;
    for (const struct use *use = range->uses; use != NULL; use = use->next) {
        if (use->device != device)
            continue;
        if (use->begin->failed || use->end->failed)
            return false;
        for (uint32_t i = 0; i < device->event_count; i++) {
            if (!any || use->begin->values[i] < begin[i])
                begin[i] = use->begin->values[i];
            if (!any || use->end->values[i] > values[i])
                values[i] = use->end->values[i];
        }
        any = true;
    }
    for (uint32_t i = 0; any && i < device->event_count; i++)
        values[i] -= begin[i];
    return any;
}

static bool came_before(const struct range *range, const struct use *than)
{
    for (const struct use *use = range->uses; use != than; use = use->next)
        if (use->device == than->device)
            return true;
    return false;
}

/* One sample for each device. */
static void send(struct range *range)
{
    uint64_t values[RTL_MOST_COUNTERS];
    for (const struct use *use = range->uses; use != NULL; use = use->next) {
        if (came_before(range, use))
            continue;
        struct rtl_counters_agent *device = use->device;
        struct rtl_wire_sample sample = {.owner = range->id,
                                         .queue = RTL_NONE,
                                         .agent = device->agent,
                                         .values = (uint16_t)device->event_count,
                                         .flags = range->shared ? RTL_SAMPLE_SHARED : 0};
        if (sum_up(range, device, values))
            (void)rtl_counters_send(device, &sample, values);
        else
            rtl_counters_miss(device, RTL_UNCOUNTED_DEVICE, 1);
    }
}

static void forget(struct range *range)
{
    struct range **place = place_of(range->id);
    *place = range->next;
    while (range->uses != NULL) {
        struct use *use = range->uses;
        range->uses = use->next;
        rtl_counter_sampler_drop(&devices[rtl_counters_place(use->device)].sampler, use->begin);
        rtl_counter_sampler_drop(&devices[rtl_counters_place(use->device)].sampler, use->end);
        free(use);
    }
    free(range);
    atomic_fetch_sub_explicit(&open_ranges, 1, memory_order_relaxed);
}

static void finish_range(struct range *range)
{
    if (unfinished_counted)
        return;
    if (range->failed)
        rtl_counters_miss(range->device, range->why, 1);
    else
        send(range);
    forget(range);
}

/* The first ones; those that are not complete go to the end. */
static bool finish_ranges(void)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < LOOK && first_ended != NULL; i++) {
        struct range *range = first_ended;
        first_ended = range->later;
        if (first_ended == NULL)
            last_ended = &first_ended;
        if (is_complete(range) && is_free(range)) {
            finish_range(range);
        } else {
            range->later = NULL;
            *last_ended = range;
            last_ended = &range->later;
        }
    }
    bool left = first_ended != NULL;
    pthread_mutex_unlock(&lock);
    return left;
}

static void end_idle_queues(void)
{
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_counters_queue *queue = rtl_counters_queue_at(i);
        if (queue == NULL ||
            atomic_load_explicit(&queue->ranges->unread, memory_order_relaxed) == 0)
            continue;
        pthread_mutex_lock(&lock);
        (void)end_idle(queue);
        pthread_mutex_unlock(&lock);
    }
}

static unsigned round_of_all(bool *busy)
{
    unsigned count = 0;
    end_idle_queues();
    for (uint32_t i = 0; i < RTL_MOST_COUNTED; i++) {
        struct rtl_counter_sampler *sampler = &devices[i].sampler;
        if (sampler->own.queue != NULL)
            count += rtl_counter_sampler_collect(sampler, busy);
    }
    bool left = finish_ranges();
    *busy = *busy || left;
    return count;
}

/* ---- the end ---- */

/* Under the lock. A sample by a read in our own queue, for a queue that is no more; NULL: there is
 * no room. */
static struct rtl_counter_sample *read_now(struct rtl_counter_sampler *sampler)
{
    struct rtl_counter_sample *sample = rtl_counter_sampler_take(sampler);
    if (sample != NULL && !rtl_counter_sampler_read_now(sampler, sample, NULL, 0)) {
        rtl_counter_sampler_drop(sampler, sample);
        return NULL;
    }
    return sample;
}

/* Under the lock. A range that began on the queue ends on it now, if it has not yet. */
static void part(struct range *range, struct rtl_counters_queue *queue,
                 struct rtl_counter_sample **sample)
{
    struct use *use = use_of(range, queue);
    if (use == NULL)
        return;
    if (use->end == NULL && *sample == NULL)
        *sample = read_now(sampler_of(queue));
    if (use->end == NULL) {
        if (!use->listed)
            use->others = others_of(queue);
        if (*sample != NULL)
            give_end(use, *sample);
        else
            fail(range, RTL_UNCOUNTED_SHUTDOWN);
    }
    use->listed = false;
    use->queue = NULL;
}

static void close_queue(struct rtl_counters_queue *queue)
{
    struct rtl_counters_ranges *own = queue->ranges;
    struct rtl_counter_sampler *sampler = sampler_of(queue);
    struct rtl_counter_sample *sample = NULL;
    pthread_mutex_lock(&lock);
    bool gate_is_used = rtl_counter_sampler_abandon(sampler, &own->reader, own->gate);
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct range *range = ranges[i]; range != NULL; range = range->next)
            part(range, queue, &sample);
    rtl_counter_sampler_drop(sampler, sample);
    for (uint64_t i = 0; i <= own->mask; i++)
        if (own->boundaries[i].packet != UINT64_MAX) {
            own->boundaries[i].sample->failed = true;
            rtl_counter_sampler_drop(sampler, own->boundaries[i].sample);
        }
    clear(own);
    if (queue->queue->hw_destroyed && !gate_is_used)
        rtl_api.hsa_signal_destroy((hsa_signal_t){own->gate});
    pthread_mutex_unlock(&lock);
}

static void count_unfinished(void)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < BUCKETS && !unfinished_counted; i++)
        for (struct range *range = ranges[i]; range != NULL; range = range->next)
            rtl_counters_miss(range->device, range->failed ? range->why : RTL_UNCOUNTED_SHUTDOWN,
                              1);
    unfinished_counted = true;
    pthread_mutex_unlock(&lock);
}

/* The counters begin anew when the runtime comes back. */
static void end_all(void)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct range *range = ranges[i]; range != NULL; range = range->next)
            if (!range->ended || !is_complete(range))
                fail(range, RTL_UNCOUNTED_SHUTDOWN);
    for (uint32_t i = 0; i < RTL_MOST_COUNTED; i++)
        if (devices[i].sampler.own.queue != NULL)
            rtl_counter_sampler_close(&devices[i].sampler);
    pthread_mutex_unlock(&lock);
}

void rtl_counters_ranges_forked(void)
{
    pthread_mutex_init(&lock, NULL);
}

const struct rtl_counting rtl_counting_ranges = {.max_expansion = MAX_EXPANSION,
                                                 .open = open_queue,
                                                 .reserve = reserve,
                                                 .most = most,
                                                 .put = put_packet,
                                                 .round = round_of_all,
                                                 .close = close_queue,
                                                 .count_unfinished = count_unfinished,
                                                 .end = end_all};
