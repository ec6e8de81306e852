/* What calls leave behind that is not their result: errno, and system calls on the way of a packet.
 */
#include "fault.h"

#include <errno.h>
#include <hsa/hsa_ext_amd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- errno ---- */

#define MARK 12345

/* Runs the statement with a known errno and says what it left there. */
#define LEAVES(statement)                                                                          \
    do {                                                                                           \
        errno = MARK;                                                                              \
        statement;                                                                                 \
        report_errno(#statement, errno);                                                           \
    } while (0)

static void report_errno(const char *statement, int left)
{
    if (left != MARK)
        (void)printf("%s leaves errno %d\n", statement, left);
}

static void leave_errno(struct gpu *gpu)
{
    hsa_queue_t *queue = NULL;
    hsa_signal_t signal = gpu_signal(1);
    hsa_signal_t counting = gpu_signal(2000);
    union fault_packet own = fault_kernel(gpu, 0, signal, false);
    union fault_packet counted = fault_kernel(gpu, 1, counting, false);
    LEAVES(gpu_must(hsa_queue_create(gpu->agent, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
                                     UINT32_MAX, &queue),
                    "queue"));
    LEAVES(gpu_must(hsa_amd_profiling_set_profiler_enabled(queue, 1), "profiling"));
    for (int i = 0; i < 1000; i++) {
        LEAVES((void)hsa_queue_add_write_index_relaxed(queue, 0));
        LEAVES((void)hsa_queue_load_write_index_scacquire(queue));
        LEAVES((void)hsa_queue_cas_write_index_relaxed(queue, UINT64_MAX, 0));
        uint64_t index = hsa_queue_add_write_index_relaxed(queue, 3);
        while (index + 3 - hsa_queue_load_read_index_scacquire(queue) > queue->size)
            (void)usleep(20);
        fault_write(queue, index, &own);
        fault_write(queue, index + 1, &counted);
        fault_write(queue, index + 2, &counted);
        LEAVES(hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index + 2));
        fault_wait(signal);
        LEAVES((void)hsa_signal_exchange_relaxed(signal, 0));
        LEAVES((void)hsa_signal_cas_relaxed(signal, 0, 0));
        LEAVES(hsa_signal_add_relaxed(signal, 0));
        LEAVES(hsa_signal_silent_store_relaxed(signal, 1));
        hsa_signal_t passing = gpu_signal(1);
        LEAVES(gpu_must(hsa_signal_destroy(passing), "signal"));
    }
    fault_wait(counting);
    LEAVES(gpu_must(hsa_queue_destroy(queue), "queue"));
    (void)hsa_signal_destroy(signal);
    (void)hsa_signal_destroy(counting);
}

/* ---- system calls ---- */

static _Atomic int system_calls, last_call;

/* The filter has kept the call from the kernel: it counts and fails. */
static void on_call(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    atomic_fetch_add(&system_calls, 1);
    atomic_store(&last_call, info->si_syscall);
}

/* From now on every system call of this thread is caught, but for those that end it and its
 * signal handlers. */
static void catch_calls(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO};
    (void)sigaction(SIGSYS, &action, NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        (void)fprintf(stderr, "faults: no filter of system calls: errno %d\n", errno);
        exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
    }
}

struct quiet {
    struct gpu *gpu;
    hsa_queue_t *queue;
    hsa_signal_t own, counting; /* nobody can sleep on the latter */
    int calls;
};

enum { QUIET_BATCH = 16, QUIET_BATCHES = 1500 };

/* Reserves, waits (by looking), writes, rings, arms again. With its first batch a thread becomes
 * known, which takes a gettid. */
static void *submit_quietly(void *context)
{
    struct quiet *quiet = context;
    union fault_packet packets[QUIET_BATCH];
    for (uint32_t i = 0; i < QUIET_BATCH; i++)
        packets[i] = fault_kernel(quiet->gpu, i % GPU_KERNELS,
                                  i == 3    ? quiet->own
                                  : i == 10 ? quiet->counting
                                            : fault_none(),
                                  i % 7 == 0);
    for (int batch = 0; batch < QUIET_BATCHES; batch++) {
        if (batch == 1)
            catch_calls();
        uint64_t first = hsa_queue_add_write_index_relaxed(quiet->queue, QUIET_BATCH);
        while (first + QUIET_BATCH - hsa_queue_load_read_index_scacquire(quiet->queue) >
               quiet->queue->size)
            ;
        if (batch > 0)
            while (hsa_signal_load_scacquire(quiet->own) >= 1)
                ;
        hsa_signal_silent_store_relaxed(quiet->own, 1);
        for (uint32_t i = 0; i < QUIET_BATCH; i++)
            fault_write(quiet->queue, first + i, &packets[i]);
        hsa_signal_store_screlease(quiet->queue->doorbell_signal,
                                   (hsa_signal_value_t)(first + QUIET_BATCH - 1));
    }
    quiet->calls = atomic_load(&system_calls); /* the thread's end makes some */
    return NULL;
}

static void quiet(struct gpu *gpu)
{
    struct quiet quiet = {gpu, gpu_queue(gpu, 1024), gpu_signal(1), {0}, 0};
    pthread_t thread;
    gpu_must(
        hsa_amd_signal_create(QUIET_BATCHES, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &quiet.counting),
        "signal");
    if (pthread_create(&thread, NULL, submit_quietly, &quiet) != 0)
        exit(3); // NOLINT(concurrency-mt-unsafe): no exit handler of ours exists
    (void)pthread_join(thread, NULL);
    (void)printf("system calls of the submitting thread: %d\n", quiet.calls);
    if (quiet.calls > 0)
        (void)fprintf(stderr, "faults: the last one is number %d\n", atomic_load(&last_call));
    gpu_drain(gpu, quiet.queue);
    while (hsa_signal_load_scacquire(quiet.counting) >= 1)
        (void)usleep(20);
    gpu_must(hsa_queue_destroy(quiet.queue), "queue");
    (void)hsa_signal_destroy(quiet.own);
    (void)hsa_signal_destroy(quiet.counting);
}

const struct fault_way fault_call_ways[] = {{"errno", leave_errno}, {"quiet", quiet}, {NULL, NULL}};
