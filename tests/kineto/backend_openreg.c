#include "backend.h"

#include "kineto/openreg/openreg.h"

#include <stdlib.h>

#define BYTES 4096u

static openregStream_t stream;
static void *memory[2];

static void must(int error)
{
    if (error != 0)
        abort();
}

static void kernels(unsigned count, unsigned microseconds)
{
    for (unsigned i = 0; i < count; i++)
        must(openregSpin("spin", microseconds, stream));
}

static void copies(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        must(openregMemcpyAsync(memory[0], memory[1], BYTES, stream));
}

static void sets(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        must(openregMemsetAsync(memory[0], 1, BYTES, stream));
}

static void wait_for_device(void)
{
    must(openregDeviceSynchronize());
}

struct backend backend_open(void)
{
    must(openregStreamCreate(&stream));
    must(openregMalloc(&memory[0], BYTES));
    must(openregMalloc(&memory[1], BYTES));
    kernels(1, 1);
    sets(1);
    copies(1);
    wait_for_device();
    return (struct backend){
        .vendor = "OpenReg",
        .kernel_call = "openregSpin",
        .copy_call = "openregMemcpyAsync",
        .set_call = "openregMemsetAsync",
        .kernels = kernels,
        .copies = copies,
        .sets = sets,
        .wait = wait_for_device,
    };
}
