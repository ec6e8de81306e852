/* The collector, with each of its calls failing, on the rings of a process that lives and of one
 * that died. */
#include "../store/fixture.h"
#include "collect/collect.h"
#include "explore.h"
#include "ring/ring.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define RING_BYTES ((size_t)256 << 10)

/* The ring of a process that died, as a file; and its name. */
struct remains {
    char name[32];
    unsigned char *bytes;
    size_t size;
};

struct collecting {
    struct remains remains;
    struct world_lines wanted;
    char path[FIXTURE_PATH], session[FIXTURE_PATH];
    struct rtl_ring ring; /* of this process */
    bool opened, made, whole;
    char error[1024];
};

static void push(void *context, enum rtl_wire_type type, const void *body, size_t body_size,
                 const void *rest, size_t rest_size)
{
    const struct rtl_piece pieces[] = {{body, body_size}, {rest, rest_size}};
    bool pushed = type == RTL_WIRE_KERNEL ? rtl_ring_push_kernels(context, body, 1) == 1
                                          : rtl_ring_push(context, type, pieces, 2);
    if (!pushed)
        abort();
}

static void account(struct rtl_ring *ring, unsigned part)
{
    for (uint32_t queue = 0; queue < 3; queue++) {
        const struct rtl_writer_account wanted = world_account(part, queue);
        struct rtl_wire_ledger *row = &ring->header->ledger[queue];
        atomic_store(&row->packets, wanted.packets);
        atomic_store(&row->seen, wanted.seen);
        atomic_store(&row->recorded, wanted.recorded);
        atomic_store(&row->lost[RTL_LOST_POOL], wanted.lost[RTL_LOST_POOL]);
    }
    atomic_store(&ring->header->queues, 3);
}

static bool make_ring(struct rtl_ring *ring, const char *session)
{
    if (rtl_ring_create(ring, session, RING_BYTES) != 0)
        return false;
    (void)rtl_ring_reserve_piece(ring, SIZE_MAX);
    return true;
}

