#include "graph/infer.h"

#include "graph/arguments.h"
#include "graph/chains.h"
#include "graph/fingerprint.h"
#include "graph/repeats.h"

#include <stdlib.h>
#include <string.h>

/* Batches grow to this (CLR's DEBUG_HIP_GRAPH_BATCH_SIZE). */
#define BATCH_MAX 256u

/* Launch records of a thread are put in order within so many. */
#define WINDOW 16

/* Heads whose kernels are waited for. */
#define HEADS_MAX 4096u

/* A batch in a sequence. */
struct step {
    uint32_t class, plan, offset, packets;
    uint64_t arguments[2];
};

struct sequence {
    struct step *steps;
    uint32_t count, capacity;
    uint32_t kernels, size; /* of the batch that was last, packets */
    uint32_t queue;
    uint64_t next; /* packet behind it */
    uint64_t fingerprint, correlation;
    uint64_t rest;        /* fingerprint of all but the first batch */
    uint32_t first, last; /* launches */
    bool doubtful;        /* its first batch is a packet that looks like a head */
    uint32_t begin;       /* packets of its first batch */
    bool barriers;
    bool closed; /* its last batch had what was left: nothing more comes */
};

/* What is needed of a launch record once its kernels are on their own. */
struct batch {
    uint32_t class, plan, launch, packets, kernels, queue, flags;
    uint64_t first, fingerprint, correlation;
    uint64_t arguments[2]; /* of its first kernel and its last, 0: not known */
    uint32_t head_class, head_plan;
    uint64_t head;
};

struct thread {
    uint32_t thread;
    bool produces;               /* it has reserved packets at once */
    struct batch window[WINDOW]; /* by launch */
    uint32_t waiting;
    struct sequence sequence;
    uint32_t segment; /* of the sequence before, RTL_NONE: none */
    uint64_t correlation;
};

struct rtl_infer {
    struct rtl_repeats repeats;
    struct thread *threads;
    uint32_t thread_count, thread_capacity;
    struct rtl_index by_thread;
    struct rtl_index
        heads; /* classes, by the queue and packet of a kernel that will tell what they are */
    struct rtl_index producers; /* thread that reserved packets at once last, by queue */
};

struct rtl_infer *rtl_infer_new(struct rtl_registry *registry)
{
    struct rtl_infer *infer = calloc(1, sizeof *infer);
    if (infer)
        rtl_repeats_begin(&infer->repeats, registry);
    return infer;
}

void rtl_infer_free(struct rtl_infer *infer)
{
    if (!infer)
        return;
    for (uint32_t i = 0; i < infer->thread_count; i++)
        free(infer->threads[i].sequence.steps);
    free(infer->threads);
    rtl_repeats_free(&infer->repeats);
    rtl_index_free(&infer->by_thread);
    rtl_index_free(&infer->heads);
    rtl_index_free(&infer->producers);
    free(infer);
}

/* Notes which segment came before which, in their thread. What was seen once may be eager, so
 * nothing is said about what comes before and behind it. */
static void note_order(struct rtl_infer *infer, struct thread *thread, uint32_t place)
{
    struct rtl_segment *segment = &infer->repeats.segments[place];
    if (segment->seen < 2) {
        thread->segment = RTL_NONE;
        return;
    }
    uint32_t before = thread->segment;
    bool apart = thread->correlation != thread->sequence.correlation;
    if (before != RTL_NONE) {
        uint32_t *after = &infer->repeats.segments[before].after;
        *after = !apart && (*after == RTL_NONE || *after == place) ? place : RTL_SEGMENT_MANY;
        segment->before = !apart && (segment->before == RTL_NONE || segment->before == before)
                              ? before
                              : RTL_SEGMENT_MANY;
    }
    thread->segment = place;
    thread->correlation = thread->sequence.correlation;
}

/* How many packets the runtime takes after a batch, if there are so many. */
static uint32_t following(uint32_t size)
{
    return size < BATCH_MAX ? size * 2 : BATCH_MAX;
}

/* Whether a sequence begins as the runtime begins what it cuts up: with one packet, or, where the
 * device is behind, with as many as it ever takes. */
static bool is_cut(const struct sequence *sequence)
{
    return sequence->begin == 1 || sequence->begin == BATCH_MAX;
}

