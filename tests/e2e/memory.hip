// memory: allocations whose peak is known. In range "weights" A, 1 MiB; in range "cache" B, 2 MiB,
// and C, 4 MiB once A is freed; 64 KiB of pinned memory; then 512 KiB twice, one behind the other,
// and a request that no GPU can meet. B is never freed. The peak is B, C and 512 KiB.

#include "../softgpu/hip/check.h"

#include <dlfcn.h>

namespace
{

void push(const char *name)
{
    using Push = int(const char *);
    static auto *call = reinterpret_cast<Push *>(dlsym(RTLD_DEFAULT, "roctxRangePushA"));
    if (call != nullptr) {
        call(name);
    }
}

void pop()
{
    using Pop = int();
    static auto *call = reinterpret_cast<Pop *>(dlsym(RTLD_DEFAULT, "roctxRangePop"));
    if (call != nullptr) {
        call();
    }
}

void *allocate(size_t bytes)
{
    void *memory = nullptr;
    MUST(hipMalloc(&memory, bytes));
    return memory;
}

} // namespace

int main()
{
    const size_t mib = 1048576;
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
