#include "common/open.h"

#include "common/clock.h"
#include "common/command.h"
#include "common/foreign.h"
#include "common/plain.h"
#include "common/say.h"
#include "common/settle.h"
#include "common/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A recorder that is stuck is not waited for any longer. */
#define PATIENCE_NS 5000000000u
#define PAUSE_NS    20000000u

static rtl_trace_t *open_once(const char *path)
{
    rtl_trace_t *trace = NULL;
    char error[512] = "";
    if (!path[0]) {
        say("the trace's name is empty");
        return NULL;
    }
    rtl_status_t status = rtlTraceOpen(path, &trace, error, sizeof error);
    if (status != RTL_OK) {
        if (status != RTL_E_NOT_TRACE || !foreign_say(path))
            say("%s", error[0] ? error : "the trace could not be opened");
        return NULL;
    }
    return trace;
}

rtl_trace_t *open_trace(const char *path)
{
    rtl_trace_info_t info;
    rtl_trace_t *trace = open_once(path);
    for (uint64_t begun = rtl_now();
         trace != NULL && settle_is_near(trace) && rtl_now() - begun < PATIENCE_NS;) {
        rtlTraceClose(trace);
        rtl_nap(PAUSE_NS);
        trace = open_once(path);
    }
    if (trace != NULL && rtlTraceInfo(trace, &info) == RTL_OK)
        open_say_behind(path, info.bytes_behind);
    return trace;
}

void open_say_behind(const char *path, uint64_t bytes)
{
    if (bytes > 0)
        say("%s: the last %s of the file %s no part of the trace and not read", path,
            show_things(bytes, "byte").text, show_are(bytes));
}

int open_failed(const rtl_trace_t *trace, const char *path)
{
    const char *error = rtlTraceError(trace);
    if (error && error[0])
        return say_fail(EXIT_USAGE, "%s", error);
    return say_fail(EXIT_USAGE, "%s could not be read", path);
}

/* jansson escapes what JSON must; this what a terminal would act on, which only strings have. */
static int write_piece(const char *piece, size_t size, void *data)
{
    FILE *file = data;
    size_t from = 0;
    for (size_t i = 0; i < size; ++i) {
        unsigned code = plain_unsafe(piece + i);
        if (code == 0)
            continue;
        if (fwrite(piece + from, 1, i - from, file) != i - from ||
            fprintf(file, "\\u%04x", code) < 0)
            return -1;
        while (i + 1 < size && ((unsigned char)piece[i + 1] & 0xc0u) == 0x80u)
            ++i;
        from = i + 1;
    }
    return fwrite(piece + from, 1, size - from, file) == size - from ? 0 : -1;
}

int open_write_json(FILE *file, const json_t *value, size_t flags)
{
    return json_dump_callback(value, write_piece, file, flags);
}

int open_write_object(FILE *file, const json_t *object)
{
    int failed =
        !object || open_write_json(file, object, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) != 0;
    return failed || fputc('\n', file) == EOF ? -1 : 0;
}

int open_print_json(json_t *object, int status)
{
    int failed = open_write_object(stdout, object);
    json_decref(object);
    if (failed && !ferror(stdout))
        return say_fail(EXIT_USAGE, "the JSON could not be made");
    return status;
}

json_t *open_id(uint32_t id)
{
    return id == RTL_TRACE_NONE ? json_null() : json_integer(id);
}

json_t *open_number(uint64_t value)
{
    return value <= INT64_MAX ? json_integer((json_int_t)value) : open_address(value);
}

json_t *open_text(const char *text)
{
    if (!text || !text[0])
        return json_null();
    json_t *string = json_string(text);
    if (string)
        return string;
    char *ascii = strdup(text);
    if (!ascii)
        return json_null();
    for (char *c = ascii; *c; ++c)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    string = json_string(ascii);
    free(ascii);
    return string;
}

json_t *open_address(uint64_t address)
{
    char text[24];
    (void)snprintf(text, sizeof text, "0x%" PRIx64, address);
    return json_string(text);
}
