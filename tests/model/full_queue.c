/*
 * Fills a queue of 64 packets and more behind a barrier that only the program can open, so that an
 * intercept queue must keep packets back for certain, then opens it. All packets must complete, in
 * order.
 */
#include "gpu.h"

#include <stdio.h>
#include <string.h>

enum { BATCH = 32, BATCHES = 3, PACKETS = BATCH * BATCHES };

static void put_barrier(hsa_queue_t *queue, hsa_signal_t dependency, hsa_signal_t completion)
{
    hsa_barrier_and_packet_t packet;
    memset(&packet, 0, sizeof packet);
    packet.dep_signal[0] = dependency;
    packet.completion_signal = completion;
    uint64_t index = gpu_put(queue, &packet, gpu_header(HSA_PACKET_TYPE_BARRIER_AND, true));
    if (index % BATCH == 0)
        gpu_ring(queue, index);
}

int main(void)
{
    static const hsa_signal_t none;
    gpu_machine_t machine;
    hsa_signal_t done[PACKETS];
    gpu_open(&machine);
    hsa_queue_t *queue = gpu_queue(machine.gpu[0], 64);
    hsa_signal_t gate = gpu_signal(1);
    put_barrier(queue, gate, none);
    for (unsigned i = 0; i < PACKETS; i++) {
        done[i] = gpu_signal(1);
        put_barrier(queue, none, done[i]);
    }
    hsa_signal_store_screlease(gate, 0);
    bool good = gpu_wait(done[PACKETS - 1]);
    for (unsigned i = 0; i < PACKETS; i++)
        good = good && hsa_signal_load_scacquire(done[i]) == 0;
    (void)puts(good ? "all packets are done in order" : "a packet is not done");
    for (unsigned i = 0; i < PACKETS; i++)
        (void)hsa_signal_destroy(done[i]);
    (void)hsa_signal_destroy(gate);
    (void)hsa_queue_destroy(queue);
    gpu_close();
    return good ? 0 : 1;
}
