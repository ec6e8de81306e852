/* Which process, and which of its images, made a ring. */
#include "../common/check.h"
#include "ring/process.h"
#include "ring/ring.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SMALLEST_RING (64u << 10)
#define MANY          100u /* more than the names that were once enough */

static uint32_t state_of(const char *session, unsigned ordinal)
{
    struct rtl_ring ring;
    char path[512];
    uint32_t version;
    char library[32];
    (void)snprintf(path, sizeof path, "%s/ring.%d.%u", session, (int)getpid(), ordinal);
    if (rtl_ring_open(&ring, path, &version, library) != 0)
        return 0;
    uint32_t state = atomic_load(&ring.header->state);
    rtl_ring_unmap(&ring);
    return state;
}

const char *Images_ManyRingsOfAProcess(void)
{
    static struct rtl_ring rings[MANY];
    char session[256];
    CHECK(rtl_ring_dir_create(session, sizeof session) == 0);
    for (unsigned i = 0; i < MANY; i++) {
        CHECK(rtl_ring_create(&rings[i], session, SMALLEST_RING) == 0);
        CHECK(rings[i].header->ordinal == i);
        CHECK(i == 0 || rings[i].header->made_ns > rings[i - 1].header->made_ns);
    }
    for (unsigned i = 0; i < MANY; i++)
        rtl_ring_unmap(&rings[i]);
    rtl_ring_dir_remove(session);
    return NULL;
}

/* What this image has mapped is its own, what was closed has ended in order. */
const char *Images_TheNextOneTells(void)
{
    struct rtl_ring former;
    struct rtl_ring closed;
    struct rtl_ring own;
    char session[256];
    CHECK(rtl_ring_dir_create(session, sizeof session) == 0);
    CHECK(rtl_ring_create(&former, session, SMALLEST_RING) == 0);
    CHECK(rtl_ring_create(&closed, session, SMALLEST_RING) == 0);
    CHECK(rtl_ring_create(&own, session, SMALLEST_RING) == 0);
    rtl_ring_close(&closed);
    rtl_ring_unmap(&former);
    rtl_ring_unmap(&closed);
    rtl_ring_replace_former(session);
    CHECK(state_of(session, 0) == RTL_RING_REPLACED);
    CHECK(state_of(session, 1) == RTL_RING_CLOSED);
    CHECK(state_of(session, 2) == RTL_RING_OPEN);
    CHECK(!rtl_ring_replaced(&own));
    rtl_ring_unmap(&own);
    rtl_ring_dir_remove(session);
    return NULL;
}

/* Rings of others are none of its business, nor are those of one that had the same pid before, or
 * has it in another pid namespace, and another one here. */
const char *Images_NotOfAnotherProcess(void)
{
    struct rtl_ring before;
    struct rtl_ring own;
    struct rtl_ring elsewhere;
    struct rtl_ring outside;
    char session[256];
    CHECK(rtl_ring_dir_create(session, sizeof session) == 0);
    CHECK(rtl_ring_create(&before, session, SMALLEST_RING) == 0);
    CHECK(rtl_ring_create(&own, session, SMALLEST_RING) == 0);
    CHECK(rtl_ring_create(&elsewhere, session, SMALLEST_RING) == 0);
    CHECK(rtl_ring_create(&outside, session, SMALLEST_RING) == 0);
    before.header->process_start -= 2;
    elsewhere.header->space++;
    outside.header->inner++;
    rtl_ring_unmap(&before);
    rtl_ring_unmap(&own);
    rtl_ring_unmap(&elsewhere);
    rtl_ring_unmap(&outside);
    pid_t child = fork();
    if (child == 0) {
        rtl_ring_replace_former(session);
        _exit(0);
    }
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(state_of(session, 0) == RTL_RING_OPEN && state_of(session, 1) == RTL_RING_OPEN);
    rtl_ring_replace_former(session);
    CHECK(state_of(session, 0) == RTL_RING_OPEN && state_of(session, 1) == RTL_RING_REPLACED);
    CHECK(state_of(session, 2) == RTL_RING_OPEN && state_of(session, 3) == RTL_RING_OPEN);
    rtl_ring_replace_former("/nonexistent");
    rtl_ring_dir_remove(session);
    return NULL;
}

/* A child has its parent's image, until it executes a program. */
const char *Images_FactsOfAProcess(void)
{
    int executed[2];
    char byte;
    uint32_t own = (uint32_t)getpid();
    struct rtl_process_facts facts = rtl_process_facts(own);
    CHECK(facts.start != 0 && facts.start != RTL_START_UNKNOWN);
    CHECK(rtl_process_is(&facts, facts.start) && !rtl_process_is(&facts, facts.start + 1));
    CHECK(rtl_process_facts(own).image == facts.image);
    if (facts.image == 0)
        return NULL; /* this system does not tell */
    CHECK(pipe(executed) == 0);
    pid_t child = fork();
    if (child == 0) {
        (void)close(executed[0]);
        if (rtl_process_facts((uint32_t)getpid()).image != facts.image || dup2(executed[1], 1) != 1)
            _exit(3);
        (void)execl("/bin/sh", "sh", "-c", "echo; exec sleep 1000", (char *)NULL);
        _exit(3);
    }
    (void)close(executed[1]);
    CHECK(read(executed[0], &byte, 1) == 1);
    struct rtl_process_facts other = rtl_process_facts((uint32_t)child);
    CHECK(other.start != 0 && other.image != facts.image);
    (void)kill(child, SIGKILL);
    (void)close(executed[0]);
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(!rtl_process_alive((uint32_t)child, other.start));
    return NULL;
}

const char *Images_WhatAProcessHasMapped(void)
{
    struct rtl_ring ring;
    char session[256];
    char name[64];
    char longer[64];
    uint32_t own = (uint32_t)getpid();
    CHECK(rtl_ring_dir_create(session, sizeof session) == 0);
    CHECK(rtl_ring_create(&ring, session, SMALLEST_RING) == 0);
    (void)snprintf(name, sizeof name, "%s/ring.%u.0", strrchr(session, '/'), own);
    (void)snprintf(longer, sizeof longer, "%s/ring.%u.", strrchr(session, '/'), own);
    CHECK(rtl_process_maps(own, name) == RTL_MAPPED_YES);
    CHECK(rtl_process_maps(own, longer) == RTL_MAPPED_NO);
    rtl_ring_dir_remove(session);
    CHECK(rtl_process_maps(own, name) == RTL_MAPPED_YES);
    rtl_ring_unmap(&ring);
    CHECK(rtl_process_maps(own, name) == RTL_MAPPED_NO);
    CHECK(rtl_process_maps(0, name) == RTL_MAPPED_UNKNOWN);
    return NULL;
}
