/*
 * ends WAY: dispatches kernels, waits for them, and ends in the way asked. With and without a
 * profiler its output, status and signal must be the same, and every kernel it waited for must be
 * in the trace.
 *
 * It prints `kernels N` for what it has waited for before it ends.
 */
#include "gpu.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define KERNELS    100
#define FORKS      100
#define PATIENCE_S 10 /* of a child */

static struct gpu gpu;
static hsa_queue_t *queue;

/* Dispatches and waits; every third kernel has a signal of its own. */
static void work(void)
{
    struct gpu_packet packets[KERNELS] = {0};
    hsa_signal_t signal = gpu_signal((KERNELS + 2) / 3);
    for (uint32_t i = 0; i < KERNELS; i++) {
        packets[i].kernel = i % GPU_KERNELS;
        if (i % 3 == 0)
            packets[i].signal = signal;
    }
    gpu_submit(&gpu, queue, packets, KERNELS);
    gpu_drain(&gpu, queue);
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
    gpu_must(hsa_signal_destroy(signal), "signal");
}

static void start(void)
{
    gpu_open(&gpu);
    queue = gpu_queue(&gpu, 1024);
}

static void report(const char *who)
{
    (void)printf("%s: kernels %d\n", who, KERNELS);
    (void)fflush(stdout);
}

/* Kernels that nobody waits for: the end comes while they run. */
static void leave_some_running(void)
{
    struct gpu_packet packets[8] = {0};
    gpu_submit(&gpu, queue, packets, 8);
}

static void die_by(int number)
{
    (void)raise(number);
    (void)pause();
}

static void *exit_in_thread(void *unused)
{
    (void)unused;
    exit(5); // NOLINT(concurrency-mt-unsafe): what this way is about
}

static _Atomic bool busy_started, busy_wanted = true;

static void *keep_dispatching(void *unused)
{
    (void)unused;
    while (atomic_load(&busy_wanted)) {
        leave_some_running();
        atomic_store(&busy_started, true);
    }
    return NULL;
}

static int end_return(void)
{
    return 7;
}

static int end_shut_down(void)
{
    gpu_must(hsa_queue_destroy(queue), "queue");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "hsa_shut_down");
    return 0;
}

static int end_shut_down_twice(void)
{
    (void)end_shut_down();
    start();
    work();
    report("again");
    return end_shut_down();
}

static int end_running(void)
{
    leave_some_running();
    return 0;
}

static int end_busy(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, keep_dispatching, NULL) != 0)
        return 3;
    while (!atomic_load(&busy_started))
        (void)usleep(1000);
    _exit(6);
}

static int end_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, exit_in_thread, NULL) != 0)
        return 3;
    (void)pause();
    return 3;
}

static int end_thread_only(void)
{
    /* The process lives on in the other thread, which ends it. */
    pthread_t thread;
    if (pthread_create(&thread, NULL, exit_in_thread, NULL) != 0)
        return 3;
    pthread_exit(NULL);
}

static int end_exit_now(void)
{
    _exit(9);
}

static int end_quick_exit(void)
{
    quick_exit(10);
}

static int end_abort(void)
{
    abort();
}

static int end_segv(void)
{
    /* Not NULL: UndefinedBehaviorSanitizer would see that before the kernel does. */
    int *volatile nowhere = (int *)(uintptr_t)64;
    *nowhere = 1;
    return 3;
}

static int end_kill(void)
{
    die_by(SIGKILL);
    return 3;
}

static int end_term(void)
{
    die_by(SIGTERM);
    return 3;
}

