#include "fake_memory.h"

#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <stdexcept>

extern "C" {
#include "softgpu/exec.h"
}

FakeMemory *FakeMemory::current;

extern "C" bool sg_memory_find(const void *address, void **base, size_t *size)
{
    const FakeMemory *memory = FakeMemory::current;
    if (memory == nullptr || address < memory->base() ||
        address >= memory->base() + memory->size()) {
        return false;
    }
    *base = memory->base();
    *size = memory->size();
    return true;
}

FakeMemory::FakeMemory() : base_(static_cast<uint8_t *>(std::aligned_alloc(4096, size_)))
{
    std::ifstream input(CODE_OBJECT, std::ios::binary);
    file_.assign(std::istreambuf_iterator<char>(input), {});
    if (base_ == nullptr || file_.size() < sizeof(Elf64_Ehdr)) {
        throw std::runtime_error("no memory, or no code object " CODE_OBJECT);
    }
    current = this;
    load();
}

FakeMemory::~FakeMemory()
{
    sg_kernel_forget(base_, size_);
    current = nullptr;
    std::free(base_);
}

void FakeMemory::load()
{
    std::memset(base_, 0xEE, size_);
    Elf64_Ehdr header;
    std::memcpy(&header, file_.data(), sizeof header);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        std::memcpy(&segment, &file_[header.e_phoff + i * sizeof segment], sizeof segment);
        if (segment.p_type == PT_LOAD) {
            std::memcpy(base_ + lead + segment.p_vaddr, &file_[segment.p_offset], segment.p_filesz);
        }
    }
}

uint64_t FakeMemory::symbol(const std::string &name) const
{
    Elf64_Ehdr header;
    std::memcpy(&header, file_.data(), sizeof header);
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    std::memcpy(sections.data(), &file_[header.e_shoff], sections.size() * sizeof(Elf64_Shdr));
    for (const Elf64_Shdr &section : sections) {
        for (uint64_t at = 0; section.sh_type == SHT_SYMTAB && at < section.sh_size;
             at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            std::memcpy(&symbol, &file_[section.sh_offset + at], sizeof symbol);
            const auto *text = reinterpret_cast<const char *>(
                &file_[sections[section.sh_link].sh_offset + symbol.st_name]);
            if (name == text) {
                return reinterpret_cast<uintptr_t>(base_) + lead + symbol.st_value;
            }
        }
    }
    throw std::runtime_error("no symbol " + name);
}
