/**
 * What the dynamic linker has loaded, as the objects' own headers describe it.
 *
 * Nothing here asks the linker (dlsym, dladdr, dlopen): these take its big lock, which somebody may
 * hold who waits for the runtime that calls us. dl_iterate_phdr takes the small one, which is held
 * for moments only. What is said of an object holds while its callback runs. Nor is a function of
 * libc's called: a sanitizer's may not be ready when it asks our dlsym for others.
 */
#ifndef RTL_INTERCEPT_BASE_OBJECTS_H
#define RTL_INTERCEPT_BASE_OBJECTS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rtl_object {
    const struct dl_phdr_info *info;
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *hash, *gnu_hash; /* NULL where there is none */
    const ElfW(Rela) * relocations[2];
    size_t relocation_count[2];
};

/** False if the object has no symbols, or is not to be read (the vDSO). */
bool rtl_object_read(const struct dl_phdr_info *info, struct rtl_object *object);

/** The same, of an object whose dynamic section is known, which may be NULL; of `info` address and
 * name are enough. */
bool rtl_object_read_section(const struct dl_phdr_info *info, const ElfW(Dyn) * section,
                             struct rtl_object *object);

/** True if an address lies in the object's memory. */
bool rtl_object_has(const struct dl_phdr_info *info, uintptr_t address);

/** Address of a function that the object defines for others, 0 if it does not. */
uintptr_t rtl_object_function(const struct rtl_object *object, const char *name);

/** Symbols that the object takes from others have numbers from 1 to this, exclusive; others may
 * lie among them. */
uint32_t rtl_object_references(const struct rtl_object *object);

/** The last part of a path. */
const char *rtl_object_base_name(const char *path);

/** Whether a name begins so. */
bool rtl_object_begins(const char *name, const char *with);

#endif
