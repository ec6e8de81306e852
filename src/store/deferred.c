#include "store/deferred.h"

#include <stdlib.h>
#include <string.h>

struct head {
    uint32_t type, process;
    uint64_t body_size, texts_size;
};

_Static_assert(sizeof(struct head) % 8 == 0, "bodies stay aligned");

static size_t padded(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

static size_t length(const struct head *head)
{
    return sizeof *head + padded(head->body_size) + padded(head->texts_size);
}

static int reserve(struct rtl_deferred *pending, size_t size)
{
    if (pending->capacity - pending->size >= size)
        return 0;
    size_t capacity = (pending->size + size) * 2;
    unsigned char *bytes = realloc(pending->bytes, capacity);
    if (!bytes)
        return -1;
    pending->bytes = bytes;
    pending->capacity = capacity;
    return 0;
}

int rtl_deferred_add(struct rtl_deferred *pending, enum rtl_wire_type type, uint32_t process,
                     const void *body, size_t body_size, const char *texts, size_t texts_size)
{
    const struct head head = {type, process, body_size, texts_size};
    if (reserve(pending, length(&head)) != 0)
        return -1;
    unsigned char *to = pending->bytes + pending->size;
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, body, body_size);
    if (texts_size)
        memcpy(to + sizeof head + padded(body_size), texts, texts_size);
    pending->size += length(&head);
    return 0;
}

int rtl_deferred_next(const struct rtl_deferred *pending, size_t *at,
                      struct rtl_deferred_item *item)
{
    if (*at == pending->size)
        return 0;
    const unsigned char *from = pending->bytes + *at;
    struct head head;
    memcpy(&head, from, sizeof head);
    item->type = (enum rtl_wire_type)head.type;
    item->process = head.process;
    item->body = from + sizeof head;
    item->texts = (const char *)from + sizeof head + padded(head.body_size);
    *at += length(&head);
    return 1;
}

void rtl_deferred_clear(struct rtl_deferred *pending)
{
    pending->size = 0;
}

void rtl_deferred_free(struct rtl_deferred *pending)
{
    free(pending->bytes);
    *pending = (struct rtl_deferred){0};
}
