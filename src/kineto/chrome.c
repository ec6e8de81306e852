#include "kineto/chrome.h"

#include "kineto/members.h"
#include "kineto/rows.h"
#include "kineto/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct writer {
    FILE *file;
    const pu1_trace_t *trace;
    uint64_t *calls; /* flow ids of calls, sorted */
    size_t call_count;
    uint64_t *work; /* of device work */
    size_t work_count;
    pu1_rows_t *rows;
    bool begun;
};

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
    writer->rows = pu1_rows_new(trace->items, trace->item_count);
    if (writer->calls == NULL || writer->work == NULL || writer->rows == NULL)
        return false;
    for (size_t i = 0; i < trace->item_count; i++) {
        const pu1_item_t *item = &trace->items[i];
        if (item->record.correlation_id == 0)
            continue;
        if (pu1_is_device_work(item))
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

static void write_place(const struct writer *writer, int64_t process, int64_t thread)
{
    (void)fprintf(writer->file, ", \"pid\": %" PRId64 ", \"tid\": %" PRId64, process, thread);
}

static void write_row(const struct writer *writer, const pu1_item_t *item)
{
    const pu1_row_t *row = pu1_is_device_work(item) ? pu1_row_of(writer->rows, item) : NULL;
    if (row != NULL)
        write_place(writer, row->process, row->thread);
    else
        write_place(writer, item->record.process_id, item->record.thread_id);
}

static void write_arguments(const struct writer *writer, const pu1_item_t *item)
{
    const pu1ActivityRecord *record = &item->record;
    FILE *file = writer->file;
    (void)fprintf(file, ", \"args\": {\"correlation\": %" PRIu64 ", \"vendor\": ",
                  pu1_flow_id(writer->trace->vendors, item));
    write_text(file, writer->trace->vendors->items[item->vendor].api.vendor);
    if (record->external_id != 0)
        (void)fprintf(file, ", \"External id\": %" PRIu64, record->external_id);
    if (pu1_is_device_work(item))
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
    bool ends = pu1_is_device_work(item);
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

static void write_name(struct writer *writer, const pu1_row_t *row, const char *what,
                       const char *key, const char *text)
{
    begin_event(writer);
    (void)fprintf(writer->file, "\"ph\": \"M\", \"name\": \"%s\"", what);
    write_place(writer, row->process, row->thread);
    (void)fprintf(writer->file, ", \"args\": {\"%s\": ", key);
    write_text(writer->file, text);
    (void)fputs("}}", writer->file);
}

/* As Kineto does: a process has a name, the vendor's, and the device as its label. */
static void name_device(struct writer *writer, const pu1_row_t *row)
{
    char label[32] = "no device";
    if (row->device != PU1_NO_DEVICE)
        (void)snprintf(label, sizeof label, "device %" PRIu32, row->device);
    write_name(writer, row, "process_name", "name",
               writer->trace->vendors->items[row->vendor].api.vendor);
    write_name(writer, row, "process_labels", "labels", label);
}

static void name_rows(struct writer *writer)
{
    size_t count = 0;
    const pu1_row_t *rows = pu1_rows_all(writer->rows, &count);
    for (size_t i = 0; i < count; i++) {
        char name[32];
        if (i == 0 || rows[i].process != rows[i - 1].process)
            name_device(writer, &rows[i]);
        (void)snprintf(name, sizeof name, "stream %" PRIu64, rows[i].stream);
        write_name(writer, &rows[i], "thread_name", "name", name);
    }
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
        name_rows(&writer);
        for (size_t i = 0; i < trace->item_count; i++) {
            write_slice(&writer, &trace->items[i]);
            write_flow(&writer, &trace->items[i]);
        }
        (void)fputs("\n]}\n", file);
    }
    free(writer.calls);
    free(writer.work);
    pu1_rows_free(writer.rows);
    return fine;
}
