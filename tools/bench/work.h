/**
 * The workloads of `rtl bench`: what rtl-bench-work runs on the GPU.
 *
 * Everything before `work_begin` is start-up, what follows is the steady state that is timed; each
 * workload waits for the GPU before it returns. A call of HIP that fails ends the program with a
 * sentence.
 */
#ifndef RTL_BENCH_WORK_H
#define RTL_BENCH_WORK_H

#include <stdint.h>

/** How long the kernels take, on the software GPU exactly. */
#define WORK_SHORT_NS  1500
#define WORK_MEDIUM_NS 6000
#define WORK_LONG_NS   200000

enum work_kernel { WORK_SHORT, WORK_MEDIUM, WORK_LONG };

/** What a workload did. Threads have one each. */
struct work {
    uint64_t goal;    /**< kernels that it was asked for, about */
    uint64_t kernels; /**< launched or replayed, all of them */
    uint64_t copies;
    uint64_t begin_ns, end_ns; /**< of the steady state, CLOCK_MONOTONIC */
    int *sink;                 /**< device memory that kernels are given */
};

struct workload {
    const char *name;
    void (*run)(struct work *work, unsigned detail);
    unsigned detail; /**< nodes of a graph, streams or threads */
    uint64_t goal;   /**< when nothing is asked for */
};

/** Ends with an entry without a name. */
extern const struct workload workloads[];

#ifdef __cplusplus
extern "C" {
#endif

/** Launches a kernel on a hipStream_t; returns the hipError_t. */
int work_launch_kernel(enum work_kernel kernel, void *stream, int *sink);

#ifdef __cplusplus
}
#endif

/** Ends the program unless `error`, a hipError_t, is success. */
void work_must(int error, const char *what);

/** The steady state begins, and is over; device idle. */
void work_begin(struct work *work);
void work_end(struct work *work);

#endif
