#include "intercept/counters/plan.h"

#include "common/metrics.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LONGEST_NAME 128u
#define NEAR         3u

/* The next of names with commas between them; false at their end, or (cut) if it is too long. */
static bool next_name(const char **names, char name[LONGEST_NAME])
{
    const char *at = *names + strspn(*names, ", ");
    size_t length = strcspn(at, ", ");
    *names = at + length;
    if (length == 0)
        return false;
    size_t kept = length < LONGEST_NAME ? length : LONGEST_NAME - 1;
    memcpy(name, at, kept);
    name[kept] = '\0';
    return true;
}

bool rtl_counters_are_wanted(const char *names)
{
    char name[LONGEST_NAME];
    while (next_name(&names, name)) {
        const struct rtl_metric *metric = rtl_metric_find(name);
        if (metric == NULL || rtl_metric_is_counted(metric))
            return true;
    }
    return false;
}

static bool fail(struct rtl_counters_plan *plan, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(struct rtl_counters_plan *plan, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is the line above
    (void)vsnprintf(plan->problem, sizeof plan->problem, format, arguments);
    va_end(arguments);
    plan->count = 0;
    plan->passes = 0;
    return false;
}

static bool unknown(struct rtl_counters_plan *plan, const char *name)
{
    const char *near[NEAR];
    char list[3 * LONGEST_NAME] = "";
    size_t count = rtl_counters_near(name, near, NEAR);
    for (size_t i = 0, length = 0; i < count && length < sizeof list; i++)
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%s",
                                   i == 0 ? " (near: " : ", ", near[i]);
    return fail(plan, "there is no metric or hardware counter '%s'%s%s", name, list,
                count > 0 ? ")" : "");
}

/* ---- passes ---- */

/* How many counters of a block a pass has. */
static uint32_t used(const struct rtl_counters_plan *plan, uint32_t pass, uint32_t block)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        count += plan->counters[i].pass == pass && plan->counters[i].counter->block == block;
    return count;
}

static bool is_planned(const struct rtl_counters_plan *plan, const struct rtl_counter *counter)
{
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->counters[i].counter == counter)
            return true;
    return false;
}

static uint32_t slots_of(const struct rtl_counters_device *device,
                         const struct rtl_counter *counter)
{
    uint32_t slots = device->slots(device->context, counter->block, counter->event);
    return slots > 0 ? slots : 1;
}

static void put(struct rtl_counters_plan *plan, const struct rtl_counter *counter, uint32_t pass,
                const struct rtl_counters_device *device)
{
    uint32_t instances = device->instances(device->context, counter->block);
    plan->counters[plan->count++] = (struct rtl_planned_counter){
        .counter = counter, .instances = instances > 0 ? instances : 1, .pass = pass};
    if (pass + 1 > plan->passes)
        plan->passes = pass + 1;
}

/* Puts counters into a pass; false (and nothing is put) if they do not all fit. */
static bool fit(struct rtl_counters_plan *plan, const struct rtl_counter *const *counters,
                uint32_t count, uint32_t pass, const struct rtl_counters_device *device)
{
    uint32_t before = plan->count;
    uint32_t passes = plan->passes;
    for (uint32_t i = 0; i < count; i++) {
        if (used(plan, pass, counters[i]->block) >= slots_of(device, counters[i])) {
            plan->count = before;
            plan->passes = passes;
            return false;
        }
        put(plan, counters[i], pass, device);
    }
    return true;
}

/* The first pass with room for all of them: a new one at the latest, if one has room at all. */
static bool place_together(struct rtl_counters_plan *plan,
                           const struct rtl_counter *const *counters, uint32_t count,
                           const struct rtl_counters_device *device)
{
    for (uint32_t pass = 0; pass <= plan->passes; pass++)
        if (fit(plan, counters, count, pass, device))
            return true;
    return false;
}

/* ---- names ---- */

/* The counters of a metric that no metric before it has brought. */
static bool collect(struct rtl_counters_plan *plan, const char *name,
                    const struct rtl_metric *metric, const struct rtl_counters_device *device,
                    const struct rtl_counter *counters[RTL_MOST_COUNTERS], uint32_t *count)
{
    char part[RTL_COUNTER_NAME];
    for (size_t i = 0; rtl_metric_counter(metric, i, part); i++) {
        const struct rtl_counter *counter = rtl_counter_find(part, device->families);
        if (counter == NULL || !device->is_valid(device->context, counter->block, counter->event))
            return strcmp(name, part) == 0
                       ? fail(plan, "%s has no hardware counter %s", device->name, part)
                       : fail(plan, "%s has no hardware counter %s, of which %s is made",
                              device->name, part, name);
        if (is_planned(plan, counter))
            continue;
        if (plan->count + *count == RTL_MOST_COUNTERS)
            return fail(plan, "more than %u hardware counters are asked for", RTL_MOST_COUNTERS);
        counters[(*count)++] = counter;
    }
    return true;
}

static bool plan_metric(struct rtl_counters_plan *plan, const char *name,
                        const struct rtl_counters_device *device)
{
    const struct rtl_counter *counters[RTL_MOST_COUNTERS];
    uint32_t count = 0;
    const struct rtl_metric *metric = rtl_metric_find(name);
    if (metric == NULL)
        return unknown(plan, name);
    if (!collect(plan, name, metric, device, counters, &count))
        return false;
    if (!place_together(plan, counters, count, device))
        for (uint32_t i = 0; i < count; i++)
            (void)place_together(plan, &counters[i], 1, device);
    return true;
}

bool rtl_counters_make_plan(struct rtl_counters_plan *plan, const char *names,
                            const struct rtl_counters_device *device)
{
    char name[LONGEST_NAME];
    memset(plan, 0, sizeof *plan);
    while (next_name(&names, name))
        if (!plan_metric(plan, name, device))
            return false;
    return true;
}
