// Memory that host and device share, and what HIP says about pointers.

#include "check.h"

namespace
{

const int count = 700;

// The host writes, a kernel adds, the host reads, without any copy.
void shared(int *host, int *device, const char *what)
{
    for (int i = 0; i < count; i++) {
        host[i] = i;
    }
    hip_add<<<3, 256>>>(device, count, 1000);
    MUST(hipGetLastError());
    MUST(hipDeviceSynchronize());
    bool good = true;
    for (int i = 0; i < count; i++) {
        good = good && host[i] == i + 1000;
    }
    CHECK(good, what);
}

void check_attributes(void *pointer, hipMemoryType type, const char *what)
{
    hipPointerAttribute_t attributes{};
    MUST(hipPointerGetAttributes(&attributes, pointer));
#if HIP_VERSION_MAJOR >= 6
    CHECK(attributes.type == type, what);
#else
    CHECK(attributes.memoryType == type, what);
#endif
    CHECK(attributes.device == 0, what);
}

void check_advice(void *managed)
{
    int where = 0;
    MUST(hipMemAdvise(managed, size_t{1} << 20U, hipMemAdviseSetPreferredLocation, 0));
    MUST(hipMemRangeGetAttribute(&where, sizeof where, hipMemRangeAttributePreferredLocation,
                                 managed, size_t{1} << 20U));
    CHECK(where == 0, "preferred location");
    MUST(hipMemAdvise(managed, size_t{1} << 20U, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
    MUST(hipMemRangeGetAttribute(&where, sizeof where, hipMemRangeAttributePreferredLocation,
                                 managed, size_t{1} << 20U));
    CHECK(where == hipCpuDeviceId, "preferred location on the host");
    MUST(hipMemPrefetchAsync(managed, size_t{1} << 20U, 0, nullptr));
    MUST(hipDeviceSynchronize());
}

// Managed memory lies at one address, and can be advised about.
void check_managed()
{
    int supported = 0;
    void *managed = nullptr;
    MUST(hipDeviceGetAttribute(&supported, hipDeviceAttributeManagedMemory, 0));
    CHECK(supported == 1, "managed memory is supported");
    MUST(hipMallocManaged(&managed, size_t{1} << 20U));
    shared(static_cast<int *>(managed), static_cast<int *>(managed), "managed memory");
    check_advice(managed);
    shared(static_cast<int *>(managed), static_cast<int *>(managed), "advised memory");
    MUST(hipFree(managed));
}

} // namespace

int main()
{
    void *pinned = nullptr, *view = nullptr, *device = nullptr, *pitched = nullptr;
    MUST(hipHostMalloc(&pinned, count * sizeof(int), hipHostMallocMapped));
    MUST(hipHostGetDevicePointer(&view, pinned, 0));
    shared(static_cast<int *>(pinned), static_cast<int *>(view), "pinned memory");
    check_attributes(pinned, hipMemoryTypeHost, "type of pinned memory");

    check_managed();

    static int own[count];
    MUST(hipHostRegister(own, count * sizeof(int), hipHostRegisterMapped));
    MUST(hipHostGetDevicePointer(&view, own, 0));
    shared(own, static_cast<int *>(view), "registered memory");
    // No hipHostUnregister: HIP 5.2.3 aborts in it wherever host and device see memory at one
    // address, as they do here and on APUs (ihipHostUnregister takes the same address out of its
    // map twice).

    size_t before = 0, after = 0, total = 0, pitch = 0;
    MUST(hipMemGetInfo(&before, &total));
    MUST(hipMalloc(&device, size_t{256} << 20U));
    MUST(hipMemGetInfo(&after, &total));
    CHECK(before >= after + (size_t{256} << 20U) && before <= total, "free memory");
    check_attributes(device, hipMemoryTypeDevice, "type of device memory");
    MUST(hipFree(device));
    MUST(hipMallocPitch(&pitched, &pitch, 100, 10));
    CHECK(pitch >= 100, "pitch");
    MUST(hipFree(pitched));
    CHECK(hipMalloc(&device, size_t{1} << 60U) == hipErrorOutOfMemory, "too much memory");
    MUST(hipHostFree(pinned));
    return finish();
}
