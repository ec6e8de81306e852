/*
 * What RTL adds to a process's beginning, end and memory: runs itself as a child that brings up the
 * runtime, makes a queue, runs kernels and ends.
 *
 *     bench_process KERNELS REPEATS
 *
 * Prints one line of JSON, medians over the children: ms from fork to main (the loader), from there
 * until the runtime is up, until there is a queue, what the process's threads have run in both,
 * from the end of the last kernel to the end of the process, and all together; the greatest
 * resident size in MB, and what is resident of shared and of private memory when the last kernel
 * has ended.
 */
#include "gpu.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define QUEUE_SIZE 16384u
#define BATCH      256u

/* What a child says of itself: ns of CLOCK_MONOTONIC, and kB. */
struct report {
    double main_begins, runtime_is_up, queue_is_there, cpu, last_kernel_ended;
    double peak, shared, private;
};

enum { TO_MAIN, TO_RUNTIME, TO_QUEUE, CPU, TO_END, WHOLE, PEAK, SHARED, PRIVATE, FIGURES };

static double status_kb(const char *name)
{
    char line[256];
    double value = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtod(line + strlen(name) + 1, NULL);
    if (file != NULL)
        (void)fclose(file);
    return value;
}

static int child(uint64_t kernels, int out, struct report *report)
{
    struct gpu gpu;
    struct gpu_packet packets[BATCH] = {0};
    double cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    gpu_open(&gpu);
    report->runtime_is_up = now_ns(CLOCK_MONOTONIC);
    hsa_queue_t *queue = gpu_queue(&gpu, QUEUE_SIZE);
    report->queue_is_there = now_ns(CLOCK_MONOTONIC);
    report->cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    for (uint64_t done = 0; done < kernels; done += BATCH)
        gpu_submit(&gpu, queue, packets, BATCH);
    gpu_drain(&gpu, queue);
    report->peak = status_kb("VmHWM");
    report->shared = status_kb("RssShmem");
    report->private = status_kb("RssAnon");
    report->last_kernel_ended = now_ns(CLOCK_MONOTONIC);
    if (write(out, report, sizeof *report) != (ssize_t)sizeof *report)
        return 3;
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    return 0;
}

static bool run_child(const char *self, const char *kernels, double figures[FIGURES])
{
    struct report report;
    int ends[2];
    int status = 1;
    char out[16];
    if (pipe(ends) != 0)
        return false;
    (void)snprintf(out, sizeof out, "%d", ends[1]);
    double begin = now_ns(CLOCK_MONOTONIC);
    pid_t pid = fork();
    if (pid == 0) {
        (void)execl(self, self, "child", kernels, out, (char *)NULL);
        _exit(127);
    }
    (void)close(ends[1]);
    bool told = pid > 0 && read(ends[0], &report, sizeof report) == (ssize_t)sizeof report;
    bool ended = pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
    double end = now_ns(CLOCK_MONOTONIC);
    (void)close(ends[0]);
    if (!told || !ended)
        return false;
    figures[TO_MAIN] = (report.main_begins - begin) / 1e6;
    figures[TO_RUNTIME] = (report.runtime_is_up - report.main_begins) / 1e6;
    figures[TO_QUEUE] = (report.queue_is_there - report.runtime_is_up) / 1e6;
    figures[CPU] = report.cpu / 1e6;
    figures[TO_END] = (end - report.last_kernel_ended) / 1e6;
    figures[WHOLE] = (end - begin) / 1e6;
    figures[PEAK] = report.peak / 1024;
    figures[SHARED] = report.shared / 1024;
    figures[PRIVATE] = report.private / 1024;
    return true;
}

int main(int argc, char **argv)
{
    struct report report = {.main_begins = now_ns(CLOCK_MONOTONIC)};
    if (argc == 4 && strcmp(argv[1], "child") == 0)
        return child(strtoull(argv[2], NULL, 10), atoi(argv[3]), &report);
    static const char *const names[FIGURES] = {"to_main_ms",   "to_runtime_ms", "to_queue_ms",
                                               "start_cpu_ms", "to_end_ms",     "whole_ms",
                                               "peak_mb",      "shared_mb",     "private_mb"};
    size_t repeats = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    double *all = calloc(repeats + 1, FIGURES * sizeof *all);
    if (repeats == 0 || all == NULL) {
        (void)fprintf(stderr, "usage: bench_process KERNELS REPEATS\n");
        free(all);
        return 2;
    }
    for (size_t i = 0; i < repeats; i++) {
        double figures[FIGURES];
        if (!run_child("/proc/self/exe", argv[1], figures)) {
            (void)fprintf(stderr, "bench_process: a child failed\n");
            free(all);
            return 3;
        }
        for (int j = 0; j < FIGURES; j++)
            all[(size_t)j * repeats + i] = figures[j];
    }
    (void)printf("{\"kernels\": %s, \"repeats\": %zu", argv[1], repeats);
    for (int j = 0; j < FIGURES; j++)
        (void)printf(", \"%s\": %.2f", names[j], quantile(&all[(size_t)j * repeats], repeats, 0.5));
    (void)printf("}\n");
    free(all);
    return 0;
}
