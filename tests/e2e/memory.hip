// memory [threads|stopped]: allocations whose peak is known. In range "weights" A, 1 MiB; in range
// "cache" B, 2 MiB, and C, 4 MiB once A is freed; 64 KiB of pinned memory; then 512 KiB twice, one
// behind the other, and a request that no GPU can meet. B is never freed. The peak is B, C and 512
// KiB.
//
// threads: four threads allocate 1 MiB and free it, 300 times each; what one frees another gets.
// stopped: 1 MiB, four times; each but the last is freed while recording is stopped.
// devices: of two GPUs, the last one first, 1 MiB more on each, on a stream of it that a kernel is
// launched on too; then 64 KiB on a stream without a kernel, and 64 KiB by hipMalloc.

#include "../softgpu/hip/check.h"
#include "roctx.h"

#include <thread>

namespace
{

void *allocate(size_t bytes)
{
    void *memory = nullptr;
    MUST(hipMalloc(&memory, bytes));
    return memory;
}

const size_t mib = 1048576;

void several()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) {
        threads.emplace_back([] {
            for (int k = 0; k < 300; k++) {
                MUST(hipFree(allocate(mib)));
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

void stopped()
{
    for (int i = 0; i < 4; i++) {
        void *memory = allocate(mib);
        std::printf("at %p\n", memory);
        if (i < 3) {
            control("rtlStop");
            MUST(hipFree(memory));
            control("rtlStart");
        }
    }
}

int *allocate_on(hipStream_t stream, size_t bytes)
{
    void *memory = nullptr;
    MUST(hipMallocAsync(&memory, bytes, stream));
    return static_cast<int *>(memory);
}

void devices()
{
    hipStream_t stream = nullptr;
    for (int gpu = 1; gpu >= 0; gpu--) {
        MUST(hipSetDevice(gpu));
        MUST(hipStreamCreate(&stream));
        int *memory = allocate_on(stream, static_cast<size_t>(gpu + 1) * mib);
        hip_add<<<1, 64, 0, stream>>>(memory, 64, 1);
        MUST(hipStreamSynchronize(stream));
        MUST(hipFreeAsync(memory, stream));
        MUST(hipStreamSynchronize(stream));
    }
    MUST(hipStreamCreate(&stream));
    (void)allocate_on(stream, mib / 16);
    (void)allocate(mib / 16);
}

} // namespace

int main(int argc, char **argv)
{
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "devices") {
        devices();
        return finish();
    }
    if (mode == "threads") {
        several();
        return finish();
    }
    if (mode == "stopped") {
        stopped();
        return finish();
    }
    void *pinned = nullptr, *none = nullptr;
    push("weights");
    void *a = allocate(mib);
    pop();
    push("cache");
    (void)allocate(2 * mib);
    MUST(hipFree(a));
    void *c = allocate(4 * mib);
    pop();
    MUST(hipHostMalloc(&pinned, 65536));
    for (int i = 0; i < 2; i++) {
        MUST(hipFree(allocate(mib / 2)));
    }
    CHECK(hipMalloc(&none, static_cast<size_t>(1) << 60U) != hipSuccess, "too much memory");
    MUST(hipHostFree(pinned));
    MUST(hipFree(c));
    return finish();
}
