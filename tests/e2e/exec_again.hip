// exec_again N: a launcher that looks how many GPUs there are and executes itself, N times; only
// the last image runs kernels, 1000 of them.
#include <cstdio>
#include <cstdlib>
#include <hip/hip_runtime.h>
#include <unistd.h>

__global__ void train(int *p)
{
    if (p)
        *p = 1;
}

int main(int, char **argv)
{
    int left = atoi(argv[1]);
    int gpus = 0;
    (void)hipGetDeviceCount(&gpus);
    if (left > 0) {
        char next[16];
        (void)snprintf(next, sizeof next, "%d", left - 1);
        execl(argv[0], argv[0], next, (char *)0);
        return 2;
    }
    int *p;
    if (hipMalloc(&p, 4096) != hipSuccess)
        return 1;
    for (int i = 0; i < 1000; i++)
        train<<<1, 64>>>(p);
    return hipDeviceSynchronize() != hipSuccess;
}
