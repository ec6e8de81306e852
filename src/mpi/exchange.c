#include "mpi/exchange.h"

#include "common/clock.h"
#include "sync/burst.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS_MOST  64u
#define ROUNDS_LEAST 8u
#define ROUNDS_ALL   8192u /* of rank 0, where there are many hosts */
#define TAG          1
#define SOON_NS      UINT64_C(20000)
#define LATER_NS     UINT64_C(1000000)
#define SILENT_NS    UINT64_C(10000000000)

/* Who answers. */
struct responder {
    char boot[RTL_EXCHANGE_BOOT];
    char host[RTL_EXCHANGE_HOST];
};

struct answer {
    uint64_t received, answered;
};

/* MPI's own barrier waits with a processor; who comes early to this one may wait for long. */
static bool wait_for_all(const struct rtl_mpi *mpi, void (*waits)(void))
{
    rtl_mpi_handle request = 0;
    struct rtl_mpi_status status;
    int done = 0;
    uint64_t begun = rtl_now();
    bool told = false;
    if (mpi->Ibarrier(mpi->world, &request) != RTL_MPI_SUCCESS)
        return false;
    while (mpi->Test(&request, &done, &status) == RTL_MPI_SUCCESS) {
        uint64_t waited = rtl_now() - begun;
        if (done)
            return true;
        if (!told && waited > SILENT_NS) {
            told = true;
            waits();
        }
        rtl_nap(waited < LATER_NS ? SOON_NS : LATER_NS);
    }
    return false;
}

bool rtl_mpi_join(struct rtl_mpi_job *job, void (*waits)(void))
{
    const struct rtl_mpi *mpi = &job->mpi;
    job->comm = 0;
    return wait_for_all(mpi, waits) && mpi->Comm_dup(mpi->world, &job->comm) == RTL_MPI_SUCCESS &&
           mpi->Comm_set_errhandler(job->comm, mpi->errors_return) == RTL_MPI_SUCCESS &&
           mpi->Comm_rank(job->comm, &job->rank) == RTL_MPI_SUCCESS &&
           mpi->Comm_size(job->comm, &job->size) == RTL_MPI_SUCCESS;
}

void rtl_mpi_leave(struct rtl_mpi_job *job)
{
    (void)job->mpi.Comm_free(&job->comm);
}

static bool send(const struct rtl_mpi_job *job, const void *data, size_t size, int to)
{
    return job->mpi.Send(data, (int)size, job->mpi.byte, to, TAG, job->comm) == RTL_MPI_SUCCESS;
}

static bool receive(const struct rtl_mpi_job *job, void *data, size_t size, int from)
{
    struct rtl_mpi_status status;
    return job->mpi.Recv(data, (int)size, job->mpi.byte, from, TAG, job->comm, &status) ==
           RTL_MPI_SUCCESS;
}

static bool answer_rounds(const struct rtl_mpi_job *job, int rank, uint32_t rounds)
{
    struct answer answer;
    char request;
    for (uint32_t i = 0; i < rounds; ++i) {
        if (!receive(job, &request, sizeof request, rank))
            return false;
        answer.received = rtl_now();
        answer.answered = rtl_now();
        if (!send(job, &answer, sizeof answer, rank))
            return false;
    }
    return true;
}

static bool ask_rounds(const struct rtl_mpi_job *job, const struct responder *responder,
                       uint32_t rounds, struct rtl_burst *burst)
{
    const char request = 0;
    struct rtl_exchange made = {0};
    struct answer answer;
    memcpy(made.peer_boot, responder->boot, sizeof made.peer_boot);
    memcpy(made.peer_host, responder->host, sizeof made.peer_host);
    for (uint32_t i = 0; i < rounds; ++i) {
        made.sent = rtl_now();
        if (!send(job, &request, sizeof request, 0) || !receive(job, &answer, sizeof answer, 0))
            return false;
        made.returned = rtl_now();
        made.received = answer.received;
        made.answered = answer.answered;
        rtl_burst_add(burst, &made);
    }
    return true;
}

/* Which of the ranks, whose boot_ids stand one after the other, ask: the first of each host but
 * that of rank 0. Their `rounds` are 1 then, else 0. Returns how many. */
