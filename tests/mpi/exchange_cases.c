/* Exchanges between ranks that are threads, over an MPI of mailboxes. */
#include "mpi/exchange.h"

#include "../common/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS  160
#define NOBODY (-1)

/* One message at a time from a rank to another. */
struct box {
    char bytes[128];
    size_t size;
    bool full;
};

static struct {
    pthread_mutex_t lock;
    int size, here, refused_to;
    struct box boxes[RANKS][RANKS]; /* from, to */
    pthread_mutex_t locks[RANKS];   /* of the boxes to a rank */
    pthread_cond_t changed[RANKS];
    atomic_int sends[RANKS];
} world = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int own;

static int put(int to, const void *data, size_t size)
{
    struct box *box = &world.boxes[own][to];
    (void)pthread_mutex_lock(&world.locks[to]);
    while (box->full)
        (void)pthread_cond_wait(&world.changed[to], &world.locks[to]);
    memcpy(box->bytes, data, size);
    box->size = size;
    box->full = true;
    (void)pthread_cond_broadcast(&world.changed[to]);
    (void)pthread_mutex_unlock(&world.locks[to]);
    return RTL_MPI_SUCCESS;
}

static int get(int from, void *data, size_t size)
{
    struct box *box = &world.boxes[from][own];
    (void)pthread_mutex_lock(&world.locks[own]);
    while (!box->full)
        (void)pthread_cond_wait(&world.changed[own], &world.locks[own]);
    bool fits = box->size == size;
    if (fits)
        memcpy(data, box->bytes, size);
    box->full = false;
    (void)pthread_cond_broadcast(&world.changed[own]);
    (void)pthread_mutex_unlock(&world.locks[own]);
    return fits ? RTL_MPI_SUCCESS : 1;
}

static int fake_send(const void *data, int count, rtl_mpi_handle type, int to, int tag,
                     rtl_mpi_handle comm)
{
    (void)type, (void)tag, (void)comm;
    atomic_fetch_add(&world.sends[own], 1);
    return own == world.refused_to ? 1 : put(to, data, (size_t)count);
}

static int fake_recv(void *data, int count, rtl_mpi_handle type, int from, int tag,
                     rtl_mpi_handle comm, struct rtl_mpi_status *status)
{
    (void)type, (void)tag, (void)comm, (void)status;
    /* Whose partner is refused gets nothing. */
    return from == world.refused_to ? 1 : get(from, data, (size_t)count);
}

static int fake_bcast(void *data, int count, rtl_mpi_handle type, int root, rtl_mpi_handle comm)
{
    (void)type, (void)comm;
    if (own != root)
        return get(root, data, (size_t)count);
    for (int to = 0; to < world.size; ++to)
        if (to != root)
            (void)put(to, data, (size_t)count);
    return RTL_MPI_SUCCESS;
}

static int fake_gather(const void *data, int count, rtl_mpi_handle type, void *all, int each,
                       rtl_mpi_handle all_type, int root, rtl_mpi_handle comm)
{
    (void)type, (void)each, (void)all_type, (void)comm;
    if (own != root)
        return put(root, data, (size_t)count);
    memcpy((char *)all + (size_t)root * (size_t)count, data, (size_t)count);
    for (int from = 0; from < world.size; ++from)
        if (from != root)
            (void)get(from, (char *)all + (size_t)from * (size_t)count, (size_t)count);
    return RTL_MPI_SUCCESS;
}

static int fake_scatter(const void *all, int each, rtl_mpi_handle all_type, void *data, int count,
                        rtl_mpi_handle type, int root, rtl_mpi_handle comm)
{
    (void)type, (void)each, (void)all_type, (void)comm;
    if (own != root)
        return get(root, data, (size_t)count);
    for (int to = 0; to < world.size; ++to)
        if (to != root)
            (void)put(to, (const char *)all + (size_t)to * (size_t)count, (size_t)count);
    return RTL_MPI_SUCCESS;
}

static int fake_ibarrier(rtl_mpi_handle comm, rtl_mpi_handle *request)
{
    (void)comm;
    (void)pthread_mutex_lock(&world.lock);
    world.here++;
    (void)pthread_mutex_unlock(&world.lock);
    *request = 7;
    return RTL_MPI_SUCCESS;
}

static int fake_test(rtl_mpi_handle *request, int *flag, struct rtl_mpi_status *status)
{
    (void)status;
    (void)pthread_mutex_lock(&world.lock);
    *flag = *request == 7 && world.here >= world.size;
    (void)pthread_mutex_unlock(&world.lock);
    return RTL_MPI_SUCCESS;
}

static int fake_dup(rtl_mpi_handle comm, rtl_mpi_handle *made)
{
    *made = comm + 1;
    return RTL_MPI_SUCCESS;
}

static int fake_free(rtl_mpi_handle *comm)
{
    *comm = 0;
    return RTL_MPI_SUCCESS;
}

static int fake_errhandler(rtl_mpi_handle comm, rtl_mpi_handle handler)
{
    return comm == 2 && handler == 3 ? RTL_MPI_SUCCESS : 1;
}

static int fake_rank(rtl_mpi_handle comm, int *rank)
{
    *rank = own;
    return comm == 2 ? RTL_MPI_SUCCESS : 1;
}

static int fake_size(rtl_mpi_handle comm, int *size)
{
    *size = world.size;
    return comm == 2 ? RTL_MPI_SUCCESS : 1;
}

