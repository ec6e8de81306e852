#include "diff/steps.h"

#include "analysis/steps_measure.h"
#include "common/command.h"
#include "common/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_CHANGE    0.25 /* of counts a step: less is a call on the border of a step */
#define BORDER_VARIANCE 0.25 /* of what is in a step or not, as chance has it */

/* Phases that are matched. */
struct phases {
    struct phase **list;
    const struct steps_thread **threads;
    size_t *match; /* SIZE_MAX: none */
    bool *by_time; /* matched so */
    size_t count;
};

/* Rows of phases that match. */
struct rows {
    struct diff_phase *list;
    size_t count;
};

static struct phases phases_new(size_t count)
{
    struct phases phases = {
        memory_new(count, sizeof(struct phase *)), memory_new(count, sizeof(struct steps_thread *)),
        memory_new(count, sizeof(size_t)), memory_new(count, sizeof(bool)), count};
    for (size_t i = 0; i < count; ++i)
        phases.match[i] = SIZE_MAX;
    return phases;
}

static void phases_free(struct phases *phases)
{
    free(phases->list);
    free(phases->threads);
    free(phases->match);
    free(phases->by_time);
}

static size_t phases_in(const struct steps *steps)
{
    size_t count = 0;
    for (size_t i = 0; i < steps->count; ++i)
        count += steps->threads[i].phase_count;
    return count;
}

/* The phases of a trace, of all its threads. */
static struct phases phases_of(const struct steps *steps)
{
    struct phases phases = phases_new(phases_in(steps));
    size_t at = 0;
    for (size_t i = 0; i < steps->count; ++i)
        for (size_t k = 0; k < steps->threads[i].phase_count; ++k) {
            phases.threads[at] = &steps->threads[i];
            phases.list[at++] = &steps->threads[i].phases[k];
        }
    return phases;
}

/* The first phase of each of these rows. */
static struct phases phases_first(const struct diff_phase *rows, size_t count, size_t runs)
{
    struct phases phases = phases_new(count);
    for (size_t i = 0; i < count; ++i)
        for (size_t run = 0; run < runs && !phases.list[i]; ++run) {
            phases.list[i] = rows[i].phase[run];
            phases.threads[i] = rows[i].thread[run];
        }
    return phases;
}

/* The largest of the other's that is left and may be the same. */
static size_t partner(const struct phases *others, const struct phase *phase, bool same)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < others->count; ++i) {
        const struct phase *other = others->list[i];
        bool fits = same ? other->key == phase->key
                         : other->launches * phase->steps == phase->launches * other->steps;
        if (fits && others->match[i] == SIZE_MAX &&
            (best == SIZE_MAX ||
             (!same && other->duration.total > others->list[best]->duration.total)))
            best = i;
    }
    return best;
}

/* The largest that is left, SIZE_MAX if none is. */
static size_t largest(const struct phases *phases, const bool *tried)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < phases->count; ++i)
        if (phases->match[i] == SIZE_MAX && !tried[i] &&
            (best == SIZE_MAX ||
             phases->list[i]->duration.total > phases->list[best]->duration.total))
            best = i;
    return best;
}

static void pair_up(struct phases *sides, size_t place, bool same)
{
    size_t other = partner(&sides[1], sides[0].list[place], same);
    if (other == SIZE_MAX)
        return;
    sides[0].match[place] = other;
    sides[1].match[other] = place;
    sides[1].by_time[other] = !same;
}

static void match(struct phases sides[2])
{
    bool *tried = memory_new(sides[0].count, sizeof *tried);
    for (size_t i = 0; i < sides[0].count; ++i)
        pair_up(sides, i, true);
    for (size_t i; (i = largest(&sides[0], tried)) != SIZE_MAX;) {
        tried[i] = true;
        pair_up(sides, i, false);
    }
    free(tried);
}

static struct diff_phase *add_row(struct rows *rows, size_t number, size_t runs)
{
    struct diff_phase *row = &rows->list[rows->count++];
    *row = (struct diff_phase){.phase = memory_new(runs, sizeof(struct phase *)),
                               .thread = memory_new(runs, sizeof(struct steps_thread *)),
                               .number = number};
    return row;
}

