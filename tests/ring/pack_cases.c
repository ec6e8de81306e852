/* Kernels that share a record: whatever they say must come out again, in order, each once. */
#include "../common/check.h"
#include "ring/pack.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SMALLEST_RING (64u << 10) /* 1024 slots */
#define MOST_AT_ONCE  200u
#define MOST_KEPT     4096u /* more than the smallest ring holds, packed */

/* What went in and has not come out yet. */
struct kept {
    struct rtl_wire_kernel kernels[MOST_KEPT];
    unsigned first, count;
    unsigned wrong;
    unsigned damaged; /* records that contradict themselves */
};

static void keep(struct kept *kept, const struct rtl_wire_kernel *kernels, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        kept->kernels[(kept->first + kept->count++) % MOST_KEPT] = kernels[i];
}

static void compare(void *context, enum rtl_wire_type type, const void *body, size_t size)
{
    struct kept *kept = context;
    if (type == RTL_WIRE_KERNELS) {
        kept->damaged++;
        return;
    }
    struct rtl_wire_kernel kernel;
    if (type != RTL_WIRE_KERNEL || size < sizeof kernel || kept->count == 0) {
        kept->wrong++;
        return;
    }
    memcpy(&kernel, body, sizeof kernel);
    const struct rtl_wire_kernel *expected = &kept->kernels[kept->first];
    bool same = kernel.packet == expected->packet && kernel.start == expected->start &&
                kernel.end == expected->end && kernel.correlation == expected->correlation &&
                kernel.queue == expected->queue && kernel.shape == expected->shape &&
                kernel.launch == expected->launch && kernel.ordinal == expected->ordinal;
    kept->wrong += !same;
    kept->first = (kept->first + 1) % MOST_KEPT;
    kept->count--;
}

static uint64_t read_all(struct rtl_ring *ring, struct kept *kept)
{
    uint64_t torn = 0;
    return rtl_ring_read(ring, UINT64_MAX, false, compare, kept, &torn) + torn;
}

/* SplitMix64. */
static uint64_t draw(uint64_t below)
{
    static uint64_t state = 20261122;
    uint64_t z = state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return below > 0 ? z % below : z;
}

/* Numbers around which a distance stops fitting, and any number. */
static uint64_t odd(void)
{
    static const uint64_t edges[] = {0, 1, 1u << 15, 1u << 16, 1u << 31, UINT64_C(1) << 32};
    uint64_t edge = edges[draw(sizeof edges / sizeof *edges)] - 2 + draw(5);
    uint64_t sign = draw(2);
    return draw(4) == 0 ? draw(0) : sign ? 0 - edge : edge;
}

/* The kernel after `before`, as a program makes it that replays graphs, or launches one by one. */
static struct rtl_wire_kernel usual(struct rtl_wire_kernel before, bool replays)
{
    struct rtl_wire_kernel next = before;
    uint32_t packets = 1 + (uint32_t)(draw(10) == 0 ? draw(4) : 0);
    next.packet += packets;
    next.start = before.end + draw(300) - 50;
    next.end = next.start + draw(100000);
    next.shape = (uint32_t)draw(40);
    if (!replays) {
        next.launch = next.ordinal = RTL_NONE;
        next.correlation += draw(4);
    } else if (before.launch == RTL_NONE || draw(50) == 0) {
        next.launch = before.launch + 1;
        next.ordinal = 0;
        next.correlation += 1 + draw(3);
    } else {
        next.ordinal += packets;
    }
    return next;
}

/* And one that differs in something from what kernels usually are. */
static struct rtl_wire_kernel unusual(struct rtl_wire_kernel next)
{
    switch (draw(9)) {
    case 0:
        next.packet += odd();
        break;
    case 1:
        next.start += odd();
        next.end = next.start + draw(1000);
        break;
    case 2:
        next.end = next.start + odd();
        break;
    case 3:
        next.correlation += odd();
        break;
    case 4:
        next.queue = (uint32_t)draw(3);
        break;
    case 5:
        next.launch = (uint32_t)odd();
        break;
    case 6:
        next.ordinal = (uint32_t)odd();
        break;
    case 7:
        next.launch = RTL_NONE;
        break;
    default:
        next.ordinal = RTL_NONE;
        break;
    }
    return next;
}

