/**
 * The kernels of rtl-selftest-work. All compute the same and have names of their own, so that a
 * count by name tells which part of the program a kernel belongs to.
 *
 * A kernel turns each of `count` numbers, `rounds` times, into itself times a factor plus `amount`.
 * What comes out depends on the order of the kernels, and on each of them.
 */
#ifndef RTL_TOOLS_SELFTEST_KERNELS_H
#define RTL_TOOLS_SELFTEST_KERNELS_H

/** Also in the names on the device, such as rtl_selftest_eager_a. */
#define SELFTEST_PREFIX "rtl_selftest_"

#define SELFTEST_KERNELS(X)                                                                        \
    X(rtl_selftest_warm)                                                                           \
    X(rtl_selftest_eager_a)                                                                        \
    X(rtl_selftest_eager_b)                                                                        \
    X(rtl_selftest_order_a)                                                                        \
    X(rtl_selftest_order_b)                                                                        \
    X(rtl_selftest_order_c)                                                                        \
    X(rtl_selftest_graph_a)                                                                        \
    X(rtl_selftest_graph_b)                                                                        \
    X(rtl_selftest_fork_top)                                                                       \
    X(rtl_selftest_fork_left)                                                                      \
    X(rtl_selftest_fork_right)                                                                     \
    X(rtl_selftest_fork_join)                                                                      \
    X(rtl_selftest_update)                                                                         \
    X(rtl_selftest_copy)                                                                           \
    X(rtl_selftest_stream_0)                                                                       \
    X(rtl_selftest_stream_1)                                                                       \
    X(rtl_selftest_stream_2)                                                                       \
    X(rtl_selftest_stream_3)                                                                       \
    X(rtl_selftest_thread_0)                                                                       \
    X(rtl_selftest_thread_1)                                                                       \
    X(rtl_selftest_thread_2)                                                                       \
    X(rtl_selftest_thread_3)                                                                       \
    X(rtl_selftest_hold)                                                                           \
    X(rtl_selftest_timed)

#define SELFTEST_PARAMETERS unsigned *values, unsigned count, unsigned amount, unsigned rounds

/** The kernel `name`, for a compiler of HIP. */
#define SELFTEST_KERNEL(name)                                                                      \
    extern "C" __global__ void name(SELFTEST_PARAMETERS)                                           \
    {                                                                                              \
        unsigned item = blockIdx.x * blockDim.x + threadIdx.x;                                     \
        if (item < count)                                                                          \
            SELFTEST_ITEM(values, item, amount, rounds);                                           \
    }

/** What one work-item does, in C and on the GPU. */
#define SELFTEST_ITEM(values, item, amount, rounds)                                                \
    do {                                                                                           \
        unsigned value_ = (values)[item];                                                          \
        for (unsigned round_ = 0; round_ < (rounds); ++round_)                                     \
            value_ = value_ * 1664525u + (amount);                                                 \
        (values)[item] = value_;                                                                   \
    } while (0)

#endif