static int wait_for(pid_t child)
{
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 3;
    (void)printf("parent: child ended with %s %d\n", WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return 0;
}

/* The child never touches the GPU; its exit runs the exit handlers it inherited. */
static int end_fork_exit(void)
{
    pid_t child = fork();
    if (child == 0)
        exit(4); // NOLINT(concurrency-mt-unsafe): what this way is about
    int result = wait_for(child);
    work();
    report("parent again");
    return result;
}

static int end_fork_runs_on(void)
{
    int parent_alive[2];
    char byte;
    if (pipe(parent_alive) != 0)
        return 3;
    pid_t child = fork();
    if (child != 0) {
        (void)close(parent_alive[0]);
        return child < 0 ? 3 : 0;
    }
    /* Reads the end of the pipe when the parent is gone. */
    (void)close(parent_alive[1]);
    if (read(parent_alive[0], &byte, 1) != 0)
        _exit(3);
    (void)printf("child: outlived its parent\n");
    return 0;
}

static int run_self(const char *way)
{
    char name[] = "/proc/self/exe";
    char way_copy[32];
    (void)snprintf(way_copy, sizeof way_copy, "%s", way);
    char *arguments[] = {name, way_copy, NULL};
    (void)execv(name, arguments);
    return 3;
}

static int end_fork_exec(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(run_self("return"));
    return wait_for(child);
}

static int end_exec(void)
{
    return run_self("return");
}

/* The child was born before the runtime was opened, and both then use the GPU. */
static int end_fork_first(void)
{
    pid_t child = fork();
    start();
    work();
    report(child == 0 ? "child" : "parent");
    (void)end_shut_down();
    return child == 0 ? 0 : wait_for(child);
}

/* ---- a kernel that never ends ---- */

static void dispatch_endless(hsa_signal_value_t signals)
{
    struct gpu_packet packets[2] = {{.kernel = GPU_ENDLESS}, {.kernel = 0}};
    if (signals > 0)
        packets[0].signal = packets[1].signal = gpu_signal(signals);
    gpu_submit(&gpu, queue, packets, 2);
}

static int end_hung(void)
{
    dispatch_endless(0);
    return 11;
}

static int end_hung_own_signal(void)
{
    dispatch_endless(1);
    return 11;
}

static int end_hung_counting_signal(void)
{
    dispatch_endless(2);
    return 11;
}

static int end_hung_shut_down(void)
{
    dispatch_endless(2);
    return end_shut_down();
}

/* The runtime is shut down with the queue. */
static int end_hung_with_queue(void)
{
    dispatch_endless(0);
    while (hsa_queue_load_read_index_scacquire(queue) != hsa_queue_load_write_index_relaxed(queue))
        (void)usleep(1000); /* the kernels are at work: their code may go */
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "hsa_shut_down");
    return 0;
}

/* ---- in the middle of a batch ---- */

/* Slots that are reserved and never written, with written ones before and behind. */
static void leave_half_written(void)
{
    struct gpu_packet one = {0};
    gpu_submit(&gpu, queue, &one, 1);
    (void)hsa_queue_add_write_index_relaxed(queue, 3);
    for (int i = 0; i < 5; i++)
        gpu_submit(&gpu, queue, &one, 1);
}

static int end_half_written(void)
{
    leave_half_written();
    return 12;
}

static int end_half_written_shut_down(void)
{
    leave_half_written();
    return end_shut_down();
}

/* ---- while others submit ---- */

/* Every third kernel with the counting signal, so that forwards are owed. */
static void *keep_counting(void *unused)
{
    (void)unused;
    struct gpu_packet packets[12] = {0};
    hsa_signal_t signal = gpu_signal(1 << 30);
    for (int i = 0; i < 12; i += 3)
        packets[i].signal = signal;
    while (atomic_load(&busy_wanted)) {
        gpu_submit(&gpu, queue, packets, 12);
        atomic_store(&busy_started, true);
    }
    return NULL;
}

static void start_submitters(void)
{
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, keep_counting, NULL) != 0)
            _exit(3);
    }
    while (!atomic_load(&busy_started))
        (void)usleep(1000);
}

static int end_submitters_exit(void)
{
    start_submitters();
    return 13;
}

static int end_submitters_quick_exit(void)
{
    start_submitters();
    quick_exit(14);
}

static int end_submitters_abort(void)
{
    start_submitters();
    abort();
}

static int end_submitters_term(void)
{
    start_submitters();
    (void)raise(SIGTERM);
    return 3;
}

