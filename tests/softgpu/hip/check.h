// What the HIP tests share: checks that count, and buffers of each kind of memory with guards
// around them.
#ifndef HIP_CHECK_H
#define HIP_CHECK_H

#include <hip/hip_runtime.h>

#include "kernels.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// A HIP call that the test cannot go on without.
#define MUST(call)                                                                                 \
    do {                                                                                           \
        hipError_t must_status = (call);                                                           \
        if (must_status != hipSuccess) {                                                           \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                     \
                         hipGetErrorString(must_status));                                          \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

inline int &failures()
{
    static int count;
    return count;
}

// A condition; the text says for which case.
#define CHECK(condition, text)                                                                     \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition,       \
                         std::string(text).c_str());                                               \
            failures()++;                                                                          \
        }                                                                                          \
    } while (0)

inline int finish()
{
    MUST(hipDeviceSynchronize());
    if (failures() == 0) {
        std::puts("all is well");
    }
    return failures() == 0 ? 0 : 1;
}

using Bytes = std::vector<uint8_t>;

inline Bytes pattern(size_t size, unsigned seed)
{
    Bytes bytes(size);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = static_cast<uint8_t>((i * 2654435761U + seed * 40503U) >> 7U);
    }
    return bytes;
}

enum class Where { device, pinned, pageable, managed };

inline const char *name_of(Where where)
{
    static const char *const names[] = {"device", "pinned", "pageable", "managed"};
    return names[static_cast<int>(where)];
}

// Memory of one kind, filled with 0xC5. Its content is set and read by a kernel where a kernel can
// reach it, so that a test of copies does not rest on copies.
class Buffer
{
  public:
    Buffer(Where where, size_t size) : where_(where), size_(size)
    {
        void *memory = nullptr;
        switch (where) {
        case Where::device:
            MUST(hipMalloc(&memory, size));
            break;
        case Where::pinned:
            MUST(hipHostMalloc(&memory, size));
            break;
        case Where::managed:
            MUST(hipMallocManaged(&memory, size));
            break;
        case Where::pageable:
            memory = std::malloc(size);
            break;
        }
        memory_ = static_cast<uint8_t *>(memory);
        put(Bytes(size, 0xC5));
    }
    ~Buffer()
    {
        if (where_ == Where::pageable) {
            std::free(memory_);
        } else if (where_ == Where::pinned) {
            MUST(hipHostFree(memory_));
        } else {
            MUST(hipFree(memory_));
        }
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;

    uint8_t *at(size_t offset = 0) const
    {
        return memory_ + offset;
    }
    void put(const Bytes &bytes)
    {
        if (where_ == Where::device) {
            Buffer host(Where::pinned, bytes.size());
            std::memcpy(host.at(), bytes.data(), bytes.size());
            move(memory_, host.at(), bytes.size());
        } else {
            std::memcpy(memory_, bytes.data(), bytes.size());
        }
    }
    Bytes get() const
    {
        if (where_ != Where::device) {
            return Bytes(memory_, memory_ + size_);
        }
        Buffer host(Where::pinned, size_);
        move(host.at(), memory_, size_);
        return host.get();
    }

  private:
    static void move(uint8_t *target, const uint8_t *source, size_t size)
    {
        MUST(hipDeviceSynchronize());
        hip_move<<<1, 64>>>(target, source, size);
        MUST(hipGetLastError());
        MUST(hipDeviceSynchronize());
    }
    Where where_;
    size_t size_;
    uint8_t *memory_;
};

#endif
