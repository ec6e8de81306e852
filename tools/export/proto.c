#include "export/proto.h"

#include "export/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2 };

#define MOST_VARINT 10u

/* Room for `size` more bytes, or NULL. */
static unsigned char *room(struct proto *proto, size_t size)
{
    if (proto->capacity - proto->used < size) {
        size_t capacity = 2 * (proto->capacity + size);
        unsigned char *bytes = realloc(proto->bytes, capacity);
        if (!bytes) {
            proto->failed = true;
            return NULL;
        }
        proto->bytes = bytes;
        proto->capacity = capacity;
    }
    return proto->bytes + proto->used;
}

void proto_clear(struct proto *proto)
{
    proto->used = 0;
}

void proto_free(struct proto *proto)
{
    free(proto->bytes);
    *proto = (struct proto){0};
}

static size_t encode(unsigned char bytes[MOST_VARINT], uint64_t value)
{
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (unsigned char)(value | 0x80);
    bytes[size++] = (unsigned char)value;
    return size;
}

static void varint(struct proto *proto, uint64_t value)
{
    unsigned char *at = room(proto, MOST_VARINT);
    if (at)
        proto->used += encode(at, value);
}

static void tag(struct proto *proto, unsigned field, unsigned type)
{
    varint(proto, (uint64_t)field << 3 | type);
}

void proto_number(struct proto *proto, unsigned field, uint64_t value)
{
    tag(proto, field, VARINT);
    varint(proto, value);
}

void proto_fixed64(struct proto *proto, unsigned field, uint64_t value)
{
    tag(proto, field, FIXED64);
    unsigned char *at = room(proto, 8);
    for (unsigned i = 0; at && i < 8; ++i)
        at[i] = (unsigned char)(value >> 8 * i);
    proto->used += at ? 8 : 0;
}

void proto_bytes(struct proto *proto, unsigned field, const void *bytes, size_t size)
{
    tag(proto, field, LENGTH);
    varint(proto, size);
    unsigned char *at = room(proto, size);
    if (at && size)
        memcpy(at, bytes, size);
    proto->used += at ? size : 0;
}

void proto_text(struct proto *proto, unsigned field, const char *text)
{
    size_t size = strlen(text);
    proto_bytes(proto, field, text, size);
    if (proto->failed)
        return;
    unsigned char *copy = proto->bytes + proto->used - size;
    for (size_t i = 0; i < size;) {
        size_t length = utf8_sequence(text + i);
        if (length == 0)
            copy[i] = '?';
        i += length ? length : 1;
    }
}

size_t proto_begin(struct proto *proto, unsigned field)
{
    tag(proto, field, LENGTH);
    return proto->used;
}

/* The length goes before what has been written. */
void proto_end(struct proto *proto, size_t begin)
{
    unsigned char length[MOST_VARINT];
    size_t inside = proto->used - begin;
    size_t size = encode(length, inside);
    if (proto->failed || !room(proto, size))
        return;
    memmove(proto->bytes + begin + size, proto->bytes + begin, inside);
    memcpy(proto->bytes + begin, length, size);
    proto->used += size;
}
