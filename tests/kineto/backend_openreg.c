#include "backend.h"

#include "kineto/openreg/openreg.h"

#include <stdlib.h>
#include <sys/sysinfo.h>

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
    struct sysinfo memory_of_machine;
    must(sysinfo(&memory_of_machine));
    return (struct backend){
        .vendor = "OpenReg",
        .kernel_call = "openregSpin",
        .copy_call = "openregMemcpyAsync",
        .set_call = "openregMemsetAsync",
        .kernels = kernels,
        .copies = copies,
        .sets = sets,
        .wait = wait_for_device,
        .devices = 1,
        .compute_units = (uint32_t)get_nprocs(),
        .wave_size = 1,
        .memory_bytes = (uint64_t)memory_of_machine.totalram * memory_of_machine.mem_unit,
    };
}