/* Makes `count` kernels that go on from `last`; one in `oddness` is unusual. */
static void make(struct rtl_wire_kernel *kernels, unsigned count, struct rtl_wire_kernel *last,
                 unsigned oddness)
{
    bool replays = draw(2) == 0;
    for (unsigned i = 0; i < count; i++) {
        kernels[i] = usual(*last, replays);
        if (draw(oddness) == 0)
            kernels[i] = unusual(kernels[i]);
        *last = kernels[i];
    }
}

const char *Pack_WhateverKernelsSayComesOutAgain(void)
{
    static struct kept kept;
    struct rtl_wire_kernel kernels[MOST_AT_ONCE];
    struct rtl_wire_kernel last = {.packet = 5, .launch = RTL_NONE};
    struct rtl_ring ring;
    uint64_t refused = 0;
    CHECK(rtl_ring_create_private(&ring, SMALLEST_RING) == 0);
    for (unsigned round = 0; round < 20000; round++) {
        unsigned count = 1 + (unsigned)draw(draw(2) == 0 ? 8 : MOST_AT_ONCE);
        make(kernels, count, &last, 1 + (unsigned)draw(200));
        unsigned sent = rtl_ring_push_kernels(&ring, kernels, count);
        CHECK(sent <= count);
        keep(&kept, kernels, sent);
        refused += count - sent;
        /* What was refused left no slot free. */
        CHECK(sent == count || rtl_ring_pending(&ring) == ring.mask + 1);
        if (sent < count || draw(60) == 0)
            (void)read_all(&ring, &kept);
        CHECK(kept.wrong == 0 && kept.damaged == 0);
    }
    CHECK(refused > 0);
    (void)read_all(&ring, &kept);
    CHECK(kept.count == 0 && kept.wrong == 0 && rtl_ring_pending(&ring) == 0);
    rtl_ring_unmap(&ring);
    return NULL;
}

static void replay(struct rtl_wire_kernel *kernels, unsigned count, uint64_t first)
{
    for (unsigned i = 0; i < count; i++)
        kernels[i] = (struct rtl_wire_kernel){.packet = first + i,
                                              .start = 1000 * (first + i),
                                              .end = 1000 * (first + i) + 700,
                                              .correlation = 77,
                                              .queue = 3,
                                              .shape = i % 40,
                                              .launch = 12,
                                              .ordinal = i};
}

/* A kernel alone is a slot of 64 bytes. */
const char *Pack_KernelsOfALaunchTakeAQuarter(void)
{
    struct rtl_wire_kernel kernels[64];
    struct rtl_ring ring;
    CHECK(rtl_ring_create_private(&ring, SMALLEST_RING) == 0);
    replay(kernels, 64, 900);
    CHECK(rtl_ring_push_kernels(&ring, kernels, 64) == 64);
    CHECK(rtl_ring_pending(&ring) == 17); /* 16, and one for what they share */
    for (unsigned i = 0; i < 64; i++) {   /* a host call each */
        kernels[i].correlation = 500 + 3 * i;
        kernels[i].launch = kernels[i].ordinal = RTL_NONE;
    }
    CHECK(rtl_ring_push_kernels(&ring, kernels, 64) == 64);
    CHECK(rtl_ring_pending(&ring) == 17 + 17);
    rtl_ring_unmap(&ring);
    return NULL;
}

/* So many slots are free, anywhere in the ring: they are all used, for no fewer kernels than would
 * have gone in one by one. */
