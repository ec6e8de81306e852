#include "intercept/counters_range.h"

#include "intercept/api.h"
#include "intercept/counters_own.h"
#include "intercept/harvest.h"
#include "intercept/origin.h"
#include "intercept/ranges.h"
#include "intercept/submit.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PACKET            64u
#define SLOTS             512u /* made at once */
#define MOST_BLOCKS       4u   /* times that they are made */
#define FREE_SLOTS        128u /* fewer: the keeper makes more */
#define OWN_QUEUE         256u
#define BUCKETS           1024u
#define LOOK              64u /* ranges that ended, in a round */
#define HARVEST           64u
#define START_PATIENCE_NS UINT64_C(1000000000)
#define RETRY_NAP_NS      100000

/* What the counters of a device stood at, at one moment. */
struct sample {
    struct sample *next; /* free */
    uint32_t users;
    bool done, failed;
    uint64_t values[];
};

/* A profile whose read packet may be on its way. */
struct slot {
    struct slot *next; /* free, or on their way */
    struct rtl_aql_profile *profile;
    uint64_t own;     /* signal */
    uint64_t waiting; /* signal that tells that it was executed */
    struct sample *sample;
    struct rtl_counted_ranges *queue; /* whose ends it reads */
};

/* A range on a queue. */
struct use {
    struct use *next;     /* of the range */
    struct use *next_end; /* of the queue: it has ended */
    struct range *range;
    struct rtl_counted_device *device;
    struct rtl_counted_queue *queue; /* NULL: it is no more */
    struct sample *begin, *end;
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
    struct rtl_counted_device *device; /* of its first use, for the account */
};

/* Of a queue. */
struct rtl_counted_ranges {
    struct mark {
        uint64_t packet;
        struct sample *sample;
    } * marks; /* where ranges begin: a place for each packet of the ring */
    uint64_t mask;
    struct use *ends;
    uint64_t gate;           /* signal of a read in our own queue, for this one's ends */
    bool enabled;            /* its kernels are counted */
    bool gated;              /* such a read is on its way, or was the last thing */
    _Atomic uint32_t marked; /* marks, ends, and gates: nobody need look where it is 0 */
    _Atomic uint32_t reading;
    _Atomic uint64_t processed; /* packets before it have passed */
    _Atomic uint64_t total;     /* packets that were reserved */
};

static struct device {
    struct rtl_counted_device *counted;
    struct rtl_own_queue own;
    struct rtl_aql_packet enable; /* for each queue */
    void *enable_memory;          /* NULL: there is no such packet */
    struct slot *free_slots, *reading;
    uint32_t free_count;
    struct slot *slots[MOST_BLOCKS];
    struct rtl_aql_block *blocks[MOST_BLOCKS];
    uint32_t block_count;
    struct sample *free_samples;
    _Atomic uint64_t total; /* packets that were reserved in its queues */
} devices[RTL_MOST_COUNTED];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges[BUCKETS];
static struct range *first_ended, **last_ended = &first_ended;
static _Atomic uint32_t open_ranges;
static bool settled; /* what is left has been counted as such */

/* The thread's innermost range on the queue that it used last. A push's alone: it ends in its
 * thread, before which the use lives. Initial-exec, as rtl_origin. */
static _Thread_local struct {
    uint64_t range;
    uint32_t queue; /* id */
    struct use *use;
} latest __attribute__((tls_model("initial-exec")));

static struct device *device_of(const struct rtl_counted_queue *queue)
{
    return &devices[rtl_counted_place(queue->device)];
}

/* ---- samples and slots ---- */

/* Under the lock. NULL: no memory. */
static struct sample *take_sample(struct device *device)
{
    struct sample *sample = device->free_samples;
    size_t values = device->counted->event_count;
    if (sample != NULL)
        device->free_samples = sample->next;
    else
        sample = malloc(sizeof *sample + values * sizeof sample->values[0]);
    if (sample != NULL)
        *sample = (struct sample){.users = 0};
    return sample;
}

static void drop_sample(struct device *device, struct sample *sample)
{
    if (sample == NULL || --sample->users > 0)
        return;
    sample->next = device->free_samples;
    device->free_samples = sample;
}

