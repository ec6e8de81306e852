/*
 * rtl_session.h: a subscriber that keeps ranges and what was submitted in them.
 *
 * `lock` is held for as long as something is taken or told; RTL's own thread takes it in callbacks,
 * so nobody may wait for that thread while holding it.
 */
#include "intercept/ranges/session.h"

#include "common/clock.h"
#include "intercept/callbacks/callbacks.h"
#include "intercept/ranges/sum.h"

#include <rtl/rtl_session.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_NS UINT64_C(10000000000) /* for a call whose kernels have ended */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool active; /* under the lock, as all below */
static bool with_shapes;
static struct rtl_kept kept;
static struct rtl_kept_counts counts; /* which counters there are, the process tells once */
static char why[320];                 /* no counters are read */
static uint64_t lost;                 /* as the last batch tells */
static struct rtl_kept_sum latest;    /* metrics are asked for one after the other */

/* ---- taking ---- */

static void take_kernels(void *context, const rtl_batch_t *batch, const rtl_kernel_event_t *events,
                         size_t count)
{
    (void)context;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        rtl_kept_kernel(&kept, &events[i]);
    lost = batch->lost;
    pthread_mutex_unlock(&lock);
}

static void take_copies(void *context, const rtl_batch_t *batch, const rtl_copy_event_t *events,
                        size_t count)
{
    (void)context;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        rtl_kept_copy(&kept, &events[i]);
    lost = batch->lost;
    pthread_mutex_unlock(&lock);
}

static void take_calls(void *context, const rtl_batch_t *batch, const rtl_call_event_t *events,
                       size_t count)
{
    (void)context;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        rtl_kept_call(&kept, &events[i]);
    lost = batch->lost;
    pthread_mutex_unlock(&lock);
}

static void take_ranges(void *context, const rtl_batch_t *batch, const rtl_range_event_t *events,
                        size_t count)
{
    (void)context;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        rtl_kept_range(&kept, &events[i]);
    lost = batch->lost;
    pthread_mutex_unlock(&lock);
}

static void take_launches(void *context, const rtl_batch_t *batch, const rtl_launch_event_t *events,
                          size_t count)
{
    (void)context;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        rtl_kept_launch(&kept, &events[i]);
    lost = batch->lost;
    pthread_mutex_unlock(&lock);
}

static void take_counters(void *context, enum rtl_wire_type type, const void *body, size_t size)
{
    (void)context;
    (void)size;
    pthread_mutex_lock(&lock);
    rtl_kept_count(&counts, type, body);
    pthread_mutex_unlock(&lock);
}

static void take_note(void *context, uint64_t time, const char *sentence)
{
    static const char about[] = "RTL_METRICS: ";
    (void)context;
    (void)time;
    if (strncmp(sentence, about, sizeof about - 1) != 0)
        return;
    pthread_mutex_lock(&lock);
    (void)snprintf(why, sizeof why, "%s", sentence + sizeof about - 1);
    pthread_mutex_unlock(&lock);
}

/* ---- beginning and ending ---- */

/* In a forked child there is no session; what another thread had in hand is in no known state. */
static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(&kept, 0, sizeof kept);
    memset(&counts, 0, sizeof counts);
    memset(&latest, 0, sizeof latest);
    active = false;
}

static void set_up(void)
{
    (void)pthread_atfork(NULL, NULL, in_child);
}

static void set_active(bool to)
{
    pthread_mutex_lock(&lock);
    active = to;
    if (!to) {
        rtl_kept_sum_free(&latest);
        rtl_kept_free(&kept);
        rtl_kept_counts_forget(&counts);
    }
    pthread_mutex_unlock(&lock);
}

/* Events may come as soon as somebody has subscribed. */
static void prepare(void)
{
    pthread_mutex_lock(&lock);
    if (!active)
        kept.with_shapes = with_shapes;
    pthread_mutex_unlock(&lock);
}

int rtlSessionBegin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const rtl_callbacks_t callbacks = {
        .size = sizeof callbacks,
        .kernels = take_kernels,
        .copies = take_copies,
        .calls = take_calls,
        .ranges = take_ranges,
        .launches = take_launches,
        .note = take_note,
    };
    pthread_once(&once, set_up);
    prepare();
    if (rtl_callbacks_subscribe(&callbacks, NULL, take_counters) != 0)
        return -1;
    set_active(true);
    return 0;
}

int rtlSessionEnd(void)
{
    pthread_mutex_lock(&lock);
    bool is_ours = active;
    pthread_mutex_unlock(&lock);
    if (!is_ours) {
        errno = ESRCH;
        return -1;
    }
    if (rtlUnsubscribe() != 0)
        return -1;
    set_active(false);
    return 0;
}