const char *Pack_PartOfABatchFindsRoom(void)
{
    static struct kept kept;
    struct rtl_wire_kernel kernels[100];
    struct rtl_wire_kernel single = {.queue = 9, .launch = RTL_NONE, .ordinal = RTL_NONE};
    struct rtl_ring ring;
    CHECK(rtl_ring_create_private(&ring, SMALLEST_RING) == 0);
    for (unsigned turn = 0; turn < 600; turn++) {
        uint64_t room = turn % 30;
        for (unsigned i = 0; i < 100; i++)
            kernels[i] = (struct rtl_wire_kernel){
                .packet = i + turn, .end = 9, .launch = RTL_NONE, .ordinal = RTL_NONE};
        while (rtl_ring_pending(&ring) < ring.mask + 1 - room) {
            CHECK(rtl_ring_push_kernels(&ring, &single, 1) == 1);
            keep(&kept, &single, 1);
        }
        unsigned sent = rtl_ring_push_kernels(&ring, kernels, 100);
        CHECK(sent >= room && (sent == 100 || rtl_ring_pending(&ring) == ring.mask + 1));
        CHECK((sent == 100) == (room >= 17 + 10)); /* 64 kernels and 36 */
        keep(&kept, kernels, sent);
        (void)read_all(&ring, &kept);
        CHECK(kept.count == 0 && kept.wrong == 0 && kept.damaged == 0);
    }
    rtl_ring_unmap(&ring);
    return NULL;
}

/* Bytes that another process, or a bug of it, may leave. */
struct lie {
    struct rtl_wire_kernels head;
    unsigned body; /* rtl_wire_packed that follow */
    int origin_at; /* one of them that has the next origin, -1: none */
    unsigned told; /* kernels that it holds up to its first contradiction */
};

const char *Pack_RecordsThatContradictThemselves(void)
{
    static const struct lie lies[] = {
        {.head = {.kernels = 0}, .body = 8, .origin_at = -1},
        {.head = {.kernels = 9}, .body = 4, .origin_at = -1},
        {.head = {.kernels = 65}, .body = 80, .origin_at = -1},
        {.head = {.kernels = UINT16_MAX}, .body = 80, .origin_at = -1},
        {.head = {.kernels = 4, .origins = 9}, .body = 8, .origin_at = -1},
        {.head = {.kernels = 4, .origins = UINT16_MAX}, .body = 8, .origin_at = -1},
        {.head = {.kernels = 8}, .body = 8, .origin_at = 5, .told = 5},
        {.head = {.kernels = 8}, .body = 8, .origin_at = 0, .told = 0},
    };
    static struct kept kept;
    struct rtl_ring ring;
    CHECK(rtl_ring_create_private(&ring, SMALLEST_RING) == 0);
    for (unsigned turn = 0; turn < 2000; turn++) { /* at every place in the ring */
        const struct lie *lie = &lies[turn % (sizeof lies / sizeof *lies)];
        struct rtl_wire_packed packed[80] = {{0}};
        if (lie->origin_at >= 0)
            packed[lie->origin_at].correlation = RTL_PACKED_ORIGIN;
        const struct rtl_piece pieces[] = {{&lie->head, sizeof lie->head},
                                           {packed, lie->body * sizeof *packed}};
        struct rtl_wire_kernel expected = {.ordinal = 0};
        for (unsigned i = 0; i < lie->told; i++)
            keep(&kept, &expected, 1);
        kept.damaged = 0;
        CHECK(rtl_ring_push(&ring, RTL_WIRE_KERNELS, pieces, 2));
        CHECK(read_all(&ring, &kept) > 0);
        CHECK(kept.damaged == 1 && kept.count == 0 && kept.wrong == 0);
    }
    rtl_ring_unmap(&ring);
    return NULL;
}

