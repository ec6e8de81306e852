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
