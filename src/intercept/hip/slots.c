#include "intercept/hip/slots.h"

#include "common/pages.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

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

/* True if memory can be read and not written now. Before that the linker is not done with it. */
static bool is_guarded(uintptr_t address)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    bool begins = true;
    bool guarded = false;
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long begin;
        unsigned long end;
        char access[5];
        if (begins && sscanf(line, "%lx-%lx %4s", &begin, &end, access) == 3 && begin <= address &&
            address < end) {
            guarded = access[0] == 'r' && access[1] == '-';
            break;
        }
        begins = strchr(line, '\n') != NULL;
    }
    if (maps != NULL)
        (void)fclose(maps);
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
