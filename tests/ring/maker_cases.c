#include "../common/check.h"
#include "common/private.h"
#include "ring/maker.h"
#include "ring/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SMALLEST_RING 1024u
#define SESSION_SIZE  256

static int open_ring(const struct rtl_ring *ring)
{
    return rtl_private_open(ring->path, O_RDWR);
}

/* Names are those of the innermost namespace, and this is one that sees itself. */
const char *Maker_IsFoundByItsPid(void)
{
    struct rtl_process_id own = rtl_process_id_own();
    struct rtl_process_id same = rtl_process_id(rtl_process_own());
    bool is_space_seen = false;
    CHECK(own.space != 0 && own.space == same.space);
    CHECK(own.inner == (uint32_t)getpid() && same.inner == own.inner);
    CHECK(rtl_process_find(&own, RTL_START_UNKNOWN, &is_space_seen) == rtl_process_own());
    CHECK(is_space_seen);
    uint64_t start = rtl_process_facts(rtl_process_own()).start;
    CHECK(rtl_process_find(&own, start + 1, &is_space_seen) == rtl_process_own());
    CHECK(rtl_process_find(&own, start + 2, &is_space_seen) == 0);
    own.space++;
    is_space_seen = false;
    CHECK(rtl_process_find(&own, start, &is_space_seen) == 0 && !is_space_seen);
    return NULL;
}

static bool make_ring(struct rtl_ring *ring, char session[SESSION_SIZE])
{
    return rtl_ring_dir_create(session, SESSION_SIZE) == 0 &&
           rtl_ring_create(ring, session, SMALLEST_RING) == 0;
}

const char *Maker_OfThisNamespaceIsAsked(void)
{
    struct rtl_ring ring;
    char session[SESSION_SIZE];
    CHECK(make_ring(&ring, session));
    int file = open_ring(&ring);
    struct rtl_ring_maker maker = rtl_ring_find_maker(ring.header, file);
    CHECK(file >= 0 && maker.seen && maker.pid == rtl_process_own());
    CHECK(rtl_ring_maker_lives(ring.header, &maker, file));
    ring.header->inner = 0x7fffffff; /* above all pids; the lock is held, and says nothing here */
    maker = rtl_ring_find_maker(ring.header, file);
    CHECK(maker.seen && !rtl_ring_maker_lives(ring.header, &maker, file));
    close(file);
    rtl_ring_unmap(&ring);
    rtl_ring_dir_remove(session);
    return NULL;
}

/* Of a namespace that has nobody here the lock tells, as long as the ring is mapped. */
const char *Maker_OutOfSightHoldsTheLock(void)
{
    struct rtl_ring ring;
    char session[SESSION_SIZE];
    CHECK(make_ring(&ring, session));
    CHECK(ring.header->locked == ring.in_memory);
    int file = open_ring(&ring);
    struct rtl_ring_header *header =
        mmap(NULL, sizeof *header, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(header != MAP_FAILED);
    header->space = 1;
    struct rtl_ring_maker maker = rtl_ring_find_maker(header, file);
    CHECK(!maker.seen && maker.pid == header->pid);
    CHECK(rtl_ring_maker_lives(header, &maker, file));
    CHECK(rtl_ring_maker_lives_at(header, &maker, ring.path));
    bool in_memory = ring.in_memory;
    rtl_ring_unmap(&ring);
    if (in_memory) {
        CHECK(!rtl_ring_maker_lives(header, &maker, file));
        CHECK(!rtl_ring_maker_lives_at(header, &maker, ring.path));
        maker = rtl_ring_find_maker(header, file);
        CHECK(maker.start == 0 && !rtl_ring_maker_lives(header, &maker, file));
    }
    header->locked = 0; /* nothing is known until it tells */
    maker = rtl_ring_find_maker(header, file);
    CHECK(!maker.seen && rtl_ring_maker_lives(header, &maker, file));
    atomic_store(&header->exited, 1);
    CHECK(!rtl_ring_maker_lives(header, &maker, file));
    munmap(header, sizeof *header);
    close(file);
    rtl_ring_dir_remove(session);
    return NULL;
}
