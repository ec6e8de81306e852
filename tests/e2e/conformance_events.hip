// Elapsed times of HIP events, compared with the truth log that SOFTGPU_TRUTH names: what HIP tells
// is what the device did, to the last bit. Kernels are told apart by their grids.

#include "../softgpu/hip/check.h"

#include <hip/hip_ext.h>

#include <map>

extern "C" {
#include "softgpu/truth.h"
}

namespace
{

const unsigned rounds = 36;
const unsigned streams = 3;

struct Round {
    hipEvent_t start = nullptr, stop = nullptr;
    bool own = false; // the stop event is the kernel's own
    float milliseconds = 0;
};

struct Packet {
    uint64_t start;
    uint64_t end;
    unsigned round; // of a kernel, counted from 1
};

using Queue = std::map<uint64_t, Packet>; // by index

std::map<uint32_t, Queue> read_truth()
{
    std::map<uint32_t, Queue> queues;
    char error[256] = "";
    softgpu_truth_t *log = softgpu_truth_open(std::getenv("SOFTGPU_TRUTH"), error, sizeof error);
    if (log == nullptr) {
        std::fprintf(stderr, "%s\n", error);
        std::exit(1);
    }
    softgpu_truth_entry_t entry;
    while (softgpu_truth_next(log, &entry) == 1) {
        bool slow = std::strcmp(entry.name, "_Z8hip_slowv") == 0;
        queues[entry.queue][entry.index] = {entry.start_ns, entry.end_ns,
                                            slow ? entry.grid[0] / 64 : 0};
    }
    softgpu_truth_close(log);
    return queues;
}

uint32_t *make_gate()
{
    void *memory = nullptr;
    MUST(hipHostMalloc(&memory, 64));
    std::memset(memory, 0, 64);
    return static_cast<uint32_t *>(memory);
}

void submit(Round &round, unsigned number, hipStream_t stream)
{
    MUST(hipEventCreate(&round.start));
    MUST(hipEventCreate(&round.stop));
    round.own = number % 2 == 0;
    if (round.own) {
        hipExtLaunchKernelGGL(hip_slow, dim3(number), dim3(64), 0, stream, round.start, round.stop,
                              0);
        return;
    }
    MUST(hipEventRecord(round.start, stream));
    hip_slow<<<number, 64, 0, stream>>>();
    MUST(hipEventRecord(round.stop, stream));
}

// HIP 5.7 and 6.4 have the start event of a kernel's own events at its start, others that have been
// seen at the end of the marker in front of it.
const bool starts_with_kernel =
    HIP_VERSION_MAJOR < 7 && (HIP_VERSION_MAJOR > 5 || HIP_VERSION_MINOR > 2);

// What HIP says of a round against the packets that were executed for it. It puts a marker in front
// in both cases; the stop event is the kernel's own or that of a marker behind it.
void compare(const Round &round, unsigned number, Queue::const_iterator kernel)
{
    uint64_t begin =
        round.own && starts_with_kernel ? kernel->second.start : std::prev(kernel)->second.end;
    uint64_t end = round.own ? kernel->second.end : std::next(kernel)->second.end;
    float expected = static_cast<float>(static_cast<int64_t>(end - begin)) / 1000000.F;
    CHECK(round.milliseconds == expected, "round " + std::to_string(number) + ": " +
                                              std::to_string(round.milliseconds) + " and not " +
                                              std::to_string(expected));
}

unsigned compare_all(const std::vector<Round> &all)
{
    unsigned compared = 0;
    for (const auto &entry : read_truth()) {
        const Queue &queue = entry.second;
        for (auto packet = queue.begin(); packet != queue.end(); ++packet) {
            unsigned number = packet->second.round;
            if (number == 0) {
                continue;
            }
            compare(all[number - 1], number, packet);
            compared++;
        }
    }
    return compared;
}

} // namespace

int main()
{
    std::vector<hipStream_t> stream(streams);
    std::vector<Round> all(rounds);
    // HIP takes other times for an event that finds its stream idle: nothing is done before all is
    // submitted.
    uint32_t *gate = make_gate();
    for (auto &one : stream) {
        MUST(hipStreamCreateWithFlags(&one, hipStreamNonBlocking));
        MUST(hipStreamWaitValue32(one, gate, 1, hipStreamWaitValueEq, 0xFFFFFFFF));
    }
    for (unsigned i = 0; i < rounds; i++) {
        submit(all[i], i + 1, stream[i % streams]);
    }
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    for (auto &round : all) {
        MUST(hipEventSynchronize(round.stop));
        MUST(hipEventElapsedTime(&round.milliseconds, round.start, round.stop));
    }
    MUST(hipDeviceSynchronize());
    CHECK(compare_all(all) == rounds, "every kernel was executed");
    return finish();
}
