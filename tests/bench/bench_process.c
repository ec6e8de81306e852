/*
 * What RTL adds to a process's beginning, end and memory: runs itself as a child that brings up the
 * runtime, makes queues, runs kernels and ends.
 *
 *     bench_process KERNELS REPEATS [QUEUES [BATCH]]
 *
 * One queue of 16384 packets and batches of 256 when absent; batches go to the queues in turn.
 * Prints one line of JSON, medians over the children: ms from fork to main (the loader), from there
 * until the runtime is up, until there is a queue, what the main thread alone and all threads have
 * run in both, from the end of the last kernel to the end of the process, and all together; the
 * greatest resident size in MB, and what is resident of shared and of private memory when the last
 * kernel has ended.
 */
#include "gpu.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define QUEUE_SIZE 16384u
#define MOST_BATCH QUEUE_SIZE
#define MOST       64u /* queues */

/* What a child says of itself: ns of CLOCK_MONOTONIC, and kB. */
struct report {
    double main_begins, runtime_is_up, queue_is_there, last_kernel_ended;
    double runtime_cpu, queue_cpu, cpu; /* of the main thread in two parts, of all threads */
    double peak, shared, private;
};

/* What a child is to do. */
struct task {
    uint64_t kernels;
    uint32_t queues, batch;
};

enum {
    TO_MAIN,
    TO_RUNTIME,
    TO_QUEUE,
    RUNTIME_CPU,
    QUEUE_CPU,
    CPU,
    TO_END,
    WHOLE,
    PEAK,
    SHARED,
    PRIVATE,
    FIGURES
};

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

static void run_kernels(struct gpu *gpu, hsa_queue_t *const *queues, const struct task *task)
{
    static struct gpu_packet packets[MOST_BATCH];
    uint64_t batches = (task->kernels + task->batch - 1) / task->batch;
    for (uint64_t i = 0; i < batches; i++)
        gpu_submit(gpu, queues[i % task->queues], packets, task->batch);
    for (uint32_t i = 0; i < task->queues; i++)
        gpu_drain(gpu, queues[i]);
}

static int child(const struct task *task, int out, struct report *report)
{
    struct gpu gpu;
    hsa_queue_t *queues[MOST];
    double cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    double thread = now_ns(CLOCK_THREAD_CPUTIME_ID);
    gpu_open(&gpu);
    report->runtime_is_up = now_ns(CLOCK_MONOTONIC);
    report->runtime_cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - thread;
    queues[0] = gpu_queue(&gpu, QUEUE_SIZE);
    report->queue_is_there = now_ns(CLOCK_MONOTONIC);
    report->queue_cpu = now_ns(CLOCK_THREAD_CPUTIME_ID) - thread - report->runtime_cpu;
    report->cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    for (uint32_t i = 1; i < task->queues; i++)
        queues[i] = gpu_queue(&gpu, QUEUE_SIZE);
    run_kernels(&gpu, queues, task);
    report->peak = status_kb("VmHWM");
    report->shared = status_kb("RssShmem");
    report->private = status_kb("RssAnon");
    report->last_kernel_ended = now_ns(CLOCK_MONOTONIC);
    if (write(out, report, sizeof *report) != (ssize_t)sizeof *report)
        return 3;
    for (uint32_t i = 0; i < task->queues; i++)
        gpu_must(hsa_queue_destroy(queues[i]), "queue destroy");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    return 0;
}

static bool run_child(const char *self, char *const *task, double figures[FIGURES])
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
        (void)execl(self, self, "child", out, task[0], task[1], task[2], (char *)NULL);
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
    figures[RUNTIME_CPU] = report.runtime_cpu / 1e6;
    figures[QUEUE_CPU] = report.queue_cpu / 1e6;
    figures[CPU] = report.cpu / 1e6;
    figures[TO_END] = (end - report.last_kernel_ended) / 1e6;
    figures[WHOLE] = (end - begin) / 1e6;
    figures[PEAK] = report.peak / 1024;
    figures[SHARED] = report.shared / 1024;
    figures[PRIVATE] = report.private / 1024;
    return true;
}

/* KERNELS QUEUES BATCH; false if they make no sense. */
static bool read_task(char *const *words, struct task *task)
{
    task->kernels = strtoull(words[0], NULL, 10);
    task->queues = (uint32_t)strtoul(words[1], NULL, 10);
    task->batch = (uint32_t)strtoul(words[2], NULL, 10);
    return task->queues > 0 && task->queues <= MOST && task->batch > 0 && task->batch <= MOST_BATCH;
}

int main(int argc, char **argv)
{
    struct report report = {.main_begins = now_ns(CLOCK_MONOTONIC)};
    struct task task;
    if (argc == 6 && strcmp(argv[1], "child") == 0 && read_task(&argv[3], &task))
        return child(&task, atoi(argv[2]), &report);
    static const char *const names[FIGURES] = {"to_main_ms",     "to_runtime_ms", "to_queue_ms",
                                               "runtime_cpu_ms", "queue_cpu_ms",  "start_cpu_ms",
                                               "to_end_ms",      "whole_ms",      "peak_mb",
                                               "shared_mb",      "private_mb"};
    char *words[] = {argc > 1 ? argv[1] : "0", argc > 3 ? argv[3] : "1",
                     argc > 4 ? argv[4] : "256"};
    size_t repeats =
        argc >= 3 && argc <= 5 && read_task(words, &task) ? strtoul(argv[2], NULL, 10) : 0;
    double *all = calloc(repeats + 1, FIGURES * sizeof *all);
    if (repeats == 0 || all == NULL) {
        (void)fprintf(stderr,
                      "usage: bench_process KERNELS REPEATS [QUEUES [BATCH]], QUEUES up to %u, "
                      "BATCH up to %u\n",
                      MOST, MOST_BATCH);
        free(all);
        return 2;
    }
    for (size_t i = 0; i < repeats; i++) {
        double figures[FIGURES];
        if (!run_child("/proc/self/exe", words, figures)) {
            (void)fprintf(stderr, "bench_process: a child failed\n");
            free(all);
            return 3;
        }
        for (int j = 0; j < FIGURES; j++)
            all[(size_t)j * repeats + i] = figures[j];
    }
    (void)printf("{\"kernels\": %s, \"repeats\": %zu, \"queues\": %s, \"batch\": %s", words[0],
                 repeats, words[1], words[2]);
    for (int j = 0; j < FIGURES; j++)
        (void)printf(", \"%s\": %.2f", names[j], quantile(&all[(size_t)j * repeats], repeats, 0.5));
    (void)printf("}\n");
    free(all);
    return 0;
}
