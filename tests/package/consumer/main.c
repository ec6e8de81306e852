/* A program of a user: counts the kernels of a trace through the installed library. */
#include <rtl/rtl_trace.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    rtl_trace_t *trace;
    rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    rtl_kernel_iter_t *kernels;
    rtl_kernel_t kernel;
    unsigned long count = 0;
    char error[256];
    if (argc != 2 || rtlTraceOpen(argv[1], &trace, error, sizeof error) != RTL_OK)
        return 1;
    if (rtlTraceKernels(trace, &all, &kernels) != RTL_OK)
        return 2;
    while (rtlKernelNext(kernels, &kernel) == RTL_OK)
        count++;
    rtlKernelIterFree(kernels);
    rtlTraceClose(trace);
    (void)printf("%lu kernels\n", count);
    return 0;
}
