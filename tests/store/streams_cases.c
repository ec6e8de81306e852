/* Streams whose handle comes again, threads whose tid does, and what threads are called. */
#include "fixture.h"
#include "store/sql.h"

#include <stdlib.h>
#include <string.h>

#define HANDLE 0x7f0000000010
#define OTHER  0x7f0000000020

static struct rtl_writer *writer;
static uint32_t process;

static void made(uint64_t handle, uint64_t time)
{
    const struct rtl_wire_stream body = {.time_ns = time, .handle = handle};
    rtl_writer_stream(writer, process, &body);
}

static void destroyed(uint64_t handle, uint64_t begun, uint64_t done)
{
    const struct rtl_wire_stream body = {.time_ns = begun, .done_ns = done, .handle = handle};
    rtl_writer_stream(writer, process, &body);
}

/* A call that is known by its correlation. */
static void call(uint64_t handle, uint64_t correlation, uint64_t start, int32_t result)
{
    const struct rtl_wire_api body = {.start_ns = start,
                                      .end_ns = start + 100,
                                      .correlation = correlation,
                                      .stream = handle,
                                      .thread = 7,
                                      .result = result,
                                      .flags = RTL_API_STREAM};
    rtl_writer_api(writer, process, &body, NULL);
}

static void name(enum rtl_named kind, uint64_t handle, const char *text)
{
    const struct rtl_wire_name body = {
        .handle = handle, .kind = kind, .text_length = (uint16_t)strlen(text)};
    rtl_writer_name(writer, process, &body, text);
}

static bool begin(char path[FIXTURE_PATH])
{
    writer = fixture_path(path) ? fixture_open(path) : NULL;
    process = writer ? fixture_define(writer, 1, 1) : 0;
    return writer != NULL;
}

static bool finish(void)
{
    char error[512];
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

/* The streams of the calls 1 to `count`, as digits. */
static int64_t streams_of_calls(const char *path, unsigned count)
{
    int64_t number = 0;
    for (unsigned i = 1; i <= count; i++) {
        char query[80];
        (void)snprintf(query, sizeof query, "SELECT stream FROM api WHERE correlation = %u", i);
        number = 10 * number + fixture_number(path, query);
    }
    return number;
}

const char *Streams_AHandleThatComesAgainIsAnother(void)
{
    char path[FIXTURE_PATH];
    CHECK(begin(path));
    made(HANDLE, 10000);
    name(RTL_NAMED_STREAM, HANDLE, "one");
    call(HANDLE, 1, 20000, 0);
    destroyed(HANDLE, 30000, 35000);
    made(HANDLE, 40000);
    CHECK(rtl_writer_checkpoint(writer) == 0);
    call(HANDLE, 2, 50000, 0);
    made(OTHER, 60000);
    name(RTL_NAMED_STREAM, OTHER, "other");
    destroyed(HANDLE, 70000, 75000);
    made(HANDLE, 80000);
    name(RTL_NAMED_STREAM, HANDLE, "three");
    call(HANDLE, 3, 79500, 0); /* another thread's stamp */
    call(OTHER, 4, 81000, 0);
    CHECK(finish() && streams_of_calls(path, 4) == 1243);
    CHECK(fixture_number(
              path, "SELECT count(*) FROM streams WHERE (stream, handle, name, generation,"
                    " created, destroyed) = (1, 0x7f0000000010, 'one', 1, 10000, 35000)") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM streams WHERE stream = 2 AND name IS NULL AND"
                               " generation = 2 AND created = 40000 AND destroyed = 75000") == 1);
    CHECK(fixture_number(path,
                         "SELECT count(*) FROM streams WHERE stream = 3 AND name = 'other' AND"
                         " generation = 1 AND created = 60000 AND destroyed IS NULL") == 1);
    CHECK(fixture_number(path,
                         "SELECT count(*) FROM streams WHERE stream = 4 AND name = 'three' AND"
                         " generation = 3 AND destroyed IS NULL") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM streams") == 5);
    fixture_remove(path);
    return NULL;
}

/* HIP has given the handle out again before the destroying thread comes to its records. */
const char *Streams_WhatEndedMayBeToldLate(void)
{
    char path[FIXTURE_PATH];
    CHECK(begin(path));
    made(HANDLE, 10000);
    made(HANDLE, 40000);
    call(HANDLE, 1, 42000, 0);
    destroyed(HANDLE, 30000, 41000);
    call(HANDLE, 2, 30001, 0); /* hipStreamDestroy */
    call(HANDLE, 3, 43000, 0);
    CHECK(finish() && streams_of_calls(path, 3) == 212);
    CHECK(fixture_number(path, "SELECT destroyed FROM streams WHERE stream = 1") == 41000);
    CHECK(fixture_number(path, "SELECT count(*) FROM streams WHERE destroyed IS NOT NULL") == 1);
    fixture_remove(path);
    return NULL;
}

/* A full ring: the records that tell come after calls, of which some are in the file already. */
const char *Streams_WhatBeganMayBeToldLate(void)
{
    char path[FIXTURE_PATH];
    CHECK(begin(path));
    made(HANDLE, 10000);
    call(HANDLE, 1, 20000, 0);
    call(HANDLE, 2, 50000, 0);
    CHECK(rtl_writer_checkpoint(writer) == 0);
    call(OTHER, 3, 50000, 0);
    call(OTHER, 4, 60000, 0);
    destroyed(HANDLE, 30000, 35000);
    made(HANDLE, 40000);
    made(OTHER, 45000);
    call(HANDLE, 5, 70000, 0);
    CHECK(finish() && streams_of_calls(path, 5) == 13223);
    CHECK(fixture_number(path, "SELECT count(*) FROM streams") == 4);
    CHECK(fixture_number(path, "SELECT created FROM streams WHERE stream = 2") == 45000);
    fixture_remove(path);
    return NULL;
}

/* Made before RTL was there, or by a HIP that it does not see. */
const char *Streams_MadeUnseen(void)
{
    char path[FIXTURE_PATH];
    CHECK(begin(path));
    call(HANDLE, 1, 20000, 0);
    destroyed(HANDLE, 30000, 35000);
    call(HANDLE, 2, 30100, 0);   /* the one that destroys */
    call(HANDLE, 3, 50000, 400); /* a handle of nothing */
    call(HANDLE, 4, 60000, 0);
    name(RTL_NAMED_STREAM, OTHER, "named");
    destroyed(OTHER, 61000, 62000);
    name(RTL_NAMED_STREAM, OTHER, "again");
    call(0, 5, 63000, 0);
    call(0, 6, 64000, 0);
    CHECK(finish() && streams_of_calls(path, 6) == 111200);
    CHECK(fixture_number(path, "SELECT count(*) FROM streams") == 5);
    CHECK(fixture_number(path, "SELECT count(*) FROM streams WHERE created IS NULL") == 5);
    CHECK(fixture_number(path, "SELECT generation FROM streams WHERE name = 'again'") == 2);
    CHECK(fixture_number(path, "SELECT generation FROM streams WHERE name = 'named'") == 1);
    fixture_remove(path);
    return NULL;
}

const char *Streams_ThousandsKeepTheirNames(void)
{
    enum { MANY = 3000 };
    char path[FIXTURE_PATH];
    CHECK(begin(path));
    for (uint64_t i = 1; i <= MANY; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "%u", (unsigned)i);
        made(HANDLE, 10000 * i);
        name(RTL_NAMED_STREAM, HANDLE, text);
        call(HANDLE, i, 10000 * i + 10, 0);
        destroyed(HANDLE, 10000 * i + 200, 10000 * i + 300);
        if (i % 1000 == 0)
            CHECK(rtl_writer_checkpoint(writer) == 0);
    }
    CHECK(finish());
    CHECK(fixture_number(path,
                         "SELECT count(*) FROM api a JOIN streams s USING (process, stream)"
                         " WHERE s.name = a.correlation AND s.generation = a.correlation") == MANY);
    fixture_remove(path);
    return NULL;
}

