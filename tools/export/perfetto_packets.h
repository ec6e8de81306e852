/**
 * Packets of Perfetto's own format: events with their arguments, and the texts that are interned.
 *
 * Field numbers are those of protos/perfetto/trace in the public repository of Perfetto, where a
 * file is a row of `Trace.packet`. All packets are of one sequence.
 */
#ifndef RTL_TOOLS_EXPORT_PERFETTO_PACKETS_H
#define RTL_TOOLS_EXPORT_PERFETTO_PACKETS_H

#include "common/texts.h"
#include "export/out.h"
#include "export/proto.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRACE_PACKET = 1 };

/** The sequence of all packets. Files that are put together may share it: each begins anew. */
#define SEQUENCE 7272u

enum packet {
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    PACKET_FIRST = 87
};

enum flags { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };

enum defaults { DEFAULTS_CLOCK = 58 };

enum clocks { SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIME = 2 };

enum builtin_clock { CLOCK_IS_REALTIME = 1, CLOCK_IS_BOOTTIME = 6 };

enum interned { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_KEY = 3, INTERNED_STRING = 29 };

enum interned_entry { ENTRY_ID = 1, ENTRY_TEXT = 2 };

enum event {
    EVENT_CATEGORY_ID = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_ID = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER = 30,
    EVENT_FLOW = 47
};

enum event_type { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

enum annotation {
    ANNOTATION_KEY_ID = 1,
    ANNOTATION_UNSIGNED = 3,
    ANNOTATION_SIGNED = 4,
    ANNOTATION_DOUBLE = 5,
    ANNOTATION_TEXT = 6,
    ANNOTATION_TEXT_ID = 17
};

enum track {
    TRACK_ID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8
};

enum process { PROCESS_PID = 1, PROCESS_NAME = 6 };

enum thread { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };

enum counter { COUNTER_UNIT = 3, UNIT_COUNT = 2 };

/** Texts that the part has already, by their numbers. */
struct interning {
    enum interned field;
    struct texts texts;
};

struct packets {
    struct out *out;
    struct interning categories, names, keys, strings;
    struct proto packet, event, interned; /**< that are being made */
    bool failed;                          /**< memory was short */
};

/** Packets that go to `out`. */
struct packets packets_of(struct out *out);
void packets_free(struct packets *packets);

/** Forgets which texts there are: a part begins. */
void packets_forget(struct packets *packets);

/** Begins a packet (enum flags) and writes one. */
void packets_begin(struct packets *packets, unsigned flags);
void packets_write(struct packets *packets);

/** Begins an event; it becomes a packet when its time is known. */
void packets_begin_event(struct packets *packets, enum event_type type, uint64_t track);
void packets_end_event(struct packets *packets, uint64_t time);

/** The end of a slice: an event without more. */
void packets_end_slice(struct packets *packets, uint64_t track, uint64_t time);

/** Category of the event; and with its name. */
void packets_category(struct packets *packets, const char *category);
void packets_describe(struct packets *packets, const char *category, const char *name);

/** Arguments of the event; a `word` is a text that comes often. */
void packets_number(struct packets *packets, const char *key, uint64_t value);
void packets_signed(struct packets *packets, const char *key, int64_t value);
void packets_real(struct packets *packets, const char *key, double value);
void packets_text(struct packets *packets, const char *key, const char *value);
void packets_word(struct packets *packets, const char *key, const char *value);

#endif
