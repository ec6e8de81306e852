/* Graphs found by their packets.
 *
 *     batch  packets that a thread reserved at once: a launch record
 *     part   batches with one fingerprint
 *     run    batches of a thread that the runtime cut one graph (or segment of it) into
 *     unit   runs with one joined fingerprint: a graph, or a segment of one
 *     chain  units that always follow each other: the segments of a graph
 *
 * A unit that was seen once is eager work, one that was seen twice is a graph: kernargs of eager
 * work are made afresh. Launches of what was seen once wait in their part to be told. */
#include "graph/registry.h"

#include "graph/fingerprint.h"

#include <stdlib.h>
#include <string.h>

/* Batches grow to this (CLR's DEBUG_HIP_GRAPH_BATCH_SIZE). */
#define BATCH_MAX 256u

/* Launch records of a thread are put in order within so many. */
#define WINDOW 16

/* Heads whose kernels are waited for. */
#define HEADS_MAX 4096u

/* In how many units a part is remembered to have been. */
#define HOMES 4

/* A generation has the same kernels as the one before in so many of four places. */
#define ALIKE_OF_4 3

/* Where in a unit a part begins. A place may hold another unit by now: the fingerprint tells. */
struct home {
    uint32_t unit, offset;
    uint64_t fingerprint;
};

/* A part; its plan tells whether the place still holds it. */
struct member {
    uint32_t part, plan;
};

/* A launch that was not told yet. */
struct kept {
    struct rtl_graphs_launch launch;
    struct rtl_wire_launch body;
    struct rtl_graphs_span spans[RTL_GRAPHS_SPANS];
};

struct part {
    uint32_t plan;      /* its id, 0: the place is free */
    uint32_t next_free; /* place */
    uint32_t packets, kernels;
    uint64_t fingerprint, seen;
    uint32_t first, last;      /* launches */
    bool wanted;               /* of something seen twice */
    struct rtl_entry *entries; /* by ordinal, of all its launches */
    uint32_t entry_count;
    struct kept *kept;
    struct home homes[HOMES];
    uint32_t home_count;
};

#define MANY (RTL_NONE - 1)

struct unit {
    uint64_t fingerprint, runs;
    uint32_t kernels;       /* 0: the place is free */
    uint32_t next_free;     /* place */
    bool barriers;          /* packets that are no kernels were among them */
    bool open;              /* its last batch was as large as it could be: more may follow */
    bool ramp;              /* it began with a batch of one and went on: nothing came before */
    uint32_t before, after; /* the unit that always is, RTL_NONE: none yet, MANY: it varies */
    uint32_t first, last;   /* launches */
    struct member *parts;
    uint32_t part_count, part_capacity;
    /* When the graphs are told. */
    uint32_t *shapes; /* by kernel, RTL_NONE: not known */
    bool used, placed;
    uint32_t graph, generation, offset;
};

/* A batch in a run. */
struct step {
    uint32_t part, plan, offset, packets;
};

struct run {
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
    uint32_t part, plan, launch, packets, kernels, queue, flags;
    uint64_t first, fingerprint, correlation;
    uint32_t head_part, head_plan;
    uint64_t head;
};

struct thread {
    uint32_t thread;
    bool produces;               /* it has reserved packets at once */
    struct batch window[WINDOW]; /* by launch */
    uint32_t waiting;
    struct run run;
    uint32_t unit; /* of the run before, RTL_NONE: none */
    uint64_t correlation;
};

struct queue_of_once {
    uint32_t *places;
    uint64_t *stamps; /* what tells that the place still holds the same */
    uint32_t first, count;
};

struct rtl_found {
    struct rtl_graphs *graphs;
    struct part *parts;
    uint32_t part_count, part_capacity;
    struct rtl_index by_fingerprint;
    struct unit *units;
    uint32_t unit_count, unit_capacity;
    struct rtl_index by_join;
    struct thread *threads;
    uint32_t thread_count, thread_capacity;
    struct rtl_index by_thread;
    struct rtl_index
        heads; /* parts, by the queue and packet of a kernel that will tell what they are */
    struct rtl_index producers; /* thread that reserved packets at once last, by queue */
    struct queue_of_once once_parts, once_units;
    uint32_t free_part, free_unit; /* the first of the free places */
};

struct rtl_found *rtl_found_new(struct rtl_graphs *graphs)
{
    struct rtl_found *found = calloc(1, sizeof *found);
    if (found) {
        found->graphs = graphs;
        found->free_part = found->free_unit = RTL_NONE;
    }
    return found;
}

static void free_part(struct part *part)
{
    free(part->entries);
    free(part->kept);
    *part = (struct part){0};
}

static void free_unit(struct unit *unit)
{
    free(unit->parts);
    free(unit->shapes);
    *unit = (struct unit){0};
}