const char *Streams_NamesOfThreads(void)
{
    const uint32_t again = rtl_thread_id(21, 1);
    char path[FIXTURE_PATH];
    CHECK(begin(path));
    name(RTL_NAMED_START, 0, "program");
    name(RTL_NAMED_COMM, 20, "program");
    name(RTL_NAMED_COMM, 21, "first");
    name(RTL_NAMED_COMM, again, "second");
    name(RTL_NAMED_COMM, 22, "hidden");
    name(RTL_NAMED_THREAD, 22, "given");
    name(RTL_NAMED_COMM, 23, "before");
    CHECK(rtl_writer_checkpoint(writer) == 0);
    name(RTL_NAMED_COMM, 23, "after");
    name(RTL_NAMED_TITLE, 0, "program: idle");
    CHECK(finish());
    CHECK(fixture_number(path, "SELECT count(*) FROM threads") == 5);
    CHECK(fixture_number(path, "SELECT count(*) FROM threads WHERE thread = 20 AND name IS NULL AND"
                               " comm = 'program'") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM threads WHERE (tid, generation, name) IN"
                               " ((21, 1, 'first'), (21, 2, 'second'), (22, 1, 'given'),"
                               " (23, 1, 'after'))") == 4);
    CHECK(fixture_number(path, "SELECT count(*) FROM processes WHERE title = 'program: idle' AND"
                               " comm = 'program'") == 1);
    fixture_remove(path);
    return NULL;
}

const char *Streams_IdsOfThreads(void)
{
    CHECK(rtl_thread_id(4711, 0) == 4711);
    CHECK(rtl_thread_tid(rtl_thread_id(RTL_TID_MOST, RTL_TID_BEFORE)) == RTL_TID_MOST);
    CHECK(rtl_thread_generation(rtl_thread_id(RTL_TID_MOST, RTL_TID_BEFORE)) == RTL_TID_BEFORE + 1);
    CHECK(rtl_thread_tid(UINT32_MAX - 1) == UINT32_MAX - 1);
    CHECK(rtl_thread_generation(UINT32_MAX - 1) == 1);
    return NULL;
}
