/* The memory of a ring, which is reserved as it is written, and may run out.
 *
 * Where the file is in memory, the mapping is all that is needed. Elsewhere, and before Linux 5.14,
 * the file is opened for each piece: a program may need all descriptors that it may have. */
#include "common/clock.h"
#include "common/pages.h"
#include "common/private.h"
#include "ring/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define AHEAD    (512u << 10) /* 8 thousand host calls, 25 thousand kernels */
#define RETRY_NS UINT64_C(50000000)

static int reserve_in_file(const struct rtl_ring *ring, size_t begin, size_t size)
{
    int file = rtl_private_open(ring->path, O_RDWR);
    if (file < 0)
        return -1;
    int failed = fallocate(file, 0, (off_t)begin, (off_t)size);
    int saved = errno;
    close(file);
    errno = saved;
    return failed;
}

/* What is reserved already stays as it is. */
static int reserve(const struct rtl_ring *ring, size_t begin, size_t size)
{
    unsigned char *memory = (unsigned char *)ring->header + begin;
    if (ring->in_memory) {
        if (rtl_pages_make(memory, memory + size) == 0)
            return 0;
        if (errno != EINVAL)
            return -1;
    }
    if (reserve_in_file(ring, begin, size) != 0)
        return -1;
    rtl_prefault(memory, memory + size);
    return 0;
}

static size_t reserved(uint64_t usable)
{
    return sizeof(struct rtl_ring_header) + (size_t)usable * RTL_SLOT_SIZE;
}

/* Two threads may reserve the same piece, the second in vain. */
static int reserve_next(struct rtl_ring *ring, size_t most)
{
    uint64_t usable = atomic_load_explicit(&ring->header->usable, memory_order_relaxed);
    size_t done = reserved(usable);
    if (done >= ring->size)
        return 0;
    size_t piece = ring->size - done < most ? ring->size - done : most;
    if (reserve(ring, done, piece) != 0)
        return -1;
    bool mine = atomic_compare_exchange_strong_explicit(&ring->header->usable, &usable,
                                                        usable + piece / RTL_SLOT_SIZE,
                                                        memory_order_relaxed, memory_order_relaxed);
    return mine && done + piece == ring->size ? 0 : 1;
}

int rtl_ring_reserve_piece(struct rtl_ring *ring, size_t most)
{
    int result = reserve_next(ring, most);
    uint64_t retry = result < 0 ? rtl_now() + RETRY_NS : 0;
    if (retry != atomic_load_explicit(&ring->retry_ns, memory_order_relaxed))
        atomic_store_explicit(&ring->retry_ns, retry, memory_order_relaxed);
    return result;
}

int rtl_ring_reserve_ahead(struct rtl_ring *ring)
{
    const struct rtl_ring_header *header = ring->header;
    uint64_t usable = atomic_load_explicit(&header->usable, memory_order_relaxed);
    uint64_t retry = atomic_load_explicit(&ring->retry_ns, memory_order_relaxed);
    if (usable > ring->mask || (retry != 0 && rtl_now() < retry))
        return 0;
    uint64_t head = atomic_load_explicit(&header->head, memory_order_relaxed) & ring->mask;
    return retry == 0 && usable - head >= AHEAD / RTL_SLOT_SIZE
               ? 0
               : rtl_ring_reserve_piece(ring, RTL_RING_SMALL_PIECE);
}

int rtl_ring_reserve_header(struct rtl_ring *ring)
{
    return reserve(ring, 0, sizeof *ring->header);
}
