#include "diff/limits.h"

#include "analysis/graph_id.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/plain.h"
#include "common/say.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LISTED 20u

static const char *const kinds[] = {"steps", "graphs", "kernels"};
static const char family_prefix[] = "family:";

/* Reads "3 %", with blanks around. False if it is something else. */
static bool read_percent(const char *text, double *percent)
{
    char *end;
    *percent = strtod(text, &end);
    bool told = end != text && isfinite(*percent) && *percent >= 0;
    end += strspn(end, " ");
    return told && strcmp(end, "%") == 0 && text[strspn(text, " 0123456789.%")] == '\0';
}

static bool is_given(const struct diff_limits *limits, const struct diff_limit *limit)
{
    for (size_t i = 0; i < limits->count; ++i) {
        const struct diff_limit *other = &limits->list[i];
        if (other->what == limit->what && (!limit->name || strcmp(other->name, limit->name) == 0))
            return true;
    }
    return false;
}

/* What is before the sign; the name is a copy. False if there is none. */
static bool read_name(const char *text, size_t length, struct diff_limit *limit)
{
    while (length > 0 && text[length - 1] == ' ')
        --length;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strlen(kinds[i]) == length && strncmp(text, kinds[i], length) == 0) {
            limit->what = (enum diff_limited)i;
            return true;
        }
    limit->what = LIMIT_PHASE;
    if (strncmp(text, family_prefix, sizeof family_prefix - 1) == 0) {
        limit->what = LIMIT_FAMILY;
        text += sizeof family_prefix - 1;
        length = length < sizeof family_prefix ? 0 : length - (sizeof family_prefix - 1);
    }
    if (length == 0)
        return false;
    limit->name = memory_new(length + 1, 1);
    memcpy(limit->name, text, length);
    return true;
}

int diff_limits_add(struct diff_limits *limits, const char *text)
{
    struct diff_limit limit = {0};
    const char *begin = text + strspn(text, " ");
    const char *sign = strrchr(begin, '>');
    if (!sign || !read_percent(sign + 1, &limit.percent) ||
        !read_name(begin, (size_t)(sign - begin), &limit))
        return say_fail(EINVAL,
                        "'%s' is nothing for --fail-if: it is such as 'steps > 3%%', "
                        "'graphs > 3%%', 'kernels > 10%%', 'family:gemm > 3%%' or, of a phase, "
                        "'graph 2 > 3%%'",
                        plain(text));
    if (is_given(limits, &limit)) {
        int status = say_fail(EINVAL, "--fail-if is given twice for %s%s",
                              limit.what == LIMIT_FAMILY ? family_prefix : "",
                              limit.name ? plain(limit.name) : kinds[limit.what]);
        free(limit.name);
        return status;
    }
    limits->list = memory_grown(limits->list, limits->count + 1, sizeof *limits->list);
    limits->list[limits->count++] = limit;
    return 0;
}

/* What a limit is about. */

static bool is_compared(const struct diff_phase *row)
{
    return row->in[0] && row->in[1];
}

/* A phase by its number in `rtl steps` of the first run, or by its name. */
static bool is_phase(const struct diff *diff, const struct diff_phase *row, const char *name)
{
    char number[24];
    (void)snprintf(number, sizeof number, "%zu", row->number);
    return is_compared(row) && (strcmp(name, number) == 0 ||
                                strcmp(name, diff_phase_first(&diff->runs, row, 0)->name) == 0);
}

static bool is_family(const struct diff_family *family, const char *name)
{
    return family->in[0] && family->in[1] && strcmp(name, family->family) == 0;
}

static bool is_there(const struct diff *diff, const struct diff_limit *limit)
{
    bool any = false;
    for (size_t i = 0; i < diff->kernels.count && limit->what == LIMIT_KERNELS; ++i)
        any |= diff_kernel_in_both(&diff->kernels.list[i]);
    for (size_t i = 0; i < diff->graphs.count && limit->what == LIMIT_GRAPHS; ++i)
        any |= diff->graphs.list[i].timed;
    for (size_t i = 0; i < diff->families.count && limit->what == LIMIT_FAMILY; ++i)
        any |= is_family(&diff->families.list[i], limit->name);
    for (size_t i = 0; i < diff->steps.count && limit->what == LIMIT_STEPS; ++i)
        any |= is_compared(&diff->steps.list[i]);
    for (size_t i = 0; i < diff->steps.count && limit->what == LIMIT_PHASE; ++i)
        any |= is_phase(diff, &diff->steps.list[i], limit->name);
    return any;
}

/* Lists of names for the sentence. */
struct names {
    FILE *out;
    size_t count;
};

static void add_name(struct names *names, const char *before, const char *name, const char *after)
{
    if (names->count++ < MOST_LISTED)
        (void)fprintf(names->out, "%s%s%s%s", names->count > 1 ? ", " : "", before, plain(name),
                      after);
}

static void list_phases(const struct diff *diff, struct names *names)
{
    for (size_t i = 0; i < diff->steps.count; ++i) {
        const struct diff_phase *row = &diff->steps.list[i];
        char number[32];
        (void)snprintf(number, sizeof number, "%zu (", row->number);
        if (is_compared(row))
            add_name(names, number, diff_phase_first(&diff->runs, row, 0)->name, ")");
    }
}

/* A family may be in several phases. */
static void list_families(const struct diff_families *families, struct names *names)
{
    for (size_t i = 0; i < families->count; ++i) {
        const struct diff_family *family = &families->list[i];
        bool again = false;
        for (size_t k = 0; k < i; ++k)
            again |= is_family(&families->list[k], family->family);
        if (!again && is_family(family, family->family))
            add_name(names, "", family->family, "");
    }
}

