#include "export/perfetto_packets.h"

#include <stdlib.h>
#include <string.h>

struct packets packets_of(struct out *out)
{
    return (struct packets){.out = out,
                            .categories.field = INTERNED_CATEGORY,
                            .names.field = INTERNED_NAME,
                            .keys.field = INTERNED_KEY,
                            .strings.field = INTERNED_STRING};
}

void packets_forget(struct packets *packets)
{
    texts_free(&packets->categories.texts);
    texts_free(&packets->names.texts);
    texts_free(&packets->keys.texts);
    texts_free(&packets->strings.texts);
}

void packets_free(struct packets *packets)
{
    packets_forget(packets);
    proto_free(&packets->packet);
    proto_free(&packets->event);
    proto_free(&packets->interned);
}

void packets_write(struct packets *packets)
{
    struct proto *event = &packets->event; /* its memory is free now */
    proto_clear(event);
    proto_bytes(event, TRACE_PACKET, packets->packet.bytes, packets->packet.used);
    packets->failed |= event->failed || packets->packet.failed || packets->interned.failed;
    out_bytes(packets->out, event->bytes, event->used);
}

void packets_begin(struct packets *packets, unsigned flags)
{
    proto_clear(&packets->packet);
    proto_number(&packets->packet, PACKET_SEQUENCE, SEQUENCE);
    proto_number(&packets->packet, PACKET_FLAGS, flags);
}

/* The number of a text; where it is new the packet that is being made tells it. */
static uint64_t intern(struct packets *packets, struct interning *of, const char *text)
{
    size_t known = of->texts.count;
    size_t place = texts_number(&of->texts, text);
    if (place == TEXTS_NONE)
        packets->failed = true;
    if (place == known && place != TEXTS_NONE) {
        size_t entry = proto_begin(&packets->interned, of->field);
        proto_number(&packets->interned, ENTRY_ID, place + 1);
        proto_text(&packets->interned, ENTRY_TEXT, text);
        proto_end(&packets->interned, entry);
    }
    return (uint64_t)place + 1;
}

void packets_begin_event(struct packets *packets, enum event_type type, uint64_t track)
{
    proto_clear(&packets->event);
    proto_clear(&packets->interned);
    proto_number(&packets->event, EVENT_TYPE, type);
    proto_number(&packets->event, EVENT_TRACK, track);
}

void packets_end_event(struct packets *packets, uint64_t time)
{
    packets_begin(packets, FLAG_NEEDS_STATE);
    proto_number(&packets->packet, PACKET_TIMESTAMP, time);
    if (packets->interned.used)
        proto_bytes(&packets->packet, PACKET_INTERNED, packets->interned.bytes,
                    packets->interned.used);
    proto_bytes(&packets->packet, PACKET_TRACK_EVENT, packets->event.bytes, packets->event.used);
    packets_write(packets);
}

void packets_category(struct packets *packets, const char *category)
{
    proto_number(&packets->event, EVENT_CATEGORY_ID,
                 intern(packets, &packets->categories, category));
}

void packets_describe(struct packets *packets, const char *category, const char *name)
{
    packets_category(packets, category);
    proto_number(&packets->event, EVENT_NAME_ID, intern(packets, &packets->names, name));
}

static size_t begin_argument(struct packets *packets, const char *key)
{
    uint64_t id = intern(packets, &packets->keys, key);
    size_t begin = proto_begin(&packets->event, EVENT_ANNOTATION);
    proto_number(&packets->event, ANNOTATION_KEY_ID, id);
    return begin;
}

void packets_number(struct packets *packets, const char *key, uint64_t value)
{
    size_t begin = begin_argument(packets, key);
    proto_number(&packets->event, ANNOTATION_UNSIGNED, value);
    proto_end(&packets->event, begin);
}

void packets_signed(struct packets *packets, const char *key, int64_t value)
{
    size_t begin = begin_argument(packets, key);
    proto_number(&packets->event, ANNOTATION_SIGNED, (uint64_t)value);
    proto_end(&packets->event, begin);
}

void packets_real(struct packets *packets, const char *key, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    size_t begin = begin_argument(packets, key);
    proto_fixed64(&packets->event, ANNOTATION_DOUBLE, bits);
    proto_end(&packets->event, begin);
}

void packets_text(struct packets *packets, const char *key, const char *value)
{
    size_t begin = begin_argument(packets, key);
    proto_text(&packets->event, ANNOTATION_TEXT, value);
    proto_end(&packets->event, begin);
}

void packets_word(struct packets *packets, const char *key, const char *value)
{
    uint64_t id = intern(packets, &packets->strings, value);
    size_t begin = begin_argument(packets, key);
    proto_number(&packets->event, ANNOTATION_TEXT_ID, id);
    proto_end(&packets->event, begin);
}

void packets_end_slice(struct packets *packets, uint64_t track, uint64_t time)
{
    packets_begin_event(packets, TYPE_END, track);
    packets_end_event(packets, time);
}
