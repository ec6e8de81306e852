/*
 * execs WAY COUNT [PROGRAM ARGUMENT...]: an image that runs kernels and executes itself, COUNT
 * times; the last one ends, or executes PROGRAM. It prints `kernels N` for what each image with a
 * GPU has submitted.
 *
 *     plain    from the main thread, with the runtime shut down
 *     thread   from another thread
 *     blind    every second image opens no GPU
 *     fork     each image has a child that does so once more, and waits for it
 *     vfork    likewise, with the parent's memory until then
 *     flying   the runtime is at work, and kernels are that nobody waits for
 */
#include "gpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KERNELS 20

static char **words; /* of this image */

static bool is(const char *way)
{
    return strcmp(words[1], way) == 0;
}

static void report(unsigned kernels)
{
    (void)printf("kernels %u\n", kernels);
    (void)fflush(stdout);
}

static void work(void)
{
    struct gpu gpu;
    struct gpu_packet packets[KERNELS] = {0};
    gpu_open(&gpu);
    hsa_queue_t *queue = gpu_queue(&gpu, 256);
    gpu_submit(&gpu, queue, packets, KERNELS);
    if (is("flying")) {
        report(KERNELS);
        return;
    }
    gpu_drain(&gpu, queue);
    gpu_must(hsa_queue_destroy(queue), "queue");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "hsa_shut_down");
    report(KERNELS);
}

/* The same program once less, or what comes behind it. */
static int go_on(long count)
{
    char number[24];
    char *left = words[2];
    (void)snprintf(number, sizeof number, "%ld", count - 1);
    if (count == 0 && words[3] == NULL)
        return 0;
    if (count == 0) {
        (void)execvp(words[3], words + 3);
        return 3;
    }
    words[2] = number;
    (void)execv("/proc/self/exe", words);
    words[2] = left;
    return 3;
}

static void *go_on_in_thread(void *count)
{
    _exit(go_on(*(long *)count));
}

static int from_thread(long count)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, go_on_in_thread, &count) != 0)
        return 3;
    (void)pthread_join(thread, NULL);
    return 3;
}

static int wait_for(pid_t child)
{
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 3;
    return WEXITSTATUS(status);
}

/* The child that shares memory calls nothing but what it may. */
static int in_child(void)
{
    char last[] = "0";
    char way[] = "plain";
    char name[] = "/proc/self/exe";
    char *arguments[] = {name, way, last, NULL};
    // NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork): it is what this way is about
    // NOLINTNEXTLINE(clang-analyzer-unix.Vfork)
    pid_t child = is("vfork") ? vfork() : fork();
    // NOLINTEND(clang-analyzer-security.insecureAPI.vfork)
    if (child == 0) {
        (void)execv(name, arguments);
        _exit(3);
    }
    return wait_for(child);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    words = argv;
    long count = strtol(argv[2], NULL, 10);
    if (!is("blind") || count % 2 == 0)
        work();
    if ((is("fork") || is("vfork")) && in_child() != 0)
        return 3;
    return is("thread") && count > 0 ? from_thread(count) : go_on(count);
}
