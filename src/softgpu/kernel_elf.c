/*
 * From a kernel object to its symbol: ROCr's loader lays a code object out in one allocation by
 * virtual addresses, so that the ELF header stands at a page start somewhere before the kernel
 * descriptor, and the dynamic symbols and the note lie behind it as in the file. Section headers
 * are not loaded.
 *
 * All reads stay within the allocation; the image of a damaged code object gives "not found".
 */
#include "softgpu/kernel.h"

#include <elf.h>
#include <string.h>

#define PAGE        4096U
#define EM_AMD_GPU  224U
#define NOTE_AMDGPU 32U /* NT_AMDGPU_METADATA */

/* A code object in memory. */
typedef struct image {
    const uint8_t *start;
    size_t size;
} image_t;

typedef struct symbols {
    uint64_t table, strings, strings_size, hash, gnu_hash;
} symbols_t;

/* `size` bytes at virtual address `at`; NULL if they are not all there. */
static const void *view(const image_t *image, uint64_t at, uint64_t size)
{
    if (at > image->size || image->size - at < size) {
        return NULL;
    }
    return image->start + at;
}

static bool is_code_object(const uint8_t *at, size_t size)
{
    Elf64_Ehdr header;
    if (size < sizeof header) {
        return false;
    }
    memcpy(&header, at, sizeof header);
    return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_machine == EM_AMD_GPU && header.e_phentsize == sizeof(Elf64_Phdr);
}

/* Walks back by page from the kernel object. */
static bool find_image(uint64_t object, const uint8_t *base, size_t size, image_t *image)
{
    uint64_t first = (uint64_t)(uintptr_t)base;
    for (uint64_t page = object & ~(uint64_t)(PAGE - 1); page >= first; page -= PAGE) {
        image->start = base + (page - first);
        image->size = size - (page - first);
        if (is_code_object(image->start, image->size)) {
            return true;
        }
    }
    return false;
}

static bool read_segment(const image_t *image, unsigned number, Elf64_Phdr *segment)
{
    Elf64_Ehdr header;
    memcpy(&header, image->start, sizeof header);
    if (number >= header.e_phnum) {
        return false;
    }
    const void *at =
        view(image, header.e_phoff + (uint64_t)number * sizeof *segment, sizeof *segment);
    if (at == NULL) {
        return false;
    }
    memcpy(segment, at, sizeof *segment);
    return true;
}

static void read_dynamic(const image_t *image, const Elf64_Phdr *segment, symbols_t *symbols)
{
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment->p_memsz; at += sizeof(Elf64_Dyn)) {
        const void *entry = view(image, segment->p_vaddr + at, sizeof(Elf64_Dyn));
        if (entry == NULL) {
            return;
        }
        Elf64_Dyn dynamic;
        memcpy(&dynamic, entry, sizeof dynamic);
        switch (dynamic.d_tag) {
        case DT_NULL:
            return;
        case DT_SYMTAB:
            symbols->table = dynamic.d_un.d_ptr;
            break;
        case DT_STRTAB:
            symbols->strings = dynamic.d_un.d_ptr;
            break;
        case DT_STRSZ:
            symbols->strings_size = dynamic.d_un.d_val;
            break;
        case DT_HASH:
            symbols->hash = dynamic.d_un.d_ptr;
            break;
        case DT_GNU_HASH:
            symbols->gnu_hash = dynamic.d_un.d_ptr;
            break;
        default:
            break;
        }
    }
}

static bool read_word(const image_t *image, uint64_t at, uint32_t *word)
{
    const void *bytes = view(image, at, sizeof *word);
    if (bytes != NULL) {
        memcpy(word, bytes, sizeof *word);
    }
    return bytes != NULL;
}

