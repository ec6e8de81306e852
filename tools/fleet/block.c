#include "fleet/block.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define SLACK 8u /* block_number writes whole words */

void data_add(struct data *bytes, const void *data, size_t size)
{
    if (bytes->size + size + SLACK > bytes->room + SLACK) {
        bytes->room = 2 * (bytes->size + size) + 256;
        bytes->data = memory_grown(bytes->data, bytes->room + SLACK, 1);
    }
    if (size)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

struct block *block_new(const struct table_shape *table, uint32_t number, uint16_t day)
{
    struct block *block = memory_new(1, sizeof *block);
    *block = (struct block){.table = table, .number = number, .day = day};
    block->columns = memory_new(table->count, sizeof *block->columns);
    return block;
}

void block_free(struct block *block)
{
    if (!block)
        return;
    for (size_t i = 0; i < block->table->count; ++i) {
        free(block->columns[i].data.data);
        free(block->columns[i].ends.data);
    }
    free(block->columns);
    free(block->texts);
    free(block);
}

uint32_t block_text_place(struct block *block, const char *text)
{
    if (block->text_count == block->text_room) {
        block->text_room = block->text_room ? 2 * block->text_room : 64;
        block->texts = memory_grown(block->texts, block->text_room, sizeof *block->texts);
    }
    block->texts[block->text_count] = text;
    return (uint32_t)block->text_count++;
}

void block_text(struct block *block, size_t column, uint32_t place)
{
    data_add(&block->columns[column].data, &place, sizeof place);
}

void block_items(struct block *block, size_t column, const void *items, size_t size, size_t count)
{
    struct block_column *to = &block->columns[column];
    data_add(&to->data, items, size * count);
    uint64_t end = to->data.size / size;
    data_add(&to->ends, &end, sizeof end);
}

const char *block_type(enum column_type type, bool low)
{
    static const char *const names[] = {"UInt8",         "UInt16",       "UInt32", "UInt64",
                                        "Date",          "DateTime",     "String", "Array(UInt16)",
                                        "Array(UInt32)", "Array(String)"};
    return type == COLUMN_TEXT && low ? "LowCardinality(String)" : names[type];
}

/* Native. */

static void put_length(struct data *out, uint64_t value)
{
    unsigned char byte;
    for (; value >= 128; value >>= 7) {
        byte = (unsigned char)(value | 128);
        data_add(out, &byte, 1);
    }
    byte = (unsigned char)value;
    data_add(out, &byte, 1);
}

static void put_text(struct data *out, const char *text)
{
    size_t length = strlen(text);
    put_length(out, length);
    data_add(out, text, length);
}

static void put_word(struct data *out, uint64_t value)
{
    data_add(out, &value, sizeof value);
}

static void put_texts(const struct block *block, const struct block_column *column,
                      struct data *out)
{
    const uint32_t *places = (const uint32_t *)(const void *)column->data.data;
    for (size_t i = 0; i < column->data.size / sizeof *places; ++i)
        put_text(out, block->texts[places[i]]);
}

/* The texts of a column, each once, and for each row which one: in the docs of ClickHouse's sources
 * "SerializationLowCardinality": version 1; flags: keys follow, of their own dictionary, and the
 * width of places (here 4 bytes); the first key is the default one, "". */
static void put_low(const struct block *block, const struct block_column *column, struct data *out)
{
    enum { WIDTH_4 = 2, KEYS = 1 << 9, NEW = 1 << 10 };
    const uint32_t *places = (const uint32_t *)(const void *)column->data.data;
    uint32_t *keys = memory_new(block->text_count, sizeof *keys);
    uint32_t count = 1;
    struct data texts = {0};
    put_text(&texts, "");
    struct data rows = {0};
    for (size_t i = 0; i < block->rows; ++i) {
        uint32_t place = places[i];
        bool empty = !block->texts[place][0];
        if (!keys[place] && !empty) {
            keys[place] = count++;
            put_text(&texts, block->texts[place]);
        }
        data_add(&rows, &keys[place], sizeof keys[place]);
    }
    put_word(out, 1);
    put_word(out, KEYS | NEW | WIDTH_4);
    put_word(out, count);
    data_add(out, texts.data, texts.size);
    put_word(out, block->rows);
    data_add(out, rows.data, rows.size);
    free(rows.data);
    free(texts.data);
    free(keys);
}

static void put_column(const struct block *block, size_t at, bool low, struct data *out)
{
    const struct column *column = &block->table->columns[at];
    const struct block_column *data = &block->columns[at];
    put_text(out, column->name);
    put_text(out, block_type(column->type, low));
    data_add(out, data->ends.data, data->ends.size);
    if (column->type == COLUMN_TEXT && low)
        put_low(block, data, out);
    else if (column->type == COLUMN_TEXT || column->type == COLUMN_TEXTS)
        put_texts(block, data, out);
    else
        data_add(out, data->data.data, data->data.size);
}

/* A frame: 16 bytes for CityHash128, which the server is told not to look at (zstd's own checksum
 * is in the frame); the method; sizes with and without compression, the first with its own 9 bytes.
 */
static void put_frame(const unsigned char *data, size_t size, ZSTD_CCtx *zstd, struct data *body)
{
    enum { HASH = 16, HEAD = 9, ZSTD = 0x90 };
    size_t most = ZSTD_compressBound(size);
    size_t begin = body->size;
    unsigned char head[HASH + HEAD] = {0};
    data_add(body, head, sizeof head);
    if (body->size + most > body->room) {
        body->room = body->size + most + (body->size + most) / 2;
        body->data = memory_grown(body->data, body->room + SLACK, 1);
    }
    size_t packed = ZSTD_compress2(zstd, body->data + body->size, most, data, size);
    if (ZSTD_isError(packed))
        memory_is_short();
    body->size += packed;
    uint32_t sizes[] = {(uint32_t)packed + HEAD, (uint32_t)size};
    body->data[begin + HASH] = ZSTD;
    memcpy(body->data + begin + HASH + 1, sizes, sizeof sizes);
}

void block_encode(const struct block *block, bool low, struct data *body)
{
    enum { FRAME = 1 << 20 };
    struct data plain = {0};
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    if (!zstd)
        memory_is_short();
    (void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1);
    (void)ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    put_length(&plain, block->table->count);
    put_length(&plain, block->rows);
    for (size_t i = 0; i < block->table->count; ++i)
        put_column(block, i, low, &plain);
    body->size = 0;
    for (size_t at = 0; at < plain.size; at += FRAME)
        put_frame(plain.data + at, plain.size - at < FRAME ? plain.size - at : FRAME, zstd, body);
    ZSTD_freeCCtx(zstd);
    free(plain.data);
}
