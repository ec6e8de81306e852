/* The events of a trace by start, of all kinds. */
#include "export/export.h"

#include "common/command.h"
#include "common/open.h"
#include "common/say.h"
#include "export/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PROGRESS_NS     UINT64_C(100000000)
#define PROGRESS_EVENTS 4096u

/* How many kernels are known before they begin; powers of two. */
#define AHEAD_LEAST 4096u
#define AHEAD_MOST  65536u

struct waiting_kernel {
    rtl_kernel_t kernel;
    rtl_trace_origin_t origin;
};

/* Kernels that `watcher->ahead` has been told of, in a ring. */
struct waiting {
    struct waiting_kernel *ring;
    size_t first, count, capacity; /* a power of two */
    uint64_t longest;              /* that a kernel took from its call to its begin, ns */
};

struct walk {
    struct export *export;
    unsigned kinds; /* those that have an event */
    rtl_range_iter_t *ranges;
    rtl_api_iter_t *apis;
    rtl_copy_iter_t *copies;
    rtl_kernel_iter_t *kernels;
    struct rtl_runs *runs;               /* instead of `kernels` where kernels are wanted in runs */
    const rtl_graph_launch_t **launches; /* by start */
    size_t launch_count, next_launch;
    rtl_range_t range;
    rtl_api_t api;
    const rtl_graph_launch_t *launch;
    rtl_copy_t copy;
    rtl_kernel_t kernel;
    struct samples samples;
    const struct watcher *watcher;
    struct waiting waiting;
    rtl_trace_origin_t origin; /* of `kernel`, if it has waited */
};

bool export_wants(const struct export *export, uint32_t process)
{
    const rtl_process_t *found = export_process(export, process);
    if (export->only)
        return found == export->only;
    return found && export->wanted[found - export->processes];
}

const rtl_process_t *export_process(const struct export *export, uint32_t process)
{
    if (process - 1 < export->process_count && export->processes[process - 1].process == process)
        return &export->processes[process - 1];
    for (size_t i = 0; i < export->process_count; ++i)
        if (export->processes[i].process == process)
            return &export->processes[i];
    return NULL;
}

const char *export_process_name(const rtl_process_t *process)
{
    return process->title[0] ? process->title : process->command;
}

/* The process, if only one is wanted, which the reader finds faster; else 0, which is all. */
static uint32_t single(const struct export *export)
{
    uint32_t process = 0;
    for (size_t i = 0; i < export->process_count; ++i) {
        if (!export_wants(export, export->processes[i].process))
            continue;
        if (process)
            return 0;
        process = export->processes[i].process;
    }
    return process;
}

/* Who looks on. */
struct watcher {
    int (*visit)(void *state, const struct export_event *event);
    /* NULL: kernels are events. */
    int (*visit_run)(void *state, struct rtl_runs *runs, const struct rtl_run *run);
    /* NULL: nobody is told before. */
    void (*ahead)(void *state, const rtl_kernel_t *kernel, const rtl_trace_origin_t *origin);
    void *state;
};

/* Progress. */

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void progress(struct export_progress *progress, uint64_t events)
{
    static const char bar[] = "########################################";
    enum { WIDTH = sizeof bar - 1 };
    uint64_t before = progress->done;
    progress->done += events;
    if (before / PROGRESS_EVENTS == progress->done / PROGRESS_EVENTS || !progress->shown)
        return;
    uint64_t now = now_ns();
    if (now < progress->next_ns)
        return;
    progress->next_ns = now + PROGRESS_NS;
    uint64_t most = progress->most > progress->done ? progress->most : progress->done;
    double share = (double)progress->done / (double)most;
    (void)fprintf(stderr, "\033[Krtl: [%-*.*s] %3.0f %%\r", WIDTH, (int)(share * WIDTH), bar,
                  share * 100);
}

/* The kinds one by one. */

static uint64_t launch_start(const rtl_graph_launch_t *launch)
{
    return launch->start ? launch->start : launch->time;
}

static int compare_launches(const void *a, const void *b)
{
    const rtl_graph_launch_t *left = *(const rtl_graph_launch_t *const *)a;
    const rtl_graph_launch_t *right = *(const rtl_graph_launch_t *const *)b;
    if (launch_start(left) != launch_start(right))
        return launch_start(left) < launch_start(right) ? -1 : 1;
    return (left > right) - (left < right);
}

static bool overlaps(const struct export *export, const rtl_graph_launch_t *launch)
{
    uint64_t start = launch_start(launch);
    uint64_t end = launch->end > start ? launch->end : start;
    bool before = end < export->from || (end == export->from && end != start);
    return !before && (export->to == 0 || start < export->to);
}