/* The child tries what only its parent can: its calls fail, or not, as without a profiler. */
static int end_fork_uses(void)
{
    pid_t child = fork();
    if (child == 0) {
        hsa_signal_t signal = {0};
        hsa_status_t made = hsa_signal_create(1, 0, NULL, &signal);
        if (made == HSA_STATUS_SUCCESS) {
            hsa_signal_store_relaxed(signal, 5);
            (void)hsa_signal_destroy(signal);
        }
        (void)printf("child: a signal: %d, write index %d\n", (int)made,
                     hsa_queue_load_write_index_relaxed(queue) > 0);
        return 15;
    }
    int result = wait_for(child);
    work();
    report("parent again");
    return result;
}

/* Children that make signals, each of them, while the parent has just begun to use the GPU: whoever
 * else in the parent makes signals then has nothing in hand that a child would wait for. */
static int end_forks_use(void)
{
    int ended = 0;
    start();
    for (int i = 0; i < FORKS; i++) {
        int status = -1;
        hsa_signal_t signal = {0};
        pid_t child = fork();
        if (child == 0) {
            (void)alarm(PATIENCE_S);
            _exit(hsa_signal_create(1, 0, NULL, &signal) == HSA_STATUS_SUCCESS ? 0 : 3);
        }
        if (child > 0 && waitpid(child, &status, 0) == child)
            ended += status == 0;
    }
    (void)printf("parent: %d children ended well\n", ended);
    work();
    report("parent");
    return 0;
}

static int end_again_and_again(void)
{
    for (int i = 0; i < 6; i++) {
        if (i % 2 == 0)
            leave_some_running();
        (void)end_shut_down();
        start();
        work();
        report("again");
    }
    return end_shut_down();
}

struct way {
    const char *name;
    int (*end)(void);
    bool opens_itself;
};

static const struct way ways[] = {{"return", end_return, false},
                                  {"shut-down", end_shut_down, false},
                                  {"shut-down-twice", end_shut_down_twice, false},
                                  {"running", end_running, false},
                                  {"busy", end_busy, false},
                                  {"thread", end_thread, false},
                                  {"thread-only", end_thread_only, false},
                                  {"_exit", end_exit_now, false},
                                  {"quick_exit", end_quick_exit, false},
                                  {"abort", end_abort, false},
                                  {"segv", end_segv, false},
                                  {"kill", end_kill, false},
                                  {"term", end_term, false},
                                  {"fork-exit", end_fork_exit, false},
                                  {"fork-runs-on", end_fork_runs_on, false},
                                  {"fork-exec", end_fork_exec, false},
                                  {"fork-first", end_fork_first, true},
                                  {"exec", end_exec, false},
                                  {"hung", end_hung, false},
                                  {"hung-own-signal", end_hung_own_signal, false},
                                  {"hung-counting-signal", end_hung_counting_signal, false},
                                  {"hung-shut-down", end_hung_shut_down, false},
                                  {"hung-with-queue", end_hung_with_queue, false},
                                  {"half-written", end_half_written, false},
                                  {"half-written-shut-down", end_half_written_shut_down, false},
                                  {"submitters-exit", end_submitters_exit, false},
                                  {"submitters-quick_exit", end_submitters_quick_exit, false},
                                  {"submitters-abort", end_submitters_abort, false},
                                  {"submitters-term", end_submitters_term, false},
                                  {"fork-uses", end_fork_uses, false},
                                  {"forks-use", end_forks_use, true},
                                  {"again-and-again", end_again_and_again, false}};

int main(int argc, char **argv)
{
    const struct rlimit no_core = {0, 0};
    const struct way *way = NULL;
    for (size_t i = 0; argc == 2 && i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(ways[i].name, argv[1]) == 0)
            way = &ways[i];
    }
    if (!way) {
        (void)fprintf(stderr, "ends WAY, with WAY one of:\n");
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
            (void)fprintf(stderr, "  %s\n", ways[i].name);
        return 2;
    }
    (void)setrlimit(RLIMIT_CORE, &no_core);
    if (!way->opens_itself) {
        start();
        work();
        report("main");
    }
    return way->end();
}
