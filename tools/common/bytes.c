#include "common/bytes.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

bool bytes_reserve(struct bytes *bytes, size_t size)
{
    size_t capacity = bytes->capacity ? bytes->capacity : 256;
    while (capacity - bytes->used < size)
        capacity *= 2;
    if (capacity == bytes->capacity)
        return true;
    unsigned char *data = realloc(bytes->data, capacity);
    if (!data) {
        bytes->failed = true;
        return false;
    }
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

void bytes_clear(struct bytes *bytes)
{
    bytes->used = 0;
}

void bytes_free(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}

void bytes_add(struct bytes *bytes, const void *data, size_t size)
{
    if (size == 0 || !bytes_reserve(bytes, size))
        return;
    memcpy(bytes->data + bytes->used, data, size);
    bytes->used += size;
}

void bytes_varint(struct bytes *bytes, uint64_t number)
{
    if (!bytes_reserve(bytes, 10))
        return;
    unsigned char *at = bytes->data + bytes->used;
    while (number >= 0x80) {
        *at++ = (unsigned char)(number | 0x80);
        number >>= 7;
    }
    *at++ = (unsigned char)number;
    bytes->used = (size_t)(at - bytes->data);
}

void bytes_signed(struct bytes *bytes, int64_t number)
{
    bytes_varint(bytes, (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0));
}

/* Numbers as pages have them get hardly smaller with more: by 2 %, in twice the time. */
#define LEVEL 3

bool bytes_deflate(struct bytes *to, const struct bytes *from)
{
    uLong most = compressBound((uLong)from->used);
    if (from->failed || !bytes_reserve(to, most))
        return false;
    if (compress2(to->data + to->used, &most, from->data, (uLong)from->used, LEVEL) != Z_OK)
        return false;
    to->used += most;
    return true;
}

void bytes_base64(const void *data, size_t size, char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *from = data;
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        unsigned long group = (unsigned long)from[i] << 16;
        group |= left > 1 ? (unsigned long)from[i + 1] << 8 : 0;
        group |= left > 2 ? from[i + 2] : 0;
        *text++ = letters[group >> 18];
        *text++ = letters[group >> 12 & 63];
        *text++ = left > 1 ? letters[group >> 6 & 63] : '=';
        *text++ = left > 2 ? letters[group & 63] : '=';
    }
}