/* A process records all parts and dies: what it leaves behind. */
static const char *make_remains(struct remains *remains)
{
    char session[FIXTURE_PATH];
    char path[2 * FIXTURE_PATH];
    struct stat status;
    CHECK(rtl_ring_dir_create(session, sizeof session) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct rtl_ring ring;
        if (!make_ring(&ring, session))
            _exit(1);
        for (unsigned part = 0; part < WORLD_PARTS; part++)
            world_give(part, push, &ring);
        account(&ring, WORLD_PARTS - 1);
        _exit(0);
    }
    int ended = 0;
    CHECK(pid > 0 && waitpid(pid, &ended, 0) == pid && ended == 0);
    (void)snprintf(remains->name, sizeof remains->name, "ring.%d.0", (int)pid);
    (void)snprintf(path, sizeof path, "%s/%s", session, remains->name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(file >= 0 && fstat(file, &status) == 0);
    remains->size = (size_t)status.st_size;
    remains->bytes = malloc(remains->size);
    CHECK(remains->bytes && read(file, remains->bytes, remains->size) == status.st_size);
    (void)close(file);
    rtl_ring_dir_remove(session);
    return NULL;
}

static bool leave(const struct remains *remains, const char *session)
{
    char path[2 * FIXTURE_PATH];
    (void)snprintf(path, sizeof path, "%s/%s", session, remains->name);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool written =
        file >= 0 && write(file, remains->bytes, remains->size) == (ssize_t)remains->size;
    return written && close(file) == 0;
}

/* A part of the recording, and more than a second of the collector's time. */
static void collect_part(struct collecting *it, struct rtl_collector *collector, unsigned part)
{
    fault_disarm();
    world_give(part, push, &it->ring);
    account(&it->ring, part);
    if (part == WORLD_PARTS - 1)
        rtl_ring_close(&it->ring);
    fault_pass(1100000000);
    fault_arm();
    for (int round = 0; round < 2; round++)
        (void)rtl_collector_round(collector);
}

static const char *collect(struct collecting *it)
{
    const struct rtl_writer_options options = {.command = "program"};
    fault_arm();
    struct rtl_writer *writer = rtl_writer_open(it->path, &options, it->error, sizeof it->error);
    it->opened = writer != NULL;
    if (!writer)
        return NULL;
    struct rtl_collector *collector = rtl_collector_new(it->session, writer, NULL, NULL);
    it->made = collector != NULL;
    for (unsigned part = 0; part < WORLD_PARTS && collector; part++) {
        collect_part(it, collector, part);
        fault_disarm();
        if (part == 0 && !leave(&it->remains, it->session))
            return "the ring could not be copied";
        fault_arm();
    }
    /* A closed ring may get records for a while. */
    fault_pass(UINT64_C(3000000000));
    for (int round = 0; round < 3 && collector; round++) {
        (void)rtl_collector_round(collector);
        fault_pass(100000000);
    }
    rtl_collector_end(collector);
    it->whole = rtl_writer_close(writer, 0, it->error, sizeof it->error) == 0;
    return NULL;
}

static const char *judge(struct collecting *it, const struct fault_plan *plan)
{
    struct world_lines got;
    if (!it->opened || !it->whole)
        CHECK(plan->at != 0 && strstr(it->error, it->path) != NULL);
    if (!it->opened || !it->made)
        return NULL;
    CHECK_DONE(world_read(it->path, &got));
    if (plan->at == 0 && it->wanted.count == 0) {
        CHECK(it->whole && got.finished && got.events == 2 * world_events(WORLD_PARTS));
        it->wanted = got;
        return NULL;
    }
    const char *failed = world_compare(&it->wanted, &got, !it->whole);
    if (failed)
        (void)fprintf(stderr, "told: %s\n", it->error);
    world_free(&got);
    return failed;
}

static const char *collect_rings(void *context, const struct fault_plan *plan)
{
    struct collecting *it = context;
    it->opened = it->made = it->whole = false;
    it->error[0] = '\0';
    CHECK(fixture_path(it->path) && rtl_ring_dir_create(it->session, sizeof it->session) == 0);
    CHECK(make_ring(&it->ring, it->session));
    const char *failed = collect(it);
    fault_disarm();
    if (!failed)
        failed = judge(it, plan);
    rtl_ring_unmap(&it->ring);
    rtl_ring_dir_remove(it->session);
    fixture_remove(it->path);
    return failed;
}

/* The session stays shut, and nothing else fails: how many rings are in it is not known. */
const char *Collector_RingsThatCannotBeRead(void)
{
    struct collecting it = {.opened = false};
    struct world_lines got;
    struct fault_plan plan = {
        .kind = FAULT_FILE, .at = 1, .calls = FAULT_FOREVER, .error = EMFILE, .path = it.session};
    bool told = false;
    CHECK_DONE(make_remains(&it.remains));
    CHECK(fixture_path(it.path) && rtl_ring_dir_create(it.session, sizeof it.session) == 0);
    CHECK(make_ring(&it.ring, it.session));
    fault_begin(&plan, false);
    CHECK_DONE(collect(&it));
    fault_disarm();
    CHECK(fault_failed());
    CHECK_DONE(world_read(it.path, &got));
    CHECK(got.events == 0);
    for (size_t i = 0; i < got.count; i++)
        told = told || strstr(got.lines[i], "could not be read (1 at the least)") != NULL;
    CHECK(told);
    world_free(&got);
    free(it.remains.bytes);
    rtl_ring_unmap(&it.ring);
    rtl_ring_dir_remove(it.session);
    fixture_remove(it.path);
    return NULL;
}

static const char *explore(enum fault_kind kind)
{
    struct collecting it = {.opened = false};
    size_t count;
    const struct fault_way *ways = fault_ways(kind, &count);
    CHECK_DONE(make_remains(&it.remains));
    const char *failed = fault_explore("collector", collect_rings, &it, kind, ways, count);
    world_free(&it.wanted);
    free(it.remains.bytes);
    return failed;
}

const char *Collector_Memory(void)
{
    return explore(FAULT_MEMORY);
}

const char *Collector_Files(void)
{
    return explore(FAULT_FILE);
}

const char *Collector_Sqlite(void)
{
    return explore(FAULT_SQLITE);
}
