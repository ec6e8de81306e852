#include "intercept/base/objects.h"

/* The linker has moved the pointers of a dynamic section, but for those of objects whose section
 * cannot be written. */
static uintptr_t moved(const struct dl_phdr_info *info, ElfW(Addr) address)
{
    return address < info->dlpi_addr ? info->dlpi_addr + address : address;
}

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info)
{
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return NULL;
}

static void take(struct rtl_object *object, const ElfW(Dyn) * entry)
{
    const void *at = (const void *)moved(object->info, entry->d_un.d_ptr);
    switch (entry->d_tag) {
    case DT_SYMTAB:
        object->symbols = at;
        break;
    case DT_STRTAB:
        object->strings = at;
        break;
    case DT_HASH:
        object->hash = at;
        break;
    case DT_GNU_HASH:
        object->gnu_hash = at;
        break;
    case DT_RELA:
        object->relocations[0] = at;
        break;
    case DT_RELASZ:
        object->relocation_count[0] = entry->d_un.d_val / sizeof(ElfW(Rela));
        break;
    case DT_JMPREL:
        object->relocations[1] = at;
        break;
    case DT_PLTRELSZ:
        object->relocation_count[1] = entry->d_un.d_val / sizeof(ElfW(Rela));
        break;
    default:
        break;
    }
}

bool rtl_object_read(const struct dl_phdr_info *info, struct rtl_object *object)
{
    return rtl_object_read_section(info, dynamic_of(info), object);
}

bool rtl_object_read_section(const struct dl_phdr_info *info, const ElfW(Dyn) * entry,
                             struct rtl_object *object)
{
    *object = (struct rtl_object){.info = info};
    if (entry == NULL || rtl_object_begins(info->dlpi_name, "linux-vdso"))
        return false;
    for (; entry->d_tag != DT_NULL; entry++)
        take(object, entry);
    for (size_t i = 0; i < 2; i++)
        if (object->relocations[i] == NULL)
            object->relocation_count[i] = 0;
    return object->symbols != NULL && object->strings != NULL;
}

bool rtl_object_has(const struct dl_phdr_info *info, uintptr_t address)
{
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && address - (info->dlpi_addr + part->p_vaddr) < part->p_memsz)
            return true;
    }
    return false;
}

/* strcmp may be a sanitizer's, which is not ready yet when it looks for functions by our dlsym. */
static bool is_same(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] == b[i] && a[i] != '\0')
        i++;
    return a[i] == b[i];
}

static uintptr_t function_of(const struct rtl_object *object, uint32_t number, const char *name)
{
    const ElfW(Sym) *symbol = &object->symbols[number];
    if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
        !is_same(object->strings + symbol->st_name, name))
        return 0;
    return object->info->dlpi_addr + symbol->st_value;
}

static uint32_t gnu_hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

/* The table: number of chains, first symbol in it, words of the filter, its shift; the filter; the
 * first symbol of each chain; the symbols' hashes, the last of a chain with bit 0 set. */
static uintptr_t find_by_gnu_hash(const struct rtl_object *object, const char *name)
{
    const uint32_t *table = object->gnu_hash;
    const uint32_t *chains = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof *table);
    const uint32_t *hashes = chains + table[0];
    uint32_t hash = gnu_hash_of(name);
    uint32_t at = table[0] != 0 ? chains[hash % table[0]] : 0;
    for (; at >= table[1] && at != 0; at++) {
        uint32_t other = hashes[at - table[1]];
        uintptr_t function = (other | 1) == (hash | 1) ? function_of(object, at, name) : 0;
        if (function != 0)
            return function;
        if ((other & 1) != 0)
            break;
    }
    return 0;
}

/* Older ones have all symbols in a table of chains; there are few. */
static uintptr_t find_in_all(const struct rtl_object *object, const char *name)
{
    uintptr_t function = 0;
    for (uint32_t i = 1; i < object->hash[1] && function == 0; i++)
        function = function_of(object, i, name);
    return function;
}

uintptr_t rtl_object_function(const struct rtl_object *object, const char *name)
{
    if (object->gnu_hash != NULL)
        return find_by_gnu_hash(object, name);
    return object->hash != NULL ? find_in_all(object, name) : 0;
}

/* With no symbol of its own, an object's GNU table says 1 or 0, whatever it takes from others: the
 * count is then that of the highest number that a relocation names. */
static uint32_t named_by_relocations(const struct rtl_object *object)
{
    uint32_t most = 0;
    for (size_t table = 0; table < 2; table++)
        for (size_t i = 0; i < object->relocation_count[table]; i++) {
            uint32_t symbol = (uint32_t)ELF64_R_SYM(object->relocations[table][i].r_info);
            most = symbol > most ? symbol : most;
        }
    return most + 1;
}

uint32_t rtl_object_references(const struct rtl_object *object)
{
    if (object->hash != NULL)
        return object->hash[1];
    if (object->gnu_hash != NULL && object->gnu_hash[1] > 1)
        return object->gnu_hash[1];
    return named_by_relocations(object);
}

const char *rtl_object_base_name(const char *path)
{
    const char *base = path;
    for (const char *at = path; *at != '\0'; at++)
        if (*at == '/')
            base = at + 1;
    return base;
}

bool rtl_object_begins(const char *name, const char *with)
{
    while (*with != '\0' && *name == *with) {
        name++;
        with++;
    }
    return *with == '\0';
}