/* Puts the phases of a run into the rows from `begin` on, which are of its side. */
static void add_run(struct rows *rows, size_t begin, const struct steps *steps, size_t run,
                    size_t runs)
{
    struct phases sides[2] = {phases_first(rows->list + begin, rows->count - begin, runs),
                              phases_of(steps)};
    match(sides);
    for (size_t i = 0; i < sides[1].count; ++i) {
        size_t place = sides[1].match[i];
        struct diff_phase *row =
            place == SIZE_MAX ? add_row(rows, i + 1, runs) : &rows->list[begin + place];
        row->phase[run] = sides[1].list[i];
        row->thread[run] = sides[1].threads[i];
    }
    phases_free(&sides[0]);
    phases_free(&sides[1]);
}

static void free_row(struct diff_phase *row)
{
    free(row->phase);
    free(row->thread);
}

/* Matches the rows of the two sides, the second's from `middle` on. */
static void join_sides(struct rows *rows, size_t middle, const struct diff_runs *runs)
{
    size_t all = diff_runs_all(runs);
    struct phases sides[2] = {
        phases_first(rows->list, middle, all),
        phases_first(rows->list + middle, rows->count - middle, all),
    };
    match(sides);
    size_t kept = middle;
    for (size_t i = 0; i < sides[1].count; ++i) {
        struct diff_phase *other = &rows->list[middle + i];
        if (sides[1].match[i] == SIZE_MAX) {
            rows->list[kept++] = *other;
            continue;
        }
        struct diff_phase *row = &rows->list[sides[1].match[i]];
        row->other_kernels = sides[1].by_time[i];
        for (size_t run = runs->begin[1]; run < all; ++run) {
            row->phase[run] = other->phase[run];
            row->thread[run] = other->thread[run];
        }
        free_row(other);
    }
    rows->count = kept;
    phases_free(&sides[0]);
    phases_free(&sides[1]);
}

static struct rows make_rows(const struct diff_runs *runs, const struct steps *steps)
{
    size_t most = 0;
    size_t middle = 0;
    for (size_t run = 0; run < diff_runs_all(runs); ++run)
        most += phases_in(&steps[run]);
    struct rows rows = {memory_new(most, sizeof *rows.list), 0};
    for (size_t run = 0; run < diff_runs_all(runs); ++run) {
        middle = run == runs->begin[1] ? rows.count : middle;
        add_run(&rows, run < runs->begin[1] ? 0 : middle, &steps[run], run, diff_runs_all(runs));
    }
    join_sides(&rows, middle, runs);
    return rows;
}

void diff_phase_times(const struct diff_runs *runs, const struct diff_phase *row,
                      struct stats **time)
{
    for (size_t run = 0; run < diff_runs_all(runs); ++run)
        time[run] = row->phase[run] ? &row->phase[run]->duration : NULL;
}

void diff_phase_part(const struct diff_runs *runs, const struct diff_phase *row, enum activity kind,
                     struct stats **time)
{
    for (size_t run = 0; run < diff_runs_all(runs); ++run)
        time[run] = row->phase[run] ? &row->phase[run]->time[kind] : NULL;
}

/* A call, or a kernel that is in no graph, may be on the border of two steps: now in one, now in
 * the other. */
static double unsure_of(enum diff_count what, double steps)
{
    return what == DIFF_LAUNCHES || what == DIFF_IN_GRAPHS ? 0 : BORDER_VARIANCE / steps;
}

static void compare_counts(const struct diff_runs *runs, struct diff_phase *row)
{
    double means[DIFF_COUNTS][2 * DIFF_MOST_RUNS];
    double least = INFINITY; /* steps of a run */
    for (size_t run = 0; run < diff_runs_all(runs); ++run) {
        static const struct phase none = {.steps = 0};
        const struct phase *phase = row->phase[run] ? row->phase[run] : &none;
        const uint64_t sums[] = {phase->launches, phase->in_graphs, phase->eager, phase->copies,
                                 phase->calls};
        for (unsigned what = 0; what < DIFF_COUNTS; ++what)
            means[what][run] =
                phase->steps ? (double)sums[what] / (double)phase->steps : (double)NAN;
        least = phase->steps ? fmin(least, (double)phase->steps) : least;
    }
    for (enum diff_count what = DIFF_LAUNCHES; what < DIFF_COUNTS; ++what)
        diff_runs_compare_numbers(runs, means[what], unsure_of(what, least), &row->counts[what]);
}