/* Under the lock. */
static void give_slot(struct device *device, struct slot *slot)
{
    slot->next = device->free_slots;
    device->free_slots = slot;
    device->free_count++;
}

/* Not under the lock: slow. */
static bool make_slots(struct device *device)
{
    struct slot *slots = calloc(SLOTS, sizeof *slots);
    struct rtl_aql_block *block =
        slots != NULL ? rtl_counted_profiles(device->counted, SLOTS) : NULL;
    if (block == NULL) {
        free(slots);
        return false;
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        slots[i].profile = rtl_aql_profile(block, i);
        slots[i].own = rtl_own_signal(0);
    }
    pthread_mutex_lock(&lock);
    device->blocks[device->block_count] = block;
    device->slots[device->block_count++] = slots;
    for (uint32_t i = 0; i < SLOTS && slots[i].own != 0; i++)
        give_slot(device, &slots[i]);
    pthread_mutex_unlock(&lock);
    return true;
}

/* Under the lock. A slot whose read packet will fill the sample and then lower `signal` (0: its
 * own). */
static struct slot *take_slot(struct device *device, struct sample *sample,
                              struct rtl_counted_ranges *queue, uint64_t signal)
{
    struct slot *slot = device->free_slots;
    if (slot == NULL)
        return NULL;
    device->free_slots = slot->next;
    device->free_count--;
    slot->sample = sample;
    slot->queue = queue;
    slot->waiting = signal != 0 ? signal : slot->own;
    rtl_own_set(slot->waiting, 1);
    slot->next = device->reading;
    device->reading = slot;
    sample->users++; /* the slot's */
    if (queue != NULL)
        atomic_fetch_add_explicit(&queue->reading, 1, memory_order_relaxed);
    return slot;
}

static void put_read(const struct slot *slot, unsigned char *packet)
{
    memcpy(packet, rtl_aql_read(slot->profile), PACKET);
    rtl_aql_set_signal(packet, slot->waiting);
}

/* ---- devices ---- */

/* The counters run from here on. */
static bool start(struct device *device)
{
    struct rtl_aql_packet packet;
    const struct slot *slot = device->free_slots;
    memcpy(&packet, rtl_aql_start(slot->profile), sizeof packet);
    rtl_own_set(slot->own, 1);
    rtl_aql_set_signal(&packet, slot->own);
    pthread_mutex_lock(&lock);
    rtl_own_put(&device->own, &packet);
    pthread_mutex_unlock(&lock);
    return rtl_own_wait(slot->own, START_PATIENCE_NS);
}

static bool open_device(struct device *device, struct rtl_counted_device *counted)
{
    device->counted = counted;
    if (!rtl_own_try(counted) || !rtl_own_open(&device->own, counted->handle))
        return false;
    device->enable_memory = rtl_aql_enable(counted->handle, &device->enable);
    return make_slots(device) && device->free_slots != NULL && start(device);
}

/* ---- queues ---- */

static bool make_ranges(struct rtl_counted_queue *queue)
{
    struct rtl_counted_ranges *made = calloc(1, sizeof *made);
    uint64_t size = queue->queue->reserved_size;
    if (made == NULL)
        return false;
    made->mask = size - 1;
    made->marks = calloc(size, sizeof *made->marks);
    if (made->marks == NULL) {
        free(made);
        return false;
    }
    queue->ranges = made;
    return true;
}

static void clear(struct rtl_counted_ranges *queue)
{
    for (uint64_t i = 0; i <= queue->mask; i++)
        queue->marks[i] = (struct mark){.packet = UINT64_MAX};
    queue->ends = NULL;
    queue->enabled = false;
    queue->gated = false;
    atomic_store(&queue->marked, 0);
    atomic_store(&queue->reading, 0);
    atomic_store(&queue->total, 0);
}

bool rtl_counted_ranges_open(struct rtl_counted_queue *queue)
{
    struct device *device = device_of(queue);
    if (device->own.queue == NULL && !open_device(device, queue->device))
        return false;
    if (queue->ranges == NULL && !make_ranges(queue))
        return false;
    clear(queue->ranges);
    atomic_store(&queue->ranges->processed, atomic_load(&queue->queue->submitted));
    queue->ranges->gate = rtl_own_signal(0);
    return queue->ranges->gate != 0;
}

