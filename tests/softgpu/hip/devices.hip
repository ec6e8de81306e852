// Several GPUs: each computes in its own memory, copies and events go between them.

#include "check.h"

namespace
{

const int count = 2000;
const size_t size = count * sizeof(int);

int *memory_of(int gpu)
{
    void *memory = nullptr;
    MUST(hipSetDevice(gpu));
    MUST(hipMalloc(&memory, size));
    MUST(hipMemset(memory, 0, size));
    MUST(hipDeviceSynchronize());
    return static_cast<int *>(memory);
}

void check_all(const int *device, int want, const char *what)
{
    std::vector<int> host(count);
    MUST(hipMemcpy(host.data(), device, size, hipMemcpyDeviceToHost));
    CHECK(host == std::vector<int>(count, want), what);
}

void runs_where_it_should(int gpu)
{
    void *memory = nullptr;
    MUST(hipSetDevice(gpu));
    MUST(hipHostMalloc(&memory, sizeof(int)));
    hip_where<<<1, 1>>>(static_cast<int *>(memory));
    MUST(hipDeviceSynchronize());
    CHECK(*static_cast<int *>(memory) == gpu, "GPU " + std::to_string(gpu));
    MUST(hipHostFree(memory));
}

} // namespace

int main()
{
    int gpus = 0, reaches = 0;
    MUST(hipGetDeviceCount(&gpus));
    CHECK(gpus == 2, std::to_string(gpus) + " GPUs");
    runs_where_it_should(0);
    runs_where_it_should(1);
    int *first = memory_of(0), *second = memory_of(1);

    MUST(hipSetDevice(0));
    hip_add<<<8, 256>>>(first, count, 11);
    MUST(hipDeviceSynchronize());
    MUST(hipMemcpyPeer(second, 1, first, 0, size));
    MUST(hipSetDevice(1));
    MUST(hipDeviceSynchronize());
    check_all(second, 11, "hipMemcpyPeer");

    // The second GPU waits for the first one's event, then copies back.
    hipStream_t streams[2] = {nullptr, nullptr};
    hipEvent_t event = nullptr;
    MUST(hipStreamCreate(&streams[1]));
    MUST(hipSetDevice(0));
    MUST(hipStreamCreate(&streams[0]));
    MUST(hipEventCreateWithFlags(&event, hipEventDisableTiming));
    hip_slow<<<1, 64, 0, streams[0]>>>();
    hip_add<<<8, 256, 0, streams[0]>>>(first, count, 4);
    MUST(hipEventRecord(event, streams[0]));
    MUST(hipSetDevice(1));
    MUST(hipStreamWaitEvent(streams[1], event, 0));
    MUST(hipMemcpyPeerAsync(second, 1, first, 0, size, streams[1]));
    hip_add<<<8, 256, 0, streams[1]>>>(second, count, 100);
    MUST(hipStreamSynchronize(streams[1]));
    check_all(second, 115, "across GPUs by an event");

    MUST(hipDeviceCanAccessPeer(&reaches, 1, 0));
    CHECK(reaches == 1, "peer access");
    hipError_t enabled = hipDeviceEnablePeerAccess(0, 0);
    CHECK(enabled == hipSuccess || enabled == hipErrorPeerAccessAlreadyEnabled, "peer access");
    hip_add<<<8, 256, 0, streams[1]>>>(first, count, 1000);
    MUST(hipStreamSynchronize(streams[1]));
    check_all(first, 1015, "a kernel in another GPU's memory");
    return finish();
}
