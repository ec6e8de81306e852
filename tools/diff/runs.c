#include "diff/runs.h"

#include "common/open.h"

#include <math.h>
#include <string.h>

size_t diff_runs_of(const struct diff_runs *runs, unsigned side)
{
    return runs->begin[side + 1] - runs->begin[side];
}

size_t diff_runs_all(const struct diff_runs *runs)
{
    return runs->begin[2];
}

bool diff_runs_single(const struct diff_runs *runs)
{
    return diff_runs_all(runs) == 2;
}

bool diff_runs_open(struct diff_runs *runs)
{
    bool opened = true;
    for (size_t i = 0; i < diff_runs_all(runs) && opened; ++i) {
        runs->traces[i] = open_trace(runs->paths[i]);
        opened = runs->traces[i] != NULL;
    }
    return opened;
}

void diff_runs_close(struct diff_runs *runs)
{
    for (size_t i = 0; i < diff_runs_all(runs); ++i)
        rtlTraceClose(runs->traces[i]);
    memset(runs->traces, 0, sizeof runs->traces);
}

int diff_runs_failed(const struct diff_runs *runs)
{
    size_t failed = 0;
    while (failed + 1 < diff_runs_all(runs) && rtlTraceError(runs->traces[failed])[0] == '\0')
        ++failed;
    return open_failed(runs->traces[failed], runs->paths[failed]);
}

void diff_runs_compare(const struct diff_runs *runs, struct stats *const *time, enum compare_of of,
                       struct comparison *comparison)
{
    const struct compare_group a = {time, diff_runs_of(runs, 0)};
    const struct compare_group b = {time + runs->begin[1], diff_runs_of(runs, 1)};
    compare_runs(&a, &b, of, comparison);
}

void diff_runs_compare_numbers(const struct diff_runs *runs, const double *numbers, double unsure,
                               struct comparison *comparison)
{
    double lists[2][DIFF_MOST_RUNS];
    struct compare_numbers sides[2] = {{lists[0], 0, unsure}, {lists[1], 0, unsure}};
    for (unsigned side = 0; side < 2; ++side)
        for (size_t run = runs->begin[side]; run < runs->begin[side + 1]; ++run)
            if (!isnan(numbers[run]))
                lists[side][sides[side].count++] = numbers[run];
    compare_numbers(&sides[0], &sides[1], comparison);
}

bool diff_runs_has(const struct diff_runs *runs, struct stats *const *time, unsigned side)
{
    bool has = false;
    for (size_t run = runs->begin[side]; run < runs->begin[side + 1]; ++run)
        has |= time[run] && time[run]->count > 0;
    return has;
}

double diff_runs_median(const struct diff_runs *runs, struct stats *const *time, unsigned side)
{
    double sum = 0;
    size_t count = 0;
    for (size_t run = runs->begin[side]; run < runs->begin[side + 1]; ++run)
        if (time[run] && time[run]->count > 0) {
            sum += (double)stats_quantile(time[run], 500);
            ++count;
        }
    return count ? sum / (double)count : 0;
}

double diff_percent(double value, double before)
{
    return before > 0 ? 100 * value / before : 0;
}