static int open_ring(const char *session, pid_t pid, struct rtl_ring *ring)
{
    char path[512];
    char library[32];
    uint32_t version;
    (void)snprintf(path, sizeof path, "%s/ring.%d.0", session, (int)pid);
    return rtl_ring_open(ring, path, &version, library);
}

static void write_for_ever(const char *session)
{
    struct rtl_wire_kernel kernels[64];
    struct rtl_ring ring;
    uint64_t packet = 0;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails may not leave it behind */
    if (rtl_ring_create(&ring, session, SMALLEST_RING) != 0)
        _exit(1);
    for (;;) {
        replay(kernels, 64, packet);
        packet += rtl_ring_push_kernels(&ring, kernels, 64);
    }
}

static void count_in_order(void *context, enum rtl_wire_type type, const void *body, size_t size)
{
    uint64_t *next = context;
    const struct rtl_wire_kernel *kernel = body;
    (void)size;
    bool is_kernel = type == RTL_WIRE_KERNEL || type == RTL_WIRE_DRAFT_KERNEL;
    if (is_kernel && kernel->packet == *next && kernel->start == *next * 1000)
        ++*next;
    else
        *next = UINT64_MAX / 2;
}

/* Wherever it is in its work: what it began last is torn at most, as many slots as a record has, or
 * a draft. */
const char *Pack_AWriterIsKilled(void)
{
    char session[256];
    for (unsigned turn = 0; turn < 20; turn++) {
        struct rtl_ring ring;
        uint64_t next = 0;
        uint64_t torn = 0;
        uint64_t enough = 1000 + draw(5000);
        CHECK(rtl_ring_dir_create(session, sizeof session) == 0);
        pid_t pid = fork();
        if (pid == 0)
            write_for_ever(session);
        while (open_ring(session, pid, &ring) != 0)
            CHECK(waitpid(pid, NULL, WNOHANG) == 0);
        while (next < enough)
            (void)rtl_ring_read(&ring, 100, false, count_in_order, &next, &torn);
        CHECK(torn == 0);
        CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
        while (rtl_ring_read(&ring, 100, true, count_in_order, &next, &torn) > 0)
            continue;
        CHECK(next < UINT64_MAX / 2 && torn <= RTL_PACK_MOST_SLOTS);
        CHECK(rtl_ring_pending(&ring) == 0);
        rtl_ring_unmap(&ring);
        rtl_ring_dir_remove(session);
    }
    return NULL;
}

/* A hole between records, of a thread that died in the middle of packing. */
const char *Pack_KernelsBehindAHole(void)
{
    static struct kept kept;
    struct rtl_wire_kernel kernels[64];
    struct rtl_ring ring;
    uint64_t torn = 0;
    CHECK(rtl_ring_create_private(&ring, SMALLEST_RING) == 0);
    replay(kernels, 64, 0);
    CHECK(rtl_ring_push_kernels(&ring, kernels, 64) == 64);
    keep(&kept, kernels, 64);
    uint64_t slots = rtl_ring_pending(&ring);
    uint64_t hole = atomic_fetch_add(&ring.header->head, slots) & ring.mask;
    replay(kernels, 64, 64);
    CHECK(rtl_ring_push_kernels(&ring, kernels, 64) == 64);
    keep(&kept, kernels, 64);
    /* All of it is there but the word that commits it. */
    memcpy(ring.slots + hole * RTL_SLOT_SIZE + sizeof(uint32_t), ring.slots + sizeof(uint32_t),
           slots * RTL_SLOT_SIZE - sizeof(uint32_t));
    CHECK(rtl_ring_read(&ring, UINT64_MAX, false, compare, &kept, &torn) == slots);
    CHECK(kept.count == 64 && torn == 0);
    CHECK(rtl_ring_read(&ring, UINT64_MAX, true, compare, &kept, &torn) == 2 * slots);
    CHECK(kept.count == 0 && kept.wrong == 0 && kept.damaged == 0 && torn == slots);
    rtl_ring_unmap(&ring);
    return NULL;
}
