/*
 * opaque WAY: five kernels, and packets of the vendor's that are none, among them what a HIP
 * submits that replays a graph by one packet.
 *
 *     graph      three replays, each a packet that leads to a list of PM4 commands
 *     alone      three such packets outside of any replay
 *     barriers   three replays of a kernel and a barrier-value packet, and such a barrier on its
 * own
 *
 * Prints `kernels N` for the kernels that have packets.
 */
#include "gpu.h"

#include <hsa/hsa_ext_amd.h>
#include <stdio.h>
#include <string.h>

#define REPLAYS 3u
#define EAGER   5u

extern void opaque_hip_launches(void (*launch)(void));
extern int hipGraphLaunch(void *exec, void *stream);

/* A packet that leads the command processor to a buffer: AMD_AQL_FORMAT_PM4_IB (1), as ROCr's
 * amd_aql_queue.cpp writes it. PM4 packets of type 3: their header has the operation in bits 8 to
 * 15 and the number of dwords behind it, less one, in bits 16 to 29 (Linux's soc15d.h). */
struct jump {
    uint16_t header;
    uint8_t format, reserved;
    uint32_t jump[4];
    uint32_t remaining;
    uint32_t unused[8];
    hsa_signal_t completion_signal;
};

_Static_assert(sizeof(struct jump) == 64, "a packet");

#define PM4(operation, words) (UINT32_C(3) << 30 | ((words)-1u) << 16 | (uint32_t)(operation) << 8)
#define PM4_NOP               0x10
#define PM4_INDIRECT_BUFFER   0x3f
#define PM4_VALID             (UINT32_C(1) << 23)

static struct gpu gpu;
static hsa_queue_t *queue;
static uint32_t *commands; /* one that does nothing */
static unsigned kernels;

static void write_packet(const void *packet)
{
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    unsigned char *slot =
        (unsigned char *)queue->base_address + (index & (queue->size - 1)) * sizeof(struct jump);
    uint32_t first;
    memcpy(&first, packet, sizeof first);
    memcpy(slot + sizeof first, (const unsigned char *)packet + sizeof first,
           sizeof(struct jump) - sizeof first);
    __atomic_store_n((uint32_t *)(void *)slot, first, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static void wait_and_destroy(hsa_signal_t signal)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
    gpu_must(hsa_signal_destroy(signal), "signal");
}

static void lead_to_commands(void)
{
    uint64_t address = (uintptr_t)commands;
    struct jump packet = {.header =
                              HSA_PACKET_TYPE_VENDOR_SPECIFIC | 1u << HSA_PACKET_HEADER_BARRIER,
                          .format = 1,
                          .jump = {PM4(PM4_INDIRECT_BUFFER, 3), (uint32_t)address,
                                   (uint32_t)(address >> 32), PM4_VALID | 2u},
                          .remaining = 10,
                          .completion_signal = gpu_signal(1)};
    write_packet(&packet);
    wait_and_destroy(packet.completion_signal);
}

static void bar(void)
{
    hsa_amd_barrier_value_packet_t packet = {
        .header = {.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC,
                   .AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE},
        .completion_signal = gpu_signal(1)};
    write_packet(&packet);
    wait_and_destroy(packet.completion_signal);
}

static void run_kernel(void)
{
    const struct gpu_packet packet = {gpu_signal(1), 0, false};
    gpu_submit(&gpu, queue, &packet, 1);
    wait_and_destroy(packet.signal);
    kernels++;
}

static void run_and_bar(void)
{
    run_kernel();
    bar();
}

static void replay(void (*launch)(void))
{
    static char exec; /* its address is a handle */
    opaque_hip_launches(launch);
    for (unsigned i = 0; i < REPLAYS; i++)
        (void)hipGraphLaunch(&exec, NULL);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    gpu_open(&gpu);
    queue = gpu_queue(&gpu, 64);
    commands = gpu_memory(&gpu, 4096);
    commands[0] = PM4(PM4_NOP, 1);
    for (unsigned i = 0; i < EAGER; i++)
        run_kernel();
    if (strcmp(way, "graph") == 0)
        replay(lead_to_commands);
    for (unsigned i = 0; i < REPLAYS && strcmp(way, "alone") == 0; i++)
        lead_to_commands();
    if (strcmp(way, "barriers") == 0) {
        replay(run_and_bar);
        bar();
    }
    gpu_must(hsa_queue_destroy(queue), "queue destroy");
    gpu_must(hsa_memory_free(commands), "memory");
    gpu_close(&gpu);
    gpu_must(hsa_shut_down(), "shut down");
    (void)printf("kernels %u\n", kernels);
    return 0;
}
