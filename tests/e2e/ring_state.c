/*
 * ring_state FILE: what the ring of a process says of itself, as JSON: its pid, whether it was
 * closed, its size, and the sums of its ledger: what has completed and waits for room in the ring
 * (`held`), and what is still under way (`running`), among them.
 */
#include "ring/ring.h"

#include <inttypes.h>
#include <stdio.h>

struct sums {
    uint64_t packets, seen, skipped, recorded, lost, held, running;
};

static uint64_t load(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_acquire);
}

static struct sums add_up(const struct rtl_ring_header *header)
{
    struct sums sums = {0};
    for (uint32_t row = 0; row < RTL_LEDGER_ROWS; row++) {
        const struct rtl_wire_ledger *ledger = &header->ledger[row];
        sums.packets += load(&ledger->packets);
        sums.seen += load(&ledger->seen);
        sums.skipped += load(&ledger->skipped);
        sums.recorded += load(&ledger->recorded);
        uint64_t lost = 0;
        for (unsigned reason = 0; reason < RTL_LOST_REASONS; reason++)
            lost += load(&ledger->lost[reason]);
        sums.lost += lost;
        uint64_t early = load(&ledger->lost[RTL_LOST_POOL]) + load(&ledger->lost[RTL_LOST_PENDING]);
        uint64_t settled = load(&ledger->recorded) + lost - early;
        uint64_t done = load(&ledger->done);
        uint64_t held = done > settled ? done - settled : 0;
        sums.held += held;
        sums.running += load(&ledger->seen) - load(&ledger->skipped) - early - settled - held;
    }
    return sums;
}

int main(int argc, char **argv)
{
    struct rtl_ring ring;
    uint32_t version;
    char library[33];
    if (argc != 2 || rtl_ring_open(&ring, argv[1], &version, library) != 0) {
        (void)fprintf(stderr, "ring_state: no ring can be read\n");
        return 2;
    }
    struct sums sums = add_up(ring.header);
    (void)printf(
        "{\"pid\": %" PRIu32 ", \"closed\": %s, \"slots\": %" PRIu32 ", \"packets\": %" PRIu64
        ", \"seen\": %" PRIu64 ", \"skipped\": %" PRIu64 ", \"recorded\": %" PRIu64
        ", \"lost\": %" PRIu64 ", \"held\": %" PRIu64 ", \"running\": %" PRIu64 "}\n",
        ring.header->pid, rtl_ring_closed(&ring) ? "true" : "false", ring.header->slots,
        sums.packets, sums.seen, sums.skipped, sums.recorded, sums.lost, sums.held, sums.running);
    rtl_ring_unmap(&ring);
    return 0;
}
