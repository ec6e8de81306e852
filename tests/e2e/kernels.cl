// Kernels of the end-to-end programs. Each adds one to a counter of its own, so that a program can
// tell that every dispatch ran, and ran once. On the software GPU plugin.c does the same.
//
// The builtins stand for library functions, so that no device library has to be installed.

#define FIRST_WORK_ITEM                                                                            \
    (__builtin_amdgcn_workgroup_id_x() == 0 && __builtin_amdgcn_workitem_id_x() == 0)

static void count(volatile __global atomic_ulong *counter)
{
    if (FIRST_WORK_ITEM)
        __opencl_atomic_fetch_add(counter, 1ul, __ATOMIC_RELAXED,
                                  __OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES);
}

__kernel void storm_first(volatile __global atomic_ulong *counter)
{
    count(counter);
}

__kernel void storm_second(volatile __global atomic_ulong *counter, int unused)
{
    count(counter);
}

__kernel void storm_third(volatile __global atomic_ulong *counter)
{
    count(counter);
}

// Kernels of the random AQL programs; their arguments are described in random_kernel.h.
struct tally {
    atomic_ulong count, sum, broken;
    volatile __global atomic_uint *runs;
};

#define ADD(where, what)                                                                           \
    __opencl_atomic_fetch_add(where, what, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_ALL_SVM_DEVICES)

static ulong mix(ulong id)
{
    id = (id ^ (id >> 15)) * 0x9E3779B97F4A7C15ul;
    return id ^ (id >> 31);
}

static void leave_trace(volatile __global struct tally *tally, uint id, uint after)
{
    if (!FIRST_WORK_ITEM)
        return;
    if (after != id && ADD(&tally->runs[after], 0u) == 0u)
        ADD(&tally->broken, 1ul);
    ADD(&tally->runs[id], 1u);
    ADD(&tally->sum, mix(id));
    ADD(&tally->count, 1ul);
}

__kernel void random_quick(volatile __global struct tally *tally, uint id, uint after)
{
    leave_trace(tally, id, after);
}

__kernel void random_middle(volatile __global struct tally *tally, uint id, uint after)
{
    leave_trace(tally, id, after);
}

__kernel void random_slow(volatile __global struct tally *tally, uint id, uint after)
{
    leave_trace(tally, id, after);
}

// Ends as all others do; a test gives it its duration.
__kernel void storm_endless(volatile __global atomic_ulong *counter)
{
    count(counter);
}