void rtl_found_free(struct rtl_found *found)
{
    if (!found)
        return;
    for (uint32_t i = 0; i < found->part_count; i++)
        free_part(&found->parts[i]);
    for (uint32_t i = 0; i < found->unit_count; i++)
        free_unit(&found->units[i]);
    for (uint32_t i = 0; i < found->thread_count; i++)
        free(found->threads[i].run.steps);
    free(found->parts);
    free(found->units);
    free(found->threads);
    free(found->once_parts.places);
    free(found->once_parts.stamps);
    free(found->once_units.places);
    free(found->once_units.stamps);
    rtl_index_free(&found->by_fingerprint);
    rtl_index_free(&found->by_join);
    rtl_index_free(&found->by_thread);
    rtl_index_free(&found->heads);
    rtl_index_free(&found->producers);
    free(found);
}

/* What was seen once: a queue, whose oldest goes when it is full. */

static bool once_add(struct queue_of_once *once, uint32_t place, uint64_t stamp, uint32_t *oldest)
{
    *oldest = RTL_NONE;
    if (!once->places)
        once->places = malloc(RTL_GRAPHS_ONCE * sizeof *once->places);
    if (!once->stamps)
        once->stamps = malloc(RTL_GRAPHS_ONCE * sizeof *once->stamps);
    if (!once->places || !once->stamps)
        return false;
    uint32_t at = (once->first + once->count) % RTL_GRAPHS_ONCE;
    if (once->count == RTL_GRAPHS_ONCE) {
        *oldest = once->first;
        once->first = (once->first + 1) % RTL_GRAPHS_ONCE;
    } else {
        once->count++;
    }
    if (*oldest == RTL_NONE) {
        once->places[at] = place;
        once->stamps[at] = stamp;
    }
    return true;
}

/* Parts. */

static uint64_t part_key(uint64_t fingerprint, uint32_t packets, uint32_t kernels)
{
    return rtl_index_mix(fingerprint, (uint64_t)packets << 32 | kernels);
}

static void forget_part(struct rtl_found *found, uint32_t place)
{
    struct part *part = &found->parts[place];
    rtl_index_remove(&found->by_fingerprint,
                     part_key(part->fingerprint, part->packets, part->kernels));
    free_part(part);
    part->next_free = found->free_part;
    found->free_part = place;
}

static void add_once_part(struct rtl_found *found, uint32_t place)
{
    struct queue_of_once *once = &found->once_parts;
    uint32_t oldest = RTL_NONE;
    if (!once_add(once, place, found->parts[place].plan, &oldest) || oldest == RTL_NONE)
        return;
    uint32_t old = once->places[oldest];
    if (found->parts[old].plan == once->stamps[oldest] && found->parts[old].seen < 2 &&
        !found->parts[old].wanted)
        forget_part(found, old);
    once->places[oldest] = place;
    once->stamps[oldest] = found->parts[place].plan;
}

static uint32_t free_part_place(struct rtl_found *found)
{
    uint32_t place = found->free_part;
    if (place != RTL_NONE) {
        found->free_part = found->parts[place].next_free;
        return place;
    }
    if (!rtl_graphs_grow((void **)&found->parts, &found->part_capacity, found->part_count + 1,
                         sizeof *found->parts))
        return RTL_NONE;
    return found->part_count++;
}

/* The part, made when it is first seen; RTL_NONE when memory is short. */
static uint32_t part_of(struct rtl_found *found, uint64_t fingerprint, uint32_t packets,
                        uint32_t kernels)
{
    uint64_t key = part_key(fingerprint, packets, kernels);
    uint32_t place = rtl_index_get(&found->by_fingerprint, key);
    if (place != RTL_INDEX_MISSING)
        return place;
    place = free_part_place(found);
    if (place == RTL_NONE || rtl_index_put(&found->by_fingerprint, key, place) != 0) {
        found->graphs->forgotten++;
        return RTL_NONE;
    }
    found->parts[place] = (struct part){.plan = ++found->graphs->last_plan,
                                        .packets = packets,
                                        .kernels = kernels,
                                        .fingerprint = fingerprint};
    add_once_part(found, place);
    return place;
}

static bool is_part(const struct rtl_found *found, uint32_t place, uint32_t plan)
{
    return place < found->part_count && plan && found->parts[place].plan == plan;
}

static void want(struct rtl_found *found, struct part *part)
{
    part->wanted = true;
    if (!part->kept)
        return;
    found->graphs->sink.launch(found->graphs->sink.context, &part->kept->launch);
    free(part->kept);
    part->kept = NULL;
}

static void keep(struct rtl_found *found, struct part *part, const struct rtl_flight *flight)
{
    if (part->kept)
        return;
    struct kept *kept = malloc(sizeof *kept);
    if (!kept) {
        found->graphs->forgotten++;
        return;
    }
    kept->body = flight->body;
    memcpy(kept->spans, flight->spans, sizeof kept->spans);
    kept->launch = (struct rtl_graphs_launch){.body = &kept->body,
                                              .plan = part->plan,
                                              .recorded = flight->count,
                                              .spans = kept->spans,
                                              .span_count = flight->span_count};
    part->kept = kept;
}