static int fail_unknown(const struct diff *diff, const struct diff_limit *limit)
{
    char *text = NULL;
    size_t size;
    struct names names = {open_memstream(&text, &size), 0};
    if (!names.out)
        memory_is_short();
    if (limit->what == LIMIT_PHASE)
        list_phases(diff, &names);
    else
        list_families(&diff->families, &names);
    if (names.count > MOST_LISTED)
        (void)fprintf(names.out, " and %zu more", names.count - MOST_LISTED);
    if (fclose(names.out) != 0)
        memory_is_short();
    const char *what = limit->what == LIMIT_PHASE ? "phase" : "family";
    int status = names.count
                     ? say_fail(EXIT_USAGE, "--fail-if: the traces have no %s '%s' in common: %s",
                                what, plain(limit->name), text)
                     : say_fail(EXIT_USAGE,
                                "--fail-if: the traces have no %s '%s' in common, and no other one",
                                what, plain(limit->name));
    free(text);
    return status;
}

int diff_limits_check(const struct diff_limits *limits, const struct diff *diff)
{
    for (size_t i = 0; i < limits->count; ++i) {
        const struct diff_limit *limit = &limits->list[i];
        if (is_there(diff, limit))
            continue;
        if (limit->what == LIMIT_FAMILY || limit->what == LIMIT_PHASE)
            return fail_unknown(diff, limit);
        return say_fail(EXIT_USAGE, "--fail-if: the traces have no %s in common",
                        kinds[limit->what]);
    }
    return EXIT_FINE;
}

/* Says it if something got slower by more than its limit; true if so. */
static bool is_beyond(const struct diff_limit *limit, const char *kind, const char *name,
                      const struct comparison *one)
{
    double change = diff_percent(one->difference, one->a);
    if (one->verdict != COMPARE_SLOWER || change <= limit->percent)
        return false;
    say("%s: %s got slower by %.1f %%, more than %g %%", kind, plain(name), change, limit->percent);
    return true;
}

static bool kernels_fail(const struct diff *diff, const struct diff_limit *limit)
{
    bool failed = !diff_runs_single(&diff->runs) &&
                  is_beyond(limit, "kernels", "all together", &diff->kernels.compared_totals);
    for (size_t i = 0; i < diff->kernels.count; ++i) {
        const struct diff_kernel *kernel = &diff->kernels.list[i];
        if (diff_kernel_in_both(kernel))
            failed |= is_beyond(limit, "kernels", diff->kernels.names.list[kernel->name],
                                &kernel->comparison);
    }
    return failed;
}

static bool graphs_fail(const struct diff *diff, const struct diff_limit *limit)
{
    bool failed = false;
    for (size_t i = 0; i < diff->graphs.count; ++i) {
        const struct diff_graph *graph = &diff->graphs.list[i];
        if (!graph->timed)
            continue;
        size_t run = diff_graph_run(&diff->runs, graph, 0);
        struct graph_name name = graph_id_name(diff->runs.traces[run], graph->graph[run]->process,
                                               graph->graph[run]->graph);
        failed |= is_beyond(limit, "graphs", name.text, &graph->comparison);
    }
    return failed;
}

/* The steps, and what the GPU does in them, which waits of the host may hide. */
static bool phase_fails(const struct diff *diff, const struct diff_phase *row,
                        const struct diff_limit *limit)
{
    const char *name = diff_phase_first(&diff->runs, row, 0)->name;
    bool failed = is_beyond(limit, "steps", name, &row->step);
    for (unsigned kind = 0; kind < ACTIVITY_IDLE; ++kind) {
        char what[64];
        (void)snprintf(what, sizeof what, "%s in steps", activity_label(kind));
        failed |= is_beyond(limit, what, name, &row->parts[kind]);
    }
    return failed;
}

static bool steps_fail(const struct diff *diff, const struct diff_limit *limit)
{
    bool failed = false;
    for (size_t i = 0; i < diff->steps.count; ++i) {
        const struct diff_phase *row = &diff->steps.list[i];
        if (limit->what == LIMIT_STEPS ? is_compared(row) : is_phase(diff, row, limit->name))
            failed |= phase_fails(diff, row, limit);
    }
    return failed;
}

static bool families_fail(const struct diff *diff, const struct diff_limit *limit)
{
    bool failed = false;
    for (size_t i = 0; i < diff->families.count; ++i) {
        const struct diff_family *family = &diff->families.list[i];
        char kind[128] = "families";
        if (family->phase)
            (void)snprintf(kind, sizeof kind, "families of %s",
                           diff_phase_first(&diff->runs, family->phase, 0)->name);
        if (is_family(family, limit->name))
            failed |= is_beyond(limit, plain(kind), family->family, &family->comparison);
    }
    return failed;
}

int diff_limits_judge(const struct diff_limits *limits, const struct diff *diff)
{
    bool failed = false;
    for (size_t i = 0; i < limits->count; ++i) {
        const struct diff_limit *limit = &limits->list[i];
        switch (limit->what) {
        case LIMIT_KERNELS:
            failed |= kernels_fail(diff, limit);
            break;
        case LIMIT_GRAPHS:
            failed |= graphs_fail(diff, limit);
            break;
        case LIMIT_FAMILY:
            failed |= families_fail(diff, limit);
            break;
        default:
            failed |= steps_fail(diff, limit);
            break;
        }
    }
    return failed ? EXIT_DIFFERENT : EXIT_FINE;
}

void diff_limits_free(struct diff_limits *limits)
{
    for (size_t i = 0; i < limits->count; ++i)
        free(limits->list[i].name);
    free(limits->list);
    *limits = (struct diff_limits){0};
}
