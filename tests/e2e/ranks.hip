// ranks RANK RANKS FILE [LATE]: a rank of a job, whose collectives last as long as those of a rank
// do that has to wait for the others.
//
// A step is a launch of a graph: a kernel that computes, for as long as plan() says, and an
// all-reduce, which ends 10 us after the slowest rank has come: the others wait in it. After each
// step the ranks meet in FILE, which all map. Rank LATE is not recorded in its first 10 steps, and
// is the first to begin the next one: no rank leaves it before all have begun, as in a real job.
//
// Behind the steps each rank runs a kernel of its own.

#include "roctx.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

// On the software GPU it takes the time that stands in memory when it starts.
__global__ void ncclDevKernel_AllReduce(int *counter, const uint32_t *ns)
{
    (*counter)++;
}

namespace
{

const int steps = 60, late_steps = 10;
const uint32_t transfer_ns = 10000;

// ns that a rank computes in a step; ranks.py has the same.
uint32_t plan(int rank, int step)
{
    uint32_t ns = 20000 + 1000 * static_cast<uint32_t>((rank * 7 + step * 3) % 5);
    if (rank == 2 && step % 3 != 0) {
        ns += 200000;
    }
    if (rank == 1 && step % 3 == 0) {
        ns += 100000;
    }
    return ns;
}

uint32_t slowest(int ranks, int step)
{
    uint32_t most = 0;
    for (int rank = 0; rank < ranks; rank++) {
        most = plan(rank, step) > most ? plan(rank, step) : most;
    }
    return most;
}

// Where all ranks meet. The first one makes it.
struct Meeting {
    int made;
    pthread_barrier_t barrier;
};

Meeting *meet(const char *path, int rank, int ranks)
{
    int file = open(path, O_RDWR | O_CREAT, 0600);
    CHECK(file >= 0 && ftruncate(file, sizeof(Meeting)) == 0, path);
    void *memory = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(memory != MAP_FAILED, path);
    auto *meeting = static_cast<Meeting *>(memory);
    if (rank == 0) {
        pthread_barrierattr_t shared;
        pthread_barrierattr_init(&shared);
        pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
        pthread_barrier_init(&meeting->barrier, &shared, static_cast<unsigned>(ranks));
        __atomic_store_n(&meeting->made, 1, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&meeting->made, __ATOMIC_ACQUIRE) == 0) {
        usleep(100);
    }
    return meeting;
}

hipGraphExec_t capture(hipStream_t stream, int *counter, const uint32_t *takes)
{
    hipGraph_t graph = nullptr;
    hipGraphExec_t exec = nullptr;
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    hip_takes<<<dim3(1), dim3(64), 0, stream>>>(counter, takes);
    ncclDevKernel_AllReduce<<<dim3(1), dim3(64), 0, stream>>>(counter, takes + 1);
    MUST(hipStreamEndCapture(stream, &graph));
    MUST(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    return exec;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 4) {
        std::fprintf(stderr, "usage: ranks RANK RANKS FILE [LATE]\n");
        return 2;
    }
    int rank = std::atoi(argv[1]), ranks = std::atoi(argv[2]);
    bool any_late = argc > 4, late = any_late && std::atoi(argv[4]) == rank;
    Meeting *meeting = meet(argv[3], rank, ranks);
    int *counter;
    uint32_t *takes;
    hipStream_t stream;
    MUST(hipHostMalloc(&counter, sizeof *counter));
    MUST(hipHostMalloc(&takes, 2 * sizeof *takes));
    MUST(hipStreamCreate(&stream));
    hipGraphExec_t exec = capture(stream, counter, takes);
    if (late) {
        control("rtlStop");
    }
    for (int step = 0; step < steps; step++) {
        takes[0] = plan(rank, step);
        takes[1] = transfer_ns + slowest(ranks, step) - plan(rank, step);
        if (late && step == late_steps) {
            control("rtlStart");
        } else if (any_late && step == late_steps) {
            pthread_barrier_wait(&meeting->barrier);
        }
        push("step");
        MUST(hipGraphLaunch(exec, stream));
        MUST(hipStreamSynchronize(stream));
        pop();
        if (late && step == late_steps) {
            pthread_barrier_wait(&meeting->barrier);
        }
        pthread_barrier_wait(&meeting->barrier);
    }
    hip_lasts<<<dim3(1), dim3(64), 0, stream>>>(counter, 1000);
    return finish();
}