bool rtl_session_is_on(void)
{
    pthread_mutex_lock(&lock);
    bool on = active;
    pthread_mutex_unlock(&lock);
    return on;
}

/* ---- telling; under the lock ---- */

static int find(uint64_t id, const struct rtl_kept_range **range)
{
    if (!active)
        return ESRCH;
    rtl_kept_assign(&kept, rtl_now() - PATIENCE_NS);
    *range = rtl_kept_find(&kept, id);
    return *range == NULL ? ENOENT : 0;
}

/* The work of a range, by places. */
static int gather(uint64_t id, struct rtl_kept_list *list)
{
    const struct rtl_kept_range *range = NULL;
    int error = find(id, &range);
    if (error != 0)
        return error;
    return rtl_kept_gather(&kept, range, list) ? 0 : ENOMEM;
}

/* Its work by start, and its times: `latest`. */
static int add_up_range(uint64_t id, const struct rtl_kept_range **range)
{
    int error = find(id, range);
    if (error != 0)
        return error;
    return rtl_kept_sum(&latest, &kept, *range) ? 0 : ENOMEM;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static uint64_t wall_of(const struct rtl_kept_range *range)
{
    return range->end > range->start ? range->end - range->start : 0;
}

static void sum_up(const struct rtl_kept_range *range, rtl_range_result_t *result)
{
    const struct rtl_range_time *time = &latest.time;
    uint64_t wall = wall_of(range);
    *result = (rtl_range_result_t){
        .id = range->id,
        .parent = rtl_kept_measured(&kept, range->parent),
        .text = range->text,
        .start = range->start,
        .end = range->end,
        .wall_ns = wall,
        .kernels = time->kernels,
        .kernel_ns = time->kernel_ns,
        .busy_ns = time->busy,
        .overlap_ns = time->overlap,
        .copies = time->copies,
        .copy_bytes = time->copy_bytes,
        .copy_ns = time->copy_ns,
        .copying_ns = time->copying,
        .copy_overlap_ns = rtl_range_time_copied_under(time),
        .active_ns = time->active,
        .idle_ns = rtl_range_time_idle(time, wall),
        .first = time->first,
        .last = time->last,
        .graph_launches = latest.list.launches,
        .lost = lost + kept.lost + counts.lost,
        .thread = range->thread,
    };
}

/* 0, or -1 with errno. Ends what has been begun with the lock. */
static int done(struct rtl_kept_list *list, int error)
{
    pthread_mutex_unlock(&lock);
    free(list->places);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

int rtlSessionResult(uint64_t id, unsigned timeout_ms, rtl_range_result_t *result)
{
    struct rtl_kept_list none = {0};
    const struct rtl_kept_range *range = NULL;
    if (result == NULL) {
        errno = EINVAL;
        return -1;
    }
    if (rtlFlush(timeout_ms) != 0)
        return -1;
    pthread_mutex_lock(&lock);
    int error = add_up_range(id, &range);
    if (error == 0)
        sum_up(range, result);
    return done(&none, error);
}

/* ---- for metrics ---- */

int rtl_session_want_shapes(bool wanted)
{
    pthread_mutex_lock(&lock);
    bool busy = active;
    if (!busy)
        with_shapes = wanted;
    pthread_mutex_unlock(&lock);
    return busy ? -1 : 0;
}

int rtl_session_look(uint64_t id, int (*look)(void *, const struct rtl_session_range *),
                     void *context)
{
    struct rtl_session_range found = {.kept = &kept, .counts = &counts, .why = why};
    pthread_mutex_lock(&lock);
    int error = id != 0 ? add_up_range(id, &found.range) : active ? 0 : ESRCH;
    if (error == 0 && id != 0) {
        found.time = latest.time;
        found.list = &latest.list;
    }
    if (error == 0)
        error = look(context, &found);
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- lists; under the lock ---- */

static void leave_kernels(struct rtl_kept_list *list)
{
    size_t left = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!kept.work[list->places[i]].work.copy)
            list->places[left++] = list->places[i];
    list->count = left;
}

static const char *text_of(const char *name)
{
    return name != NULL ? name : "";
}

static int by_name(const void *left, const void *right)
{
    return strcmp(text_of(kept.work[*(const uint32_t *)left].name),
                  text_of(kept.work[*(const uint32_t *)right].name));
}

static int by_total(const void *left, const void *right)
{
    const rtl_range_kernels_t *a = left;
    const rtl_range_kernels_t *b = right;
    int order = -compare(a->total_ns, b->total_ns);
    return order != 0 ? order : strcmp(text_of(a->name), text_of(b->name));
}

/* Adds up kernels of one name, which stand together; returns how many names there are. */
static size_t add_up(const struct rtl_kept_list *list, rtl_range_kernels_t *names)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct rtl_kept_work *work = &kept.work[list->places[i]];
        if (i == 0 || by_name(&list->places[i - 1], &list->places[i]) != 0)
            names[count++] = (rtl_range_kernels_t){.name = work->name};
        names[count - 1].kernels++;
        if (work->work.end > work->work.start)
            names[count - 1].total_ns += work->work.end - work->work.start;
    }
    return count;
}

