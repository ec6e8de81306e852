/**
 * Columns of numbers as chunks hold them: gathered one number at a time, packed one after the
 * other, and back. Pure: no file, no SQLite. docs/format.md ("Columns") specifies every byte.
 */
#ifndef RTL_STORE_COLUMNS_H
#define RTL_STORE_COLUMNS_H

#include "store/varint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A column that is filled or read. */
struct rtl_column {
    unsigned char *bytes; /**< varints */
    size_t size, capacity;
    uint64_t numbers;          /**< put so far */
    uint64_t first, varies;    /**< bits in which any number differs from the first */
    const unsigned char *next; /**< of what is read, up to `end` */
    const unsigned char *end;
    bool constant; /**< read: all numbers are `first` */
};

/** The columns of a chunk, and what packing needs; used again for every chunk. One thread at a
 * time. Zeroed memory but for `columns` and `count`, which the owner sets, is ready for use. */
struct rtl_columns {
    struct rtl_column *columns;
    unsigned count;
    bool short_of_memory; /**< a number found no room since rtl_columns_begin */
    unsigned char *data;  /**< packed */
    size_t capacity;
    struct ZSTD_CCtx_s *compress;
    struct ZSTD_DCtx_s *decompress;
};

/** Frees all but the array of columns. */
void rtl_columns_free(struct rtl_columns *columns);

/** Empties the columns for new numbers. */
void rtl_columns_begin(struct rtl_columns *columns);

/** Makes room for a number; false when memory is short. */
bool rtl_column_grow(struct rtl_column *column);

/** Appends a number to a column. Memory that is short is told by rtl_columns_pack. */
static inline void rtl_columns_put(struct rtl_columns *columns, unsigned which, uint64_t number)
{
    struct rtl_column *column = &columns->columns[which];
    if (column->capacity - column->size < RTL_VARINT_MAX && !rtl_column_grow(column)) {
        columns->short_of_memory = true;
        return;
    }
    if (column->numbers++ == 0)
        column->first = number;
    column->varies |= number ^ column->first;
    unsigned char *to = column->bytes + column->size;
    column->size += (size_t)(rtl_varint_put(to, number) - to);
}

/** Packs the columns in their order. `*data` belongs to `columns` and lives until the next packing.
 * 0, or -1 when memory is or was short. */
int rtl_columns_pack(struct rtl_columns *columns, const unsigned char **data, size_t *size);

/** Begins to read packed columns, none of which may have more than `most` numbers; `data` must stay
 * until they are read. False if the data is damaged, or memory is short (`short_of_memory`). */
bool rtl_columns_open(struct rtl_columns *columns, const unsigned char *data, size_t size,
                      size_t most);

/** The same for those columns only whose bits (1 << number) are in `wanted`; the others are passed
 * over. */
bool rtl_columns_open_some(struct rtl_columns *columns, const unsigned char *data, size_t size,
                           size_t most, unsigned wanted);

/** Takes the next number of a column; false if there is none, or it is damaged. */
static inline bool rtl_columns_get(struct rtl_columns *columns, unsigned which, uint64_t *number)
{
    struct rtl_column *column = &columns->columns[which];
    if (column->constant) {
        *number = column->first;
        return true;
    }
    if (column->next < column->end && *column->next < 0x80) {
        *number = *column->next++;
        return true;
    }
    const unsigned char *next = rtl_varint_get(column->next, column->end, number);
    if (!next)
        return false;
    column->next = next;
    return true;
}

/** Takes the next `count` numbers of a column; false if there are not as many, or one is damaged.
 * Several times as fast as one by one. */
bool rtl_columns_take(struct rtl_columns *columns, unsigned which, uint64_t *numbers, size_t count);

/** True if no column has a number left. */
bool rtl_columns_ended(const struct rtl_columns *columns);

/** Differences of 32 bits, folded as rtl_zigzag folds those of 64. */
static inline uint32_t rtl_zigzag32(uint32_t difference)
{
    return difference << 1 ^ (0 - (difference >> 31));
}

static inline uint32_t rtl_unzigzag32(uint32_t folded)
{
    return folded >> 1 ^ (0 - (folded & 1));
}

/** Moves an expectation a quarter of the `distance` to what came, rounded towards zero, or all the
 * way the first time: jitter is averaged, a lasting change is followed. Differences are taken
 * modulo 2^64, so that extremes are exact. */
static inline void rtl_learn(uint64_t *expected, uint64_t distance)
{
    uint64_t step = (uint64_t)((int64_t)distance / 4);
    *expected += *expected == 0 ? distance : step;
}

#endif
