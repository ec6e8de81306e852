/**
 * Hardware counters by name (counters.def has them all). Pure; texts are static.
 */
#ifndef RTL_COMMON_COUNTERS_H
#define RTL_COMMON_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Blocks of a GPU that have counters. Values are those of hsa_ven_amd_aqlprofile_block_name_t, and
 * in trace files. */
enum rtl_block {
    RTL_BLOCK_CPC = 0,
    RTL_BLOCK_CPF = 1,
    RTL_BLOCK_GRBM = 3,
    RTL_BLOCK_SPI = 5,
    RTL_BLOCK_SQ = 6,
    RTL_BLOCK_TA = 10,
    RTL_BLOCK_TCC = 12,
    RTL_BLOCK_TCP = 13,
    RTL_BLOCK_TD = 14,
    RTL_BLOCK_GL2C = 29
};

/** GPUs whose counters have the same numbers. */
enum rtl_gfx {
    RTL_GFX900 = 1, /**< gfx900 to gfx906, and APUs of that time */
    RTL_GFX908 = 2,
    RTL_GFX90A = 4,
    RTL_GFX940 = 8, /**< gfx940 to gfx942 */
    RTL_GFX10 = 16,
    RTL_GFX11 = 32,
    RTL_GFX9 = RTL_GFX900 | RTL_GFX908 | RTL_GFX90A | RTL_GFX940,
    RTL_GFX_ANY = RTL_GFX9 | RTL_GFX10 | RTL_GFX11
};

struct rtl_counter {
    const char *name;
    uint32_t block;    /**< enum rtl_block */
    uint32_t event;    /**< its select in the block */
    unsigned families; /**< enum rtl_gfx, or'ed: where it has this select */
    const char *unit;
    const char *text;
};

/** The family of an agent by its HSA name ("gfx90a", also "gfx90a:sramecc+"), an enum rtl_gfx; 0 if
 * it is not known. */
unsigned rtl_gfx_of(const char *agent);

/** All rows; a name that differs between families has several, which follow each other. */
const struct rtl_counter *rtl_counters(size_t *count);

/** The counter of that name on one of these families (RTL_GFX_ANY: on whichever has it), NULL if
 * there is none. */
const struct rtl_counter *rtl_counter_find(const char *name, unsigned families);

/** The counter with that select on one of these families, NULL if it has no name. */
const struct rtl_counter *rtl_counter_of(uint32_t block, uint32_t event, unsigned families);

/** Name of a block ("SQ"); NULL if no counter of it is known. */
const char *rtl_block_name(uint32_t block);

/** Fills `near` with up to `most` names of counters that resemble `name`, most like it first;
 * returns how many. */
size_t rtl_counters_near(const char *name, const char **near, size_t most);

/** Changes of letters that turn `a` into `b`, upper and lower case being the same (Levenshtein).
 * UINT_MAX for words that are too long. */
unsigned rtl_word_distance(const char *a, const char *b);

#endif
