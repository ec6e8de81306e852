/**
 * Bytes that grow, the numbers of a page's data in them, and how they get into the page: deflated
 * (zlib, RFC 1950) and as base64, so that no text of a trace can be taken for markup.
 */
#ifndef RTL_TOOLS_BYTES_H
#define RTL_TOOLS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Zeroed memory is empty. */
struct bytes {
    unsigned char *data;
    size_t used, capacity;
    bool failed; /**< memory was short: what is there is not whole */
};

void bytes_clear(struct bytes *bytes);
void bytes_free(struct bytes *bytes);

/** Makes room for `size` bytes behind those that are there. False when memory is short. */
bool bytes_reserve(struct bytes *bytes, size_t size);

void bytes_add(struct bytes *bytes, const void *data, size_t size);

/** Seven bits a byte, low bits first, as in traces. */
void bytes_varint(struct bytes *bytes, uint64_t number);

/** A signed number, folded: 0, -1, 1, -2, … are 0, 1, 2, 3, … */
void bytes_signed(struct bytes *bytes, int64_t number);

/** Appends `from`, deflated, to `to`. False when memory is short. */
bool bytes_deflate(struct bytes *to, const struct bytes *from);

/** Characters of base64 (RFC 4648, with padding) for so many bytes. */
#define BYTES_BASE64(size) (((size) + 2) / 3 * 4)

/** Writes the base64 of `size` bytes to `text`, which has room for BYTES_BASE64(size) characters.
 * Pieces of a multiple of three bytes make the text of the whole. */
void bytes_base64(const void *data, size_t size, char *text);

#endif
