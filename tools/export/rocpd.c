/* rocpd 3.0 (rocprofiler-sdk, ROCm Optiq): every table has a suffix of its own and a view without
 * it, every row the identity of the file. */
#include "export/rocpd_rows.h"

#include "common/command.h"
#include "common/say.h"
#include "export/parts.h"
#include "export/rocpd_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Bits of ids below those that tell parts apart: of processes and threads, a pid's 22 and 24 for
 * each; and of rows. */
#define IDS_OF_PART  46
#define ROWS_OF_PART 32

/* rocprofiler-sdk's ids are pids and tids: where its views take several files for one they join by
 * them alone. So ids of files of different processes have to be different, and of parts. */
static int64_t base_of(const struct export *export)
{
    for (size_t i = 0; i < export->process_count; ++i)
        if (export_wants(export, export->processes[i].process))
            return (int64_t) export->processes[i].pid << 24;
    return 0;
}

/* A random UUID (RFC 9562, version 4), with '-' and, for names of tables, with '_'. */
static int make_guid(struct rocpd *rocpd)
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return say_fail(EXIT_USAGE, "the system gave no random number");
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    char *at = rocpd->guid;
    for (unsigned i = 0; i < sizeof bytes; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        at += snprintf(at, 3, "%02x", bytes[i]);
    }
    (void)snprintf(rocpd->suffix, sizeof rocpd->suffix, "_%s", rocpd->guid);
    for (char *c = rocpd->suffix; *c; ++c)
        if (*c == '-')
            *c = '_';
    return EXIT_FINE;
}

static int run_built(struct rocpd *rocpd, char *text)
{
    int status = text ? database_run(&rocpd->database, text)
                      : say_fail(EXIT_USAGE, "there is not enough memory");
    sqlite3_free(text);
    return status;
}

static int write_metadata(struct rocpd *rocpd)
{
    static const char sql[] = "INSERT INTO rocpd_metadata(tag, value) VALUES (?, ?)";
    const char *const rows[][2] = {{"schema_version", "3.0.2"},
                                   {"uuid", rocpd->suffix},
                                   {"guid", rocpd->guid},
                                   {"creator", rocpd->export->info.creator}};
    int status = EXIT_FINE;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && status == EXIT_FINE; ++i)
        status = database_row(&rocpd->database, ROCPD_META, sql, "tt", rows[i][0], rows[i][1]);
    return status;
}

/* About what an event takes, most of it the identity of the file in two rows. */
static uint64_t weigh(void *state, const struct export_event *event)
{
    enum { OF_REGION = 160, OF_ARGUMENT = 90, OF_DEVICE = 164, OF_COUNTER = 60 };
    rtl_argument_t argument;
    size_t arguments = 0;
    (void)state;
    if (event->kind == EXPORT_RANGE)
        return OF_REGION + 2 * strlen(event->range->name);
    if (event->kind != EXPORT_API)
        return OF_DEVICE + (event->sample_count ? event->samples->count * (uint64_t)OF_COUNTER : 0);
    while (rtlApiArgument(event->api, arguments, &argument) == RTL_OK)
        ++arguments;
    return OF_REGION + arguments * OF_ARGUMENT;
}

/* All regions come before all kernels, which look up theirs. */
static int write_events(struct rocpd *rocpd)
{
    int status = export_walk(rocpd->export, EXPORT_RANGE | EXPORT_API, rocpd_visit_host, rocpd);
    if (status == EXIT_FINE)
        status = database_flush(&rocpd->database);
    if (status == EXIT_FINE)
        status = export_walk(rocpd->export, EXPORT_LAUNCH | EXPORT_COPY | EXPORT_KERNEL,
                             rocpd_visit_device, rocpd);
    if (status == EXIT_FINE)
        status = database_flush(&rocpd->database);
    return status == EXIT_FINE ? rocpd_place_memory(rocpd) : status;
}

