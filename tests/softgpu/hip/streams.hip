// Streams: order within one, order across two by events and by values in memory, host functions,
// elapsed times.

#include "check.h"

extern "C" {
#include "softgpu/truth.h"
}

namespace
{

const int count = 1000;

hipStream_t make_stream()
{
    hipStream_t stream = nullptr;
    MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    return stream;
}

int *make_zeros()
{
    void *memory = nullptr;
    MUST(hipHostMalloc(&memory, count * sizeof(int)));
    std::memset(memory, 0, count * sizeof(int));
    return static_cast<int *>(memory);
}

void add(hipStream_t stream, int *values, int addend)
{
    hip_add<<<4, 256, 0, stream>>>(values, count, addend);
    MUST(hipGetLastError());
}

void scale(hipStream_t stream, int *values, int factor)
{
    hip_scale<<<4, 256, 0, stream>>>(values, count, factor);
    MUST(hipGetLastError());
}

bool all_are(const int *values, int start, int step)
{
    for (int i = 0; i < count; i++) {
        if (values[i] != start + step * i) {
            return false;
        }
    }
    return true;
}

// The second stream must not begin before the slow first one has come to its event.
void across_by_event(hipStream_t one, hipStream_t other)
{
    int *values = make_zeros();
    hipEvent_t event = nullptr;
    MUST(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    for (int round = 0; round < 3; round++) {
        std::memset(values, 0, count * sizeof(int));
        hip_slow<<<1, 64, 0, one>>>();
        add(one, values, 5);
        MUST(hipEventRecord(event, one));
        MUST(hipStreamWaitEvent(other, event, 0));
        scale(other, values, 10);
        MUST(hipStreamSynchronize(other));
        CHECK(all_are(values, 50, 1), "across streams by an event");
    }
    MUST(hipHostFree(values));
}

void in_order(hipStream_t stream)
{
    int *values = make_zeros();
    int want = 0;
    for (int round = 0; round < 200; round++) {
        add(stream, values, round);
        scale(stream, values, -1);
        want = -(want + round);
    }
    MUST(hipStreamSynchronize(stream));
    CHECK(values[0] == want, "in order");
    MUST(hipHostFree(values));
}

void across_by_value(hipStream_t one, hipStream_t other)
{
    int *values = make_zeros();
    void *flag = nullptr;
    MUST(hipHostMalloc(&flag, 64));
    std::memset(flag, 0, 64);
    MUST(hipStreamWaitValue32(other, flag, 7, hipStreamWaitValueEq, 0xFFFFFFFF));
    scale(other, values, 10);
    hip_slow<<<1, 64, 0, one>>>();
    add(one, values, 5);
    MUST(hipStreamWriteValue32(one, flag, 7, 0));
    MUST(hipStreamSynchronize(other));
    CHECK(all_are(values, 50, 1), "across streams by a value");
    MUST(hipStreamWaitValue64(one, flag, 100, hipStreamWaitValueGte, ~0ULL));
    add(one, values, 1);
    CHECK(hipStreamQuery(one) == hipErrorNotReady, "the value is not there yet");
    MUST(hipStreamWriteValue64(other, flag, 200, 0));
    MUST(hipStreamSynchronize(one));
    CHECK(all_are(values, 51, 1), "across streams by a wide value");
    MUST(hipHostFree(values));
    MUST(hipHostFree(flag));
}

void call_host(hipStream_t stream)
{
    int *values = make_zeros();
    hip_slow<<<1, 64, 0, stream>>>();
    add(stream, values, 4);
    auto twice = [](hipStream_t, hipError_t, void *data) {
        for (int i = 0; i < count; i++) {
            static_cast<int *>(data)[i] *= 2;
        }
    };
    MUST(hipStreamAddCallback(stream, twice, values, 0));
    add(stream, values, 1);
    MUST(hipStreamSynchronize(stream));
    CHECK(all_are(values, 9, 0), "a host function in its place");
    MUST(hipHostFree(values));
}

// The device's own times of the slow kernel and of the packets around it.
struct Truth {
    uint64_t kernel = 0, around = 0;
};

Truth last_slow_kernel()
{
    Truth truth;
    char error[256] = "";
    softgpu_truth_t *log = softgpu_truth_open(std::getenv("SOFTGPU_TRUTH"), error, sizeof error);
    if (log == nullptr) {
        std::fprintf(stderr, "%s\n", error);
        std::exit(1);
    }
    softgpu_truth_entry_t entry;
    uint32_t queue = UINT32_MAX;
    uint64_t before[65536] = {0}, since = 0;
    while (softgpu_truth_next(log, &entry) == 1) {
        if (std::strcmp(entry.name, "_Z8hip_slowv") == 0) {
            truth.kernel = entry.end_ns - entry.start_ns;
            queue = entry.queue;
            since = before[queue] != 0 ? before[queue] : entry.start_ns;
        }
        if (entry.queue == queue) {
            truth.around = entry.end_ns - since;
        } else if (entry.queue < 65536) {
            before[entry.queue] = entry.start_ns;
        }
        if (entry.kind != SOFTGPU_TRUTH_KERNEL) {
            before[entry.queue] = entry.start_ns;
        }
    }
    softgpu_truth_close(log);
    return truth;
}

void elapsed_times(hipStream_t stream)
{
    hipEvent_t start = nullptr, stop = nullptr;
    MUST(hipEventCreate(&start));
    MUST(hipEventCreate(&stop));
    MUST(hipEventRecord(start, stream));
    hip_slow<<<1, 64, 0, stream>>>();
    MUST(hipEventRecord(stop, stream));
    MUST(hipEventSynchronize(stop));
    float milliseconds = 0;
    MUST(hipEventElapsedTime(&milliseconds, start, stop));
    Truth truth = last_slow_kernel();
    double elapsed = static_cast<double>(milliseconds) * 1e6;
    std::string what = std::to_string(elapsed) + " ns, kernel " + std::to_string(truth.kernel) +
                       ", from the packet before it " + std::to_string(truth.around);
    // A float of some milliseconds is exact to a nanosecond.
    CHECK(elapsed + 10 >= static_cast<double>(truth.kernel), what);
    CHECK(elapsed <= static_cast<double>(truth.around) + 10, what);
    CHECK(truth.kernel == 3000000, what);
}

} // namespace

int main()
{
    hipStream_t one = make_stream(), other = make_stream();
    elapsed_times(one);
    across_by_event(one, other);
    in_order(one);
    across_by_value(one, other);
    call_host(one);
    return finish();
}