/* A family: what is said of all phases and their parts is said together; another: their counts. */
static void compare_all(const struct diff_runs *runs, struct diff_steps *steps)
{
    struct comparison **times =
        memory_new(steps->count * (ACTIVITIES + 1), sizeof(struct comparison *));
    struct comparison **counts =
        memory_new(steps->count * DIFF_COUNTS, sizeof(struct comparison *));
    size_t time_count = 0;
    size_t count_count = 0;
    for (size_t i = 0; i < steps->count; ++i) {
        struct diff_phase *row = &steps->list[i];
        struct stats *time[2 * DIFF_MOST_RUNS];
        for (size_t run = 0; run < diff_runs_all(runs); ++run)
            row->in[run >= runs->begin[1]] |= row->phase[run] != NULL;
        if (!row->in[0] || !row->in[1])
            continue;
        diff_phase_times(runs, row, time);
        diff_runs_compare(runs, time, COMPARE_WALL, &row->step);
        times[time_count++] = &row->step;
        for (enum activity kind = ACTIVITY_GRAPH; kind < ACTIVITIES; ++kind) {
            diff_phase_part(runs, row, kind, time);
            diff_runs_compare(runs, time, kind == ACTIVITY_IDLE ? COMPARE_WALL : COMPARE_WORK,
                              &row->parts[kind]);
            times[time_count++] = &row->parts[kind];
        }
        compare_counts(runs, row);
        for (unsigned what = 0; what < DIFF_COUNTS; ++what)
            counts[count_count++] = &row->counts[what];
    }
    compare_family(times, time_count);
    compare_family(counts, count_count);
    free(times);
    free(counts);
}

static int find(const struct diff_runs *runs, size_t run, struct steps_choice choice,
                struct steps *steps)
{
    int status = steps_by_find(runs->traces[run], runs->paths[run], &choice, steps);
    if (status != EXIT_FINE)
        return status;
    if (steps->count == 0 && choice.by != STEPS_BY_AUTO)
        return steps_by_none(runs->traces[run], runs->paths[run], &choice, steps);
    return steps_measure(runs->traces[run], steps) == RTL_OK ? EXIT_FINE : diff_runs_failed(runs);
}

int diff_steps_read(const struct diff_runs *runs, const struct steps_choice *choice,
                    struct family_rules *rules, struct diff_steps *steps)
{
    *steps = (struct diff_steps){.steps = memory_new(diff_runs_all(runs), sizeof *steps->steps)};
    for (size_t run = 0; run < diff_runs_all(runs); ++run) {
        steps->steps[run].families = (struct steps_families){.rules = rules, .each_step = true};
        int status = find(runs, run, *choice, &steps->steps[run]);
        if (status != EXIT_FINE)
            return status;
    }
    struct rows rows = make_rows(runs, steps->steps);
    steps->list = rows.list;
    steps->count = rows.count;
    compare_all(runs, steps);
    return EXIT_FINE;
}

struct phase *diff_phase_first(const struct diff_runs *runs, const struct diff_phase *row,
                               unsigned side)
{
    size_t run = runs->begin[side];
    while (!row->phase[run])
        ++run;
    return row->phase[run];
}

bool diff_phase_other_count(const struct diff_runs *runs, const struct diff_phase *row,
                            enum diff_count what)
{
    const struct comparison *count = &row->counts[what];
    double change = fabs(count->difference);
    if (!row->in[0] || !row->in[1] || change < LEAST_CHANGE || change <= 0.01 * count->a)
        return false;
    if (diff_runs_single(runs)) /* of a few steps it is no more than one call on a border */
        return diff_phase_first(runs, row, 0)->steps >= COMPARE_LEAST &&
               diff_phase_first(runs, row, 1)->steps >= COMPARE_LEAST;
    return count->verdict == COMPARE_SLOWER || count->verdict == COMPARE_FASTER;
}

void diff_steps_free(const struct diff_runs *runs, struct diff_steps *steps)
{
    for (size_t run = 0; steps->steps && run < diff_runs_all(runs); ++run)
        steps_free(&steps->steps[run]);
    for (size_t i = 0; i < steps->count; ++i)
        free_row(&steps->list[i]);
    free(steps->steps);
    free(steps->list);
    *steps = (struct diff_steps){0};
}
