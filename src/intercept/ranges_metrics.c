/*
 * Metrics of a session's ranges: which ones there are to be, and what they are.
 */
#include "common/counters.h"
#include "common/metrics.h"
#include "intercept/ranges_session.h"

#include <rtl/rtl_session.h>

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
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

void rtl_session_metrics_forked(void)
{
    pthread_mutex_init(&lock, NULL);
}

/* ---- sentences ---- */

__attribute__((format(printf, 2, 3))) static int fail(int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&lock);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    pthread_mutex_unlock(&lock);
    va_end(arguments);
    errno = error;
    return -1;
}

size_t rtlSessionError(char *to, size_t size)
{
    pthread_mutex_lock(&lock);
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

static int add(struct chosen *wanted, const char *name)
{
    const struct rtl_metric *metric = rtl_metric_find(name);
    if (metric == NULL)
        return no_metric(name);
    if (rtl_metric_is_counted(metric))
        return fail(ENOTSUP, "'%s' needs hardware counters, which sessions do not read", name);
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

int rtlSessionMetrics(const char *names)
{
    struct chosen wanted = {.count = 0};
    if (read_names(&wanted, names) != 0)
        return -1;
    if (rtl_session_want_shapes(wanted.count > 0) != 0)
        return fail(EBUSY, "metrics are chosen before the session begins");
    pthread_mutex_lock(&lock);
    chosen = wanted;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- telling ---- */

static const struct rtl_metric *find_chosen(const char *name)
{
    const struct rtl_metric *found = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; name != NULL && i < chosen.count; i++)
        if (strcmp(chosen.metrics[i]->name, name) == 0)
            found = chosen.metrics[i];
    pthread_mutex_unlock(&lock);
    return found;
}

static int no_range(uint64_t range, int error)
{
    if (error == ESRCH)
        return fail(error, "there is no session");
    if (error == ENOMEM)
        return fail(error, "memory is short");
    return fail(error, "the session has no range %llu that has ended", (unsigned long long)range);
}

int rtlSessionMetric(uint64_t range, const char *name, rtl_range_metric_t *metric)
{
    struct rtl_quantities quantities;
    struct rtl_measure measure;
    struct rtl_value value;
    const struct rtl_metric *found = find_chosen(name);
    if (metric == NULL)
        return fail(EINVAL, "there is no place for the metric");
    if (found == NULL)
        return fail(EINVAL, "rtlSessionMetrics did not name the metric '%s'",
                    name != NULL ? name : "");
    int error = rtl_session_quantities(range, &quantities);
    if (error != 0)
        return no_range(range, error);
    if (!rtl_measure_make(&measure, found, NULL, 0) ||
        !rtl_measure_value(&measure, &quantities, NULL, &value))
        return fail(ENODATA, "'%s' has no value: it is a ratio to nothing", found->name);
    *metric = (rtl_range_metric_t){
        .name = found->name,
        .unit = found->unit,
        .rule = rtl_rule_name(found->rule),
        .formula = found->formula,
        .value = value.number,
        .exact = value.whole ? value.exact : 0,
    };
    return 0;
}
