/**
 * Rows of a table, column by column, as ClickHouse's Native format has them.
 *
 * A block is one INSERT, in one partition, and the server makes one part of it or none: a body that
 * is cut off ends within a column, which the format does not allow.
 */
#ifndef RTL_TOOLS_FLEET_BLOCK_H
#define RTL_TOOLS_FLEET_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum column_type {
    COLUMN_U8,
    COLUMN_U16,
    COLUMN_U32,
    COLUMN_U64,
    COLUMN_DATE, /**< days since 1970, as COLUMN_U16 */
    COLUMN_TIME, /**< seconds since 1970, as COLUMN_U32 */
    COLUMN_TEXT, /**< of few different ones */
    COLUMN_U16S, /**< arrays */
    COLUMN_U32S,
    COLUMN_TEXTS
};

struct column {
    const char *name;
    enum column_type type;
    const char *codec; /**< where the server has codecs for a column, NULL: its default */
};

/** A table. Each begins with the columns `day` (its partition), `run` and `block`. */
struct table_shape {
    const char *name;
    const char *order; /**< its ORDER BY */
    const char *shard; /**< what chooses the shard */
    const struct column *columns;
    size_t count;
};

/** Bytes that grow. */
struct data {
    unsigned char *data;
    size_t size, room;
};

void data_add(struct data *bytes, const void *data, size_t size);

struct block_column {
    struct data data; /**< numbers, or places in `texts` */
    struct data ends; /**< of arrays: 8 bytes each */
};

struct block {
    const struct table_shape *table;
    uint32_t number; /**< from 0, in the table and run */
    uint16_t day;
    size_t rows;
    struct block_column *columns;
    const char **texts; /**< of the text columns, each once; they outlive the block */
    size_t text_count, text_room;
};

/** An empty block. */
struct block *block_new(const struct table_shape *table, uint32_t number, uint16_t day);
void block_free(struct block *block);

/** Appends to a column; each row appends to all. */
static inline void block_number(struct block *block, size_t column, uint64_t value)
{
    static const size_t widths[] = {1, 2, 4, 8, 2, 4};
    struct data *data = &block->columns[column].data;
    size_t width = widths[block->table->columns[column].type];
    if (data->size + sizeof value > data->room)
        data_add(data, &value, width); // little-endian, as the format is
    else {
        __builtin_memcpy(data->data + data->size, &value, 8);
        data->size += width;
    }
}

/** The place of a text that is not in the block yet. */
uint32_t block_text_place(struct block *block, const char *text);

/** A text by its place. */
void block_text(struct block *block, size_t column, uint32_t place);

/** Arrays: their items, and then where each ends. */
void block_items(struct block *block, size_t column, const void *items, size_t size, size_t count);

/** The block as an INSERT's body: Native, in ClickHouse's frames of zstd. `low`: the server has
 * LowCardinality. */
void block_encode(const struct block *block, bool low, struct data *body);

/** As SQL has a column's type. */
const char *block_type(enum column_type type, bool low);

#endif