uint32_t rtl_counted_ranges_reading(const struct rtl_counted_queue *queue)
{
    return atomic_load_explicit(&queue->ranges->reading, memory_order_relaxed);
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

static struct use *use_of(const struct range *range, const struct rtl_counted_queue *queue)
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

static bool is_busy(const struct rtl_counted_queue *queue)
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
           rtl_harvest_has_aside();
}

/* Whether other queues of the device have something to do. */
static bool others_are_busy(const struct rtl_counted_queue *than)
{
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        const struct rtl_counted_queue *queue = rtl_queues_at(i)->counted;
        if (queue != NULL && queue != than && queue->device == than->device &&
            atomic_load_explicit(&queue->open, memory_order_acquire) && is_busy(queue))
            return true;
    }
    return false;
}

static bool uses_device(const struct range *range, const struct rtl_counted_queue *queue)
{
    for (const struct use *use = range->uses; use != NULL; use = use->next)
        if (use->device == queue->device)
            return true;
    return false;
}

/* Under the lock. A range begins on a queue. NULL: no memory. */
static struct use *begin_use(struct range *range, struct rtl_counted_queue *queue, uint64_t total,
                             struct sample **sample)
{
    struct use *use = calloc(1, sizeof *use);
    if (*sample == NULL)
        *sample = take_sample(device_of(queue));
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
static void set_mark(struct rtl_counted_ranges *queue, uint64_t packet, struct sample *sample)
{
    queue->marks[packet & queue->mask] = (struct mark){packet, sample};
    sample->users++;
    atomic_fetch_add_explicit(&queue->marked, 1, memory_order_release);
}

/* Under the lock: the ranges that the thread is in, from the outermost on. */
static void enter(struct rtl_counted_queue *queue, uint64_t first, uint64_t count, uint64_t total)
{
    struct sample *sample = NULL;
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
    if (sample != NULL && sample->users > 0)
        set_mark(queue->ranges, first, sample);
    if (use == NULL)
        return;
    atomic_fetch_add_explicit(&use->own, count, memory_order_relaxed);
    if (!joined) {
        latest.range = rtl_origin.range; /* or one within it that RTL_RANGES leaves out */
        latest.queue = queue->queue->id;
        latest.use = use;
    }
}

void rtl_counted_ranges_reserve(struct rtl_counted_queue *queue, uint64_t first, uint64_t count)
{
    struct device *device = device_of(queue);
    uint64_t total = atomic_fetch_add_explicit(&device->total, count, memory_order_relaxed);
    atomic_fetch_add_explicit(&queue->ranges->total, count, memory_order_relaxed);
    if (rtl_origin.range == 0 || count == 0)
        return;
    if (latest.range == rtl_origin.range && latest.queue == queue->queue->id) {
        add_packets(latest.use, first, count);
        return;
    }
    if (rtl_submit_paused())
        return;
    int saved = errno;
    pthread_mutex_lock(&lock);
    enter(queue, first, count, total);
    pthread_mutex_unlock(&lock);
    errno = saved;
}

/* ---- ends ---- */

static uint64_t others_of(const struct rtl_counted_queue *queue)
{
    return atomic_load_explicit(&device_of(queue)->total, memory_order_relaxed) -
           atomic_load_explicit(&queue->ranges->total, memory_order_relaxed);
}

/* Under the lock. What the device does besides is known up to now. */
static void give_end(struct use *use, struct sample *sample)
{
    use->end = sample;
    sample->users++;
    if (others_of(use->queue) != use->others)
        use->range->shared = true;
}

/* Under the lock: takes those off the list whose last packet comes before `packet`, and gives them
 * the sample (NULL: there is none). Returns how many. */
static uint32_t take_ends(struct rtl_counted_ranges *queue, uint64_t packet, struct sample *sample)
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
    atomic_fetch_sub_explicit(&queue->marked, taken, memory_order_relaxed);
    return taken;
}

