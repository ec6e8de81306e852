/*
 * The reader of the API tables under tables of any size: it must stay inside of them
 * (AddressSanitizer), find each entry in one place of its own, and hook that place and nothing
 * else.
 *
 * Input: the sizes of the two tables, 16 bits each.
 */
#include "intercept/base/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD 16u /* ApiTableVersion; its second word is the table's size */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* HsaApiTable up to the AMD extensions. */
struct root {
    uint32_t version[4];
    unsigned char *tables[2];
};

struct table {
    unsigned char *bytes, *copy;
    uint32_t size;
};

static void stand_in(void)
{
}

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "fuzz: not so: %s\n", what);
    abort();
}

/* Exactly `size` bytes, every word of which is a number of its own. */
static struct table make(uint32_t size, uint64_t tag)
{
    uint32_t version[4] = {2, size, 0, 0};
    struct table table = {.size = size > HEAD ? size : HEAD};
    table.bytes = malloc(table.size);
    table.copy = malloc(table.size);
    must(table.bytes != NULL && table.copy != NULL, "there is memory");
    for (uint32_t at = HEAD; at < table.size; at++)
        table.bytes[at] = (unsigned char)((tag + at / 8) >> (8 * (at % 8)));
    memcpy(table.bytes, version, sizeof version);
    memcpy(table.copy, table.bytes, table.size);
    return table;
}

/* The originals hold this word of a table. */
static bool taken(const unsigned char *word)
{
    const unsigned char *originals = (const unsigned char *)&rtl_api;
    for (size_t at = 0; at + sizeof(void *) <= sizeof rtl_api; at += sizeof(void *))
        if (memcmp(originals + at, word, sizeof(void *)) == 0)
            return true;
    return false;
}

/* If the hook that was just set is in this table: alone, where it is said to be, and the original
 * is kept. Takes it out again. */
static bool hooked(struct table *table, uint32_t offset)
{
    void (*const hook)(void) = stand_in;
    if (memcmp(table->bytes, table->copy, table->size) == 0)
        return false;
    must(offset >= HEAD && offset + sizeof hook <= table->size, "the place is in the table");
    must(memcmp(table->bytes + offset, &hook, sizeof hook) == 0, "the hook is in its place");
    must(taken(table->copy + offset), "the original is kept");
    memcpy(table->bytes + offset, table->copy + offset, sizeof hook);
    must(memcmp(table->bytes, table->copy, table->size) == 0, "nothing else is changed");
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    uint32_t sizes[2] = {(data[0] | (uint32_t)data[1] << 8) % 2048,
                         (data[2] | (uint32_t)data[3] << 8) % 2048};
    struct table tables[2] = {make(sizes[0], UINT64_C(0x4101010101010101)),
                              make(sizes[1], UINT64_C(0x4202020202020202))};
    struct root root = {{2, sizeof root, 0, 0}, {tables[0].bytes, tables[1].bytes}};
    const char *missing = NULL;
    bool complete = rtl_api_take(&root, &missing);
    must(complete == (missing == NULL), "what is missing has a name");
    must(rtl_api.core_size == sizes[0] && rtl_api.ext_size == sizes[1], "the sizes are known");
    for (unsigned i = 0; i < RTL_ENTRIES; i++) {
        enum rtl_entry entry = (enum rtl_entry)i;
        rtl_api_hook(entry, stand_in);
        unsigned places = 0;
        for (unsigned t = 0; t < 2; t++)
            places += hooked(&tables[t], rtl_api_offset(entry, sizes[t], rtl_api.ext_step));
        must(places <= 1, "an entry has one place");
    }
    for (unsigned t = 0; t < 2; t++) {
        free(tables[t].bytes);
        free(tables[t].copy);
    }
    return 0;
}
