/**
 * Messages of protobuf, written into memory.
 */
#ifndef RTL_TOOLS_EXPORT_PROTO_H
#define RTL_TOOLS_EXPORT_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Zeroed memory is empty. */
struct proto {
    unsigned char *bytes;
    size_t used, capacity;
    bool failed; /**< memory was short: what is there is not whole */
};

void proto_clear(struct proto *proto);
void proto_free(struct proto *proto);

void proto_number(struct proto *proto, unsigned field, uint64_t value);
void proto_fixed64(struct proto *proto, unsigned field, uint64_t value);
void proto_bytes(struct proto *proto, unsigned field, const void *bytes, size_t size);

/** A string; bytes that are not UTF-8 become '?'. */
void proto_text(struct proto *proto, unsigned field, const char *text);

/** A message inside: what is written until proto_end, which gets what this returned. */
size_t proto_begin(struct proto *proto, unsigned field);
void proto_end(struct proto *proto, size_t begin);

#endif