/* The last symbol of a GNU hash table ends the longest chain. */
static uint32_t count_gnu(const image_t *image, uint64_t table)
{
    uint32_t buckets = 0, offset = 0, bloom = 0, last = 0, word = 0;
    if (!read_word(image, table, &buckets) || !read_word(image, table + 4, &offset) ||
        !read_word(image, table + 8, &bloom)) {
        return 0;
    }
    uint64_t bucket = table + 16 + (uint64_t)bloom * 8;
    uint64_t chain = bucket + (uint64_t)buckets * 4;
    for (uint32_t i = 0; i < buckets && read_word(image, bucket + (uint64_t)i * 4, &word); i++) {
        last = word > last ? word : last;
    }
    if (last < offset) {
        return offset;
    }
    while (read_word(image, chain + (uint64_t)(last - offset) * 4, &word)) {
        last++;
        if ((word & 1U) != 0) {
            return last;
        }
    }
    return 0;
}

static uint32_t count_symbols(const image_t *image, const symbols_t *symbols)
{
    uint32_t count = 0;
    if (symbols->hash != 0 && read_word(image, symbols->hash + 4, &count)) {
        return count;
    }
    return symbols->gnu_hash != 0 ? count_gnu(image, symbols->gnu_hash) : 0;
}

/* The symbol's name if it is whole and ends with `.kd`, else NULL. */
static const char *descriptor_name(const image_t *image, const symbols_t *symbols, uint32_t name)
{
    if (name >= symbols->strings_size) {
        return NULL;
    }
    uint64_t room = symbols->strings_size - name;
    const char *text = view(image, symbols->strings + name, room);
    if (text == NULL || memchr(text, '\0', room) == NULL) {
        return NULL;
    }
    size_t length = strlen(text);
    return length > 3 && strcmp(text + length - 3, ".kd") == 0 ? text : NULL;
}

static const char *find_symbol(const image_t *image, const symbols_t *symbols, uint64_t value)
{
    uint32_t count = count_symbols(image, symbols);
    for (uint32_t number = 1; number < count; number++) {
        Elf64_Sym symbol;
        const void *at =
            view(image, symbols->table + (uint64_t)number * sizeof symbol, sizeof symbol);
        if (at == NULL) {
            return NULL;
        }
        memcpy(&symbol, at, sizeof symbol);
        const char *name =
            symbol.st_value == value ? descriptor_name(image, symbols, symbol.st_name) : NULL;
        if (name != NULL) {
            return name;
        }
    }
    return NULL;
}

static uint64_t round_up_4(uint64_t size)
{
    return (size + 3) & ~(uint64_t)3;
}

static void read_notes(const image_t *image, const Elf64_Phdr *segment, sg_elf_kernel_t *found)
{
    uint64_t at = segment->p_vaddr, end = segment->p_vaddr + segment->p_memsz;
    while (at + sizeof(Elf64_Nhdr) <= end) {
        Elf64_Nhdr note;
        const void *head = view(image, at, sizeof note);
        if (head == NULL) {
            return;
        }
        memcpy(&note, head, sizeof note);
        uint64_t body = at + sizeof note + round_up_4(note.n_namesz);
        const uint8_t *bytes = view(image, body, note.n_descsz);
        if (bytes == NULL) {
            return;
        }
        if (note.n_type == NOTE_AMDGPU) {
            found->metadata = bytes;
            found->metadata_size = note.n_descsz;
            return;
        }
        at = body + round_up_4(note.n_descsz);
    }
}

bool sg_elf_find(uint64_t kernel_object, const void *base, size_t size, sg_elf_kernel_t *found)
{
    image_t image;
    if (!find_image(kernel_object, base, size, &image)) {
        return false;
    }
    symbols_t symbols = {0};
    Elf64_Phdr segment;
    for (unsigned number = 0; read_segment(&image, number, &segment); number++) {
        if (segment.p_type == PT_DYNAMIC) {
            read_dynamic(&image, &segment, &symbols);
        } else if (segment.p_type == PT_NOTE) {
            read_notes(&image, &segment, found);
        }
    }
    found->symbol = find_symbol(&image, &symbols, kernel_object - (uint64_t)(uintptr_t)image.start);
    return found->symbol != NULL;
}