/* The sequence, from a step on, is one more of its segment. Returns the segment, or RTL_NONE. */
static uint32_t count_sequence(struct rtl_infer *infer, const struct sequence *sequence,
                               uint32_t from)
{
    struct rtl_repeats *repeats = &infer->repeats;
    uint32_t place =
        rtl_repeats_segment(repeats, sequence->fingerprint, sequence->kernels, sequence->first);
    if (place == RTL_NONE)
        return RTL_NONE;
    struct rtl_segment *segment = &repeats->segments[place];
    segment->seen++;
    segment->last = sequence->last;
    segment->barriers = segment->barriers || sequence->barriers;
    segment->open = !sequence->closed;
    segment->ramp = segment->ramp || (sequence->begin == 1 && sequence->count > 1);
    for (uint32_t i = from; i < sequence->count; i++) {
        const struct step *step = &sequence->steps[i];
        if (rtl_repeats_is_class(repeats, step->class, step->plan))
            rtl_repeats_join(repeats, place, step->class, step->offset - from);
        for (int end = 0; end < 2; end++)
            rtl_repeats_add_arguments(repeats, place, step->arguments[end]);
    }
    if (sequence->steps[from].arguments[0])
        segment->begin = sequence->steps[from].arguments[0];
    if (segment->seen >= 2)
        rtl_repeats_want_all(repeats, segment);
    return place;
}

/* The thread's sequence is over. If its head may be an eager kernel that just came before, it is
 * counted without it, too: what repeats will be seen more often. */
static void end_sequence(struct rtl_infer *infer, struct thread *thread)
{
    struct sequence *sequence = &thread->sequence;
    if (sequence->count == 0)
        return;
    uint32_t place = count_sequence(infer, sequence, 0);
    if (sequence->doubtful && sequence->count > 1) {
        struct sequence rest = *sequence;
        rest.kernels--;
        rest.fingerprint = sequence->rest;
        rest.begin = sequence->steps[1].packets;
        uint32_t other = count_sequence(infer, &rest, 1);
        if (place == RTL_NONE || (other != RTL_NONE && infer->repeats.segments[place].seen < 2))
            place = other;
    }
    if (place != RTL_NONE)
        note_order(infer, thread, place);
    sequence->count = 0;
}

/* Sequences. */

static void add_to_sequence(struct rtl_infer *infer, struct thread *thread,
                            const struct batch *batch)
{
    struct sequence *sequence = &thread->sequence;
    if (!rtl_registry_grow((void **)&sequence->steps, &sequence->capacity, sequence->count + 1,
                           sizeof *sequence->steps)) {
        infer->repeats.registry->forgotten++;
        return;
    }
    if (sequence->count == 0) {
        sequence->kernels = 0;
        sequence->fingerprint = sequence->rest = 0;
        sequence->doubtful = false;
        sequence->correlation = batch->correlation;
        sequence->first = batch->launch;
        sequence->begin = batch->packets;
        sequence->barriers = false;
    }
    sequence->steps[sequence->count++] = (struct step){batch->class,
                                                       batch->plan,
                                                       sequence->kernels,
                                                       batch->packets,
                                                       {batch->arguments[0], batch->arguments[1]}};
    if (sequence->count > 1)
        sequence->rest = rtl_fingerprint_join(sequence->rest, batch->fingerprint, batch->kernels);
    sequence->fingerprint =
        rtl_fingerprint_join(sequence->fingerprint, batch->fingerprint, batch->kernels);
    sequence->kernels += batch->kernels;
    sequence->barriers = sequence->barriers || batch->packets != batch->kernels;
    sequence->closed =
        sequence->count == 1 ? !is_cut(sequence) : batch->packets < following(sequence->size);
    sequence->size = batch->packets;
    sequence->queue = batch->queue;
    sequence->next = batch->first + batch->packets;
    sequence->last = batch->launch;
}

/* Whether what the sequence holds, or the batch alone, is known to be complete. */
static bool known_whole(const struct rtl_infer *infer, uint64_t fingerprint, uint32_t kernels)
{
    uint32_t place =
        rtl_index_get(&infer->repeats.by_join, rtl_repeats_key(fingerprint, 0, kernels));
    return place != RTL_INDEX_MISSING && infer->repeats.segments[place].seen >= 2;
}

/* Whether a packet that was reserved alone lies right behind the sequence, and its arguments near
 * those before it: a rest that is one packet. Where the sequence begins with it, it is the next
 * replay's. */
static bool is_rest(const struct sequence *sequence, const struct batch *batch)
{
    uint64_t before = sequence->steps[sequence->count - 1].arguments[1];
    return batch->first == sequence->next && rtl_arguments_near(before, batch->arguments[0]) &&
           batch->arguments[0] != sequence->steps[0].arguments[0];
}

