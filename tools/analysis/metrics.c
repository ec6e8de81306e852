#include "analysis/metrics.h"

#include "analysis/metrics_names.h"
#include "common/command.h"
#include "common/counters.h"
#include "common/say.h"
#include "common/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MOST_NEAR 3u
#define FAR_OFF   3u /* changes of letters after which a name is another one */

int metrics_add(struct metrics *metrics, const struct rtl_metric *metric)
{
    for (size_t i = 0; i < metrics->count; ++i)
        if (metrics->list[i] == metric)
            return 0;
    if (metrics->count == METRICS_MOST)
        return say_fail(EINVAL, "too many metrics for --metrics: %u are the most", METRICS_MOST);
    metrics->list[metrics->count++] = metric;
    return 0;
}

/* Metrics first, then counters; the nearest of each first. */
static size_t find_near(const char *name, const char **near)
{
    size_t count;
    size_t found = 0;
    const struct rtl_metric *metrics = rtl_metrics(&count);
    for (unsigned distance = 0; distance <= FAR_OFF; ++distance)
        for (size_t i = 0; i < count && found < MOST_NEAR; ++i)
            if (rtl_word_distance(name, metrics[i].name) == distance)
                near[found++] = metrics[i].name;
    return found + rtl_counters_near(name, near + found, MOST_NEAR - found);
}

/* 0 if nothing here is known by the name. */
static int say_elsewhere(const char *name)
{
    struct metrics_elsewhere found;
    if (!metrics_named_elsewhere(name, &found))
        return 0;
    if (!found.metric)
        return say_fail(EINVAL, "there is no metric '%s', but the counters that it is made of: %s",
                        name, found.counters);
    if (found.unit)
        return say_fail(EINVAL, "'%s' is '%s' here, in %s and not in %s", name, found.metric->name,
                        found.metric->unit, found.unit);
    return say_fail(EINVAL, "'%s' is '%s' here%s%s", name, found.metric->name,
                    found.differs ? ", " : "", found.differs ? found.differs : "");
}

static int no_metric(const char *name)
{
    const char *near[MOST_NEAR];
    char list[512] = "";
    size_t used = 0;
    if (strpbrk(name, " \t;"))
        return say_fail(EINVAL,
                        "there is no metric '%s': commas alone part them, such as "
                        "l2_hit,SQ_WAVES",
                        name);
    int said = say_elsewhere(name);
    if (said)
        return said;
    size_t found = find_near(name, near);
    for (size_t i = 0; i < found; ++i)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", i ? " or " : "", near[i]);
    if (found > 0)
        return say_fail(EINVAL, "there is no metric '%s', did you mean %s?", name, list);
    return say_fail(EINVAL, "there is no metric '%s', see --metrics list", name);
}

int metrics_parse(struct metrics *metrics, const char *text)
{
    int status = 0;
    while (status == 0 && *text != '\0') {
        char name[128];
        size_t length = strcspn(text, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)length, text);
        text += length + (text[length] == ',');
        const struct rtl_metric *metric = rtl_metric_find(name);
        if (length > 0)
            status = metric ? metrics_add(metrics, metric) : no_metric(name);
    }
    if (status == 0 && metrics->count == 0)
        return say_fail(EINVAL, "no metric was named for --metrics");
    return status;
}

size_t metrics_counted(const struct metrics *metrics)
{
    size_t count = 0;
    for (size_t i = 0; i < metrics->count; ++i)
        count += rtl_metric_is_counted(metrics->list[i]);
    return count;
}

static void show_metrics(void)
{
    static const char *const heading[] = {"metric", "unit", "rule", "formula"};
    size_t count;
    const struct rtl_metric *metrics = rtl_metrics(&count);
    struct table *table = table_new("llll");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < count; ++i) {
        table_cell(table, metrics[i].name);
        table_cell(table, metrics[i].unit);
        table_cell(table, rtl_rule_name(metrics[i].rule));
        table_cell(table, metrics[i].formula);
    }
    table_print(table, stdout);
}

static void show_counters(void)
{
    static const char *const heading[] = {"counter", "unit", "what it counts"};
    size_t count;
    const struct rtl_counter *counters = rtl_counters(&count);
    struct table *table = table_new("lll");
    for (size_t i = 0; i < sizeof heading / sizeof heading[0]; ++i)
        table_cell(table, heading[i]);
    for (size_t i = 0; i < count; ++i) {
        if (i > 0 && strcmp(counters[i].name, counters[i - 1].name) == 0)
            continue;
        table_cell(table, counters[i].name);
        table_cell(table, counters[i].unit);
        table_cell(table, counters[i].text);
    }
    table_print(table, stdout);
}

int metrics_show(void)
{
    show_metrics();
    (void)printf("\nhardware counters, each a metric by its own name (rule: sum):\n");
    show_counters();
    (void)printf("\nwhat other tools call metrics (NAME_sum of a counter is NAME here):\n");
    metrics_show_names();
    return EXIT_FINE;
}