static rtl_status_t take_launches(struct walk *walk)
{
    const rtl_graph_launch_t *launches;
    size_t count;
    rtl_status_t status = rtlTraceGraphLaunches(walk->export->trace, &launches, &count);
    if (status != RTL_OK || count == 0)
        return status;
    walk->launches = malloc(count * sizeof(const rtl_graph_launch_t *));
    if (!walk->launches)
        return RTL_E_MEMORY;
    for (size_t i = 0; i < count; ++i)
        if (export_wants(walk->export, launches[i].process) && overlaps(walk->export, &launches[i]))
            walk->launches[walk->launch_count++] = &launches[i];
    if (walk->launch_count)
        qsort(walk->launches, walk->launch_count, sizeof(const rtl_graph_launch_t *),
              compare_launches);
    return RTL_OK;
}

static rtl_status_t begin(struct walk *walk, unsigned kinds, bool runs)
{
    const struct export *export = walk->export;
    uint32_t process = single(export);
    rtl_range_filter_t ranges = {.from = export->from, .to = export->to, .process = process};
    rtl_api_filter_t apis = {.from = export->from, .to = export->to, .process = process};
    rtl_copy_filter_t copies = {.from = export->from, .to = export->to, .process = process};
    rtl_kernel_filter_t kernels = RTL_KERNEL_FILTER_ALL;
    kernels.from = export->from;
    kernels.to = export->to;
    kernels.process = process;
    rtl_status_t status = RTL_OK;
    if (kinds & EXPORT_RANGE)
        status = rtlTraceRanges(export->trace, &ranges, &walk->ranges);
    if (status == RTL_OK && (kinds & EXPORT_API))
        status = rtlTraceApi(export->trace, &apis, &walk->apis);
    if (status == RTL_OK && (kinds & EXPORT_LAUNCH))
        status = take_launches(walk);
    if (status == RTL_OK && (kinds & EXPORT_COPY))
        status = rtlTraceCopies(export->trace, &copies, &walk->copies);
    if (status == RTL_OK && runs)
        status = rtl_runs_new(export->trace, &kernels, &walk->runs);
    else if (status == RTL_OK && (kinds & EXPORT_KERNEL))
        status = rtlTraceKernels(export->trace, &kernels, &walk->kernels);
    return status;
}

static void end(struct walk *walk)
{
    if (walk->ranges)
        rtlRangeIterFree(walk->ranges);
    if (walk->apis)
        rtlApiIterFree(walk->apis);
    if (walk->copies)
        rtlCopyIterFree(walk->copies);
    if (walk->kernels)
        rtlKernelIterFree(walk->kernels);
    rtl_runs_free(walk->runs);
    free((void *)walk->launches);
    free(walk->waiting.ring);
    samples_free(&walk->samples);
}

static struct waiting_kernel *waiting_at(const struct waiting *waiting, size_t i)
{
    return &waiting->ring[(waiting->first + i) & (waiting->capacity - 1)];
}

static bool make_room(struct waiting *waiting)
{
    if (waiting->count < waiting->capacity)
        return true;
    size_t capacity = waiting->capacity ? 2 * waiting->capacity : AHEAD_LEAST;
    struct waiting_kernel *ring = calloc(capacity, sizeof *ring);
    if (!ring)
        return false;
    for (size_t i = 0; i < waiting->count; ++i)
        ring[i] = *waiting_at(waiting, i);
    free(waiting->ring);
    waiting->ring = ring;
    waiting->capacity = capacity;
    waiting->first = 0;
    return true;
}

/* Kernels that begin soon are known, twice as far as any kernel before was known from its call on;
 * what is ahead is in the processor's cache as a rule. */
static bool are_enough(const struct waiting *waiting)
{
    if (waiting->count < AHEAD_LEAST || waiting->count == AHEAD_MOST)
        return waiting->count == AHEAD_MOST;
    return waiting_at(waiting, waiting->count - 1)->kernel.start -
               waiting_at(waiting, 0)->kernel.start >=
           2 * waiting->longest;
}

static rtl_status_t fill(struct walk *walk)
{
    struct waiting *waiting = &walk->waiting;
    rtl_status_t status = RTL_OK;
    while (status == RTL_OK && !are_enough(waiting)) {
        if (!make_room(waiting))
            return RTL_E_MEMORY;
        struct waiting_kernel *last = waiting_at(waiting, waiting->count);
        const rtl_kernel_t *kernel = &last->kernel;
        status = rtlKernelNext(walk->kernels, &last->kernel);
        if (status != RTL_OK || !export_wants(walk->export, kernel->process))
            continue;
        status = rtlTraceOrigin(walk->export->trace, kernel->process, kernel->correlation,
                                &last->origin);
        walk->watcher->ahead(walk->watcher->state, kernel, &last->origin);
        if (last->origin.call && kernel->start > last->origin.start + waiting->longest)
            waiting->longest = kernel->start - last->origin.start;
        ++waiting->count;
    }
    return status;
}

