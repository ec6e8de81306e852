/*
 * A vendor whose texts are as bad as texts can be: random bytes, halves of characters, quotes,
 * escapes, nothing at all, and metadata that is JSON or not. What a record says can be told all the
 * same: its correlation id is a number of its own, its name begins with "k" and that number (but
 * for each 16th, which has none), and metadata that is JSON has it as "serial".
 *
 * Of each 64 records the 5th begins at 0 and the 6th in no time that there is, the 7th is of no
 * kind, the 8th begins in a hundred years, and the 9th ends before it begins.
 *
 * WORST_RECORDS records, WORST_SEED: which ones. They come with the flush, and the others have
 * begun when records were enabled. How many are malformed it says on stdout.
 */
#include <PrivateUse1TracingApi.h>

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT_BYTES 8192u

static pu1BufferRequestFn request;
static pu1BufferCompleteFn complete;
static _Atomic uint64_t enabled_at;
static uint64_t state;
static uint8_t *buffer;
static size_t size, used, texts;
static unsigned malformed;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint32_t draw(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20) % below;
}

static unsigned setting(const char *name, unsigned otherwise)
{
    const char *text = getenv(name); // NOLINT(concurrency-mt-unsafe): nobody sets it
    return text != NULL ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

/* ---- texts ---- */

struct text {
    char bytes[TEXT_BYTES];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text->length +=
        (size_t)vsnprintf(text->bytes + text->length, TEXT_BYTES - text->length, format, arguments);
    va_end(arguments);
}

/* What breaks a reader that is not told: bytes of no character, long forms, surrogates, controls.
 */
static void add_bytes(struct text *text)
{
    static const char *const pieces[] = {"\"",
                                         "\\",
                                         "\\\"",
                                         "'",
                                         "/",
                                         "\xff",
                                         "\xc3",
                                         "\xc3\xa9",
                                         "\xe2\x82",
                                         "\xed\xa0\x80",
                                         "\xc0\x80",
                                         "\x01",
                                         "\x7f",
                                         "\n",
                                         "\t",
                                         "{}",
                                         "\xf4\x90\x80\x80",
                                         "%s%n",
                                         "<b>",
                                         "\xf0\x9f\x98\x80",
                                         "a"};
    for (uint32_t i = draw(8); i > 0; i--)
        add(text, "%s", pieces[draw(sizeof pieces / sizeof *pieces)]);
}

/* What a string of JSON may have, and bytes that it may not. */
static void add_string(struct text *text)
{
    static const char *const pieces[] = {
        "\\\"",           "\\\\",     "\\/",     "\\n",      "\\u0000", "\\ud83d\\ude00",
        "\\ud800",        "\\udc00",  "\\u00e9", "\\b",      "\\u0022", "\\u005c",
        "\\ud800\\u0041", "\xc3\xa9", "\xff",    "\xe2\x82", "plain",   "\x7f",
        "\\\\\\\"",       "}, {"};
    add(text, "\"");
    for (uint32_t i = draw(6); i > 0; i--)
        add(text, "%s", pieces[draw(sizeof pieces / sizeof *pieces)]);
    add(text, "\"");
}

static void add_value(struct text *text)
{
    switch (draw(6)) {
    case 0:
        add(text, "-1.5e+308");
        break;
    case 1:
        add(text, "[1,\n\t null, {\"\\\"\": ");
        add_string(text);
        add(text, "}]");
        break;
    case 2:
        add(text, "1%0*d", draw(20) == 0 ? 5000 : 30, 0);
        break;
    default:
        add_string(text);
    }
}

static void make_object(struct text *text, uint64_t serial)
{
    text->length = 0;
    add(text, " {\"serial\":%llu", (unsigned long long)serial);
    while (draw(3) != 0 && text->length < 2000) {
        add(text, " ,\r\n");
        add_string(text);
        add(text, " : ");
        add_value(text);
    }
    add(text, ", \"External id\": 77}");
}

/* Not JSON. */
static void make_garbage(struct text *text)
{
    text->length = 0;
    add(text, "%s", draw(2) == 0 ? "{\"serial\": 1, \"" : "[");
    add_bytes(text);
}

static void make_name(struct text *text, uint64_t serial)
{
    text->length = 0;
    add(text, "k%llu ", (unsigned long long)serial);
    add_bytes(text);
}

/* ---- records ---- */

static const char *keep(const struct text *text)
{
    texts -= text->length + 1;
    return memcpy(buffer + texts, text->bytes, text->length + 1);
}

/* Devices and streams that are many, far and unknown. */
static uint32_t draw_device(void)
{
    static const uint32_t devices[] = {0,
                                       1,
                                       15,
                                       16,
                                       999,
                                       1000,
                                       0xfffe,
                                       0xffff,
                                       1u << 16,
                                       1u << 24,
                                       1u << 31,
                                       UINT32_MAX - 1,
                                       PU1_NO_DEVICE};
    return devices[draw(sizeof devices / sizeof *devices)];
}

static uint64_t draw_stream(void)
{
    static const uint64_t streams[] = {0,          1,          (1u << 30) - 1, 1u << 30,
                                       1u << 31,   UINT32_MAX, 1ull << 32,     (1ull << 32) + 1,
                                       1ull << 63, UINT64_MAX};
    return streams[draw(sizeof streams / sizeof *streams)];
}

static void spoil(pu1ActivityRecord *record, uint64_t serial)
{
    switch (serial % 64) {
    case 5:
        record->start_time = 0;
        break;
    case 6:
        record->start_time = record->end_time = UINT64_MAX;
        break;
    case 7:
        record->kind = PU1_LAST_KIND + 1 + draw(100);
        record->name = "?";
        record->metadata = NULL;
        break;
    case 8:
        record->start_time += UINT64_C(100) * 365 * 86400 * 1000000000;
        record->end_time = record->start_time;
        break;
    case 9:
        record->end_time = record->start_time - 1;
        break;
    default:;
    }
}

static void put(uint64_t serial)
{
    static struct text name, metadata;
    if (buffer != NULL && texts - used < sizeof(pu1ActivityRecord) + (size_t)2 * TEXT_BYTES) {
        complete(buffer, size, used);
        buffer = NULL;
    }
    if (buffer == NULL) {
        request(&buffer, &size);
        used = 0;
        texts = size;
    }
    make_name(&name, serial);
    bool json = draw(7) != 0;
    if (json)
        make_object(&metadata, serial);
    else
        make_garbage(&metadata);
    pu1ActivityRecord record = {
        .struct_size = sizeof record,
        .kind = CONCURRENT_KERNEL + draw(3),
        .start_time = atomic_load(&enabled_at) + serial,
        .end_time = atomic_load(&enabled_at) + serial + draw(1000),
        .device_id = draw_device(),
        .stream_id = draw_stream(),
        .correlation_id = serial,
        .external_id = draw(5),
        .process_id = (uint32_t)getpid(),
        .name = serial % 16 != 0 ? keep(&name) : NULL,
        .metadata = draw(9) != 0 ? keep(&metadata) : NULL,
    };
    spoil(&record, serial);
    malformed += record.name == NULL || record.end_time < record.start_time ||
                 record.end_time > INT64_MAX || (record.metadata != NULL && !json);
    memcpy(buffer + used, &record, sizeof record);
    used += sizeof record;
}

/* ---- the functions of the table ---- */

static uint32_t get_version(void)
{
    return PU1_VERSION;
}

static pu1Result enable(pu1ActivityKind kind)
{
    if (kind == PRIVATEUSE1_RUNTIME || kind == PRIVATEUSE1_DRIVER)
        return PU1_ERROR_NOT_SUPPORTED;
    if (atomic_load(&enabled_at) == 0)
        atomic_store(&enabled_at, now());
    return PU1_SUCCESS;
}

static pu1Result disable(pu1ActivityKind kind)
{
    (void)kind;
    return PU1_SUCCESS;
}

static pu1Result set_callbacks(pu1BufferRequestFn request_fn, pu1BufferCompleteFn complete_fn)
{
    request = request_fn;
    complete = complete_fn;
    return PU1_SUCCESS;
}

static pu1Result push(uint64_t id)
{
    (void)id;
    return PU1_SUCCESS;
}

static pu1Result pop(uint64_t *last)
{
    (void)last;
    return PU1_SUCCESS;
}

static pu1Result flush(void)
{
    unsigned records = setting("WORST_RECORDS", 1000);
    state = 88172645463325252u + setting("WORST_SEED", 1);
    for (unsigned i = 1; i <= records; i++)
        put(i);
    if (buffer != NULL)
        complete(buffer, size, used);
    buffer = NULL;
    (void)printf("malformed %u\n", malformed);
    return PU1_SUCCESS;
}

static pu1Result next(uint8_t *whole, size_t valid, pu1ActivityRecord **record)
{
    size_t at = *record != NULL ? (size_t)((uint8_t *)*record - whole) + sizeof **record : 0;
    *record = at < valid ? (pu1ActivityRecord *)(void *)(whole + at) : NULL;
    return *record != NULL ? PU1_SUCCESS : PU1_ERROR_END_OF_BUFFER;
}

static const char *last_error(void)
{
    return "";
}

static uint64_t dropped(void)
{
    return 0;
}

static pu1Result get_device(uint32_t device, pu1DeviceProperties *properties)
{
    if (device >= 20)
        return PU1_ERROR_INVALID_ARGUMENT;
    properties->name = device % 2 == 0 ? "de\"vi\\ce\n\xff" : NULL;
    properties->memory_bytes = device % 3 == 0 ? UINT64_MAX : 0;
    properties->compute_units = device;
    return PU1_SUCCESS;
}

PU1_EXPORT uint32_t pu1GetVersion(void)
{
    return get_version();
}

PU1_EXPORT int kineto_register_privateuse1_plugin(pu1TracingApiTable *table)
{
    static const pu1TracingApiTable ours = {
        sizeof ours, "wor\"st\\\xff", get_version, enable,     disable, set_callbacks, push,
        pop,         flush,           next,        last_error, dropped, get_device};
    memcpy(table, &ours, table->struct_size);
    return 0;
}
