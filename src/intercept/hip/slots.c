#include "intercept/hip/slots.h"

#include "common/pages.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

struct span {
    uintptr_t begin, end;
};

/* What the linker write-protects when it has relocated the object: whole pages. */
static struct span protected_part(const struct dl_phdr_info *info)
{
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_GNU_RELRO)
            return (struct span){begin & ~(uintptr_t)(RTL_PAGE - 1),
                                 (begin + part->p_memsz) & ~(uintptr_t)(RTL_PAGE - 1)};
    }
    return (struct span){0, 0};
}

static bool in_writable_part(const struct dl_phdr_info *info, uintptr_t address)
{
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_W) != 0 &&
            address - (info->dlpi_addr + part->p_vaddr) < part->p_memsz)
            return true;
    }
    return false;
}

/* Lines "begin-end access …", read a piece at a time: what holds the linker's lock takes no memory,
 * since who gives that out may ask for the lock. */
struct maps {
    int file;
    char piece[512];
    ssize_t size, at;
};

/* The next byte, 0 at the end. */
static char next(struct maps *maps)
{
    if (maps->at == maps->size) {
        maps->size = read(maps->file, maps->piece, sizeof maps->piece);
        maps->at = 0;
    }
    if (maps->size <= 0) {
        maps->size = maps->at = 0;
        return '\0';
    }
    return maps->piece[maps->at++];
}

/* A hexadecimal number, and what comes behind it. */
static uintptr_t next_number(struct maps *maps)
{
    uintptr_t number = 0;
    for (char byte = next(maps); isxdigit((unsigned char)byte); byte = next(maps))
        number = number << 4 | (uintptr_t)(byte <= '9' ? byte - '0' : (byte | 0x20) - 'a' + 10);
    return number;
}

/* True if the next line is of memory that has the address, and can be read and not written. */
static bool is_guarded_line(struct maps *maps, uintptr_t address)
{
    uintptr_t begin = next_number(maps);
    uintptr_t end = next_number(maps);
    bool reads = next(maps) == 'r';
    bool writes = next(maps) == 'w';
    for (char byte = next(maps); byte != '\n' && byte != '\0'; byte = next(maps))
        ;
    return begin <= address && address < end && reads && !writes;
}

/* True if memory can be read and not written now. Before that the linker is not done with it. */
static bool is_guarded(uintptr_t address)
{
    struct maps maps = {.file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
    bool guarded = false;
    if (maps.file < 0)
        return false;
    do
        guarded = is_guarded_line(&maps, address);
    while (!guarded && maps.size > 0);
    (void)close(maps.file);
    return guarded;
}

static bool set_protection(struct span part, int protection)
{
    return mprotect((void *)part.begin, part.end - part.begin, protection) == 0;
}

static bool open_part(struct rtl_slots *slots, struct span part)
{
    if (!slots->looked) {
        slots->looked = true;
        slots->guarded = is_guarded(part.begin);
        slots->open = !slots->guarded || set_protection(part, PROT_READ | PROT_WRITE);
    }
    return slots->open;
}

bool rtl_slots_write(struct rtl_slots *slots, uintptr_t *slot, uintptr_t value)
{
    struct span part = protected_part(slots->info);
    uintptr_t address = (uintptr_t)slot;
    if (!in_writable_part(slots->info, address))
        return false;
    if (part.begin <= address && address < part.end && !open_part(slots, part))
        return false;
    atomic_store_explicit((_Atomic uintptr_t *)slot, value, memory_order_relaxed);
    return true;
}

void rtl_slots_end(struct rtl_slots *slots)
{
    if (slots->guarded && slots->open)
        (void)set_protection(protected_part(slots->info), PROT_READ);
}
