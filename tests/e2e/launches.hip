// launches N [MOST]: N kernels on two streams as fast as HIP takes them, at most MOST in flight;
// each 16th with a pair of events whose distance must be the one that the truth log tells
// (SOFTGPU_TRUTH), each 50th before a plain event that the other stream waits for. Prints what the
// device counted.

#include "../softgpu/hip/check.h"

#include <hip/hip_ext.h>

#include <cmath>
#include <map>
#include <set>

extern "C" {
#include "softgpu/truth.h"
}

namespace
{

const int pairs = 32;

uint32_t duration_of(int launch)
{
    return 500U + 10U * static_cast<uint32_t>(launch % 100);
}

// Two events and the kernel between them.
struct Timed {
    hipEvent_t start = nullptr, stop = nullptr;
    int launch = -1;
};

// Notes the distance of the events in ns, by launch.
void settle(const Timed &timed, std::vector<double> &elapsed)
{
    if (timed.launch < 0) {
        return;
    }
    float milliseconds = 0;
    MUST(hipEventSynchronize(timed.stop));
    MUST(hipEventElapsedTime(&milliseconds, timed.start, timed.stop));
    elapsed[static_cast<size_t>(timed.launch)] = static_cast<double>(milliseconds) * 1e6;
}

// Compares with what the device did. The stop event is the end of the kernel, the start event its
// start or an instant of a packet before it: HIP takes the time of what the stream did last. A
// launch is known by its grid; a float of some milliseconds is exact to a nanosecond, and a tick of
// the device is ten.
void compare(const std::vector<double> &elapsed)
{
    char error[256] = "";
    softgpu_truth_t *log = softgpu_truth_open(std::getenv("SOFTGPU_TRUTH"), error, sizeof error);
    if (log == nullptr) {
        std::fprintf(stderr, "%s\n", error);
        std::exit(1);
    }
    softgpu_truth_entry_t entry;
    std::set<uint64_t> instants;
    std::map<size_t, uint64_t> ends;
    while (softgpu_truth_next(log, &entry) == 1) {
        instants.insert(entry.start_ns);
        instants.insert(entry.end_ns);
        if (std::strcmp(entry.name, "_Z9hip_lastsPij") == 0) {
            size_t launch = entry.grid[0] / 64 - 1;
            CHECK(entry.end_ns - entry.start_ns == duration_of(static_cast<int>(launch)), "time");
            ends[launch] = entry.end_ns;
        }
    }
    softgpu_truth_close(log);
    CHECK(ends.size() == elapsed.size(), "kernels executed");
    for (size_t launch = 0; launch < elapsed.size(); launch++) {
        auto start = ends[launch] - static_cast<uint64_t>(std::llround(elapsed[launch]));
        CHECK(elapsed[launch] < 0 ||
                  (elapsed[launch] + 5 >= duration_of(static_cast<int>(launch)) &&
                   instants.count(start) == 1),
              std::to_string(elapsed[launch]) + " ns, launch " + std::to_string(launch));
    }
}

} // namespace

int main(int argc, char **argv)
{
    int launches = argc > 1 ? std::atoi(argv[1]) : 0;
    int most = argc > 2 ? std::atoi(argv[2]) : launches;
    hipStream_t streams[2] = {};
    int *counters[2] = {};
    hipEvent_t plain = nullptr;
    std::vector<Timed> timed(pairs);
    MUST(hipEventCreate(&plain));
    for (int i = 0; i < 2; i++) {
        void *memory = nullptr;
        MUST(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
        MUST(hipHostMalloc(&memory, sizeof(int)));
        counters[i] = static_cast<int *>(memory);
        *counters[i] = 0;
    }
    for (Timed &pair : timed) {
        MUST(hipEventCreate(&pair.start));
        MUST(hipEventCreate(&pair.stop));
    }
    std::vector<double> elapsed(static_cast<size_t>(launches), -1);
    for (int i = 0; i < launches; i++) {
        int which = i % 2;
        auto grid = static_cast<uint32_t>(i) + 1;
        if (i % 16 == 0) {
            Timed &pair = timed[static_cast<size_t>(i / 16 % pairs)];
            settle(pair, elapsed);
            pair.launch = i;
            hipExtLaunchKernelGGL(hip_lasts, dim3(grid), dim3(64), 0, streams[which], pair.start,
                                  pair.stop, 0, counters[which], duration_of(i));
        } else {
            hip_lasts<<<grid, 64, 0, streams[which]>>>(counters[which], duration_of(i));
        }
        MUST(hipGetLastError());
        if ((i + 1) % most == 0) {
            MUST(hipDeviceSynchronize());
        }
        if (i % 50 == 0) {
            MUST(hipEventRecord(plain, streams[which]));
            MUST(hipStreamWaitEvent(streams[1 - which], plain, 0));
        }
    }
    MUST(hipDeviceSynchronize());
    for (Timed &pair : timed) {
        settle(pair, elapsed);
    }
    compare(elapsed);
    std::printf("%d and %d kernels\n", *counters[0], *counters[1]);
    return finish();
}
