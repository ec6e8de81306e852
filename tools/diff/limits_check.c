/* Whether traces can be held to limits. */
#include "common/command.h"
#include "common/memory.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/show.h"
#include "diff/limits.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LISTED 20u

/* Of what a limit is about: what both sides have, and what of it can be judged. */
struct found {
    size_t there, judged;
};

static void add(struct found *found, bool there, const struct comparison *one)
{
    found->there += there;
    found->judged += there && one->verdict != COMPARE_TOO_FEW;
}

/* How often something was called is exact, with one run a side as well. */
static struct found find_totals(const struct diff_kernels *kernels, enum diff_limited what)
{
    struct found found = {0};
    bool both = kernels->calls[0] > 0 && kernels->calls[1] > 0;
    add(&found, both, &kernels->compared_totals);
    found.judged = what == LIMIT_COUNT ? found.there : found.judged;
    return found;
}

static struct found find(const struct diff *diff, const struct diff_limit *limit)
{
    struct found found = {0};
    if (limit->what == LIMIT_TOTAL || limit->what == LIMIT_COUNT)
        return find_totals(&diff->kernels, limit->what);
    for (size_t i = 0; i < diff->kernels.count && limit->what == LIMIT_KERNELS; ++i)
        add(&found, diff_kernel_in_both(&diff->kernels.list[i]), &diff->kernels.list[i].comparison);
    if (limit->what == LIMIT_KERNELS) /* of several runs, with their sum */
        found.judged += diff->kernels.compared_totals.verdict != COMPARE_TOO_FEW;
    for (size_t i = 0; i < diff->graphs.count && limit->what == LIMIT_GRAPHS; ++i)
        add(&found, diff->graphs.list[i].timed, &diff->graphs.list[i].comparison);
    for (size_t i = 0; i < diff->families.count; ++i)
        add(&found, diff_limit_has_family(limit, &diff->families.list[i]),
            &diff->families.list[i].comparison);
    for (size_t i = 0; i < diff->steps.count; ++i)
        add(&found, diff_limit_has_phase(diff, limit, &diff->steps.list[i]),
            &diff->steps.list[i].step);
    return found;
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
        if (row->in[0] && row->in[1])
            add_name(names, number, diff_phase_first(&diff->runs, row, 0)->name, ")");
    }
}

/* A family may be in several phases. */
static bool is_same(const struct diff_family *one, const struct diff_family *other)
{
    return one->in[0] && one->in[1] && strcmp(one->family, other->family) == 0;
}

static void list_families(const struct diff_families *families, struct names *names)
{
    for (size_t i = 0; i < families->count; ++i) {
        const struct diff_family *family = &families->list[i];
        bool again = !family->in[0] || !family->in[1];
        for (size_t k = 0; k < i; ++k)
            again |= is_same(&families->list[k], family);
        if (!again)
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

static int fail_absent(const struct diff *diff, const struct diff_limit *limit)
{
    const char *prefix;
    if (limit->what == LIMIT_FAMILY || limit->what == LIMIT_PHASE)
        return fail_unknown(diff, limit);
    const char *name = diff_limit_name(limit, &prefix);
    bool totals = limit->what == LIMIT_TOTAL || limit->what == LIMIT_COUNT;
    return say_fail(EXIT_USAGE, "--fail-if: the traces have no %s in common",
                    totals ? "kernels" : name);
}

/* Whether its value is compared by the spread between runs alone. */
static bool wants_runs(const struct diff *diff, const struct diff_limit *limit)
{
    return limit->what != LIMIT_KERNELS &&
           (limit->what != LIMIT_FAMILY || !diff->families.by_steps);
}

static int fail_unsure(const struct diff *diff, const struct diff_limit *limit)
{
    const char *prefix;
    const char *name = plain(diff_limit_name(limit, &prefix));
    if (diff_runs_single(&diff->runs) && wants_runs(diff, limit))
        return say_fail(EXIT_USAGE,
                        "--fail-if %s%s needs several runs a side, rtl diff A A A -- B B B: one "
                        "run does not tell what the next one of the same program would take "
                        "(kernels and count can be judged by one)",
                        prefix, name);
    return say_fail(EXIT_USAGE,
                    "--fail-if %s%s cannot be judged: it takes %u durations on each side, and "
                    "there are fewer",
                    prefix, name, COMPARE_LEAST);
}

/* Durations and counts of what was lost are not there: a limit would pass without them. */
static int check_whole(const struct diff *diff)
{
    size_t lacking = 0;
    size_t first = 0;
    char others[64] = "";
    for (size_t i = diff_runs_all(&diff->runs); i-- > 0;)
        if (diff_whole_lacks(&diff->whole[i])) {
            ++lacking;
            first = i;
        }
    if (lacking == 0)
        return EXIT_FINE;
    if (lacking > 1)
        (void)snprintf(others, sizeof others, " (nor %s %s)", lacking == 2 ? "is" : "are",
                       show_things(lacking - 1, "other").text);
    return say_fail(EXIT_USAGE, "--fail-if wants complete traces, and %s is not%s: %s",
                    plain(diff->runs.paths[first]), others, plain(diff->whole[first].line));
}

int diff_limits_check(const struct diff_limits *limits, const struct diff *diff)
{
    int status = limits->count ? check_whole(diff) : EXIT_FINE;
    for (size_t i = 0; i < limits->count && status == EXIT_FINE; ++i) {
        struct found found = find(diff, &limits->list[i]);
        if (found.there == 0)
            status = fail_absent(diff, &limits->list[i]);
        else if (found.judged == 0)
            status = fail_unsure(diff, &limits->list[i]);
    }
    return status;
}