static bool has_ends(const struct rtl_counted_ranges *queue, uint64_t packet)
{
    for (const struct use *use = queue->ends; use != NULL; use = use->next_end)
        if (atomic_load_explicit(&use->last, memory_order_relaxed) < packet)
            return true;
    return false;
}

/* Under the lock. All that the queue was given is done: its ranges can end by a read of ours. */
static bool end_idle(struct rtl_counted_queue *queue)
{
    struct rtl_counted_ranges *own = queue->ranges;
    struct device *device = device_of(queue);
    unsigned char packet[PACKET];
    uint64_t processed = atomic_load_explicit(&own->processed, memory_order_acquire);
    if (!has_ends(own, processed) || is_busy(queue) || !rtl_own_has_room(&device->own) ||
        (own->gated && rtl_own_value(own->gate) > 0))
        return false;
    struct sample *sample = take_sample(device);
    struct slot *slot = sample != NULL ? take_slot(device, sample, own, own->gate) : NULL;
    (void)take_ends(own, processed, slot != NULL ? sample : NULL);
    if (slot == NULL)
        return false;
    put_read(slot, packet);
    rtl_own_put(&device->own, packet);
    if (!own->gated)
        atomic_fetch_add_explicit(&own->marked, 1, memory_order_release);
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
static bool had_company(const struct range *range, const struct rtl_counted_device *device)
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
    return atomic_load_explicit(&devices[rtl_counted_place(device)].total, memory_order_relaxed) -
               total !=
           own;
}

static void end_use(struct use *use)
{
    if (use->queue == NULL)
        return;
    struct rtl_counted_ranges *queue = use->queue->ranges;
    if (had_company(use->range, use->queue->device))
        use->range->shared = true;
    use->others = others_of(use->queue);
    use->next_end = queue->ends;
    use->listed = true;
    queue->ends = use;
    atomic_fetch_add_explicit(&queue->marked, 1, memory_order_release);
    (void)end_idle(use->queue);
}

void rtl_counted_range_ended(uint64_t id)
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

/* ---- packets on their way ---- */

/* Under the lock. A mark at this packet, and those ends that lie before it, are one read. */
static uint64_t put_boundary(struct rtl_counted_queue *queue, uint64_t index, unsigned char *out)
{
    struct rtl_counted_ranges *own = queue->ranges;
    struct device *device = device_of(queue);
    struct mark *mark = &own->marks[index & own->mask];
    uint64_t packets = 0;
    if (own->gated) {
        if (rtl_own_value(own->gate) > 0)
            rtl_aql_barrier(out + PACKET * packets++, own->gate, 0);
        own->gated = false;
        atomic_fetch_sub_explicit(&own->marked, 1, memory_order_relaxed);
    }
    bool begins = mark->packet == index;
    if (!begins && !has_ends(own, index))
        return packets;
    struct sample *sample = begins ? mark->sample : take_sample(device);
    struct slot *slot = sample != NULL ? take_slot(device, sample, own, 0) : NULL;
    if (begins) {
        sample->failed = slot == NULL;
        mark->packet = UINT64_MAX;
        atomic_fetch_sub_explicit(&own->marked, 1, memory_order_relaxed);
    }
    (void)take_ends(own, index, slot != NULL ? sample : NULL);
    if (begins)
        drop_sample(device, sample);
    if (slot != NULL)
        put_read(slot, out + PACKET * packets++);
    return packets;
}

/* Before the queue's first packet. */
static uint64_t put_enable(struct rtl_counted_queue *queue, unsigned char *out)
{
    const struct device *device = device_of(queue);
    if (queue->ranges->enabled)
        return 0;
    queue->ranges->enabled = true;
    if (device->enable_memory == NULL)
        return 0;
    memcpy(out, &device->enable, PACKET);
    return 1;
}

uint64_t rtl_counted_ranges_put(struct rtl_counted_queue *queue, const void *packet, uint64_t index,
                                unsigned char *out)
{
    struct rtl_counted_ranges *own = queue->ranges;
    uint64_t packets = put_enable(queue, out);
    if (atomic_load_explicit(&own->marked, memory_order_acquire) != 0) {
        pthread_mutex_lock(&lock);
        packets += put_boundary(queue, index, out + PACKET * packets);
        atomic_store_explicit(&own->processed, index + 1, memory_order_release);
        pthread_mutex_unlock(&lock);
    } else {
        atomic_store_explicit(&own->processed, index + 1, memory_order_release);
    }
    memcpy(out + PACKET * packets, packet, PACKET);
    if (packets > 0)
        rtl_aql_set_barrier(out + PACKET * packets);
    return packets + 1;
}