/* Whether the batch goes on with the sequence: as the runtime cuts packets up, in batches of 1, 2,
 * 4, … up to 256, of 256 at once where the device is behind, and what is left at the end. Packets
 * of others may lie between batches; then only twice as many as before are taken to belong to it.
 */
static bool goes_on(const struct rtl_infer *infer, const struct sequence *sequence,
                    const struct batch *batch)
{
    if (sequence->count == 0 || sequence->closed || batch->queue != sequence->queue ||
        batch->correlation != sequence->correlation ||
        (batch->packets == 1 && !is_rest(sequence, batch)))
        return false;
    if (batch->fingerprint == sequence->fingerprint && batch->kernels == sequence->kernels)
        return false;
    if (known_whole(infer, sequence->fingerprint, sequence->kernels) ||
        known_whole(infer, batch->fingerprint, batch->kernels))
        return false;
    if (batch->first == sequence->next)
        return batch->packets <= BATCH_MAX;
    return batch->packets == following(sequence->size);
}

/* A batch in the order in which its thread reserved. */
static void take_batch(struct rtl_infer *infer, struct thread *thread, const struct batch *batch)
{
    if (batch->flags & RTL_LAUNCH_HEADED) {
        const struct batch head = {.class = batch->head_class,
                                   .plan = batch->head_plan,
                                   .launch = batch->launch,
                                   .packets = 1,
                                   .kernels = 1,
                                   .queue = batch->queue,
                                   .first = batch->first - 1,
                                   .fingerprint = batch->head,
                                   .correlation = batch->correlation};
        end_sequence(infer, thread);
        add_to_sequence(infer, thread, &head);
        thread->sequence.doubtful = true;
        add_to_sequence(infer, thread, batch);
        return;
    }
    if (!goes_on(infer, &thread->sequence, batch))
        end_sequence(infer, thread);
    add_to_sequence(infer, thread, batch);
}

static void take_first(struct rtl_infer *infer, struct thread *thread)
{
    struct batch batch = thread->window[0];
    memmove(thread->window, thread->window + 1, --thread->waiting * sizeof *thread->window);
    take_batch(infer, thread, &batch);
}

/* In one queue packets tell the order: a packet that was reserved alone gets its launch when it is
 * submitted, which may be late. */
static bool comes_before(const struct batch *a, const struct batch *b)
{
    return a->queue == b->queue ? a->first < b->first : a->launch < b->launch;
}

static void put_in_order(struct rtl_infer *infer, struct thread *thread, const struct batch *batch)
{
    if (thread->waiting == WINDOW)
        take_first(infer, thread);
    uint32_t at = thread->waiting++;
    for (; at && comes_before(batch, &thread->window[at - 1]); at--)
        thread->window[at] = thread->window[at - 1];
    thread->window[at] = *batch;
}

static struct thread *thread_of(struct rtl_infer *infer, uint32_t thread)
{
    uint32_t place = rtl_index_get(&infer->by_thread, thread);
    if (place != RTL_INDEX_MISSING)
        return &infer->threads[place];
    if (!rtl_registry_grow((void **)&infer->threads, &infer->thread_capacity,
                           infer->thread_count + 1, sizeof *infer->threads) ||
        rtl_index_put(&infer->by_thread, thread, infer->thread_count) != 0) {
        infer->repeats.registry->forgotten++;
        return NULL;
    }
    struct thread *made = &infer->threads[infer->thread_count++];
    *made = (struct thread){.thread = thread, .segment = RTL_NONE};
    return made;
}

/* The thread that a batch is of. A packet that was reserved alone is inferred by its submitter,
 * which may be a thread that reserves nothing: then it is of who reserved in its queue last. */
static struct thread *producer_of(struct rtl_infer *infer, struct rtl_wire_launch *body)
{
    struct thread *thread = thread_of(infer, body->thread);
    if (thread && body->packets > 1) {
        thread->produces = true;
        infer->repeats.registry->forgotten +=
            rtl_index_put(&infer->producers, body->queue, body->thread) != 0;
    } else if (thread && !thread->produces) {
        uint32_t producer = rtl_index_get(&infer->producers, body->queue);
        if (producer != RTL_INDEX_MISSING) {
            body->thread = producer;
            thread = thread_of(infer, producer);
        }
    }
    return thread;
}