/* Ids of what SQLite numbers are those of the part. */
static int number_rows(struct rocpd *rocpd, unsigned part)
{
    static const char *const tables[] = {"rocpd_event",       "rocpd_arg",
                                         "rocpd_pmc_event",   "rocpd_kernel_dispatch",
                                         "rocpd_memory_copy", "rocpd_memory_allocate",
                                         "rocpd_graph_launch"};
    int status = EXIT_FINE;
    rocpd->events = (int64_t)(part - 1) << ROWS_OF_PART;
    for (size_t i = 0; part > 1 && status == EXIT_FINE && i < sizeof tables / sizeof *tables; ++i)
        status = database_continue(&rocpd->database, tables[i], rocpd->events);
    return status;
}

/* Of what is made when all rows are there. */
static uint64_t size_of_views(const struct rocpd *rocpd)
{
    char *names = rocpd_schema_names(rocpd->guid, rocpd->suffix);
    char *views = rocpd_schema_views();
    uint64_t bytes = (names ? strlen(names) : 0) + (views ? strlen(views) : 0);
    sqlite3_free(names);
    sqlite3_free(views);
    return bytes;
}

static int write_rows(struct rocpd *rocpd, struct parts *parts)
{
    uint64_t before = database_size(&rocpd->database);
    int status = parts_next(parts, EXPORT_ALL, before + size_of_views(rocpd), weigh, rocpd);
    if (status == EXIT_FINE)
        status = number_rows(rocpd, parts->number);
    if (status == EXIT_FINE && parts->number > 1)
        status = rocpd_begin_earlier(rocpd);
    if (status == EXIT_FINE)
        status = parts_earlier(parts, EXPORT_RANGE, rocpd_visit_earlier, rocpd);
    if (status == EXIT_FINE)
        status = write_events(rocpd);
    if (status == EXIT_FINE)
        parts_took(parts, database_size(&rocpd->database) - before);
    database_forget(&rocpd->database);
    if (status == EXIT_FINE)
        status = run_built(rocpd, rocpd_schema_names(rocpd->guid, rocpd->suffix));
    return status == EXIT_FINE ? run_built(rocpd, rocpd_schema_views()) : status;
}

static int write_head(struct rocpd *rocpd)
{
    int status = make_guid(rocpd);
    if (status == EXIT_FINE)
        status = run_built(rocpd, rocpd_schema_tables(rocpd->guid));
    if (status == EXIT_FINE)
        status = write_metadata(rocpd);
    return status == EXIT_FINE ? rocpd_write_definitions(rocpd) : status;
}

static void forget(struct rocpd *rocpd)
{
    database_drop(&rocpd->database);
    texts_free(&rocpd->strings);
    texts_free(&rocpd->hosts);
    texts_free(&rocpd->unknown);
    free(rocpd->objects);
    free(rocpd->agents_of_streams);
    free(rocpd->names);
}

static int write_part(struct export *export, struct parts *parts, int64_t *dispatches)
{
    static struct rocpd rocpd;
    rocpd = (struct rocpd){.export = export, .dispatches = *dispatches};
    rocpd.base = base_of(export) + ((int64_t)parts->number << IDS_OF_PART);
    int status = database_begin(&rocpd.database, export, "");
    if (status == EXIT_FINE)
        status = write_head(&rocpd);
    if (status == EXIT_FINE)
        status = write_rows(&rocpd, parts);
    if (status == EXIT_FINE)
        status = database_end(&rocpd.database);
    *dispatches = rocpd.dispatches;
    forget(&rocpd);
    return status;
}

static int run(struct export *export)
{
    struct parts parts;
    int64_t dispatches = 0;
    int status = EXIT_FINE;
    parts_begin(&parts, export);
    while (status == EXIT_FINE && parts.left)
        status = write_part(export, &parts, &dispatches);
    parts_end(&parts);
    return status;
}

const struct exporter export_rocpd = {"rocpd", ".rocpd.db", EXPORT_SPLITS | EXPORT_PER_RANK, run};
