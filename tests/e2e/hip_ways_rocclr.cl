// The kernels of the end-to-end programs, and one that is called as ROCclr's own are: a program
// that loads them looks like one that a HIP is linked into.
#include "kernels.cl"

__kernel void __amd_rocclr_copyBuffer(volatile __global atomic_ulong *counter)
{
    count(counter);
}