/* The kernel of a head names no launch as long as the head is not known. */
static void wait_for_head(struct rtl_infer *infer, const struct batch *batch)
{
    if (batch->head_class == RTL_NONE || infer->repeats.classes[batch->head_class].entry_count)
        return;
    if (infer->heads.count >= HEADS_MAX)
        rtl_index_free(&infer->heads);
    uint64_t key = rtl_index_mix(batch->queue, batch->first - 1);
    infer->repeats.registry->forgotten += rtl_index_put(&infer->heads, key, batch->head_class) != 0;
}

void rtl_infer_submitted(struct rtl_infer *infer, struct rtl_in_flight *in_flight)
{
    struct rtl_wire_launch *body = &in_flight->body;
    struct thread *thread = producer_of(infer, body);
    bool counts = body->kernels > 0 && (body->flags & RTL_LAUNCH_CUT) == 0;
    uint32_t place =
        counts ? rtl_repeats_class(&infer->repeats, body->fingerprint, body->packets, body->kernels)
               : RTL_NONE;
    if (!thread || place == RTL_NONE)
        return;
    struct rtl_batch_class *class = &infer->repeats.classes[place];
    class->first = class->seen ? class->first : body->launch;
    class->last = body->launch;
    class->seen++;
    if (class->seen >= 2)
        rtl_repeats_want(&infer->repeats, class);
    in_flight->class = place;
    in_flight->class_plan = class->plan;
    struct batch batch = {.class = place,
                          .plan = class->plan,
                          .launch = body->launch,
                          .packets = body->packets,
                          .kernels = body->kernels,
                          .queue = body->queue,
                          .flags = body->flags,
                          .first = body->first,
                          .fingerprint = body->fingerprint,
                          .correlation = body->correlation,
                          .arguments = {body->arguments[0], body->arguments[1]},
                          .head = body->head};
    if (body->flags & RTL_LAUNCH_HEADED) {
        batch.head_class = rtl_repeats_class(&infer->repeats, body->head, 1, 1);
        batch.head_plan =
            batch.head_class == RTL_NONE ? 0 : infer->repeats.classes[batch.head_class].plan;
        wait_for_head(infer, &batch);
    }
    put_in_order(infer, thread, &batch);
}

void rtl_infer_single(struct rtl_infer *infer, const struct rtl_wire_kernel *kernel)
{
    if (infer->heads.count == 0)
        return;
    uint64_t key = rtl_index_mix(kernel->queue, kernel->packet);
    uint32_t place = rtl_index_get(&infer->heads, key);
    if (place == RTL_INDEX_MISSING)
        return;
    const struct rtl_in_flight_kernel entry = {0, kernel->shape};
    struct rtl_batch_class *class = &infer->repeats.classes[place];
    rtl_index_remove(&infer->heads, key);
    if (class->plan && class->packets == 1 && class->kernels == 1)
        rtl_repeats_merge(&infer->repeats, class, &entry, 1);
}

static uint32_t head_plan_of(const struct rtl_infer *infer, const struct rtl_in_flight *in_flight)
{
    if (!(in_flight->body.flags & RTL_LAUNCH_HEADED))
        return 0;
    uint32_t place =
        rtl_index_get(&infer->repeats.by_fingerprint, rtl_repeats_key(in_flight->body.head, 1, 1));
    return place == RTL_INDEX_MISSING ? 0 : infer->repeats.classes[place].plan;
}

void rtl_infer_retire(struct rtl_infer *infer, struct rtl_in_flight *in_flight)
{
    if (!rtl_repeats_is_class(&infer->repeats, in_flight->class, in_flight->class_plan))
        return;
    struct rtl_batch_class *class = &infer->repeats.classes[in_flight->class];
    rtl_repeats_merge(&infer->repeats, class, in_flight->entries, in_flight->count);
    uint32_t head_plan = head_plan_of(infer, in_flight);
    if (class->wanted) {
        rtl_registry_report(infer->repeats.registry, in_flight, class->plan, head_plan);
        return;
    }
    rtl_repeats_keep(&infer->repeats, class, in_flight);
    if (class->kept)
        class->kept->launch.head_plan = head_plan;
}

void rtl_infer_finish(struct rtl_infer *infer)
{
    for (uint32_t i = 0; i < infer->thread_count; i++) {
        while (infer->threads[i].waiting)
            take_first(infer, &infer->threads[i]);
        end_sequence(infer, &infer->threads[i]);
    }
    rtl_chains_report(&infer->repeats);
}
