#include "store/symbol_codec.h"

#include "store/checksum.h"
#include "store/columns.h"

#include <stdlib.h>
#include <string.h>

/* Those of texts have a number for each byte, all others one for each symbol. */
enum column {
    COLUMN_SYMBOL,
    COLUMN_AGENT,
    COLUMN_OBJECT,
    COLUMN_KERNARG,
    COLUMN_GROUP,
    COLUMN_PRIVATE,
    COLUMN_MANGLED, /* bytes of the mangled name */
    COLUMN_NAME,    /* bytes of the name + 1, or 0 if it is the mangled one */
    COLUMN_MANGLED_TEXT,
    COLUMN_NAME_TEXT,
    COLUMNS
};

/* What the next symbol is compared with: the same on both sides. */
struct before {
    uint64_t kernel_object;
    uint32_t symbol, agent;
};

static const struct before nothing = {.symbol = UINT32_MAX};

struct rtl_symbol_codec {
    struct before before;
    uint32_t symbols, bytes, symbol_min, symbol_max; /* of the block that is made */
    struct rtl_columns columns;
    struct rtl_column column[COLUMNS];
};

/* The names of a block on their way into memory. */
struct texts {
    char *to;
    uint64_t left; /* bytes that the names may still have */
};

struct rtl_symbol_codec *rtl_symbol_codec_new(void)
{
    struct rtl_symbol_codec *codec = calloc(1, sizeof *codec);
    if (!codec)
        return NULL;
    codec->columns = (struct rtl_columns){.columns = codec->column, .count = COLUMNS};
    rtl_symbol_begin(codec);
    return codec;
}

void rtl_symbol_codec_free(struct rtl_symbol_codec *codec)
{
    if (codec)
        rtl_columns_free(&codec->columns);
    free(codec);
}

/* Packing. */

void rtl_symbol_begin(struct rtl_symbol_codec *codec)
{
    codec->before = nothing;
    codec->symbols = codec->bytes = 0;
    rtl_columns_begin(&codec->columns);
}

uint32_t rtl_symbol_count(const struct rtl_symbol_codec *codec)
{
    return codec->symbols;
}

static void put_text(struct rtl_symbol_codec *codec, enum column column, const char *text)
{
    for (; *text; text++)
        rtl_columns_put(&codec->columns, column, (unsigned char)*text);
}

static void put_numbers(struct rtl_symbol_codec *codec, const struct rtl_packed_symbol *symbol)
{
    struct rtl_columns *columns = &codec->columns;
    struct before *before = &codec->before;
    rtl_columns_put(columns, COLUMN_SYMBOL, rtl_zigzag32(symbol->symbol - before->symbol - 1));
    rtl_columns_put(columns, COLUMN_AGENT, rtl_zigzag32(symbol->agent - before->agent));
    rtl_columns_put(columns, COLUMN_OBJECT,
                    rtl_zigzag(symbol->kernel_object - before->kernel_object));
    rtl_columns_put(columns, COLUMN_KERNARG, symbol->kernarg_size);
    rtl_columns_put(columns, COLUMN_GROUP, symbol->group_size);
    rtl_columns_put(columns, COLUMN_PRIVATE, symbol->private_size);
    *before = (struct before){symbol->kernel_object, symbol->symbol, symbol->agent};
}

static void extend(struct rtl_symbol_codec *codec, uint32_t symbol)
{
    if (codec->symbols == 0 || symbol < codec->symbol_min)
        codec->symbol_min = symbol;
    if (codec->symbols == 0 || symbol > codec->symbol_max)
        codec->symbol_max = symbol;
    codec->symbols++;
}

bool rtl_symbol_add(struct rtl_symbol_codec *codec, const struct rtl_packed_symbol *symbol)
{
    size_t mangled = strlen(symbol->mangled);
    bool other = strcmp(symbol->name, symbol->mangled) != 0;
    size_t name = other ? strlen(symbol->name) : 0;
    if (codec->symbols == RTL_BLOCK_SYMBOLS || mangled > RTL_BLOCK_BYTES ||
        name > RTL_BLOCK_BYTES || mangled + name > RTL_BLOCK_BYTES - codec->bytes)
        return false;
    put_numbers(codec, symbol);
    rtl_columns_put(&codec->columns, COLUMN_MANGLED, mangled);
    rtl_columns_put(&codec->columns, COLUMN_NAME, other ? name + 1 : 0);
    put_text(codec, COLUMN_MANGLED_TEXT, symbol->mangled);
    if (other)
        put_text(codec, COLUMN_NAME_TEXT, symbol->name);
    codec->bytes += (uint32_t)(mangled + name);
    extend(codec, symbol->symbol);
    return true;
}

