// Device memory for tests without a device: one allocation that holds a code object as ROCr's
// loader lays it out.
#ifndef FAKE_MEMORY_H
#define FAKE_MEMORY_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Code objects must lie in page-aligned memory, as allocations of the device do.
class FakeMemory
{
  public:
    FakeMemory();
    ~FakeMemory();
    FakeMemory(const FakeMemory &) = delete;
    FakeMemory &operator=(const FakeMemory &) = delete;

    // Loads the code object of the tests: segments to their virtual addresses behind one foreign
    // page.
    void load();
    // Address of a symbol by the section table, which the code under test does not see.
    uint64_t symbol(const std::string &name) const;
    uint8_t *base() const
    {
        return base_;
    }
    size_t size() const
    {
        return size_;
    }
    // What the software GPU would say (sg_memory_find) about this memory.
    static FakeMemory *current;

  private:
    static constexpr size_t lead = 4096;
    std::vector<uint8_t> file_;
    uint8_t *base_;
    static constexpr size_t size_ = size_t{64} * 1024;
};

#endif