/* What ran, of all launches of the part: lost kernels of one are there in another. */
static void merge_entries(struct rtl_found *found, struct part *part,
                          const struct rtl_entry *entries, uint32_t count)
{
    if (part->entry_count == part->kernels || count == 0)
        return;
    struct rtl_entry *merged = malloc(((size_t)part->entry_count + count) * sizeof *merged);
    if (!merged) {
        found->graphs->forgotten++;
        return;
    }
    uint32_t made = 0;
    uint32_t i = 0;
    uint32_t j = 0;
    while (i < part->entry_count || j < count) {
        bool old =
            j == count || (i < part->entry_count && part->entries[i].ordinal <= entries[j].ordinal);
        bool both = old && j < count && part->entries[i].ordinal == entries[j].ordinal;
        merged[made++] = old ? part->entries[i++] : entries[j++];
        j += both;
    }
    free(part->entries);
    part->entries = merged;
    part->entry_count = made;
}

/* Units. */

static void forget_unit(struct rtl_found *found, uint32_t place)
{
    struct unit *unit = &found->units[place];
    rtl_index_remove(&found->by_join, part_key(unit->fingerprint, 0, unit->kernels));
    free_unit(unit);
    unit->next_free = found->free_unit;
    found->free_unit = place;
}

static void add_once_unit(struct rtl_found *found, uint32_t place)
{
    struct queue_of_once *once = &found->once_units;
    uint32_t oldest = RTL_NONE;
    uint64_t stamp = found->units[place].fingerprint;
    if (!once_add(once, place, stamp, &oldest) || oldest == RTL_NONE)
        return;
    uint32_t old = once->places[oldest];
    if (found->units[old].kernels && found->units[old].fingerprint == once->stamps[oldest] &&
        found->units[old].runs < 2)
        forget_unit(found, old);
    once->places[oldest] = place;
    once->stamps[oldest] = stamp;
}

static uint32_t free_unit_place(struct rtl_found *found)
{
    uint32_t place = found->free_unit;
    if (place != RTL_NONE) {
        found->free_unit = found->units[place].next_free;
        return place;
    }
    if (!rtl_graphs_grow((void **)&found->units, &found->unit_capacity, found->unit_count + 1,
                         sizeof *found->units))
        return RTL_NONE;
    return found->unit_count++;
}

static uint32_t unit_of(struct rtl_found *found, const struct run *run)
{
    uint64_t key = part_key(run->fingerprint, 0, run->kernels);
    uint32_t place = rtl_index_get(&found->by_join, key);
    if (place != RTL_INDEX_MISSING)
        return place;
    place = free_unit_place(found);
    if (place == RTL_NONE || rtl_index_put(&found->by_join, key, place) != 0) {
        found->graphs->forgotten++;
        return RTL_NONE;
    }
    found->units[place] = (struct unit){.fingerprint = run->fingerprint,
                                        .kernels = run->kernels,
                                        .before = RTL_NONE,
                                        .after = RTL_NONE,
                                        .first = run->first,
                                        .graph = RTL_NONE};
    add_once_unit(found, place);
    return place;
}

static void add_member(struct rtl_found *found, struct unit *unit, const struct step *step)
{
    for (uint32_t i = 0; i < unit->part_count; i++)
        if (unit->parts[i].plan == step->plan)
            return;
    if (rtl_graphs_grow((void **)&unit->parts, &unit->part_capacity, unit->part_count + 1,
                        sizeof *unit->parts))
        unit->parts[unit->part_count++] = (struct member){step->part, step->plan};
    else
        found->graphs->forgotten++;
}

/* How often the unit of a home was seen. */
static uint64_t runs_of(const struct rtl_found *found, const struct home *home)
{
    const struct unit *unit = &found->units[home->unit];
    return unit->kernels && unit->fingerprint == home->fingerprint ? unit->runs : 0;
}

/* Where there is no room the home that was seen least often goes. */
static void add_home(struct rtl_found *found, struct part *part, uint32_t unit, uint32_t offset)
{
    const struct home home = {unit, offset, found->units[unit].fingerprint};
    struct home *least = &part->homes[0];
    for (uint32_t i = 0; i < part->home_count; i++) {
        struct home *it = &part->homes[i];
        if (it->unit == unit && it->fingerprint == home.fingerprint)
            return;
        if (runs_of(found, it) < runs_of(found, least))
            least = it;
    }
    if (part->home_count < HOMES)
        part->homes[part->home_count++] = home;
    else if (runs_of(found, least) <= found->units[unit].runs)
        *least = home;
}

/* Notes which unit came before which, in their thread. What was seen once may be eager, so nothing
 * is said about what comes before and behind it. */
static void note_order(struct rtl_found *found, struct thread *thread, uint32_t place)
{
    struct unit *unit = &found->units[place];
    if (unit->runs < 2) {
        thread->unit = RTL_NONE;
        return;
    }
    uint32_t before = thread->unit;
    bool apart = thread->correlation != thread->run.correlation;
    if (before != RTL_NONE) {
        uint32_t *after = &found->units[before].after;
        *after = !apart && (*after == RTL_NONE || *after == place) ? place : MANY;
        unit->before =
            !apart && (unit->before == RTL_NONE || unit->before == before) ? before : MANY;
    }
    thread->unit = place;
    thread->correlation = thread->run.correlation;
}