static uint32_t checksum(const struct rtl_symbol_block *block, const unsigned char *data,
                         size_t size)
{
    const uint64_t fields[] = {block->process, block->symbols, block->bytes, block->symbol_min,
                               block->symbol_max};
    return rtl_checksum_row(fields, sizeof fields / sizeof *fields, data, size);
}

int rtl_symbol_pack(struct rtl_symbol_codec *codec, struct rtl_symbol_block *block,
                    const unsigned char **data, size_t *size)
{
    block->symbols = codec->symbols;
    block->bytes = codec->bytes;
    block->symbol_min = codec->symbol_min;
    block->symbol_max = codec->symbol_max;
    if (rtl_columns_pack(&codec->columns, data, size) != 0)
        return -1;
    block->checksum = checksum(block, *data, *size);
    return 0;
}

/* Unpacking. */

bool rtl_symbol_intact(const struct rtl_symbol_block *block, const unsigned char *data, size_t size)
{
    return block->symbols > 0 && block->symbols <= RTL_BLOCK_SYMBOLS_MAX &&
           block->bytes <= RTL_BLOCK_BYTES_MAX && block->checksum == checksum(block, data, size);
}

size_t rtl_symbol_text_size(const struct rtl_symbol_block *block)
{
    return (size_t)block->bytes + (size_t)2 * block->symbols;
}

/* The inverse of put_numbers. False if a number does not fit its field. */
static bool get_numbers(struct rtl_symbol_codec *codec, struct rtl_packed_symbol *symbol,
                        uint64_t lengths[2])
{
    struct before *before = &codec->before;
    uint64_t in[COLUMN_MANGLED_TEXT];
    for (unsigned column = 0; column < COLUMN_MANGLED_TEXT; column++) {
        if (!rtl_columns_get(&codec->columns, column, &in[column]))
            return false;
        if (column != COLUMN_OBJECT && in[column] > UINT32_MAX)
            return false;
    }
    symbol->symbol = before->symbol + 1 + rtl_unzigzag32((uint32_t)in[COLUMN_SYMBOL]);
    symbol->agent = before->agent + rtl_unzigzag32((uint32_t)in[COLUMN_AGENT]);
    symbol->kernel_object = before->kernel_object + rtl_unzigzag(in[COLUMN_OBJECT]);
    symbol->kernarg_size = (uint32_t)in[COLUMN_KERNARG];
    symbol->group_size = (uint32_t)in[COLUMN_GROUP];
    symbol->private_size = (uint32_t)in[COLUMN_PRIVATE];
    *before = (struct before){symbol->kernel_object, symbol->symbol, symbol->agent};
    lengths[0] = in[COLUMN_MANGLED];
    lengths[1] = in[COLUMN_NAME];
    return true;
}

/* A text of `length` bytes, none of which is 0; NULL if it is damaged. */
static const char *get_text(struct rtl_symbol_codec *codec, enum column column, uint64_t length,
                            struct texts *texts)
{
    char *text = texts->to;
    if (length > texts->left)
        return NULL;
    for (uint64_t i = 0; i < length; i++) {
        uint64_t byte = 0;
        if (!rtl_columns_get(&codec->columns, column, &byte) || byte == 0 || byte > UINT8_MAX)
            return NULL;
        text[i] = (char)byte;
    }
    text[length] = '\0';
    texts->to += length + 1;
    texts->left -= length;
    return text;
}

static bool get_symbol(struct rtl_symbol_codec *codec, struct rtl_packed_symbol *symbol,
                       struct texts *texts)
{
    uint64_t lengths[2];
    if (!get_numbers(codec, symbol, lengths))
        return false;
    symbol->mangled = get_text(codec, COLUMN_MANGLED_TEXT, lengths[0], texts);
    symbol->name =
        lengths[1] ? get_text(codec, COLUMN_NAME_TEXT, lengths[1] - 1, texts) : symbol->mangled;
    return symbol->mangled && symbol->name;
}

int rtl_symbol_unpack(struct rtl_symbol_codec *codec, const struct rtl_symbol_block *block,
                      const unsigned char *data, size_t size, struct rtl_packed_symbol *symbols,
                      char *text)
{
    size_t most = block->bytes > block->symbols ? block->bytes : block->symbols;
    struct texts texts = {text, block->bytes};
    if (!rtl_columns_open(&codec->columns, data, size, most))
        return codec->columns.short_of_memory ? -2 : -1;
    codec->before = nothing;
    for (uint32_t i = 0; i < block->symbols; i++)
        if (!get_symbol(codec, &symbols[i], &texts) || symbols[i].symbol < block->symbol_min ||
            symbols[i].symbol > block->symbol_max)
            return -1;
    return texts.left == 0 && rtl_columns_ended(&codec->columns) ? 0 : -1;
}
