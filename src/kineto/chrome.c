#include "kineto/chrome.h"

#include "kineto/members.h"
#include "kineto/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_DEVICES        64u
#define DEVICES_OF_A_VENDOR 1000u /* device d of vendor v is process v * this + d of the trace */

struct writer {
    FILE *file;
    const pu1_trace_t *trace;
    uint64_t *calls; /* flow ids of calls, sorted */
    size_t call_count;
    uint64_t *work; /* of device work */
    size_t work_count;
    uint64_t devices[MOST_DEVICES]; /* that have a name */
    size_t device_count;
    bool begun;
};

static bool is_device(const pu1_item_t *item)
{
    return (PU1_KIND_BIT(item->record.kind) & PU1_DEVICE_KINDS) != 0;
}

/* ---- flows ---- */

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool has(const uint64_t *ids, size_t count, uint64_t id)
{
    return bsearch(&id, ids, count, sizeof id, compare) != NULL;
}

static bool gather(struct writer *writer)
{
    const pu1_trace_t *trace = writer->trace;
    writer->calls = calloc(trace->item_count + 1, sizeof *writer->calls);
    writer->work = calloc(trace->item_count + 1, sizeof *writer->work);
    if (writer->calls == NULL || writer->work == NULL)
        return false;
    for (size_t i = 0; i < trace->item_count; i++) {
        const pu1_item_t *item = &trace->items[i];
        if (item->record.correlation_id == 0)
            continue;
        if (is_device(item))
            writer->work[writer->work_count++] = pu1_flow_id(trace->vendors, item);
        else
            writer->calls[writer->call_count++] = pu1_flow_id(trace->vendors, item);
    }
    qsort(writer->calls, writer->call_count, sizeof *writer->calls, compare);
    qsort(writer->work, writer->work_count, sizeof *writer->work, compare);
    return true;
}

/* ---- pieces of JSON ---- */

static void write_text(FILE *file, const char *text)
{
    (void)fputc('"', file);
    for (const char *at = text; *at != '\0';) {
        size_t length = pu1_character(at);
        if (length == 0)
            (void)fputs("\\ufffd", file);
        else if (*at == '"' || *at == '\\')
            (void)fprintf(file, "\\%c", *at);
        else if ((unsigned char)*at < 0x20)
            (void)fprintf(file, "\\u%04x", (unsigned)*at);
        else
            (void)fwrite(at, 1, length, file);
        at += length > 0 ? length : 1;
    }
    (void)fputc('"', file);
}

static void begin_event(struct writer *writer)
{
    (void)fputs(writer->begun ? ",\n{" : "\n{", writer->file);
    writer->begun = true;
}