/* How many packets the runtime takes after a batch, if there are so many. */
static uint32_t following(uint32_t size)
{
    return size < BATCH_MAX ? size * 2 : BATCH_MAX;
}

/* Whether a run begins as the runtime begins what it cuts up: with one packet, or, where the device
 * is behind, with as many as it ever takes. */
static bool is_cut(const struct run *run)
{
    return run->begin == 1 || run->begin == BATCH_MAX;
}

/* The run, from a step on, is one more of its unit. Returns the unit, or RTL_NONE. */
static uint32_t count_run(struct rtl_found *found, const struct run *run, uint32_t from)
{
    uint32_t place = unit_of(found, run);
    if (place == RTL_NONE)
        return RTL_NONE;
    struct unit *unit = &found->units[place];
    unit->runs++;
    unit->last = run->last;
    unit->barriers = unit->barriers || run->barriers;
    unit->open = !run->closed;
    unit->ramp = unit->ramp || (run->begin == 1 && run->count > 1);
    for (uint32_t i = from; i < run->count; i++) {
        struct step step = run->steps[i];
        if (!is_part(found, step.part, step.plan))
            continue;
        add_member(found, unit, &step);
        add_home(found, &found->parts[step.part], place, step.offset - from);
    }
    for (uint32_t i = 0; i < unit->part_count && unit->runs >= 2; i++)
        if (is_part(found, unit->parts[i].part, unit->parts[i].plan))
            want(found, &found->parts[unit->parts[i].part]);
    return place;
}

/* The thread's run is over. If its head may be an eager kernel that just came before, it is counted
 * without it, too: what repeats will be seen more often. */
static void end_run(struct rtl_found *found, struct thread *thread)
{
    struct run *run = &thread->run;
    if (run->count == 0)
        return;
    uint32_t place = count_run(found, run, 0);
    if (run->doubtful && run->count > 1) {
        struct run rest = *run;
        rest.kernels--;
        rest.fingerprint = run->rest;
        rest.begin = run->steps[1].packets;
        uint32_t other = count_run(found, &rest, 1);
        if (place == RTL_NONE || (other != RTL_NONE && found->units[place].runs < 2))
            place = other;
    }
    if (place != RTL_NONE)
        note_order(found, thread, place);
    run->count = 0;
}

/* Runs. */

static void add_to_run(struct rtl_found *found, struct thread *thread, const struct batch *batch)
{
    struct run *run = &thread->run;
    if (!rtl_graphs_grow((void **)&run->steps, &run->capacity, run->count + 1,
                         sizeof *run->steps)) {
        found->graphs->forgotten++;
        return;
    }
    if (run->count == 0) {
        run->kernels = 0;
        run->fingerprint = run->rest = 0;
        run->doubtful = false;
        run->correlation = batch->correlation;
        run->first = batch->launch;
        run->begin = batch->packets;
        run->barriers = false;
    }
    run->steps[run->count++] =
        (struct step){batch->part, batch->plan, run->kernels, batch->packets};
    if (run->count > 1)
        run->rest = rtl_fingerprint_join(run->rest, batch->fingerprint, batch->kernels);
    run->fingerprint = rtl_fingerprint_join(run->fingerprint, batch->fingerprint, batch->kernels);
    run->kernels += batch->kernels;
    run->barriers = run->barriers || batch->packets != batch->kernels;
    run->closed = run->count == 1 ? !is_cut(run) : batch->packets < following(run->size);
    run->size = batch->packets;
    run->queue = batch->queue;
    run->next = batch->first + batch->packets;
    run->last = batch->launch;
}

/* Whether what the run holds, or the batch alone, is known to be whole. */
static bool known_whole(const struct rtl_found *found, uint64_t fingerprint, uint32_t kernels)
{
    uint32_t place = rtl_index_get(&found->by_join, part_key(fingerprint, 0, kernels));
    return place != RTL_INDEX_MISSING && found->units[place].runs >= 2;
}

/* Whether the batch goes on with the run: as the runtime cuts packets up, in batches of 1, 2, 4, …
 * up to 256, of 256 at once where the device is behind, and what is left at the end. Packets of
 * others may lie between batches; then only twice as many as before are taken to belong to the run.
 */
static bool goes_on(const struct rtl_found *found, const struct run *run, const struct batch *batch)
{
    if (run->count == 0 || run->closed || batch->queue != run->queue ||
        batch->correlation != run->correlation || batch->packets == 1)
        return false;
    if (batch->fingerprint == run->fingerprint && batch->kernels == run->kernels)
        return false;
    if (known_whole(found, run->fingerprint, run->kernels) ||
        known_whole(found, batch->fingerprint, batch->kernels))
        return false;
    if (batch->first == run->next)
        return batch->packets <= BATCH_MAX;
    return batch->packets == following(run->size);
}

