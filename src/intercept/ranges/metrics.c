/*
 * Metrics of a session's ranges: which ones there are to be, and what they are.
 */
#include "common/metrics.h"
#include "common/counters.h"
#include "intercept/ranges/session.h"

#include <rtl/rtl_session.h>

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST      64u
#define MOST_NEAR 3u
#define FAR_OFF   3u /* changes of letters after which a name is another one */

struct chosen {
    const struct rtl_metric *metrics[MOST];
    size_t count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct chosen chosen; /* under the lock */
static char sentence[512];   /* under the lock */
static bool are_set;         /* RTL_METRICS is what we have set; by who chooses, one at a time */

/* Another thread may have had it. */
static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
}

static void set_up(void)
{
    (void)pthread_atfork(NULL, NULL, in_child);
}

static void take_lock(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_up);
    pthread_mutex_lock(&lock);
}

/* ---- sentences ---- */

__attribute__((format(printf, 2, 3))) static int fail(int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    take_lock();
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    pthread_mutex_unlock(&lock);
    va_end(arguments);
    errno = error;
    return -1;
}

size_t rtlSessionError(char *to, size_t size)
{
    take_lock();
    size_t length = strlen(sentence);
    if (size > 0)
        (void)snprintf(to, size, "%s", sentence);
    pthread_mutex_unlock(&lock);
    return length;
}

/* Metrics first, then counters; the nearest of each first. */
static size_t find_near(const char *name, const char **near)
{
    size_t count;
    size_t found = 0;
    const struct rtl_metric *metrics = rtl_metrics(&count);
    for (unsigned distance = 1; distance <= FAR_OFF; distance++)
        for (size_t i = 0; i < count && found < MOST_NEAR; i++)
            if (rtl_word_distance(name, metrics[i].name) == distance)
                near[found++] = metrics[i].name;
    return found + rtl_counters_near(name, near + found, MOST_NEAR - found);
}

static int no_metric(const char *name)
{
    const char *near[MOST_NEAR];
    char list[256] = "";
    size_t used = 0;
    size_t count = find_near(name, near);
    for (size_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", i > 0 ? " or " : "",
                                 near[i]);
    if (count > 0)
        return fail(EINVAL, "there is no metric '%s', did you mean %s?", name, list);
    return fail(EINVAL, "there is no metric '%s'; `rtl ranges --metrics list` lists them", name);
}

/* ---- choosing ---- */

/* Whether hardware counters were asked for, by whomever. */
static bool are_asked(void)
{
    const char *set = secure_getenv("RTL_METRICS");
    return set != NULL && *set != '\0';
}

static int add(struct chosen *wanted, const char *name)
{
    const struct rtl_metric *metric = rtl_metric_find(name);
    if (metric == NULL)
        return no_metric(name);
    if (rtl_metric_is_counted(metric) && rtlRecording() && !are_asked())
        return fail(ENOTSUP, "'%s' needs hardware counters, which are chosen before hsa_init",
                    name);
    if (wanted->count == MOST)
        return fail(ENOMEM, "%u metrics are the most, '%s' is one more", MOST, name);
    wanted->metrics[wanted->count++] = metric;
    return 0;
}

static int read_names(struct chosen *wanted, const char *names)
{
    int status = 0;
    while (names != NULL && *names != '\0' && status == 0) {
        char name[RTL_COUNTER_NAME];
        size_t length = strcspn(names, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, names);
        if (length > 0)
            status = add(wanted, name);
        names += length + (names[length] == ',');
    }
    return status;
}

