#include "ring/pack.h"

#include <string.h>

static size_t size_of(unsigned kernels, unsigned origins)
{
    return sizeof(struct rtl_wire_header) + sizeof(struct rtl_wire_kernels) +
           kernels * sizeof(struct rtl_wire_packed) + origins * sizeof(struct rtl_wire_origin);
}

/* How many of `count` kernels find room beside so many origins. */
static unsigned room_for(size_t room, unsigned origins, unsigned count)
{
    size_t taken = size_of(0, origins);
    size_t most = taken < room ? (room - taken) / sizeof(struct rtl_wire_packed) : 0;
    most = most < RTL_PACKED_MOST ? most : RTL_PACKED_MOST;
    return most < count ? (unsigned)most : count;
}

static uint32_t ordinal_of(const struct rtl_wire_origin *origin, uint64_t packet)
{
    return origin->launch == RTL_NONE ? RTL_NONE : (uint32_t)packet + origin->shift;
}

/* Both for distances, which may be negative. */
static bool fits_16(uint64_t distance)
{
    return distance + INT16_MAX <= UINT16_MAX - 1;
}

static bool fits_32(uint64_t distance)
{
    return distance + INT32_MAX <= UINT32_MAX - 1;
}

/* Tells a kernel by the one before, its correlation aside. False if that is not possible. */
static bool tell(struct rtl_wire_packed *packed, const struct rtl_wire_kernel *kernel,
                 const struct rtl_wire_kernel *before)
{
    uint64_t packet = kernel->packet - before->packet;
    uint64_t start = kernel->start - before->start;
    uint64_t duration = kernel->end - kernel->start;
    packed->start = (int32_t)start;
    packed->duration = (uint32_t)duration;
    packed->shape = kernel->shape;
    packed->packet = (int16_t)packet;
    return fits_16(packet) && fits_32(start) && duration <= UINT32_MAX &&
           kernel->queue == before->queue;
}

/* Tells the kernels from `at` on, as long as they are of an origin; the place after them. */
static unsigned tell_run(struct rtl_pack *pack, const struct rtl_wire_kernel *kernels, unsigned at,
                         unsigned end, struct rtl_wire_origin origin)
{
    for (; at < end; at++) {
        const struct rtl_wire_kernel *kernel = &kernels[at];
        uint64_t correlation = kernel->correlation - kernel[-1].correlation;
        if (!tell(&pack->kernels[at], kernel, kernel - 1) || kernel->launch != origin.launch ||
            kernel->ordinal != ordinal_of(&origin, kernel->packet) || !fits_16(correlation))
            break;
        pack->kernels[at].correlation = (int16_t)correlation;
    }
    return at;
}

/* False if none can say it. */
static bool find_origin(struct rtl_wire_origin *origin, const struct rtl_wire_kernel *kernel)
{
    *origin = (struct rtl_wire_origin){.correlation = kernel->correlation,
                                       .launch = kernel->launch,
                                       .shift = kernel->ordinal - (uint32_t)kernel->packet};
    return ordinal_of(origin, kernel->packet) == kernel->ordinal;
}

unsigned rtl_pack(struct rtl_pack *pack, const struct rtl_wire_kernel *kernels, unsigned count,
                  uint64_t slots)
{
    struct rtl_wire_kernels *head = &pack->head;
    size_t room = (size_t)slots * RTL_SLOT_SIZE;
    unsigned end = room_for(room, 0, count);
    unsigned done = 0;
    head->packet = kernels->packet;
    head->start = kernels->start;
    head->queue = kernels->queue;
    head->origins = 0;
    if (find_origin(&head->origin, kernels) && tell(pack->kernels, kernels, kernels)) {
        pack->kernels->correlation = 0;
        done = tell_run(pack, kernels, 1, end, head->origin);
    }
    while (done > 0 && done < (end = room_for(room, head->origins + 1u, count))) {
        struct rtl_wire_origin *origin = &pack->origins[head->origins];
        const struct rtl_wire_kernel *kernel = &kernels[done];
        if (!find_origin(origin, kernel) || !tell(&pack->kernels[done], kernel, kernel - 1))
            break;
        head->origins++;
        pack->kernels[done].correlation = RTL_PACKED_ORIGIN;
        done = tell_run(pack, kernels, done + 1, end, *origin);
    }
    head->kernels = (uint16_t)done;
    return done;
}

uint64_t rtl_pack_slots(const struct rtl_pack *pack)
{
    size_t size = size_of(pack->head.kernels, pack->head.origins);
    return (size + RTL_SLOT_SIZE - 1) / RTL_SLOT_SIZE;
}

bool rtl_unpack(const void *body, size_t size, rtl_ring_handler handler, void *context)
{
    struct rtl_wire_kernels head;
    memcpy(&head, body, sizeof head);
    if (head.kernels == 0 || head.kernels > RTL_PACKED_MOST ||
        size_of(head.kernels, head.origins) > size + sizeof(struct rtl_wire_header))
        return false;
    const struct rtl_wire_packed *packed =
        (const void *)((const unsigned char *)body + sizeof head);
    const struct rtl_wire_origin *next = (const void *)(packed + head.kernels);
    const struct rtl_wire_origin *end = next + head.origins;
    struct rtl_wire_origin origin = head.origin;
    struct rtl_wire_kernel kernel = {
        .packet = head.packet, .start = head.start, .queue = head.queue};
    for (unsigned i = 0; i < head.kernels; i++) {
        const struct rtl_wire_packed now = packed[i];
        if (now.correlation != RTL_PACKED_ORIGIN)
            origin.correlation += (uint64_t)now.correlation;
        else if (next < end)
            origin = *next++;
        else
            return false;
        kernel.packet += (uint64_t)now.packet;
        kernel.start += (uint64_t)now.start;
        kernel.end = kernel.start + now.duration;
        kernel.shape = now.shape;
        kernel.correlation = origin.correlation;
        kernel.launch = origin.launch;
        kernel.ordinal = ordinal_of(&origin, kernel.packet);
        handler(context, RTL_WIRE_KERNEL, &kernel, sizeof kernel);
    }
    return true;
}