/* A batch in the order in which its thread reserved. */
static void take_batch(struct rtl_found *found, struct thread *thread, const struct batch *batch)
{
    if (batch->flags & RTL_LAUNCH_HEADED) {
        const struct batch head = {.part = batch->head_part,
                                   .plan = batch->head_plan,
                                   .launch = batch->launch,
                                   .packets = 1,
                                   .kernels = 1,
                                   .queue = batch->queue,
                                   .first = batch->first - 1,
                                   .fingerprint = batch->head,
                                   .correlation = batch->correlation};
        end_run(found, thread);
        add_to_run(found, thread, &head);
        thread->run.doubtful = true;
        add_to_run(found, thread, batch);
        return;
    }
    if (!goes_on(found, &thread->run, batch))
        end_run(found, thread);
    add_to_run(found, thread, batch);
}

static void take_first(struct rtl_found *found, struct thread *thread)
{
    struct batch batch = thread->window[0];
    memmove(thread->window, thread->window + 1, --thread->waiting * sizeof *thread->window);
    take_batch(found, thread, &batch);
}

/* In one queue packets tell the order: a packet that was reserved alone gets its launch when it is
 * submitted, which may be late. */
static bool comes_before(const struct batch *a, const struct batch *b)
{
    return a->queue == b->queue ? a->first < b->first : a->launch < b->launch;
}

static void put_in_order(struct rtl_found *found, struct thread *thread, const struct batch *batch)
{
    if (thread->waiting == WINDOW)
        take_first(found, thread);
    uint32_t at = thread->waiting++;
    for (; at && comes_before(batch, &thread->window[at - 1]); at--)
        thread->window[at] = thread->window[at - 1];
    thread->window[at] = *batch;
}

static struct thread *thread_of(struct rtl_found *found, uint32_t thread)
{
    uint32_t place = rtl_index_get(&found->by_thread, thread);
    if (place != RTL_INDEX_MISSING)
        return &found->threads[place];
    if (!rtl_graphs_grow((void **)&found->threads, &found->thread_capacity, found->thread_count + 1,
                         sizeof *found->threads) ||
        rtl_index_put(&found->by_thread, thread, found->thread_count) != 0) {
        found->graphs->forgotten++;
        return NULL;
    }
    struct thread *made = &found->threads[found->thread_count++];
    *made = (struct thread){.thread = thread, .unit = RTL_NONE};
    return made;
}

/* The thread that a batch is of. A packet that was reserved alone is found by who submits it, which
 * may be a thread that reserves nothing: then it is of who reserved in its queue last. */
static struct thread *producer_of(struct rtl_found *found, struct rtl_wire_launch *body)
{
    struct thread *thread = thread_of(found, body->thread);
    if (thread && body->packets > 1) {
        thread->produces = true;
        found->graphs->forgotten +=
            rtl_index_put(&found->producers, body->queue, body->thread) != 0;
    } else if (thread && !thread->produces) {
        uint32_t producer = rtl_index_get(&found->producers, body->queue);
        if (producer != RTL_INDEX_MISSING) {
            body->thread = producer;
            thread = thread_of(found, producer);
        }
    }
    return thread;
}

/* The kernel of a head names no launch as long as the head is not known. */
static void wait_for_head(struct rtl_found *found, const struct batch *batch)
{
    if (batch->head_part == RTL_NONE || found->parts[batch->head_part].entry_count)
        return;
    if (found->heads.count >= HEADS_MAX)
        rtl_index_free(&found->heads);
    uint64_t key = rtl_index_mix(batch->queue, batch->first - 1);
    found->graphs->forgotten += rtl_index_put(&found->heads, key, batch->head_part) != 0;
}

void rtl_found_submitted(struct rtl_found *found, struct rtl_flight *flight)
{
    struct rtl_wire_launch *body = &flight->body;
    struct thread *thread = producer_of(found, body);
    uint32_t place =
        body->kernels ? part_of(found, body->fingerprint, body->packets, body->kernels) : RTL_NONE;
    if (!thread || place == RTL_NONE)
        return;
    struct part *part = &found->parts[place];
    part->first = part->seen ? part->first : body->launch;
    part->last = body->launch;
    part->seen++;
    if (part->seen >= 2)
        want(found, part);
    flight->part = place;
    flight->part_plan = part->plan;
    struct batch batch = {.part = place,
                          .plan = part->plan,
                          .launch = body->launch,
                          .packets = body->packets,
                          .kernels = body->kernels,
                          .queue = body->queue,
                          .flags = body->flags,
                          .first = body->first,
                          .fingerprint = body->fingerprint,
                          .correlation = body->correlation,
                          .head = body->head};
    if (body->flags & RTL_LAUNCH_HEADED) {
        batch.head_part = part_of(found, body->head, 1, 1);
        batch.head_plan = batch.head_part == RTL_NONE ? 0 : found->parts[batch.head_part].plan;
        wait_for_head(found, &batch);
    }
    put_in_order(found, thread, &batch);
}