/* ---- the keeper ---- */

/* Under the lock. */
static void finish_slot(struct device *device, struct slot *slot, bool executed)
{
    struct sample *sample = slot->sample;
    sample->failed = !executed || !rtl_aql_values(slot->profile, sample->values);
    sample->done = true;
    drop_sample(device, sample);
    if (slot->queue != NULL)
        atomic_fetch_sub_explicit(&slot->queue->reading, 1, memory_order_relaxed);
    slot->sample = NULL;
    give_slot(device, slot);
}

static unsigned read_slots(struct device *device, bool *busy, bool *scarce)
{
    unsigned count = 0;
    pthread_mutex_lock(&lock);
    for (struct slot **at = &device->reading; *at != NULL;) {
        struct slot *slot = *at;
        if (rtl_own_value(slot->waiting) > 0) {
            at = &slot->next;
            continue;
        }
        *at = slot->next;
        finish_slot(device, slot, true);
        count++;
    }
    *busy = *busy || device->reading != NULL;
    *scarce = device->free_count < FREE_SLOTS && device->block_count < MOST_BLOCKS;
    pthread_mutex_unlock(&lock);
    return count;
}

static bool is_read(const struct sample *sample)
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
static bool sum_up(const struct range *range, const struct rtl_counted_device *device,
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
        struct rtl_counted_device *device = use->device;
        struct rtl_wire_sample sample = {.owner = range->id,
                                         .queue = RTL_NONE,
                                         .agent = device->agent,
                                         .values = (uint16_t)device->event_count,
                                         .flags = range->shared ? RTL_SAMPLE_SHARED : 0};
        if (sum_up(range, device, values))
            (void)rtl_counted_send(device, &sample, values);
        else
            rtl_counted_miss(device, RTL_UNCOUNTED_DEVICE, 1);
    }
}

static void forget(struct range *range)
{
    struct range **place = place_of(range->id);
    *place = range->next;
    while (range->uses != NULL) {
        struct use *use = range->uses;
        range->uses = use->next;
        drop_sample(&devices[rtl_counted_place(use->device)], use->begin);
        drop_sample(&devices[rtl_counted_place(use->device)], use->end);
        free(use);
    }
    free(range);
    atomic_fetch_sub_explicit(&open_ranges, 1, memory_order_relaxed);
}

static void finish_range(struct range *range)
{
    if (settled)
        return;
    if (range->failed)
        rtl_counted_miss(range->device, range->why, 1);
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
        struct rtl_counted_queue *queue = rtl_queues_at(i)->counted;
        if (queue == NULL || !atomic_load_explicit(&queue->open, memory_order_acquire) ||
            atomic_load_explicit(&queue->ranges->marked, memory_order_relaxed) == 0)
            continue;
        pthread_mutex_lock(&lock);
        (void)end_idle(queue);
        pthread_mutex_unlock(&lock);
    }
}

unsigned rtl_counted_ranges_round(bool *busy)
{
    unsigned count = 0;
    end_idle_queues();
    for (uint32_t i = 0; i < RTL_MOST_COUNTED; i++) {
        struct device *device = &devices[i];
        if (device->own.queue == NULL)
            continue;
        bool scarce = false;
        count += read_slots(device, busy, &scarce);
        if (scarce)
            (void)make_slots(device);
    }
    bool left = finish_ranges();
    *busy = *busy || left;
    return count;
}

/* ---- the end ---- */

/* Under the lock. Reads in the queue itself that were not executed never will be. One in our own
 * queue comes yet. */
static void end_reads(struct device *device, struct rtl_counted_ranges *queue)
{
    for (struct slot **at = &device->reading; *at != NULL;) {
        struct slot *slot = *at;
        bool executed = rtl_own_value(slot->waiting) <= 0;
        bool own = queue != NULL && slot->waiting == queue->gate;
        if (slot->queue != queue || (own && !executed)) {
            at = &slot->next;
            continue;
        }
        *at = slot->next;
        finish_slot(device, slot, executed);
    }
}

