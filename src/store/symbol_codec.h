/**
 * Packing the symbols of one process into a block and back. Pure: no file, no SQLite, no clock.
 *
 * A block can be read without others. Libraries define thousands of kernels whose names differ in a
 * few letters: packed together, one takes some bytes. docs/format.md specifies every byte.
 */
#ifndef RTL_STORE_SYMBOL_CODEC_H
#define RTL_STORE_SYMBOL_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Most symbols, and bytes of names, in a block that a writer makes. */
#define RTL_BLOCK_SYMBOLS 4096u
#define RTL_BLOCK_BYTES   (1u << 20)

/** Most of both in a block that a reader takes. */
#define RTL_BLOCK_SYMBOLS_MAX 65536u
#define RTL_BLOCK_BYTES_MAX   (1u << 24)

/** A kernel symbol. The names end with a NUL byte. */
struct rtl_packed_symbol {
    uint64_t kernel_object;
    uint32_t symbol, agent;
    uint32_t kernarg_size, group_size, private_size; /**< bytes */
    const char *mangled;
    const char *name; /**< demangled; unpacked: `mangled` itself where both are the same */
};

/** What stands beside a block's data in its table row. */
struct rtl_symbol_block {
    uint32_t process;
    uint32_t symbols;
    uint32_t bytes; /**< of all names, without what ends them; none twice that is both */
    uint32_t symbol_min, symbol_max;
    uint32_t checksum; /**< CRC-32C over the fields above and the data */
};

/** Buffers and zstd contexts, used again for every block. One thread at a time. */
struct rtl_symbol_codec;

/** NULL when memory is short. */
struct rtl_symbol_codec *rtl_symbol_codec_new(void);

/** NULL is allowed. */
void rtl_symbol_codec_free(struct rtl_symbol_codec *codec);

/** Begins a block. */
void rtl_symbol_begin(struct rtl_symbol_codec *codec);

/** Adds a symbol to the block; false if that is full, and nothing is changed. One whose names are
 * too long for any block finds an empty one full. Memory that is short is told by rtl_symbol_pack.
 */
bool rtl_symbol_add(struct rtl_symbol_codec *codec, const struct rtl_packed_symbol *symbol);

/** How many symbols the block has. */
uint32_t rtl_symbol_count(const struct rtl_symbol_codec *codec);

/** Packs the block, which is not empty. Fills `block` but for process, which the caller has set;
 * `*data` belongs to the codec and lives until its next use. 0, or -1 when memory is short. */
int rtl_symbol_pack(struct rtl_symbol_codec *codec, struct rtl_symbol_block *block,
                    const unsigned char **data, size_t *size);

/** True if the checksum of a block is right and its counts are within bounds: only then memory
 * should be asked for to unpack it. */
bool rtl_symbol_intact(const struct rtl_symbol_block *block, const unsigned char *data,
                       size_t size);

/** Room that the names of a block take when they are unpacked, bytes. */
size_t rtl_symbol_text_size(const struct rtl_symbol_block *block);

/** Unpacks an intact block into `symbols`, which has room for block->symbols, and their names into
 * `text`, which has rtl_symbol_text_size. 0; -1 if the data is damaged (whatever the bytes are,
 * nothing outside is read or written), -2 when memory is short. */
int rtl_symbol_unpack(struct rtl_symbol_codec *codec, const struct rtl_symbol_block *block,
                      const unsigned char *data, size_t size, struct rtl_packed_symbol *symbols,
                      char *text);

#endif