void rtl_found_single(struct rtl_found *found, const struct rtl_wire_kernel *kernel)
{
    if (found->heads.count == 0)
        return;
    uint64_t key = rtl_index_mix(kernel->queue, kernel->packet);
    uint32_t place = rtl_index_get(&found->heads, key);
    if (place == RTL_INDEX_MISSING)
        return;
    const struct rtl_entry entry = {0, kernel->shape};
    struct part *part = &found->parts[place];
    rtl_index_remove(&found->heads, key);
    if (part->plan && part->packets == 1 && part->kernels == 1)
        merge_entries(found, part, &entry, 1);
}

static uint32_t head_plan_of(const struct rtl_found *found, const struct rtl_flight *flight)
{
    if (!(flight->body.flags & RTL_LAUNCH_HEADED))
        return 0;
    uint32_t place = rtl_index_get(&found->by_fingerprint, part_key(flight->body.head, 1, 1));
    return place == RTL_INDEX_MISSING ? 0 : found->parts[place].plan;
}

void rtl_found_settle(struct rtl_found *found, struct rtl_flight *flight)
{
    if (!is_part(found, flight->part, flight->part_plan))
        return;
    struct part *part = &found->parts[flight->part];
    merge_entries(found, part, flight->entries, flight->count);
    uint32_t head_plan = head_plan_of(found, flight);
    if (part->wanted) {
        rtl_graphs_tell(found->graphs, flight, part->plan, head_plan);
        return;
    }
    keep(found, part, flight);
    if (part->kept)
        part->kept->launch.head_plan = head_plan;
}

/* Telling the graphs. */

/* The unit that the part belongs to: the one that was seen most often. */
static struct home *home_of(const struct rtl_found *found, struct part *part)
{
    struct home *best = NULL;
    for (uint32_t i = 0; i < part->home_count; i++) {
        struct home *home = &part->homes[i];
        uint64_t runs = runs_of(found, home);
        if (runs >= 2 && (!best || runs > runs_of(found, best) ||
                          (runs == runs_of(found, best) &&
                           found->units[home->unit].kernels > found->units[best->unit].kernels)))
            best = home;
    }
    return best;
}

static bool is_whole(const struct part *part)
{
    return part->entry_count == part->kernels;
}

/* Where in its part an entry is; certain if none is missing, or there are no other packets. */
static uint32_t rank_of(const struct part *part, uint32_t entry)
{
    return part->packets == part->kernels ? part->entries[entry].ordinal : entry;
}

/* A part that was seen often, and never twice in the same surroundings, is a unit of its own. */
static struct home *make_home(struct rtl_found *found, struct part *part)
{
    const struct run run = {
        .kernels = part->kernels, .fingerprint = part->fingerprint, .first = part->first};
    uint32_t place = part->seen >= 2 ? unit_of(found, &run) : RTL_NONE;
    if (place == RTL_NONE)
        return NULL;
    struct unit *unit = &found->units[place];
    unit->runs = part->seen;
    unit->last = part->last;
    unit->before = unit->after = MANY;
    part->home_count = 1;
    part->homes[0] = (struct home){.unit = place, .fingerprint = unit->fingerprint};
    return part->homes;
}

static void fill_unit(struct rtl_found *found, struct part *part)
{
    struct home *home = home_of(found, part);
    if (!home)
        home = make_home(found, part);
    if (!home)
        return;
    struct unit *unit = &found->units[home->unit];
    unit->used = true;
    if (!unit->shapes) {
        unit->shapes = malloc(unit->kernels * sizeof *unit->shapes);
        if (!unit->shapes) {
            found->graphs->forgotten++;
            return;
        }
        memset(unit->shapes, 0xff, unit->kernels * sizeof *unit->shapes);
    }
    for (uint32_t i = 0; i < part->entry_count; i++) {
        uint32_t rank = rank_of(part, i);
        if (rank < part->kernels && home->offset + rank < unit->kernels)
            unit->shapes[home->offset + rank] = part->entries[i].shape;
    }
}

/* Whether a unit's launch goes on with the one that always follows it. Two graphs that a program
 * launches in turn always follow each other, too; segments of one graph wait for each other by
 * barriers among their packets, and what was cut up ends in a batch as large as could be. */
static bool is_link(const struct rtl_found *found, const struct unit *unit)
{
    if (unit->after >= found->unit_count)
        return false;
    const struct unit *next = &found->units[unit->after];
    return next != unit && next->used && next->runs >= 2 && !next->placed &&
           next->before == (uint32_t)(unit - found->units) && next->runs + 1 >= unit->runs &&
           unit->runs + 1 >= next->runs &&
           ((unit->open && !next->ramp) || unit->barriers || next->barriers);
}

static int by_first(const void *left, const void *right)
{
    struct unit *const *a = left;
    struct unit *const *b = right;
    return ((*a)->first > (*b)->first) - ((*a)->first < (*b)->first);
}

/* A graph: its units, in a row. */
struct chain {
    struct unit **units;
    struct unit *whole; /* the same in one piece, NULL: none */
    uint32_t count, kernels;
    uint64_t fingerprint; /* of all its kernels */
    uint32_t first, last; /* launches */
    uint32_t graph, generation;
    bool succeeded; /* another generation came after it */
    bool merged;    /* it is another chain, seen in one piece */
};

