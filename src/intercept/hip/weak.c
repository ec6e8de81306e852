/*
 * Weak references: how a program asks, without dlsym, whether there is a runtime. librtl.so, which
 * is preloaded, defines hsa_init and HIP's functions, so the linker gives it ours whether there are
 * others behind them or not.
 *
 * What was loaded with the program is relocated when our constructors run, and the program has not
 * looked yet. Where nothing else defines the function, the address is taken out again: it is NULL,
 * as it were without librtl.so. roctx's functions stay, since they do their work without a library
 * behind them. An indirect function could not tell either: the linker wants librtl.so relocated
 * before it asks one, and it is relocated after the libraries that come behind it.
 *
 * What is opened later is not looked at: its own constructors would have seen the address by then.
 */
#include "intercept/hip/libc.h"
#include "intercept/hip/resolve.h"
#include "intercept/hip/slots.h"

#include <hsa/hsa.h>
#include <string.h>

static bool may_be_ours(const char *name)
{
    return strncmp(name, "hip", 3) == 0 || strncmp(name, "__hip", 5) == 0 ||
           strncmp(name, "_Z", 2) == 0;
}

/* The function of librtl.so that stands in front of another one of this name, 0 if none does. */
static uintptr_t standing_in_front(const char *name)
{
    if (strcmp(name, "hsa_init") == 0)
        return (uintptr_t)rtl_hip_as_symbol((rtl_hip_function)hsa_init);
    enum rtl_hip_entry entry = may_be_ours(name) ? rtl_hip_named(name) : RTL_HIP_ENTRIES;
    if (entry == RTL_HIP_ENTRIES)
        return 0;
    return (uintptr_t)rtl_hip_as_symbol(rtl_hip_wrapper(entry));
}

struct wanted {
    const char *name;
    uintptr_t ours;
};

static int look_for_other(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct wanted *wanted = data;
    struct rtl_object object;
    (void)size;
    if (!rtl_object_read(info, &object))
        return 0;
    uintptr_t function = rtl_object_function(&object, wanted->name);
    return function != 0 && function != wanted->ours;
}

/* The name of a function that the object can do without, NULL if it is none such. */
static const char *weak_name(const struct rtl_object *object, uint32_t number)
{
    const ElfW(Sym) *symbol = &object->symbols[number];
    if (number == 0 || symbol->st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) != STB_WEAK)
        return NULL;
    return object->strings + symbol->st_name;
}

/* Most objects have a few weak references, and none of these. */
static bool has_any(const struct rtl_object *object)
{
    uint32_t count = rtl_object_references(object);
    for (uint32_t i = 1; i < count; i++) {
        const char *name = weak_name(object, i);
        if (name != NULL && standing_in_front(name) != 0)
            return true;
    }
    return false;
}

static void look_at_relocation(const struct rtl_object *object, struct rtl_slots *slots,
                               const ElfW(Rela) * entry)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(entry->r_info);
    bool is_address = type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
                      (type == R_X86_64_64 && entry->r_addend == 0);
    if (!is_address || entry->r_offset % sizeof(uintptr_t) != 0)
        return;
    struct wanted wanted = {.name = weak_name(object, (uint32_t)ELF64_R_SYM(entry->r_info))};
    uintptr_t *slot = (uintptr_t *)(object->info->dlpi_addr + entry->r_offset);
    if (wanted.name == NULL)
        return;
    wanted.ours = standing_in_front(wanted.name);
    if (wanted.ours != 0 && *slot == wanted.ours && dl_iterate_phdr(look_for_other, &wanted) == 0)
        (void)rtl_slots_write(slots, slot, 0);
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *data)
{
    struct rtl_object object;
    struct rtl_slots slots = {.info = info};
    (void)size;
    (void)data;
    if (!rtl_object_read(info, &object) || !has_any(&object))
        return 0;
    for (size_t table = 0; table < 2; table++)
        for (size_t i = 0; i < object.relocation_count[table]; i++)
            look_at_relocation(&object, &slots, &object.relocations[table][i]);
    rtl_slots_end(&slots);
    return 0;
}

__attribute__((constructor)) static void look_at_all(void)
{
    (void)dl_iterate_phdr(look_at_object, NULL);
}