/* Hardware counters are asked for by the environment, which somebody else may have done before. */
static int ask_for_counters(const struct chosen *wanted)
{
    char names[MOST * RTL_COUNTER_NAME] = "";
    size_t used = 0;
    // NOLINTBEGIN(concurrency-mt-unsafe): rtlSessionMetrics's contract
    if (rtlRecording() || (are_asked() && !are_set))
        return 0;
    for (size_t i = 0; i < wanted->count; i++)
        if (rtl_metric_is_counted(wanted->metrics[i]))
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? "," : "",
                                     wanted->metrics[i]->name);
    if (used > 0 ? setenv("RTL_METRICS", names, 1) != 0 : are_set && unsetenv("RTL_METRICS") != 0)
        return fail(ENOMEM, "memory is short");
    // NOLINTEND(concurrency-mt-unsafe)
    are_set = used > 0;
    return 0;
}

int rtlSessionMetrics(const char *names)
{
    struct chosen wanted = {.count = 0};
    if (read_names(&wanted, names) != 0)
        return -1;
    if (rtl_session_want_shapes(wanted.count > 0) != 0)
        return fail(EBUSY, "metrics are chosen before the session begins");
    if (ask_for_counters(&wanted) != 0)
        return -1;
    take_lock();
    chosen = wanted;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- what they are made of ---- */

/* Of one call of rtlSessionMetric. */
struct question {
    const struct rtl_metric *metric;
    struct rtl_value value;
    uint64_t counted;
    uint32_t flags;
};

static void add_kernels(const struct rtl_session_range *found, struct rtl_quantities *quantities)
{
    for (size_t i = 0; i < found->list->count && found->kept->with_shapes; i++) {
        uint32_t place = found->list->places[i];
        const struct rtl_range_work *work = &found->kept->work[place].work;
        const struct rtl_kept_shape *shape = &found->kept->shapes[place];
        uint64_t duration = work->end > work->start ? work->end - work->start : 0;
        if (!work->copy)
            rtl_quantities_kernel(quantities, shape->grid, shape->block, duration, shape->lds_bytes,
                                  shape->scratch_bytes);
    }
}

static void add_times(const struct rtl_session_range *found, struct rtl_quantities *quantities)
{
    const struct rtl_range_time *time = &found->time;
    const struct rtl_kept_range *range = found->range;
    uint64_t *values = quantities->values;
    values[RTL_QUANTITY_KERNELS] = time->kernels;
    values[RTL_QUANTITY_KERNEL_NS] = time->kernel_ns;
    values[RTL_QUANTITY_BUSY_NS] = time->busy;
    values[RTL_QUANTITY_OVERLAP_NS] = time->overlap;
    values[RTL_QUANTITY_COPY_BYTES] = time->copy_bytes;
    values[RTL_QUANTITY_COPYING_NS] = time->copying;
    values[RTL_QUANTITY_COPY_OVERLAP_NS] = rtl_range_time_copied_under(time);
    values[RTL_QUANTITY_WITHIN_NS] = time->within;
    values[RTL_QUANTITY_WALL_NS] = range->end > range->start ? range->end - range->start : 0;
}

/* A range of range mode has samples of its own, in kernel mode its kernels have. */
static void add_counts(const struct rtl_session_range *found, struct question *question,
                       struct rtl_count *row)
{
    const struct rtl_kept_counts *counts = found->counts;
    if (counts->mode == RTL_COUNTING_RANGE) {
        question->counted = rtl_kept_counted(counts, found->range->id, row, &question->flags);
        return;
    }
    for (size_t i = 0; i < found->list->count; i++) {
        const struct rtl_kept_work *work = &found->kept->work[found->list->places[i]];
        if (!work->work.copy)
            question->counted += rtl_kept_counted(
                counts, rtl_kept_kernel_key(work->queue, work->packet), row, &question->flags);
    }
}

/* Why a counter has no value here. */
static int no_counter(const struct rtl_session_range *found, const char *metric, const char *name)
{
    const struct rtl_kept_counts *counts = found->counts;
    const struct rtl_kept_counter *counter = rtl_kept_counter(counts, name);
    if (!counts->known || counts->passes == 0)
        return fail(ENOTSUP, "'%s' needs hardware counters%s%s", metric,
                    found->why[0] != '\0' ? ": " : ", and none is read", found->why);
    if (counter == NULL)
        return fail(ENOTSUP, "'%s' needs %s, which RTL_METRICS does not ask for", metric, name);
    return fail(ENOTSUP,
                "'%s' needs %s, which pass %u of %u reads, and this process makes pass %u: ask for "
                "fewer metrics at once",
                metric, name, counter->pass + 1, counts->passes, counts->pass + 1);
}

/* 0 if all counters of the metric are read in this pass. */
static int look_for_counters(const struct rtl_session_range *found, const struct rtl_metric *metric)
{
    char name[RTL_COUNTER_NAME];
    for (size_t i = 0; rtl_metric_counter(metric, i, name); i++) {
        const struct rtl_kept_counter *counter = rtl_kept_counter(found->counts, name);
        if (counter == NULL || counter->pass != found->counts->pass)
            return no_counter(found, metric->name, name);
    }
    return 0;
}

static int answer(void *context, const struct rtl_session_range *found)
{
    struct question *question = context;
    struct rtl_quantities quantities = {.values = {0}};
    struct rtl_measure measure;
    size_t names = found->counts->name_count;
    if (look_for_counters(found, question->metric) != 0)
        return ENOTSUP;
    struct rtl_count *row = calloc(names + 1, sizeof *row);
    if (row == NULL)
        return ENOMEM;
    add_times(found, &quantities);
    add_kernels(found, &quantities);
    if (rtl_metric_is_counted(question->metric))
        add_counts(found, question, row);
    bool has_value = rtl_measure_make(&measure, question->metric, found->counts->names, names) &&
                     rtl_measure_value(&measure, &quantities, row, &question->value);
    free(row);
    return has_value ? 0 : ENODATA;
}

/* ---- telling ---- */

static const struct rtl_metric *find_chosen(const char *name)
{
    const struct rtl_metric *found = NULL;
    take_lock();
    for (size_t i = 0; name != NULL && i < chosen.count; i++)
        if (strcmp(chosen.metrics[i]->name, name) == 0)
            found = chosen.metrics[i];
    pthread_mutex_unlock(&lock);
    return found;
}

static int no_value(uint64_t range, const struct question *question, int error)
{
    const char *name = question->metric->name;
    if (error == ESRCH)
        return fail(error, "there is no session");
    if (error == ENOMEM)
        return fail(error, "memory is short");
    if (error == ENOENT)
        return fail(error, "the session has no range %llu that has ended",
                    (unsigned long long)range);
    if (error == ENODATA && rtl_metric_is_counted(question->metric) && question->counted == 0)
        return fail(error, "'%s' has no value: nothing was counted in the range", name);
    if (error == ENODATA && question->metric->rule == RTL_RULE_MAX)
        return fail(error, "'%s' has no value: the range was counted as a whole", name);
    if (error == ENODATA)
        return fail(error, "'%s' has no value: it is a ratio to nothing", name);
    errno = error; /* no_counter has said why */
    return -1;
}

int rtlSessionMetric(uint64_t range, const char *name, rtl_range_metric_t *metric)
{
    struct question question = {.metric = find_chosen(name)};
    if (metric == NULL)
        return fail(EINVAL, "there is no place for the metric");
    if (question.metric == NULL)
        return fail(EINVAL, "rtlSessionMetrics did not name the metric '%s'",
                    name != NULL ? name : "");
    int error = range != 0 ? rtl_session_look(range, answer, &question) : ENOENT;
    if (error != 0)
        return no_value(range, &question, error);
    *metric = (rtl_range_metric_t){
        .name = question.metric->name,
        .unit = question.metric->unit,
        .rule = rtl_rule_name(question.metric->rule),
        .formula = question.metric->formula,
        .value = question.value.number,
        .exact = question.value.whole ? question.value.exact : 0,
        .counted = question.counted,
        .shared = (question.flags & RTL_SAMPLE_SHARED) != 0,
    };
    return 0;
}