static uint32_t choose(const char *boots, int size, uint32_t *rounds)
{
    int *firsts = malloc((size_t)size * sizeof *firsts);
    uint32_t hosts = 0;
    memset(rounds, 0, (size_t)size * sizeof *rounds);
    for (int rank = 0; firsts && rank < size; ++rank) {
        const char *boot = boots + (size_t)rank * RTL_EXCHANGE_BOOT;
        uint32_t host = 0;
        while (host < hosts && strcmp(boots + (size_t)firsts[host] * RTL_EXCHANGE_BOOT, boot) != 0)
            ++host;
        if (host < hosts || !boot[0])
            continue;
        firsts[hosts++] = rank;
        rounds[rank] = rank > 0;
    }
    free(firsts);
    return hosts > 1 ? hosts - 1 : 0;
}

static uint32_t rounds_of_each(uint32_t hosts)
{
    uint32_t rounds = hosts ? ROUNDS_ALL / hosts : ROUNDS_MOST;
    rounds = rounds < ROUNDS_MOST ? rounds : ROUNDS_MOST;
    return rounds > ROUNDS_LEAST ? rounds : ROUNDS_LEAST;
}

/* Rank 0: tells each rank how many rounds it makes, and answers one host after the other. */
static bool lead(const struct rtl_mpi_job *job, char *boots, uint32_t *rounds)
{
    const struct rtl_mpi *mpi = &job->mpi;
    uint32_t own;
    if (mpi->Gather(job->boot, RTL_EXCHANGE_BOOT, mpi->byte, boots, RTL_EXCHANGE_BOOT, mpi->byte, 0,
                    job->comm) != RTL_MPI_SUCCESS)
        return false;
    uint32_t each = rounds_of_each(choose(boots, job->size, rounds));
    for (int rank = 0; rank < job->size; ++rank)
        rounds[rank] *= each;
    if (mpi->Scatter(rounds, sizeof *rounds, mpi->byte, &own, sizeof own, mpi->byte, 0,
                     job->comm) != RTL_MPI_SUCCESS)
        return false;
    for (int rank = 1; rank < job->size; ++rank)
        if (rounds[rank] && !answer_rounds(job, rank, rounds[rank]))
            return false;
    return true;
}

static bool follow(const struct rtl_mpi_job *job, const struct responder *responder,
                   struct rtl_burst *burst)
{
    const struct rtl_mpi *mpi = &job->mpi;
    uint32_t rounds = 0;
    return mpi->Gather(job->boot, RTL_EXCHANGE_BOOT, mpi->byte, NULL, 0, mpi->byte, 0, job->comm) ==
               RTL_MPI_SUCCESS &&
           mpi->Scatter(NULL, 0, mpi->byte, &rounds, sizeof rounds, mpi->byte, 0, job->comm) ==
               RTL_MPI_SUCCESS &&
           ask_rounds(job, responder, rounds, burst);
}

/* What rank 0 says first: who it is, or, where it has no memory for the others, nothing. */
static bool greet(const struct rtl_mpi_job *job, bool able, struct responder *responder)
{
    *responder = (struct responder){0};
    if (job->rank == 0 && able) {
        memcpy(responder->boot, job->boot, sizeof responder->boot);
        memcpy(responder->host, job->host, sizeof responder->host);
    }
    return job->mpi.Bcast(responder, sizeof *responder, job->mpi.byte, 0, job->comm) ==
               RTL_MPI_SUCCESS &&
           responder->boot[0];
}

bool rtl_mpi_exchange(const struct rtl_mpi_job *job, struct rtl_exchange kept[2], size_t *count)
{
    struct rtl_burst burst = {0};
    struct responder responder;
    size_t ranks = job->rank == 0 ? (size_t)job->size : 0;
    char *boots = ranks ? malloc(ranks * RTL_EXCHANGE_BOOT) : NULL;
    uint32_t *rounds = ranks ? malloc(ranks * sizeof *rounds) : NULL;
    bool able = boots && rounds;
    bool done = greet(job, able, &responder);
    if (done && job->rank != 0)
        done = follow(job, &responder, &burst);
    else if (done)
        done = able && lead(job, boots, rounds);
    free(boots);
    free(rounds);
    *count = rtl_burst_kept(&burst, kept);
    return done;
}
