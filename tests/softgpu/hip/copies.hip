// Copies between all kinds of memory: sizes, alignments, synchronous and not, in one and two
// dimensions.

#include "check.h"

namespace
{

const Where kinds[] = {Where::device, Where::pinned, Where::pageable};

std::string describe(Where from, Where into, size_t size, const char *how)
{
    return std::string(name_of(from)) + " to " + name_of(into) + ", " + std::to_string(size) +
           " bytes, " + how;
}

hipMemcpyKind kind_of(Where from, Where into)
{
    if (from == Where::device) {
        return into == Where::device ? hipMemcpyDeviceToDevice : hipMemcpyDeviceToHost;
    }
    return into == Where::device ? hipMemcpyHostToDevice : hipMemcpyHostToHost;
}

// One copy in the middle of two buffers: what it should write is there, and nothing else is.
void check_copy(Where from, Where into, size_t size, size_t source_offset, size_t target_offset,
                const char *how, hipStream_t stream)
{
    Buffer source(from, size + 128), target(into, size + 128);
    Bytes content = pattern(size + 128, static_cast<unsigned>(size));
    source.put(content);
    Bytes want(size + 128, 0xC5);
    std::memcpy(&want[target_offset], &content[source_offset], size);
    if (std::strcmp(how, "by default kind") == 0) {
        MUST(hipMemcpy(target.at(target_offset), source.at(source_offset), size, hipMemcpyDefault));
    } else if (std::strcmp(how, "on a stream") == 0) {
        MUST(hipMemcpyAsync(target.at(target_offset), source.at(source_offset), size,
                            kind_of(from, into), stream));
        MUST(hipStreamSynchronize(stream));
    } else {
        MUST(hipMemcpy(target.at(target_offset), source.at(source_offset), size,
                       kind_of(from, into)));
    }
    if (kind_of(from, into) == hipMemcpyDeviceToDevice) {
        MUST(hipDeviceSynchronize());
    }
    CHECK(target.get() == want, describe(from, into, size, how));
}

void check_pair(Where from, Where into, hipStream_t stream)
{
    for (size_t size : {1, 3, 64, 4095, 70001}) {
        check_copy(from, into, size, 0, 0, "plain", stream);
        check_copy(from, into, size, 3, 64, "by default kind", stream);
        check_copy(from, into, size, 5, 2, "on a stream", stream);
    }
    check_copy(from, into, size_t{9} << 20U, 16, 16, "plain", stream);
    check_copy(from, into, (size_t{5} << 20U) + 7, 1, 2, "on a stream", stream);
}

void check_rectangle(Where from, Where into, size_t width, size_t height, size_t source_pitch,
                     size_t target_pitch, hipStream_t stream)
{
    Buffer source(from, source_pitch * height), target(into, target_pitch * height);
    Bytes content = pattern(source_pitch * height, 7);
    source.put(content);
    Bytes want(target_pitch * height, 0xC5);
    for (size_t row = 0; row < height; row++) {
        std::memcpy(&want[row * target_pitch], &content[row * source_pitch], width);
    }
    if (stream == nullptr) {
        MUST(hipMemcpy2D(target.at(), target_pitch, source.at(), source_pitch, width, height,
                         kind_of(from, into)));
    } else {
        MUST(hipMemcpy2DAsync(target.at(), target_pitch, source.at(), source_pitch, width, height,
                              kind_of(from, into), stream));
        MUST(hipStreamSynchronize(stream));
    }
    MUST(hipDeviceSynchronize());
    CHECK(target.get() == want, describe(from, into, width, "in two dimensions"));
}

// Copies of one stream happen in order.
void check_chain(hipStream_t stream)
{
    const size_t size = 100000;
    Buffer source(Where::pinned, size), one(Where::device, size), other(Where::device, size),
        target(Where::pinned, size);
    for (unsigned round = 0; round < 20; round++) {
        Bytes content = pattern(size, round);
        source.put(content);
        MUST(hipMemcpyAsync(one.at(), source.at(), size, hipMemcpyHostToDevice, stream));
        MUST(hipMemcpyAsync(other.at(), one.at(), size, hipMemcpyDeviceToDevice, stream));
        MUST(hipMemcpyAsync(target.at(), other.at(), size, hipMemcpyDeviceToHost, stream));
        MUST(hipStreamSynchronize(stream));
        CHECK(target.get() == content, "round " + std::to_string(round));
    }
}

void check_box()
{
    const size_t width = 40, height = 7, depth = 5;
    Buffer source(Where::pageable, width * height * depth);
    Bytes content = pattern(width * height * depth, 9);
    source.put(content);
    hipPitchedPtr device{};
    MUST(hipMalloc3D(&device, make_hipExtent(width, height, depth)));
    Buffer target(Where::pageable, width * height * depth);
    hipMemcpy3DParms copy{};
    copy.extent = make_hipExtent(width, height, depth);
    copy.srcPtr = make_hipPitchedPtr(source.at(), width, width, height);
    copy.dstPtr = device;
    copy.kind = hipMemcpyHostToDevice;
    MUST(hipMemcpy3D(&copy));
    copy.srcPtr = device;
    copy.dstPtr = make_hipPitchedPtr(target.at(), width, width, height);
    copy.kind = hipMemcpyDeviceToHost;
    MUST(hipMemcpy3D(&copy));
    CHECK(target.get() == content, "in three dimensions");
    MUST(hipFree(device.ptr));
}

} // namespace

int main()
{
    hipStream_t stream = nullptr;
    MUST(hipStreamCreate(&stream));
    for (Where from : kinds) {
        for (Where into : kinds) {
            check_pair(from, into, stream);
            check_rectangle(from, into, 64, 16, 128, 256, nullptr);
            check_rectangle(from, into, 33, 17, 50, 41, stream);
        }
    }
    check_chain(stream);
    check_box();
    return finish();
}
