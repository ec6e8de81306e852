/**
 * The HSA API as the runtime handed it over: the original entries that RTL calls, and the tables
 * that it hooks.
 *
 * One binary serves all runtimes: the two layouts that there are (api_entries.h) are told apart by
 * a table's size, which the runtime keeps in `version.minor_id`, and every access is guarded by it.
 */
#ifndef RTL_INTERCEPT_BASE_API_H
#define RTL_INTERCEPT_BASE_API_H

#include "intercept/base/api_entries.h"
#include "intercept/base/api_types.h"

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stdint.h>

/** The originals, or NULL where a table has no such entry. Filled by rtl_api_take, constant until
 * the next one. */
struct rtl_api {
#define X(name, ...) __typeof__(name) *name;
    RTL_CORE_ENTRIES(X)
    RTL_EXT_ENTRIES(X)
#undef X
#define X(name, type, ...) type *name;
    RTL_EXT_OPTIONAL(X)
    RTL_EXT_EXACT(X)
#undef X
    uint32_t core_size, ext_size; /**< bytes */
    uint32_t core_step, ext_step; /**< step ids; the latter is, with the size, the layout of the
                                     extension table */
};

extern struct rtl_api rtl_api;

/** Reads the originals out of an `HsaApiTable *`. False when an entry is missing that RTL cannot do
 * without; the name of the first such is in *missing. */
bool rtl_api_take(void *table, const char **missing);

/** Puts `function` in the place of an entry; nothing happens where the table has no such entry. */
void rtl_api_hook(enum rtl_entry entry, void (*function)(void));

/** The same for an entry by its name, and a function of its type. */
#define RTL_HOOK(entry, function) rtl_api_hook(RTL_ENTRY_##entry, (void (*)(void))(function))

#endif
