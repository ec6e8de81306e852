// Sets of memory: widths, odd places, two and three dimensions.

#include "check.h"

namespace
{

template <class T> void write_pattern(Bytes *bytes, size_t offset, size_t count, T value)
{
    for (size_t i = 0; i < count; i++) {
        std::memcpy(&(*bytes)[offset + i * sizeof value], &value, sizeof value);
    }
}

void check(const Buffer &buffer, const Bytes &want, const std::string &what)
{
    MUST(hipDeviceSynchronize());
    CHECK(buffer.get() == want, what);
}

// HIP 5.2.3 (FillBufferInfo::PackInfo) splits off a head up to the next multiple of 8 and runs over
// the end of memory where the set is shorter than that head; so short sets begin at such a multiple
// here.
bool hip_can(size_t offset, size_t size)
{
    return offset % 8 == 0 || size >= 8;
}

void check_bytes(hipStream_t stream)
{
    for (size_t offset : {0, 1, 5, 64}) {
        for (size_t size : {1, 2, 7, 64, 1023, 300001}) {
            if (!hip_can(offset, size)) {
                continue;
            }
            Buffer buffer(Where::device, size + 128);
            Bytes want(size + 128, 0xC5);
            write_pattern<uint8_t>(&want, offset, size, 0x3A);
            MUST(hipMemset(buffer.at(offset), 0x3A, size));
            check(buffer, want, "hipMemset of " + std::to_string(size));
            write_pattern<uint8_t>(&want, offset, size, 0x4B);
            MUST(hipMemsetAsync(buffer.at(offset), 0x4B, size, stream));
            check(buffer, want, "hipMemsetAsync of " + std::to_string(size));
        }
    }
}

void check_words(hipStream_t stream)
{
    const size_t count = 1001;
    Buffer buffer(Where::device, 8192);
    Bytes want(8192, 0xC5);
    write_pattern<uint16_t>(&want, 6, count, 0x1234);
    MUST(hipMemsetD16(buffer.at(6), 0x1234, count));
    check(buffer, want, "hipMemsetD16");
    write_pattern<uint32_t>(&want, 12, count, 0x89ABCDEF);
    MUST(hipMemsetD32(buffer.at(12), static_cast<int>(0x89ABCDEF), count));
    check(buffer, want, "hipMemsetD32");
    write_pattern<uint16_t>(&want, 2, count, 0x4321);
    MUST(hipMemsetD16Async(buffer.at(2), 0x4321, count, stream));
    check(buffer, want, "hipMemsetD16Async");
    write_pattern<uint32_t>(&want, 4, count, 0x1020304);
    MUST(hipMemsetD32Async(buffer.at(4), 0x1020304, count, stream));
    check(buffer, want, "hipMemsetD32Async");
    write_pattern<uint8_t>(&want, 3, count, 0x77);
    MUST(hipMemsetD8(buffer.at(3), 0x77, count));
    check(buffer, want, "hipMemsetD8");
}

void check_rectangles(hipStream_t stream)
{
    const size_t pitch = 96, height = 13, width = 50;
    Buffer buffer(Where::device, pitch * height);
    Bytes want(pitch * height, 0xC5);
    for (size_t row = 0; row < height; row++) {
        write_pattern<uint8_t>(&want, row * pitch, width, 0x11);
    }
    MUST(hipMemset2D(buffer.at(), pitch, 0x11, width, height));
    check(buffer, want, "hipMemset2D");
    for (size_t row = 0; row < height / 2; row++) {
        write_pattern<uint8_t>(&want, row * pitch, width - 3, 0x22);
    }
    MUST(hipMemset2DAsync(buffer.at(), pitch, 0x22, width - 3, height / 2, stream));
    check(buffer, want, "hipMemset2DAsync");
}

void check_box()
{
    const size_t width = 24, height = 5, depth = 4;
    hipPitchedPtr device{};
    MUST(hipMalloc3D(&device, make_hipExtent(width, height, depth)));
    MUST(hipMemset3D(device, 0x33, make_hipExtent(width, height, depth)));
    Bytes row(width);
    for (size_t i = 0; i < height * depth; i++) {
        MUST(hipMemcpy(row.data(), static_cast<uint8_t *>(device.ptr) + i * device.pitch, width,
                       hipMemcpyDeviceToHost));
        CHECK(row == Bytes(width, 0x33), "hipMemset3D");
    }
    MUST(hipFree(device.ptr));
}

} // namespace

int main()
{
    hipStream_t stream = nullptr;
    MUST(hipStreamCreate(&stream));
    check_bytes(stream);
    check_words(stream);
    check_rectangles(stream);
    check_box();
    return finish();
}
