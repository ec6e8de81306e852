/*
 * Packed kernels as a process leaves them whose memory is overwritten: any bytes in place of a
 * record. The reader must stay inside it (AddressSanitizer), hand over no more kernels than it
 * holds, and say so when it contradicts itself. What came out goes into a ring again, and must come
 * out of it as it was.
 *
 * Input: the record's body. By bits of its first byte the numbers in it are made small, so that
 * they mostly hold, and zeros follow, enough for any number of kernels.
 */
#include "ring/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING ((size_t)64 << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    struct rtl_wire_kernel kernels[RTL_PACKED_MOST];
    unsigned count, damaged;
};

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "fuzz: not so: %s\n", what);
    abort();
}

static void take(void *context, enum rtl_wire_type type, const void *body, size_t size)
{
    struct seen *seen = context;
    if (type == RTL_WIRE_KERNELS) {
        seen->damaged++;
        return;
    }
    must(type == RTL_WIRE_KERNEL && size >= sizeof *seen->kernels, "a kernel is whole");
    must(seen->count < RTL_PACKED_MOST, "a record has so many kernels at most");
    memcpy(&seen->kernels[seen->count++], body, sizeof *seen->kernels);
}

static void make_small(unsigned char *body, size_t size)
{
    struct rtl_wire_kernels head;
    memcpy(&head, body, sizeof head);
    head.kernels %= RTL_PACKED_MOST + 4;
    head.origins %= 8;
    memcpy(body, &head, sizeof head);
    for (size_t at = sizeof head; at + sizeof(struct rtl_wire_packed) <= size;
         at += sizeof(struct rtl_wire_packed)) {
        struct rtl_wire_packed packed;
        memcpy(&packed, body + at, sizeof packed);
        packed.correlation = packed.correlation % 8 == 0 ? RTL_PACKED_ORIGIN : packed.correlation;
        memcpy(body + at, &packed, sizeof packed);
    }
}

/* A ring whose slots are used in turn, so that records begin everywhere in it. */
static struct rtl_ring *the_ring(void)
{
    static struct rtl_ring ring;
    if (ring.header == NULL)
        must(rtl_ring_create_private(&ring, RING) == 0, "there is memory");
    return &ring;
}

static void read_all(struct seen *seen)
{
    uint64_t torn = 0;
    while (rtl_ring_read(the_ring(), UINT64_MAX, false, take, seen, &torn) > 0)
        ;
    must(torn == 0, "no slot is torn");
}

static bool same(const struct rtl_wire_kernel *a, const struct rtl_wire_kernel *b)
{
    return a->packet == b->packet && a->start == b->start && a->end == b->end &&
           a->correlation == b->correlation && a->queue == b->queue && a->shape == b->shape &&
           a->launch == b->launch && a->ordinal == b->ordinal;
}

/* What one way of reading a record gave, the other must give, and packed again it must remain. */
static void compare(const struct seen *expected, struct seen *seen)
{
    must(seen->count == expected->count, "all kernels came out");
    for (unsigned i = 0; i < seen->count; i++)
        must(same(&seen->kernels[i], &expected->kernels[i]), "a kernel is as it was");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct seen seen, found, again;
    size_t zeros = size > 0 && data[0] / 2 % 2 != 0 ? sizeof(struct rtl_pack) : 0;
    size_t whole = size + zeros + sizeof(struct rtl_wire_header) + RTL_SLOT_SIZE - 1;
    size_t body_size = whole / RTL_SLOT_SIZE * RTL_SLOT_SIZE - sizeof(struct rtl_wire_header);
    unsigned char *body = size > 0 ? calloc(1, body_size) : NULL;
    if (body == NULL)
        return 0;
    memcpy(body, data, size);
    if (data[0] % 2 != 0)
        make_small(body, body_size);
    seen.count = found.count = again.count = found.damaged = again.damaged = 0;
    bool held = rtl_unpack(body, body_size, take, &seen);
    const struct rtl_piece piece = {body, body_size};
    must(rtl_ring_push(the_ring(), RTL_WIRE_KERNELS, &piece, 1), "the ring has room");
    read_all(&found);
    must(found.damaged == !held, "a contradiction is told");
    compare(&seen, &found);
    must(rtl_ring_push_kernels(the_ring(), seen.kernels, seen.count) == seen.count,
         "the ring has room");
    read_all(&again);
    must(again.damaged == 0, "what was packed holds");
    compare(&seen, &again);
    free(body);
    return 0;
}
