#include "diff/kernels.h"

#include "common/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct diff_kernel *kernel_of(struct diff_kernels *kernels, const char *name, size_t runs)
{
    size_t number = texts_number(&kernels->names, name);
    if (number == TEXTS_NONE)
        memory_is_short();
    if (number >= kernels->capacity) {
        size_t before = kernels->capacity;
        kernels->capacity = before ? 2 * before : 64;
        kernels->list = memory_grown(kernels->list, kernels->capacity, sizeof *kernels->list);
        memset(kernels->list + before, 0, (kernels->capacity - before) * sizeof *kernels->list);
    }
    kernels->count = number >= kernels->count ? number + 1 : kernels->count;
    struct diff_kernel *kernel = &kernels->list[number];
    kernel->name = number;
    if (!kernel->time)
        kernel->time = memory_new(runs, sizeof(struct stats *));
    return kernel;
}

static rtl_status_t read_run(const struct diff_runs *runs, size_t run, struct diff_kernels *kernels)
{
    rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *iter;
    rtl_kernel_t kernel;
    const char *last = NULL; /* names are the trace's, one for each kernel function */
    struct stats *time = NULL;
    rtl_status_t status = rtlTraceKernels(runs->traces[run], &all, &iter);
    if (status != RTL_OK)
        return status;
    while ((status = rtlKernelNext(iter, &kernel)) == RTL_OK) {
        if (kernel.name != last) {
            struct stats **of = kernel_of(kernels, kernel.name, diff_runs_all(runs))->time + run;
            *of = *of ? *of : memory_new(1, sizeof **of);
            time = *of;
        }
        last = kernel.name;
        stats_add(time, kernel.end > kernel.start ? kernel.end - kernel.start : 0);
    }
    rtlKernelIterFree(iter);
    return status == RTL_END ? RTL_OK : status;
}

bool diff_kernel_in_both(const struct diff_kernel *kernel)
{
    return kernel->in[0] && kernel->in[1];
}

double diff_kernel_change(const struct diff_kernel *kernel)
{
    return kernel->total[1] - kernel->total[0];
}

static bool is_told(const struct comparison *comparison)
{
    return comparison->verdict == COMPARE_SLOWER || comparison->verdict == COMPARE_FASTER;
}

bool diff_kernel_other_count(const struct diff_runs *runs, const struct diff_kernel *kernel)
{
    if (!diff_kernel_in_both(kernel))
        return false;
    return diff_runs_single(runs) ? kernel->calls[0] != kernel->calls[1] : is_told(&kernel->count);
}

bool diff_kernel_differs(const struct diff_runs *runs, const struct diff_kernel *kernel)
{
    return !diff_kernel_in_both(kernel) || diff_kernel_other_count(runs, kernel) ||
           is_told(&kernel->comparison);
}

const char *diff_kernel_verdict(const struct diff_kernel *kernel)
{
    if (!kernel->in[0])
        return "new";
    return kernel->in[1] ? compare_name(kernel->comparison.verdict) : "gone";
}

static int by_change(const void *left, const void *right)
{
    const struct diff_kernel *a = left;
    const struct diff_kernel *b = right;
    double x = fabs(diff_kernel_change(a));
    double y = fabs(diff_kernel_change(b));
    if (x != y)
        return x < y ? 1 : -1;
    return (a->name > b->name) - (a->name < b->name);
}

/* Of all kernels, by run. */
struct sums {
    double ns[2 * DIFF_MOST_RUNS], calls[2 * DIFF_MOST_RUNS];
};

/* A run without the kernel has called it 0 times. */
static void sum_up(const struct diff_runs *runs, struct diff_kernel *kernel, struct sums *sums)
{
    double calls[2 * DIFF_MOST_RUNS] = {0};
    for (unsigned side = 0; side < 2; ++side) {
        double count = (double)diff_runs_of(runs, side);
        for (size_t run = runs->begin[side]; run < runs->begin[side + 1]; ++run) {
            const struct stats *time = kernel->time[run];
            if (!time)
                continue;
            kernel->in[side] = true;
            calls[run] = (double)time->count;
            sums->ns[run] += (double)time->total;
            sums->calls[run] += calls[run];
            kernel->calls[side] += (double)time->count / count;
            kernel->total[side] += (double)time->total / count;
        }
    }
    diff_runs_compare_numbers(runs, calls, 0, &kernel->count);
}

static void compare_all(const struct diff_runs *runs, struct diff_kernels *kernels)
{
    struct comparison **times = memory_new(kernels->count, sizeof(struct comparison *));
    struct comparison **counts = memory_new(kernels->count, sizeof(struct comparison *));
    size_t count = 0;
    for (size_t i = 0; i < kernels->count; ++i) {
        struct diff_kernel *kernel = &kernels->list[i];
        if (!diff_kernel_in_both(kernel))
            continue;
        diff_runs_compare(runs, kernel->time, COMPARE_WORK, &kernel->comparison);
        counts[count] = &kernel->count;
        times[count++] = &kernel->comparison;
    }
    compare_family(times, count);
    compare_family(counts, count);
    free(times);
    free(counts);
}

static void compare_sums(const struct diff_runs *runs, const struct sums *sums,
                         struct diff_kernels *kernels)
{
    struct comparison *const totals[] = {&kernels->compared_totals};
    struct comparison *const counts[] = {&kernels->compared_counts};
    diff_runs_compare_numbers(runs, sums->ns, 0, totals[0]);
    diff_runs_compare_numbers(runs, sums->calls, 0, counts[0]);
    compare_family(totals, 1);
    compare_family(counts, 1);
}

rtl_status_t diff_kernels_read(const struct diff_runs *runs, struct diff_kernels *kernels)
{
    struct sums sums = {{0}, {0}};
    rtl_status_t status = RTL_OK;
    *kernels = (struct diff_kernels){0};
    for (size_t run = 0; run < diff_runs_all(runs) && status == RTL_OK; ++run)
        status = read_run(runs, run, kernels);
    if (status != RTL_OK)
        return status;
    for (size_t i = 0; i < kernels->count; ++i) {
        struct diff_kernel *kernel = &kernels->list[i];
        sum_up(runs, kernel, &sums);
        for (unsigned side = 0; side < 2; ++side) {
            kernels->total[side] += kernel->total[side];
            kernels->calls[side] += kernel->calls[side];
        }
    }
    if (kernels->count)
        qsort(kernels->list, kernels->count, sizeof *kernels->list, by_change);
    compare_all(runs, kernels);
    compare_sums(runs, &sums, kernels);
    return RTL_OK;
}

void diff_kernels_free(const struct diff_runs *runs, struct diff_kernels *kernels)
{
    for (size_t i = 0; i < kernels->count; ++i) {
        struct stats **time = kernels->list[i].time;
        for (size_t run = 0; time && run < diff_runs_all(runs); ++run)
            if (time[run]) {
                stats_free(time[run]);
                free(time[run]);
            }
        free(time);
    }
    free(kernels->list);
    texts_free(&kernels->names);
    *kernels = (struct diff_kernels){0};
}