static rtl_status_t next_waiting(struct walk *walk)
{
    rtl_status_t status = fill(walk);
    if (status != RTL_OK && status != RTL_END)
        return status;
    struct waiting *waiting = &walk->waiting;
    if (waiting->count == 0)
        return RTL_END;
    walk->kernel = waiting_at(waiting, 0)->kernel;
    walk->origin = waiting_at(waiting, 0)->origin;
    waiting->first = (waiting->first + 1) & (waiting->capacity - 1);
    --waiting->count;
    return RTL_OK;
}

static rtl_status_t next_of(struct walk *walk, enum export_kind kind, uint32_t *process)
{
    rtl_status_t status = RTL_END;
    switch (kind) {
    case EXPORT_RANGE:
        status = rtlRangeNext(walk->ranges, &walk->range);
        *process = walk->range.process;
        break;
    case EXPORT_API:
        status = rtlApiNext(walk->apis, &walk->api);
        *process = walk->api.process;
        break;
    case EXPORT_LAUNCH:
        if (walk->next_launch < walk->launch_count) {
            walk->launch = walk->launches[walk->next_launch++];
            *process = walk->launch->process;
            status = RTL_OK;
        }
        break;
    case EXPORT_COPY:
        status = rtlCopyNext(walk->copies, &walk->copy);
        *process = walk->copy.process;
        break;
    default:
        status =
            walk->watcher->ahead ? next_waiting(walk) : rtlKernelNext(walk->kernels, &walk->kernel);
        *process = walk->kernel.process;
        break;
    }
    return status;
}

static uint64_t start_of(const struct walk *walk, enum export_kind kind)
{
    switch (kind) {
    case EXPORT_RANGE:
        return walk->range.start;
    case EXPORT_API:
        return walk->api.start;
    case EXPORT_LAUNCH:
        return launch_start(walk->launch);
    case EXPORT_COPY:
        return walk->copy.start;
    default:
        return walk->kernel.start;
    }
}

static bool wants(const struct walk *walk, enum export_kind kind, uint32_t process)
{
    return export_wants(walk->export, process) && start_of(walk, kind) >= walk->export->since;
}

/* The next wanted one of a kind; at its end the kind is taken from `walk->kinds`. */
static rtl_status_t advance(struct walk *walk, enum export_kind kind)
{
    rtl_status_t status;
    uint32_t process = 0;
    do
        status = next_of(walk, kind, &process);
    while (status == RTL_OK && !wants(walk, kind, process));
    if (status != RTL_END)
        return status;
    walk->kinds &= ~(unsigned)kind;
    return RTL_OK;
}

static enum export_kind earliest(const struct walk *walk)
{
    unsigned best = 0;
    for (unsigned kind = 1; kind & EXPORT_ALL; kind <<= 1)
        if ((walk->kinds & kind) && (!best || start_of(walk, (enum export_kind)kind) <
                                                  start_of(walk, (enum export_kind)best)))
            best = kind;
    return (enum export_kind)best;
}

static rtl_status_t describe(struct walk *walk, enum export_kind kind, struct export_event *event)
{
    rtl_trace_t *trace = walk->export->trace;
    *event = (struct export_event){
        .kind = kind, .start = start_of(walk, kind), .origin.stream = RTL_TRACE_NONE};
    switch (kind) {
    case EXPORT_RANGE:
        event->range = &walk->range;
        event->process = walk->range.process;
        return samples_range(&walk->samples, trace, &walk->range, &event->samples,
                             &event->sample_count);
    case EXPORT_API:
        event->api = &walk->api;
        event->process = walk->api.process;
        return RTL_OK;
    case EXPORT_LAUNCH:
        event->launch = walk->launch;
        event->process = walk->launch->process;
        return RTL_OK;
    case EXPORT_COPY:
        event->copy = &walk->copy;
        event->process = walk->copy.process;
        return rtlTraceOrigin(trace, event->process, walk->copy.correlation, &event->origin);
    default:
        break;
    }
    event->kernel = &walk->kernel;
    event->process = walk->kernel.process;
    rtl_status_t status = RTL_OK;
    if (walk->watcher->ahead)
        event->origin = walk->origin;
    else
        status = rtlTraceOrigin(trace, event->process, walk->kernel.correlation, &event->origin);
    if (status == RTL_OK)
        status = samples_kernel(&walk->samples, trace, &walk->kernel, &event->samples);
    event->sample_count = event->samples != NULL;
    return status;
}