/* A time is µs, with the ns behind the point. */
static void write_time(const struct writer *writer, const char *key, uint64_t ns)
{
    (void)fprintf(writer->file, ", \"%s\": %" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

/* What was before the base is at it. */
static void write_when(const struct writer *writer, uint64_t start)
{
    uint64_t base = writer->trace->base_ns;
    write_time(writer, "ts", start > base ? start - base : 0);
}

/* ---- events ---- */

static uint64_t process_of(const pu1_item_t *item)
{
    const pu1ActivityRecord *record = &item->record;
    return is_device(item) ? item->vendor * DEVICES_OF_A_VENDOR +
                                 (record->device_id == PU1_NO_DEVICE ? DEVICES_OF_A_VENDOR - 1
                                                                     : record->device_id)
                           : record->process_id;
}

static uint64_t row_of(const pu1_item_t *item)
{
    return is_device(item) ? item->record.stream_id : item->record.thread_id;
}

static const char *category(uint32_t kind)
{
    switch (kind) {
    case PRIVATEUSE1_RUNTIME:
        return "privateuse1_runtime";
    case PRIVATEUSE1_DRIVER:
        return "privateuse1_driver";
    case CONCURRENT_KERNEL:
        return "kernel";
    case GPU_MEMCPY:
        return "gpu_memcpy";
    case GPU_MEMSET:
        return "gpu_memset";
    default:
        return "other";
    }
}

static void write_row(const struct writer *writer, const pu1_item_t *item)
{
    (void)fprintf(writer->file, ", \"pid\": %" PRIu64 ", \"tid\": %" PRIu64, process_of(item),
                  row_of(item));
}

static void write_arguments(const struct writer *writer, const pu1_item_t *item)
{
    const pu1ActivityRecord *record = &item->record;
    FILE *file = writer->file;
    (void)fprintf(
        file, ", \"args\": {\"correlation\": %" PRIu64 ", \"vendor\": ", record->correlation_id);
    write_text(file, writer->trace->vendors->items[item->vendor].api.vendor);
    if (record->external_id != 0)
        (void)fprintf(file, ", \"External id\": %" PRIu64, record->external_id);
    if (is_device(item))
        (void)fprintf(file, ", \"device\": %" PRId64 ", \"stream\": %" PRIu64,
                      record->device_id == PU1_NO_DEVICE ? -1 : (int64_t)record->device_id,
                      record->stream_id);
    const char *at = record->metadata;
    pu1_member_t member;
    while (at != NULL && pu1_next_member(&at, &member))
        (void)fprintf(file, ", \"%.*s\": %.*s", (int)member.key_length, member.key,
                      (int)member.value_length, member.value);
    (void)fputc('}', file);
}

static void write_slice(struct writer *writer, const pu1_item_t *item)
{
    const pu1ActivityRecord *record = &item->record;
    begin_event(writer);
    (void)fprintf(writer->file,
                  "\"ph\": \"X\", \"cat\": \"%s\", \"name\": ", category(record->kind));
    write_text(writer->file, record->name);
    write_row(writer, item);
    write_when(writer, record->start_time);
    write_time(writer, "dur", record->end_time - record->start_time);
    write_arguments(writer, item);
    (void)fputc('}', writer->file);
}

static void write_flow(struct writer *writer, const pu1_item_t *item)
{
    uint64_t id = pu1_flow_id(writer->trace->vendors, item);
    bool ends = is_device(item);
    bool linked =
        item->record.correlation_id != 0 && (ends ? has(writer->calls, writer->call_count, id)
                                                  : has(writer->work, writer->work_count, id));
    if (!linked)
        return;
    begin_event(writer);
    (void)fprintf(writer->file,
                  "\"ph\": \"%c\", \"cat\": \"ac2g\", \"name\": \"ac2g\", \"id\": %" PRIu64,
                  ends ? 'f' : 's', id);
    write_row(writer, item);
    write_when(writer, item->record.start_time);
    (void)fputs(ends ? ", \"bp\": \"e\"}" : "}", writer->file);
}

static void write_annotation(struct writer *writer, const pu1_annotation_t *annotation)
{
    begin_event(writer);
    (void)fputs("\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": ", writer->file);
    write_text(writer->file, annotation->name);
    (void)fprintf(writer->file, ", \"pid\": %d, \"tid\": %" PRIu32, getpid(), annotation->thread);
    write_when(writer, annotation->start);
    write_time(writer, "dur", annotation->end - annotation->start);
    (void)fprintf(writer->file, ", \"args\": {\"External id\": %" PRIu64 "}}", annotation->id);
}

/* Names the device of the item, once. Those beyond the list stay numbers. */
static void name_device(struct writer *writer, const pu1_item_t *item)
{
    uint64_t process = process_of(item);
    for (size_t i = 0; i < writer->device_count; i++)
        if (writer->devices[i] == process)
            return;
    if (writer->device_count == MOST_DEVICES)
        return;
    writer->devices[writer->device_count++] = process;
    begin_event(writer);
    (void)fprintf(writer->file,
                  "\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %" PRIu64
                  ", \"tid\": 0, \"args\": {\"name\": ",
                  process);
    write_text(writer->file, writer->trace->vendors->items[item->vendor].api.vendor);
    (void)fputs("}}", writer->file);
}

bool pu1_write_chrome(const pu1_trace_t *trace, FILE *file)
{
    struct writer writer = {.file = file, .trace = trace};
    bool fine = gather(&writer);
    if (fine) {
        (void)fprintf(
            file,
            "{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\", \"baseTimeNanoseconds\": "
            "%" PRIu64 ", \"droppedRecords\": %" PRIu64 ", \"traceEvents\": [",
            trace->base_ns, trace->dropped);
        for (size_t i = 0; i < trace->annotation_count; i++)
            write_annotation(&writer, &trace->annotations[i]);
        for (size_t i = 0; i < trace->item_count; i++) {
            if (is_device(&trace->items[i]))
                name_device(&writer, &trace->items[i]);
            write_slice(&writer, &trace->items[i]);
            write_flow(&writer, &trace->items[i]);
        }
        (void)fputs("\n]}\n", file);
    }
    free(writer.calls);
    free(writer.work);
    return fine;
}
