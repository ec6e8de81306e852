/*
 * ctl: dispatches as many kernels as it is told, a number a line on stdin, and says `ran N` when
 * they are done. Its first queue is made for the first number. `again` has it execute itself;
 * `child N` has another process do what N says, `ctl N`; `endless N` dispatches kernels that a test
 * may make as long as it likes, and says `begun N`.
 */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gpu gpu;
static hsa_queue_t *queue;

static void run(unsigned long count)
{
    static const struct gpu_packet kernel = {.kernel = 0};
    if (queue == NULL)
        queue = gpu_queue(&gpu, 1024);
    for (unsigned long i = 0; i < count; i++)
        gpu_submit(&gpu, queue, &kernel, 1);
    gpu_drain(&gpu, queue);
    (void)printf("ran %lu\n", count);
}

static void begin(unsigned long count)
{
    static const struct gpu_packet kernel = {.kernel = GPU_ENDLESS};
    for (unsigned long i = 0; i < count; i++)
        gpu_submit(&gpu, queue, &kernel, 1);
    (void)printf("begun %lu\n", count);
}

static void run_in_child(char *count)
{
    int status;
    char *const words[] = {"ctl", count, NULL};
    pid_t child = fork();
    if (child == 0) {
        (void)execv("/proc/self/exe", words);
        _exit(3);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        _exit(3);
}

static void obey(char *line)
{
    char *const words[] = {"ctl", NULL};
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, "again") == 0)
        (void)execv("/proc/self/exe", words);
    else if (strncmp(line, "child ", 6) == 0)
        run_in_child(line + 6);
    else if (strncmp(line, "endless ", 8) == 0)
        begin(strtoul(line + 8, NULL, 10));
    else
        run(strtoul(line, NULL, 10));
}

int main(int argc, char **argv)
{
    char line[32];
    gpu_open(&gpu);
    (void)setvbuf(stdin, NULL, _IONBF, 0);
    (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    if (argc > 1) {
        run(strtoul(argv[1], NULL, 10));
    } else {
        (void)puts("ready");
        while (fgets(line, sizeof line, stdin) != NULL)
            obey(line);
    }
    if (queue != NULL)
        gpu_must(hsa_queue_destroy(queue), "queue destroy");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    return 0;
}
