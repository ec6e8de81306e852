// launches N [MOST]: N kernels on two streams as fast as HIP takes them, at most MOST in flight;
// each 16th with a pair of events, whose times must be those of the truth log (SOFTGPU_TRUTH), each
// 50th before a plain event that the other stream waits for. Prints what the device counted.

#include "../softgpu/hip/check.h"

#include <hip/hip_ext.h>

#include <algorithm>
#include <cmath>
#include <map>

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

// Time between two events, ns.
double between(hipEvent_t one, hipEvent_t other)
{
    float milliseconds = 0;
    MUST(hipEventSynchronize(other));
    MUST(hipEventElapsedTime(&milliseconds, one, other));
    return static_cast<double>(milliseconds) * 1e6;
}

// What the events told of a kernel: from its start event, and to the end of the next one with
// events.
struct Told {
    double elapsed = -1, to_next = 0;
    int next = -1;
};

void settle(const Timed &timed, const Timed &next, std::vector<Told> &told)
{
    if (timed.launch >= 0) {
        told[static_cast<size_t>(timed.launch)] = {between(timed.start, timed.stop),
                                                   between(timed.stop, next.stop), next.launch};
    }
}

// The ends of the kernels, by launch, which its grid tells.
std::map<int, uint64_t> read_ends()
{
    char error[256] = "";
    softgpu_truth_t *log = softgpu_truth_open(std::getenv("SOFTGPU_TRUTH"), error, sizeof error);
    if (log == nullptr) {
        std::fprintf(stderr, "%s\n", error);
        std::exit(1);
    }
    softgpu_truth_entry_t entry;
    std::map<int, uint64_t> ends;
    while (softgpu_truth_next(log, &entry) == 1) {
        if (std::strcmp(entry.name, "_Z9hip_lastsPij") == 0) {
            int launch = static_cast<int>(entry.grid[0] / 64) - 1;
            CHECK(entry.end_ns - entry.start_ns == duration_of(launch), "duration");
            ends[launch] = entry.end_ns;
        }
    }
    softgpu_truth_close(log);
    return ends;
}

// A stop event has the time of its kernel's end, to the tick, which is ten nanoseconds. A start
// event may have any time before its kernel: HIP takes what the stream did last, or its own clock
// when that is over.
void compare(const std::vector<Told> &told)
{
    std::map<int, uint64_t> ends = read_ends();
    CHECK(ends.size() == told.size(), "kernels executed");
    for (size_t i = 0; i < told.size(); i++) {
        int launch = static_cast<int>(i);
        if (told[i].elapsed < 0) {
            continue;
        }
        CHECK(told[i].elapsed + 5 >= duration_of(launch), "launch " + std::to_string(launch));
        // HIP 5.7 and 6.4 tell of the own events of two kernels how long the second lasted.
        if (HIP_VERSION_MAJOR < 7 && (HIP_VERSION_MAJOR > 5 || HIP_VERSION_MINOR > 2)) {
            continue;
        }
        double truth = static_cast<double>(ends[told[i].next]) - static_cast<double>(ends[launch]);
        CHECK(std::fabs(told[i].to_next - truth) <= 5 + std::fabs(truth) * 1e-7, // a float
              std::to_string(told[i].to_next) + " ns, launch " + std::to_string(launch) + ", " +
                  std::to_string(truth));
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
    std::vector<Told> told(static_cast<size_t>(launches));
    for (int i = 0; i < launches; i++) {
        int which = i % 2;
        auto grid = static_cast<uint32_t>(i) + 1;
        if (i % 16 == 0) {
            Timed &pair = timed[static_cast<size_t>(i / 16 % pairs)];
            settle(pair, timed[static_cast<size_t>((i / 16 + 1) % pairs)], told);
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
    int last = (launches - 1) / 16; // of those with events, it has no next
    for (int at = std::max(last - pairs + 1, 0); at < last; at++) {
        settle(timed[static_cast<size_t>(at % pairs)], timed[static_cast<size_t>((at + 1) % pairs)],
               told);
    }
    compare(told);
    std::printf("%d and %d kernels\n", *counters[0], *counters[1]);
    return finish();
}
