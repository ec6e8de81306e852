#include "intercept/base/api.h"

#include <stddef.h>
#include <string.h>

#define TABLE_HEAD           16u  /* ApiTableVersion */
#define EXT_SIZE_OF_ROCM_5_6 456u /* the first with two more entries in the middle */

struct table_version {
    uint32_t major, minor, step, reserved;
};

/* HsaApiTable */
struct root_table {
    struct table_version version;
    void *core;
    void *ext;
};

struct entry {
    const char *name;
    bool ext, optional;
    uint8_t old_position, position;
    size_t original;      /* offset in struct rtl_api */
    uint32_t bytes, step; /* of the only table that has it; 0: of any */
};

static const struct entry entries[RTL_ENTRIES] = {
#define X(name, at) {#name, false, false, at, at, offsetof(struct rtl_api, name), 0, 0},
    RTL_CORE_ENTRIES(X)
#undef X
#define X(name, old_at, at) {#name, true, false, old_at, at, offsetof(struct rtl_api, name), 0, 0},
        RTL_EXT_ENTRIES(X)
#undef X
#define X(name, type, old_at, at)                                                                  \
    {#name, true, true, old_at, at, offsetof(struct rtl_api, name), 0, 0},
            RTL_EXT_OPTIONAL(X)
#undef X
#define X(name, type, bytes, step, at)                                                             \
    {#name, true, true, RTL_NOWHERE, at, offsetof(struct rtl_api, name), bytes, step},
                RTL_EXT_EXACT(X)
#undef X
};

struct rtl_api rtl_api;

static unsigned char *core_table, *ext_table;

uint32_t rtl_api_offset(enum rtl_entry entry, uint32_t table_size, uint32_t step)
{
    const struct entry *e = &entries[entry];
    if (e->bytes != 0 && (e->bytes != table_size || e->step != step))
        return 0;
    uint32_t position = e->ext && table_size < EXT_SIZE_OF_ROCM_5_6 ? e->old_position : e->position;
    if (position == RTL_NOWHERE)
        return 0;
    uint32_t offset = TABLE_HEAD + 8u * position;
    return offset + 8u <= table_size ? offset : 0;
}

/* Where the entry's pointer lies in the runtime's table; NULL if it has none. */
static unsigned char *place(enum rtl_entry entry)
{
    bool ext = entries[entry].ext;
    uint32_t offset =
        rtl_api_offset(entry, ext ? rtl_api.ext_size : rtl_api.core_size, rtl_api.ext_step);
    return offset != 0 ? (ext ? ext_table : core_table) + offset : NULL;
}

bool rtl_api_take(void *table, const char **missing)
{
    struct root_table root;
    struct table_version version;
    memcpy(&root, table, sizeof root);
    core_table = root.core;
    ext_table = root.ext;
    memcpy(&version, core_table, sizeof version);
    rtl_api.core_size = version.minor;
    rtl_api.core_step = version.step;
    memcpy(&version, ext_table, sizeof version);
    rtl_api.ext_size = version.minor;
    rtl_api.ext_step = version.step;
    bool complete = true;
    for (unsigned i = 0; i < RTL_ENTRIES; i++) {
        unsigned char *from = place((enum rtl_entry)i);
        unsigned char *to = (unsigned char *)&rtl_api + entries[i].original;
        if (from != NULL) {
            memcpy(to, from, sizeof(void *));
            continue;
        }
        memset(to, 0, sizeof(void *));
        if (entries[i].optional)
            continue;
        if (complete)
            *missing = entries[i].name;
        complete = false;
    }
    return complete;
}

void rtl_api_hook(enum rtl_entry entry, void (*function)(void))
{
    unsigned char *at = place(entry);
    if (at != NULL)
        memcpy(at, &function, sizeof function);
}