static const struct rtl_mpi fake = {.world = 1,
                                    .byte = 4,
                                    .errors_return = 3,
                                    .Ibarrier = fake_ibarrier,
                                    .Test = fake_test,
                                    .Comm_dup = fake_dup,
                                    .Comm_free = fake_free,
                                    .Comm_set_errhandler = fake_errhandler,
                                    .Comm_rank = fake_rank,
                                    .Comm_size = fake_size,
                                    .Bcast = fake_bcast,
                                    .Gather = fake_gather,
                                    .Scatter = fake_scatter,
                                    .Send = fake_send,
                                    .Recv = fake_recv};

struct rank {
    pthread_t thread;
    int number;
    int late_ms;
    const char *boot;
    bool joined, done;
    struct rtl_exchange kept[2];
    size_t count;
};

static atomic_int waiting;

static void waits(void)
{
    atomic_fetch_add(&waiting, 1);
}

static void *run_rank(void *context)
{
    struct rank *rank = context;
    struct rtl_mpi_job job = {.mpi = fake};
    own = rank->number;
    (void)snprintf(job.boot, sizeof job.boot, "%s", rank->boot);
    (void)snprintf(job.host, sizeof job.host, "host of %d", rank->number);
    const struct timespec late = {.tv_nsec = rank->late_ms * 1000000L};
    (void)nanosleep(&late, NULL);
    rank->joined = rtl_mpi_join(&job, waits);
    rank->done = rank->joined && rtl_mpi_exchange(&job, rank->kept, &rank->count);
    rtl_mpi_leave(&job);
    return NULL;
}

static const char *run_job(struct rank *ranks, int size, int refused_to)
{
    world.refused_to = refused_to;
    world.size = size;
    world.here = 0;
    memset(world.boxes, 0, sizeof world.boxes);
    for (int i = 0; i < size; ++i) {
        (void)pthread_mutex_init(&world.locks[i], NULL);
        (void)pthread_cond_init(&world.changed[i], NULL);
        ranks[i].number = i;
        atomic_store(&world.sends[i], 0);
    }
    for (int i = 0; i < size; ++i)
        CHECK(pthread_create(&ranks[i].thread, NULL, run_rank, &ranks[i]) == 0);
    for (int i = 0; i < size; ++i)
        CHECK(pthread_join(ranks[i].thread, NULL) == 0);
    return NULL;
}

/* One clock in truth: a difference of 0 is possible, and not much else. */
static const char *check_exchanges(const struct rank *rank, const char *boot)
{
    CHECK(rank->count >= 1 && rank->count <= 2);
    for (size_t i = 0; i < rank->count; ++i) {
        const struct rtl_exchange *one = &rank->kept[i];
        CHECK(one->sent <= one->received && one->received <= one->answered &&
              one->answered <= one->returned);
        CHECK(strcmp(one->peer_boot, boot) == 0);
        CHECK(strcmp(one->peer_host, "host of 0") == 0);
    }
    return NULL;
}

const char *MpiExchange_OneRankOfEachHostAsks(void)
{
    struct rank ranks[] = {{.boot = "a"}, {.boot = "b"}, {.boot = "a"}, {.boot = "b"},
                           {.boot = ""},  {.boot = "c"}, {.boot = "c"}};
    CHECK_DONE(run_job(ranks, 7, NOBODY));
    for (int i = 0; i < 7; ++i) {
        CHECK(ranks[i].done);
        if (i == 1 || i == 5)
            CHECK_DONE(check_exchanges(&ranks[i], "a"));
        else
            CHECK(ranks[i].count == 0);
        CHECK(atomic_load(&world.sends[i]) == (i == 0 ? 128 : i == 1 || i == 5 ? 64 : 0));
    }
    /* Alone, and where nobody knows which machine rank 0 is on. */
    CHECK_DONE(run_job(ranks, 1, NOBODY));
    CHECK(ranks[0].done && ranks[0].count == 0);
    ranks[0].boot = "";
    CHECK_DONE(run_job(ranks, 2, NOBODY));
    CHECK(!ranks[0].done && !ranks[1].done && ranks[1].count == 0);
    return NULL;
}

const char *MpiExchange_FewerRoundsWithManyHosts(void)
{
    static struct rank ranks[RANKS];
    static char boots[RANKS][16];
    for (int i = 0; i < RANKS; ++i) {
        (void)snprintf(boots[i], sizeof boots[i], "%d", i);
        ranks[i] = (struct rank){.boot = boots[i]};
    }
    CHECK_DONE(run_job(ranks, RANKS, NOBODY));
    for (int i = 1; i < RANKS; ++i) {
        CHECK(ranks[i].done);
        CHECK_DONE(check_exchanges(&ranks[i], "0"));
        CHECK(atomic_load(&world.sends[i]) == 8192 / (RANKS - 1));
    }
    return NULL;
}

const char *MpiExchange_IsGivenUpWhereMpiRefuses(void)
{
    struct rank ranks[] = {{.boot = "a"}, {.boot = "b"}};
    CHECK_DONE(run_job(ranks, 2, 1));
    CHECK(ranks[0].joined && ranks[1].joined);
    CHECK(!ranks[0].done && !ranks[1].done && ranks[1].count == 0);
    return NULL;
}

const char *MpiExchange_WaitsForAll(void)
{
    struct rank ranks[] = {{.boot = "a"}, {.boot = "b"}, {.boot = "a", .late_ms = 50}};
    atomic_store(&waiting, 0);
    CHECK_DONE(run_job(ranks, 3, NOBODY));
    for (int i = 0; i < 3; ++i)
        CHECK(ranks[i].done);
    CHECK_DONE(check_exchanges(&ranks[1], "a"));
    CHECK(atomic_load(&waiting) == 0); /* which is told after ten seconds */
    return NULL;
}