struct chains {
    struct unit **units;
    uint32_t unit_count;
    struct chain *chains;
    uint32_t count;
};

static bool collect_chains(struct rtl_found *found, struct chains *chains)
{
    size_t room = (size_t)found->unit_count + 1;
    struct unit **sorted = malloc(room * sizeof(struct unit *));
    chains->units = malloc(room * sizeof(struct unit *));
    chains->chains = calloc(room, sizeof *chains->chains);
    uint32_t count = 0;
    if (!sorted || !chains->units || !chains->chains) {
        free(sorted);
        return false;
    }
    for (uint32_t i = 0; i < found->unit_count; i++)
        if (found->units[i].used && found->units[i].kernels)
            sorted[count++] = &found->units[i];
    qsort(sorted, count, sizeof(struct unit *), by_first);
    for (uint32_t i = 0; i < count; i++) {
        if (sorted[i]->placed)
            continue;
        struct chain *chain = &chains->chains[chains->count++];
        chain->units = chains->units + chains->unit_count;
        chain->first = sorted[i]->first;
        struct unit *unit = sorted[i];
        for (bool more = true; more; unit = more ? &found->units[unit->after] : unit) {
            chains->units[chains->unit_count++] = unit;
            chain->count++;
            unit->placed = true;
            unit->offset = chain->kernels;
            chain->kernels += unit->kernels;
            chain->last = unit->last;
            more = is_link(found, unit);
        }
    }
    free(sorted);
    return true;
}

static bool alike(const struct rtl_graphs *graphs, uint32_t a, uint32_t b)
{
    struct rtl_match_kernel left;
    struct rtl_match_kernel right;
    return a == b || (rtl_graphs_match_kernel(graphs, a, &left) &&
                      rtl_graphs_match_kernel(graphs, b, &right) && rtl_match_same(&left, &right));
}

/* The unit, seen once perhaps, is the same as a graph that was seen more often. */
static void adopt(struct rtl_found *found, struct chain *chain, struct unit *unit)
{
    chain->whole = unit;
    unit->used = unit->placed = true;
    unit->runs = unit->runs < 2 ? 2 : unit->runs;
    for (uint32_t i = 0; i < unit->part_count; i++)
        if (is_part(found, unit->parts[i].part, unit->parts[i].plan))
            want(found, &found->parts[unit->parts[i].part]);
}

static void merge(struct chain *chain, struct chain *whole)
{
    whole->merged = true;
    chain->whole = whole->units[0];
    chain->first = whole->first < chain->first ? whole->first : chain->first;
    chain->last = whole->last > chain->last ? whole->last : chain->last;
}

/* A graph that is cut into units at times, and at times is one: the last packet is reserved alone
 * behind full batches, but not where the device is behind. */
static void merge_chains(struct rtl_found *found, struct chains *chains)
{
    for (uint32_t i = 0; i < chains->count; i++) {
        struct chain *chain = &chains->chains[i];
        for (uint32_t j = 0; j < chain->count; j++)
            chain->fingerprint = rtl_fingerprint_join(
                chain->fingerprint, chain->units[j]->fingerprint, chain->units[j]->kernels);
        uint32_t place =
            chain->count > 1
                ? rtl_index_get(&found->by_join, part_key(chain->fingerprint, 0, chain->kernels))
                : RTL_INDEX_MISSING;
        if (place == RTL_INDEX_MISSING)
            continue;
        if (!found->units[place].placed)
            adopt(found, chain, &found->units[place]);
        for (uint32_t j = 0; j < chains->count; j++)
            if (j != i && chains->chains[j].count == 1 &&
                chains->chains[j].units[0] == &found->units[place])
                merge(chain, &chains->chains[j]);
    }
}

/* A batch that was seen once, and taken to be a part of something else, may be all of a graph: its
 * launch is one of that. */
static void adopt_parts(struct rtl_found *found, const struct chains *chains)
{
    for (uint32_t i = 0; i < found->part_count; i++) {
        struct part *part = &found->parts[i];
        for (uint32_t j = 0; j < chains->count && part->kept && !part->wanted; j++) {
            const struct chain *chain = &chains->chains[j];
            if (chain->merged || chain->kernels != part->kernels ||
                chain->fingerprint != part->fingerprint)
                continue;
            const struct unit *unit = chain->units[0];
            part->home_count = 1;
            part->homes[0] = (struct home){.unit = (uint32_t)(unit - found->units),
                                           .fingerprint = unit->fingerprint};
            want(found, part);
        }
    }
}

/* Whether `next` is what `chain` became: never launched again once `next` was, and the same kernels
 * in most places. */
static bool became(const struct rtl_found *found, const struct chain *chain,
                   const struct chain *next)
{
    uint64_t same = 0;
    if (chain->succeeded || chain->kernels != next->kernels || chain->count != next->count ||
        chain->last >= next->first)
        return false;
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct unit *a = chain->units[i];
        const struct unit *b = next->units[i];
        if (a->kernels != b->kernels || !a->shapes || !b->shapes)
            return false;
        for (uint32_t k = 0; k < a->kernels; k++)
            same += alike(found->graphs, a->shapes[k], b->shapes[k]);
    }
    return same * 4 >= (uint64_t)chain->kernels * ALIKE_OF_4;
}