int64_t rtlSessionNames(uint64_t id, rtl_range_kernels_t *names, size_t capacity)
{
    struct rtl_kept_list list = {0};
    rtl_range_kernels_t *all = NULL;
    size_t count = 0;
    pthread_mutex_lock(&lock);
    int error = gather(id, &list);
    if (error == 0) {
        leave_kernels(&list);
        all = malloc((list.count + 1) * sizeof *all);
        error = all == NULL ? ENOMEM : 0;
    }
    if (error == 0 && list.count > 0) {
        qsort(list.places, list.count, sizeof *list.places, by_name);
        count = add_up(&list, all);
        qsort(all, count, sizeof *all, by_total);
        for (size_t i = 0; i < count && i < capacity; i++)
            names[i] = all[i];
    }
    free(all);
    return done(&list, error) == 0 ? (int64_t)count : -1;
}

/* Packets of one call have their place in its launch, if it is one of a graph; outside of calls
 * what is a launch is a guess, and queues have an order of their own. */
static int by_launch(const void *left, const void *right)
{
    const struct rtl_kept_work *a = &kept.work[*(const uint32_t *)left];
    const struct rtl_kept_work *b = &kept.work[*(const uint32_t *)right];
    uint64_t a_call = rtl_kept_call_start(&kept, a);
    uint64_t b_call = rtl_kept_call_start(&kept, b);
    bool called = a_call != 0 && b_call != 0;
    const int orders[] = {
        compare(a_call, b_call),
        called ? compare(a->correlation, b->correlation) : 0,
        called ? compare(a->launch, b->launch) : 0,
        called ? compare(a->ordinal, b->ordinal) : 0,
        compare(a->queue, b->queue),
        compare(a->packet, b->packet),
    };
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (orders[i] != 0)
            return orders[i];
    return 0;
}

int64_t rtlSessionKernels(uint64_t id, rtl_range_kernel_t *kernels, size_t capacity)
{
    struct rtl_kept_list list = {0};
    pthread_mutex_lock(&lock);
    int error = gather(id, &list);
    leave_kernels(&list);
    if (error == 0 && list.count > 0)
        qsort(list.places, list.count, sizeof *list.places, by_launch);
    for (size_t i = 0; error == 0 && i < list.count && i < capacity; i++) {
        const struct rtl_kept_work *work = &kept.work[list.places[i]];
        kernels[i] = (rtl_range_kernel_t){
            .name = work->name,
            .start = work->work.start,
            .end = work->work.end,
            .queue_address = work->queue_address,
            .range = rtl_kept_measured(&kept, work->range),
            .packet = work->packet,
            .queue = work->queue,
            .device = work->device,
        };
    }
    size_t count = list.count;
    return done(&list, error) == 0 ? (int64_t)count : -1;
}

static int by_begin(const void *left, const void *right)
{
    const struct rtl_kept_range *a = &kept.ranges[*(const uint32_t *)left];
    const struct rtl_kept_range *b = &kept.ranges[*(const uint32_t *)right];
    int order = compare(a->start, b->start);
    return order != 0 ? order : compare(a->id, b->id);
}

int64_t rtlSessionRanges(uint64_t *ids, size_t capacity)
{
    struct rtl_kept_list list = {0};
    pthread_mutex_lock(&lock);
    int error = active ? 0 : ESRCH;
    if (error == 0) {
        list.places = malloc((kept.range_count + 1) * sizeof *list.places);
        error = list.places == NULL ? ENOMEM : 0;
    }
    for (size_t i = 0; error == 0 && i < kept.range_count; i++)
        if (kept.ranges[i].end != 0 && !kept.ranges[i].aside)
            list.places[list.count++] = (uint32_t)i;
    if (error == 0 && list.count > 0)
        qsort(list.places, list.count, sizeof *list.places, by_begin);
    for (size_t i = 0; error == 0 && i < list.count && i < capacity; i++)
        ids[i] = kept.ranges[list.places[i]].id;
    size_t count = list.count;
    return done(&list, error) == 0 ? (int64_t)count : -1;
}
