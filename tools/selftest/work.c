/*
 * rtl-selftest-work KNOWN CODE SPARE: does on the GPU what `rtl doctor --selftest` compares with a
 * trace, and writes to the file KNOWN what it knows of it, a line each (times in ns):
 *
 *     gpu NAME                                 of the first GPU, which is used
 *     hip VERSION                              of the runtime, as hipRuntimeGetVersion has it
 *     code file|hiprtc|spare                   where the kernels come from (work_load)
 *     kernel NAME EAGER REPLAYED               so many ran, launched by themselves and from graphs
 *     order LETTERS                            kernels order_a, order_b, order_c of one stream
 *     result PART WANTED SEEN                  sums of what the host and the GPU computed
 *     copy h2d|d2d|d2h BYTES COUNT
 *     graph NUMBER GENERATION LAUNCHES NODES   by instantiation, from 1
 *     streams COUNT, threads COUNT             that launched kernels stream_N and thread_N, one
 * each event NS KERNELS                         hipEventElapsedTime around so many kernels `timed`
 *     time PART NS KERNELS                     the host's time from the first launch to the end
 *     call NAME COUNT
 *     end
 *
 * CODE and SPARE are as work_load has them.
 */
#include "selftest/work.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const call_names[] = {
#define X(name) #name,
    WORK_CALLS(X)
#undef X
};

void work_fail(const char *format, ...)
{
    va_list arguments;
    (void)fputs("rtl-selftest-work: ", stderr);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): which thread ends the program does not matter
    exit(1);
}

void work_must(hipError_t error, const char *what)
{
    if (error != hipSuccess)
        work_fail("%s: %s", what, work_hip.hipGetErrorString(error));
}

static void require_gpu(void)
{
    int gpus = 0;
    if (work_hip.hipGetDeviceCount(&gpus) != hipSuccess || gpus == 0)
        work_fail("HIP sees no GPU");
}

int main(int argc, char **argv)
{
    char name[128] = "";
    int version = 0;
    if (argc != 4)
        work_fail("usage: rtl-selftest-work KNOWN CODE SPARE");
    FILE *known = fopen(argv[1], "w");
    if (!known)
        work_fail("%s could not be made: %s", argv[1],
                  strerror(errno)); // NOLINT(concurrency-mt-unsafe): there is one thread
    work_open();
    require_gpu();
    work_must(work_hip.hipDeviceGetName(name, sizeof name, 0), "asking for the GPU's name");
    work_must(work_hip.hipRuntimeGetVersion(&version), "asking for HIP's version");
    (void)fprintf(known, "gpu %s\nhip %d\n", name, version);
    (void)fprintf(known, "code %s\n", work_load(argv[2], argv[3]));
    work_parts(known);
    for (unsigned i = 0; i < WORK_CALL_COUNT; ++i)
        (void)fprintf(known, "call %s %" PRIu64 "\n", call_names[i], atomic_load(&work_calls[i]));
    (void)fputs("end\n", known);
    bool bad = ferror(known) != 0;
    if (fclose(known) != 0 || bad)
        work_fail("%s could not be written", argv[1]);
    return 0;
}
