/* rocpd 3.0 (rocprofiler-sdk, ROCm Optiq): every table has a suffix of its own and a view without
 * it, every row the identity of the file. */
#include "export/rocpd_rows.h"

#include "common/command.h"
#include "common/say.h"
#include "export/rocpd_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* rocprofiler-sdk's ids are pids and tids: where its views take several files for one they join by
 * them alone. So ids of files of different processes have to be different. */
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

/* All regions come before all kernels, which look up theirs. */
static int write_all(struct rocpd *rocpd)
{
    int status = make_guid(rocpd);
    rocpd->base = base_of(rocpd->export);
    if (status == EXIT_FINE)
        status = run_built(rocpd, rocpd_schema_tables(rocpd->guid));
    if (status == EXIT_FINE)
        status = write_metadata(rocpd);
    if (status == EXIT_FINE)
        status = rocpd_write_definitions(rocpd);
    if (status == EXIT_FINE)
        status = export_walk(rocpd->export, EXPORT_RANGE | EXPORT_API, rocpd_visit_host, rocpd);
    if (status == EXIT_FINE)
        status = database_flush(&rocpd->database);
    if (status == EXIT_FINE)
        status = export_walk(rocpd->export, EXPORT_LAUNCH | EXPORT_COPY | EXPORT_KERNEL,
                             rocpd_visit_device, rocpd);
    if (status == EXIT_FINE)
        status = database_flush(&rocpd->database);
    database_forget(&rocpd->database);
    if (status == EXIT_FINE)
        status = run_built(rocpd, rocpd_schema_names(rocpd->guid, rocpd->suffix));
    return status == EXIT_FINE ? run_built(rocpd, rocpd_schema_views()) : status;
}

static int run(struct export *export)
{
    static struct rocpd rocpd;
    rocpd = (struct rocpd){.export = export};
    int status = database_begin(&rocpd.database, export, "");
    if (status == EXIT_FINE)
        status = write_all(&rocpd);
    if (status == EXIT_FINE)
        status = database_end(&rocpd.database);
    database_drop(&rocpd.database);
    texts_free(&rocpd.strings);
    texts_free(&rocpd.hosts);
    texts_free(&rocpd.unknown);
    free(rocpd.objects);
    free(rocpd.names);
    return status;
}

const struct exporter export_rocpd = {"rocpd", ".rocpd.db", EXPORT_PER_RANK, run};