static int walk_failed(const struct walk *walk, rtl_status_t status)
{
    if (status == RTL_E_MEMORY)
        return say_fail(EXIT_USAGE, "there is not enough memory");
    return open_failed(walk->export->trace, walk->export->path);
}

/* The kernels that start before `until`, in runs. */
static int visit_runs(struct walk *walk, const struct watcher *watcher, uint64_t until)
{
    struct rtl_run run;
    rtl_status_t status;
    uint32_t process = 0;
    bool wanted = false;
    while ((status = rtl_runs_next(walk->runs, until, &run)) == RTL_OK) {
        if (run.process != process)
            wanted = export_wants(walk->export, run.process);
        process = run.process;
        int result = wanted ? watcher->visit_run(watcher->state, walk->runs, &run) : EXIT_FINE;
        if (result != EXIT_FINE)
            return result;
        progress(&walk->export->progress, run.count);
    }
    return status == RTL_END ? EXIT_FINE : walk_failed(walk, status);
}

static int visit_one(struct walk *walk, const struct watcher *watcher, enum export_kind kind)
{
    struct export_event event;
    rtl_status_t status = describe(walk, kind, &event);
    if (status != RTL_OK)
        return walk_failed(walk, status);
    int result = watcher->visit(watcher->state, &event);
    if (result != EXIT_FINE)
        return result;
    progress(&walk->export->progress, 1);
    status = advance(walk, kind);
    return status == RTL_OK ? EXIT_FINE : walk_failed(walk, status);
}

static int visit_all(struct walk *walk, const struct watcher *watcher)
{
    rtl_status_t status = RTL_OK;
    int result = EXIT_FINE;
    for (unsigned kind = 1; kind & EXPORT_ALL && status == RTL_OK; kind <<= 1)
        if (walk->kinds & kind)
            status = advance(walk, (enum export_kind)kind);
    if (status != RTL_OK)
        return walk_failed(walk, status);
    while (result == EXIT_FINE && walk->kinds) {
        enum export_kind kind = earliest(walk);
        if (walk->runs)
            result = visit_runs(walk, watcher, start_of(walk, kind));
        if (result == EXIT_FINE)
            result = visit_one(walk, watcher, kind);
    }
    return result == EXIT_FINE && walk->runs ? visit_runs(walk, watcher, UINT64_MAX) : result;
}

static struct walk walk_of(struct export *export, unsigned kinds, const struct watcher *watcher)
{
    return (struct walk){.export = export,
                         .watcher = watcher,
                         .kinds = kinds & EXPORT_ALL,
                         .samples.of_kernels = export->info.kernel_samples != 0,
                         .samples.of_ranges = export->info.range_samples != 0};
}

int export_any(struct export *export, unsigned kinds, bool *any)
{
    const struct watcher nobody = {0};
    struct walk walk = walk_of(export, kinds, &nobody);
    rtl_status_t status = begin(&walk, walk.kinds, false);
    for (unsigned kind = 1; kind & EXPORT_ALL && status == RTL_OK; kind <<= 1)
        if (walk.kinds & kind)
            status = advance(&walk, (enum export_kind)kind);
    *any = walk.kinds != 0;
    int result = status == RTL_OK ? EXIT_FINE : walk_failed(&walk, status);
    end(&walk);
    return result;
}

static int walk_all(struct export *export, unsigned kinds, const struct watcher *watcher)
{
    struct walk walk = walk_of(export, kinds, watcher);
    rtl_status_t status = begin(&walk, walk.kinds, watcher->visit_run != NULL);
    int result = status == RTL_OK ? visit_all(&walk, watcher) : walk_failed(&walk, status);
    end(&walk);
    if (export->progress.shown)
        (void)fputs("\033[K", stderr);
    return result;
}

int export_walk(struct export *export, unsigned kinds,
                int (*visit)(void *state, const struct export_event *event), void *state)
{
    const struct watcher watcher = {visit, NULL, NULL, state};
    return walk_all(export, kinds, &watcher);
}

int export_walk_ahead(struct export *export, unsigned kinds,
                      int (*visit)(void *state, const struct export_event *event),
                      void (*ahead)(void *state, const rtl_kernel_t *kernel,
                                    const rtl_trace_origin_t *origin),
                      void *state)
{
    const struct watcher watcher = {visit, NULL, ahead, state};
    return walk_all(export, kinds, &watcher);
}

int export_walk_runs(
    struct export *export, int (*visit)(void *state, const struct export_event *event),
    int (*visit_run)(void *state, struct rtl_runs *runs, const struct rtl_run *run), void *state)
{
    const struct watcher watcher = {visit, visit_run, NULL, state};
    return walk_all(export, EXPORT_ALL & ~(unsigned)EXPORT_KERNEL, &watcher);
}