static void number_chains(struct rtl_found *found, struct chains *chains)
{
    for (uint32_t i = 0; i < chains->count; i++) {
        struct chain *next = &chains->chains[i];
        struct chain *best = NULL;
        if (next->merged)
            continue;
        for (uint32_t j = 0; j < i; j++)
            if (!chains->chains[j].merged && (!best || chains->chains[j].last > best->last) &&
                became(found, &chains->chains[j], next))
                best = &chains->chains[j];
        next->graph = best ? best->graph : ++found->graphs->last_graph;
        next->generation = best ? best->generation + 1 : 1;
        if (best)
            best->succeeded = true;
        for (uint32_t j = 0; j < next->count; j++) {
            next->units[j]->graph = next->graph;
            next->units[j]->generation = next->generation;
        }
        if (next->whole) {
            next->whole->graph = next->graph;
            next->whole->generation = next->generation;
        }
    }
}

static void tell_node(struct rtl_found *found, const struct chain *chain, uint32_t number,
                      uint32_t shape)
{
    const struct rtl_graphs *graphs = found->graphs;
    struct rtl_match_kernel kernel;
    bool known = rtl_graphs_match_kernel(graphs, shape, &kernel);
    const struct rtl_known_symbol *symbol = NULL;
    if (known && graphs->shapes[shape].symbol < graphs->symbol_count)
        symbol = &graphs->symbols[graphs->shapes[shape].symbol];
    struct rtl_wire_node node = {.graph = chain->graph,
                                 .generation = chain->generation,
                                 .node = number,
                                 .parent = RTL_NONE,
                                 .type = RTL_NODE_KERNEL,
                                 .name_length = symbol ? symbol->length : 0};
    if (kernel.group_size != RTL_NONE)
        node.group_size = kernel.group_size;
    memcpy(node.grid, kernel.grid, sizeof node.grid);
    memcpy(node.block, kernel.block, sizeof node.block);
    graphs->sink.node(graphs->sink.context, &node, symbol ? symbol->text : "");
}

static void tell_chain(struct rtl_found *found, const struct chain *chain)
{
    const struct rtl_wire_graph graph = {
        .graph = chain->graph, .generation = chain->generation, .nodes = chain->kernels};
    found->graphs->sink.graph(found->graphs->sink.context, &graph);
    uint32_t number = 0;
    for (uint32_t i = 0; i < chain->count; i++)
        for (uint32_t k = 0; k < chain->units[i]->kernels; k++)
            tell_node(found, chain, number++,
                      chain->units[i]->shapes ? chain->units[i]->shapes[k] : RTL_NONE);
}

static void tell_plan(struct rtl_found *found, struct part *part)
{
    const struct home *home = home_of(found, part);
    const struct unit *unit = home ? &found->units[home->unit] : NULL;
    if (!unit || unit->graph == RTL_NONE)
        return;
    struct rtl_graphs_step *steps = malloc((part->entry_count + (size_t)1) * sizeof *steps);
    if (!steps) {
        found->graphs->forgotten++;
        return;
    }
    uint32_t base = unit->offset + home->offset;
    bool certain = is_whole(part) || part->packets == part->kernels;
    size_t count = part->entry_count;
    if (part->packets == 1 && count == 0)
        steps[count++] = (struct rtl_graphs_step){0, base, true};
    for (uint32_t i = 0; i < part->entry_count; i++) {
        uint32_t rank = rank_of(part, i);
        steps[i] = (struct rtl_graphs_step){part->entries[i].ordinal, base + rank, certain};
    }
    const struct rtl_graphs_plan plan = {.plan = part->plan,
                                         .graph = unit->graph,
                                         .generation = unit->generation,
                                         .begins = base == 0,
                                         .kernels = part->kernels,
                                         .steps = steps,
                                         .count = count};
    found->graphs->sink.plan(found->graphs->sink.context, &plan);
    free(steps);
}

void rtl_found_finish(struct rtl_found *found)
{
    struct chains chains = {0};
    for (uint32_t i = 0; i < found->thread_count; i++) {
        while (found->threads[i].waiting)
            take_first(found, &found->threads[i]);
        end_run(found, &found->threads[i]);
    }
    for (uint32_t i = 0; i < found->part_count; i++)
        if (found->parts[i].plan && found->parts[i].wanted)
            fill_unit(found, &found->parts[i]);
    if (collect_chains(found, &chains)) {
        merge_chains(found, &chains);
        adopt_parts(found, &chains);
        number_chains(found, &chains);
        for (uint32_t i = 0; i < chains.count; i++)
            if (!chains.chains[i].merged)
                tell_chain(found, &chains.chains[i]);
        for (uint32_t i = 0; i < found->part_count; i++)
            if (found->parts[i].plan && found->parts[i].wanted)
                tell_plan(found, &found->parts[i]);
    } else {
        found->graphs->forgotten++;
    }
    free(chains.units);
    free(chains.chains);
}