/* Under the lock. */
static void leave_gate(struct device *device, struct rtl_counted_ranges *queue)
{
    for (struct slot *slot = device->reading; slot != NULL; slot = slot->next)
        if (slot->queue == queue) {
            slot->queue = NULL;
            queue->gate = 0;
        }
}

/* Under the lock. A sample by a read in our own queue, for a queue that is no more; NULL: there is
 * no room. */
static struct sample *read_now(struct device *device)
{
    unsigned char packet[PACKET];
    struct sample *sample = rtl_own_has_room(&device->own) ? take_sample(device) : NULL;
    struct slot *slot = sample != NULL ? take_slot(device, sample, NULL, 0) : NULL;
    if (slot == NULL) {
        free(sample);
        return NULL;
    }
    put_read(slot, packet);
    rtl_own_put(&device->own, packet);
    return sample;
}

/* Under the lock. A range that began on the queue ends on it now, if it has not yet. */
static void part(struct range *range, struct rtl_counted_queue *queue, struct sample **sample)
{
    struct use *use = use_of(range, queue);
    if (use == NULL)
        return;
    if (use->end == NULL && *sample == NULL)
        *sample = read_now(device_of(queue));
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

void rtl_counted_ranges_close(struct rtl_counted_queue *queue)
{
    struct rtl_counted_ranges *own = queue->ranges;
    struct device *device = device_of(queue);
    struct sample *sample = NULL;
    pthread_mutex_lock(&lock);
    end_reads(device, own);
    leave_gate(device, own);
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct range *range = ranges[i]; range != NULL; range = range->next)
            part(range, queue, &sample);
    for (uint64_t i = 0; i <= own->mask; i++)
        if (own->marks[i].packet != UINT64_MAX) {
            own->marks[i].sample->failed = true;
            drop_sample(device, own->marks[i].sample);
        }
    clear(own);
    if (queue->queue->gone && own->gate != 0)
        rtl_api.hsa_signal_destroy((hsa_signal_t){own->gate});
    pthread_mutex_unlock(&lock);
}

void rtl_counted_ranges_settle(void)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < BUCKETS && !settled; i++)
        for (struct range *range = ranges[i]; range != NULL; range = range->next)
            rtl_counted_miss(range->device, range->failed ? range->why : RTL_UNCOUNTED_SHUTDOWN, 1);
    settled = true;
    pthread_mutex_unlock(&lock);
}

static void free_device(struct device *device)
{
    while (device->reading != NULL) {
        struct slot *slot = device->reading;
        device->reading = slot->next;
        finish_slot(device, slot, rtl_own_value(slot->waiting) <= 0);
    }
    rtl_own_close(&device->own);
    rtl_aql_free_enable(device->enable_memory);
    device->enable_memory = NULL;
    for (uint32_t i = 0; i < device->block_count; i++) {
        for (uint32_t j = 0; j < SLOTS && device->slots[i][j].own != 0; j++)
            rtl_api.hsa_signal_destroy((hsa_signal_t){device->slots[i][j].own});
        rtl_aql_free(device->blocks[i]);
        free(device->slots[i]);
    }
    while (device->free_samples != NULL) {
        struct sample *sample = device->free_samples;
        device->free_samples = sample->next;
        free(sample);
    }
    device->free_slots = NULL;
    device->block_count = 0;
    device->free_count = 0;
}

/* The counters begin anew when the runtime comes back. */
void rtl_counted_ranges_end(void)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct range *range = ranges[i]; range != NULL; range = range->next)
            if (!range->ended || !is_complete(range))
                fail(range, RTL_UNCOUNTED_SHUTDOWN);
    for (uint32_t i = 0; i < RTL_MOST_COUNTED; i++)
        if (devices[i].own.queue != NULL)
            free_device(&devices[i]);
    pthread_mutex_unlock(&lock);
}

void rtl_counted_ranges_forked(void)
{
    pthread_mutex_init(&lock, NULL);
}
