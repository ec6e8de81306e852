/* RPD (rocmProfileData), schema version 3, as its tools read it: all tables, no NULL anywhere, ids
 * that may be joined, and its views. */
#include "export/database.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/say.h"
#include "common/texts.h"
#include "export/lookup.h"
#include "export/parts.h"
#include "export/rpd_arguments.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY       "INTEGER NOT NULL PRIMARY KEY"
#define ID        "id " KEY " AUTOINCREMENT"
#define INT       " INTEGER NOT NULL"
#define TO_STRING " INTEGER NOT NULL REFERENCES rocpd_string(id) DEFERRABLE INITIALLY DEFERRED"
#define TO_API    " REFERENCES rocpd_api(id) DEFERRABLE INITIALLY DEFERRED"
#define TO_OP     " INTEGER NOT NULL REFERENCES rocpd_op(id) DEFERRABLE INITIALLY DEFERRED"

static const char schema[] =
    "CREATE TABLE rocpd_metadata(" ID ", tag VARCHAR(4096) NOT NULL, value VARCHAR(4096) NOT NULL);"
    "CREATE TABLE rocpd_string(" ID ", string VARCHAR(4096) NOT NULL);"
    "CREATE TABLE rocpd_ustring(" ID ", string VARCHAR(4096) NOT NULL);"
    "CREATE TABLE rocpd_api(" ID ", pid" INT ", tid" INT ", start" INT ", end" INT
    ", apiName_id" TO_STRING ", category_id" TO_STRING ", domain_id" TO_STRING
    ", args_id INTEGER NOT NULL REFERENCES rocpd_ustring(id) DEFERRABLE INITIALLY DEFERRED);"
    "CREATE TABLE rocpd_copyapi(api_ptr_id " KEY TO_API ", stream VARCHAR(18) NOT NULL, size" INT
    ", width" INT ", height" INT ", kind" INT
    ", dst VARCHAR(18) NOT NULL, src VARCHAR(18) NOT NULL,"
    " dstDevice" INT ", srcDevice" INT ", sync BOOL NOT NULL, pinned BOOL NOT NULL);"
    "CREATE TABLE rocpd_kernelapi(api_ptr_id " KEY TO_API ", stream VARCHAR(18) NOT NULL, gridX" INT
    ", gridY" INT ", gridZ" INT ", workgroupX" INT ", workgroupY" INT ", workgroupZ" INT
    ", groupSegmentSize" INT ", privateSegmentSize" INT ", kernelName_id" TO_STRING ");"
    "CREATE TABLE rocpd_op(" ID ", gpuId" INT ", queueId" INT ", sequenceId" INT ", start" INT
    ", end" INT ", description_id" TO_STRING ", opType_id" TO_STRING ");"
    "CREATE TABLE rocpd_api_ops(" ID ", api_id INTEGER NOT NULL" TO_API ", op_id" TO_OP ");"
    "CREATE TABLE rocpd_monitor(" ID ", deviceType VARCHAR(16) NOT NULL, deviceId" INT
    ", monitorType VARCHAR(16) NOT NULL, start" INT ", end" INT ", value VARCHAR(255) NOT NULL);"
    "CREATE TABLE rocpd_counter(" ID ", value REAL NOT NULL, op_id" TO_OP ", name_id" TO_STRING ");"
    "CREATE TABLE rocpd_stackframe(" ID ", api_ptr_id INTEGER NOT NULL" TO_API ", depth" INT
    ", name_id" TO_STRING ");"
    "INSERT INTO rocpd_metadata(tag, value) VALUES ('gpu_stride', '1000'),"
    " ('pid_stride', '10000000'), ('schema_version', '3');";

/* A page for each, however few rows there are. */
#define OF_INDEXES UINT64_C(5 * 4096)

/* Made when all rows are there: those that the recorder's files have, by their names. */
static const char indexes[] =
    "CREATE INDEX rocpd_strin_string_c7b9cd_idx ON rocpd_string(string);"
    "CREATE INDEX rocpd_ustri_string_84d4a7_idx ON rocpd_ustring(string);"
    "CREATE UNIQUE INDEX rocpd_api_ops_api_id_op_id_e7e52317_uniq ON rocpd_api_ops(api_id, op_id);"
    "CREATE INDEX rocpd_api_ops_api_id_f87632ad ON rocpd_api_ops(api_id);"
    "CREATE INDEX rocpd_api_ops_op_id_b35ab7c9 ON rocpd_api_ops(op_id);";

#define API_TEXTS                                                                                  \
    "d.string AS domain, c.string AS category, n.string AS apiName, u.string AS args"              \
    " FROM rocpd_api a JOIN rocpd_string d ON d.id = a.domain_id"                                  \
    " JOIN rocpd_string c ON c.id = a.category_id JOIN rocpd_string n ON n.id = a.apiName_id"      \
    " JOIN rocpd_ustring u ON u.id = a.args_id"
#define OP_TEXTS                                                                                   \
    "d.string AS description, t.string AS opType FROM rocpd_op o"                                  \
    " JOIN rocpd_string d ON d.id = o.description_id JOIN rocpd_string t ON t.id = o.opType_id"
#define PID_STRIDE "(SELECT value FROM rocpd_metadata WHERE tag = 'pid_stride')"
#define GPU_STRIDE "(SELECT value FROM rocpd_metadata WHERE tag = 'gpu_stride')"

/* `napi` and `nop` are of files in which several nodes are one: node n has n strides added. `top`
 * counts every op; a text that is empty is told by the type of its op. */
static const char views[] =
    "CREATE VIEW api AS SELECT a.id, a.pid, a.tid, a.start, a.end, " API_TEXTS ";"
    "CREATE VIEW op AS SELECT o.id, o.gpuId, o.queueId, o.sequenceId, o.start, o.end, " OP_TEXTS ";"

    "CREATE VIEW napi AS SELECT a.id, a.pid / " PID_STRIDE " AS node, a.pid % " PID_STRIDE
    " AS pid, a.tid % " PID_STRIDE " AS tid, a.start, a.end, " API_TEXTS ";"
    "CREATE VIEW nop AS SELECT o.id, o.gpuId / " GPU_STRIDE " AS node, o.gpuId % " GPU_STRIDE
    " AS gpuId, o.queueId % " GPU_STRIDE " AS queueId, o.sequenceId, o.start, o.end, " OP_TEXTS ";"

    "CREATE VIEW busy AS WITH times AS (SELECT gpuId, sum(end - start) AS GpuTime,"
    " min(start) AS begin, max(end) AS done FROM rocpd_op GROUP BY gpuId),"
    " wall AS (SELECT max(done) - min(begin) AS WallTime FROM times)"
    " SELECT gpuId, GpuTime, WallTime, GpuTime * 1.0 / WallTime AS Busy FROM times, wall;"

    "CREATE VIEW top AS WITH named AS (SELECT CASE d.string WHEN '' THEN t.string ELSE d.string"
    " END AS name, o.end - o.start AS time FROM rocpd_op o"
    " JOIN rocpd_string d ON d.id = o.description_id JOIN rocpd_string t ON t.id = o.opType_id),"
    " sums AS (SELECT name, count(*) AS calls, sum(time) AS time FROM named GROUP BY name)"
    " SELECT name AS Name, calls AS TotalCalls, time / 1000 AS TotalDuration_us,"
    " time / calls / 1000.0 AS Ave_us, time * 100.0 / (SELECT sum(time) FROM sums) AS Percentage,"
    " time / 1000 AS TotalDuration, time / calls / 1000 AS Ave FROM sums ORDER BY time DESC;";

static const char views_of_calls[] =
    "CREATE VIEW kernel AS SELECT o.id, o.gpuId, o.queueId, o.sequenceId, o.start, o.end,"
    " o.end - o.start AS duration, k.stream, k.gridX, k.gridY, k.gridZ AS gridz, k.workgroupX,"
    " k.workgroupY, k.workgroupZ, k.groupSegmentSize, k.privateSegmentSize,"
    " n.string AS kernelName FROM rocpd_api_ops l JOIN rocpd_op o ON o.id = l.op_id"
    " JOIN rocpd_kernelapi k ON k.api_ptr_id = l.api_id"
    " JOIN rocpd_string n ON n.id = k.kernelName_id;"

    "CREATE VIEW copy AS SELECT a.id, a.pid, a.tid, a.start, a.end, n.string AS apiName, c.stream,"
    " c.size, c.width, c.height, c.kind, c.dst, c.src, c.dstDevice, c.srcDevice, c.sync, c.pinned"
    " FROM rocpd_copyapi c JOIN rocpd_api a ON a.id = c.api_ptr_id"
    " JOIN rocpd_string n ON n.id = a.apiName_id;"

    "CREATE VIEW copyop AS SELECT o.id, o.gpuId, o.queueId, o.sequenceId, o.start, o.end,"
    " o.end - o.start AS duration, c.stream, c.size, c.width, c.height, c.kind, c.dst, c.src,"
    " c.dstDevice, c.srcDevice, c.sync, c.pinned, n.string AS apiName FROM rocpd_api_ops l"
    " JOIN rocpd_op o ON o.id = l.op_id JOIN rocpd_copyapi c ON c.api_ptr_id = l.api_id"
    " JOIN rocpd_api a ON a.id = l.api_id JOIN rocpd_string n ON n.id = a.apiName_id;"

    "CREATE VIEW stackframe AS SELECT a.id, n.string, f.depth, s.string FROM rocpd_stackframe f"
    " JOIN rocpd_api a ON a.id = f.api_ptr_id JOIN rocpd_string n ON n.id = a.apiName_id"
    " JOIN rocpd_string s ON s.id = f.name_id;";

enum { META, STRING, USTRING, API, OP, LINK, KERNEL, COPY, COUNTER, FIND };

struct rpd {
    struct database database;
    struct export *export;
    struct texts strings;     /* a string's id is its number * 2 + 1 */
    struct rpd_recent recent; /* arguments: their ids are in between */
    size_t symbols;
    int64_t *names;      /* string ids of the names of symbols, by place; 0: not yet */
    int64_t ops, counts; /* ids that SQLite gave last */
    int64_t empty, kernel_type, marker, hip, roctx;
};

static void text_row(struct rpd *rpd, unsigned which, int64_t id, const char *text)
{
    (void)database_row(&rpd->database, which,
                       which == STRING ? "INSERT INTO rocpd_string VALUES (?, ?)"
                                       : "INSERT INTO rocpd_ustring VALUES (?, ?)",
                       "it", id, text);
}

static int64_t string_id(struct rpd *rpd, const char *text)
{
    size_t before = rpd->strings.count;
    size_t number = texts_number(&rpd->strings, text);
    if (number == TEXTS_NONE) {
        rpd->database.failed = true;
        return say_fail(0, "there is not enough memory");
    }
    int64_t id = 2 * (int64_t)number + 1;
    if (rpd->strings.count != before)
        text_row(rpd, STRING, id, text);
    return id;
}

/* The id of arguments, or of a range's text: some of RPD's tools look for them among the strings
 * and others among the ustrings, so that they are in both by one id. */
static int64_t arguments_id(struct rpd *rpd, const char *text)
{
    bool added;
    if (!text[0])
        return rpd->empty;
    int64_t number = rpd_recent_number(&rpd->recent, text, &added);
    if (number < 0) {
        rpd->database.failed = true;
        return say_fail(0, "there is not enough memory");
    }
    int64_t id = 2 * number + 2;
    if (added) {
        text_row(rpd, STRING, id, text);
        text_row(rpd, USTRING, id, text);
    }
    return id;
}

static int meta(struct rpd *rpd, const char *tag, const char *value)
{
    return database_row(&rpd->database, META,
                        "INSERT INTO rocpd_metadata(tag, value) VALUES (?, ?)", "tt", tag, value);
}

/* Host calls and ranges share the ids of their process; RPD has one row of ids for all. */
static int64_t api_id(uint32_t process, uint64_t correlation)
{
    return (int64_t)((uint64_t)(process - 1) << 40 | correlation);
}

/* The row of a host call that was written, by its correlation. */
static bool find_call(struct rpd *rpd, uint32_t process, uint64_t call, int64_t *id,
                      const char **name)
{
    int64_t number = 0;
    *id = api_id(process, call);
    if (call == 0 ||
        !database_find(&rpd->database, FIND, "SELECT apiName_id FROM rocpd_api WHERE id = ?", *id,
                       &number, 1) ||
        number == rpd->marker)
        return false;
    *name = rpd->strings.list[(number - 1) / 2];
    return true;
}

static int api_row(struct rpd *rpd, int64_t id, uint32_t process, uint32_t thread, uint64_t start,
                   uint64_t end, int64_t name, int64_t domain, int64_t args)
{
    const rtl_process_t *found = export_process(rpd->export, process);
    const int64_t row[] = {id,
                           (int64_t)(found ? found->pid : 0),
                           (int64_t)thread,
                           (int64_t)start,
                           (int64_t)end,
                           name,
                           rpd->empty,
                           domain,
                           args};
    return database_numbers(&rpd->database, API, "INSERT OR ROLLBACK INTO rocpd_api", 9, row);
}

static int call_row(struct rpd *rpd, const rtl_api_t *api)
{
    char args[4096];
    rpd_arguments(api, args, sizeof args);
    return api_row(rpd, api_id(api->process, api->correlation), api->process, api->thread,
                   api->start, api->end, string_id(rpd, api->name), rpd->hip,
                   arguments_id(rpd, args));
}

static int range_row(struct rpd *rpd, const rtl_range_t *range)
{
    return api_row(rpd, api_id(range->process, range->id), range->process, range->thread,
                   range->start, lookup_range_end(rpd->export, range), rpd->marker, rpd->roctx,
                   arguments_id(rpd, range->name));
}

static int visit_host(void *state, const struct export_event *event)
{
    struct rpd *rpd = state;
    return event->kind == EXPORT_RANGE ? range_row(rpd, event->range) : call_row(rpd, event->api);
}

/* -1: not known, or the host. */
static int64_t gpu_id(uint32_t gpu)
{
    return gpu == RTL_TRACE_NONE ? -1 : (int64_t)gpu;
}

/* SQLite counts ops as rpd->ops does: no other statement writes any. */
static int op_row(struct rpd *rpd, uint32_t gpu, uint32_t queue, uint64_t sequence, uint64_t start,
                  uint64_t end, int64_t description, int64_t type)
{
    const int64_t row[] = {
        gpu_id(gpu), (int64_t)queue, (int64_t)sequence, (int64_t)start, (int64_t)end, description,
        type};
    ++rpd->ops;
    return database_numbers(&rpd->database, OP,
                            "INSERT OR ROLLBACK INTO rocpd_op(gpuId, queueId, sequenceId, start,"
                            " end, description_id, opType_id)",
                            7, row);
}

static int link_row(struct rpd *rpd, int64_t api)
{
    const int64_t row[] = {api, rpd->ops};
    return database_numbers(&rpd->database, LINK,
                            "INSERT OR ROLLBACK INTO rocpd_api_ops(api_id, op_id)", 2, row);
}

struct handle {
    char text[20];
};

static struct handle handle_text(uint64_t handle)
{
    struct handle text;
    (void)snprintf(text.text, sizeof text.text, "0x%" PRIx64, handle);
    return text;
}

/* RPD has a grid in groups, as hipLaunchKernel has it. */
static int64_t groups(const rtl_kernel_t *kernel, unsigned i)
{
    uint64_t block = kernel->block[i] ? kernel->block[i] : 1;
    return (int64_t)((kernel->grid[i] + block - 1) / block);
}

static int64_t name_of_kernel(struct rpd *rpd, const rtl_kernel_t *kernel)
{
    size_t place = lookup_symbol_place(rpd->export, kernel->process, kernel->symbol);
    if (place >= rpd->symbols)
        return string_id(rpd, kernel->name);
    if (rpd->names[place] == 0)
        rpd->names[place] = string_id(rpd, kernel->name);
    return rpd->names[place];
}

static int launch_of_kernel(struct rpd *rpd, int64_t api, const struct export_event *event)
{
    const rtl_kernel_t *kernel = event->kernel;
    struct handle stream =
        handle_text(lookup_stream(rpd->export, event->process, event->origin.stream));
    return database_row(&rpd->database, KERNEL,
                        "INSERT OR IGNORE INTO rocpd_kernelapi VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                        "itiiiiiiiii", api, stream.text, groups(kernel, 0), groups(kernel, 1),
                        groups(kernel, 2), (int64_t)kernel->block[0], (int64_t)kernel->block[1],
                        (int64_t)kernel->block[2], (int64_t)kernel->group_size,
                        (int64_t)kernel->private_size, name_of_kernel(rpd, kernel));
}

/* What hardware counters counted during the op that was written last. */
static int counter_rows(struct rpd *rpd, const rtl_trace_sample_t *sample)
{
    int status = EXIT_FINE;
    rpd->counts += sample->count;
    for (uint32_t i = 0; i < sample->count && status == EXIT_FINE; ++i)
        status = database_row(&rpd->database, COUNTER,
                              "INSERT INTO rocpd_counter(value, op_id, name_id) VALUES (?, ?, ?)",
                              "dii", (double)sample->values[i], rpd->ops,
                              string_id(rpd, sample->counters[i]->name));
    return status;
}

static int kernel_row(struct rpd *rpd, const struct export_event *event)
{
    const rtl_kernel_t *kernel = event->kernel;
    const char *name;
    int64_t api;
    int status = op_row(rpd, kernel->gpu, kernel->queue, kernel->packet, kernel->start, kernel->end,
                        name_of_kernel(rpd, kernel), rpd->kernel_type);
    if (status == EXIT_FINE && event->sample_count)
        status = counter_rows(rpd, event->samples);
    if (status != EXIT_FINE || !find_call(rpd, event->process, event->origin.call, &api, &name))
        return status;
    status = link_row(rpd, api);
    if (status == EXIT_FINE && kernel->graph == RTL_TRACE_NONE && strstr(name, "Launch"))
        status = launch_of_kernel(rpd, api, event);
    return status;
}

/* Types of ops, and hipMemcpyKind. */
static const struct copy_kind {
    const char *kind, *type;
    int number;
} copy_kinds[] = {
    {"host-to-host", "CopyHostToHost", 0},
    {"host-to-device", "CopyHostToDevice", 1},
    {"device-to-host", "CopyDeviceToHost", 2},
    {"", "CopyDeviceToDevice", 3},
};

static const struct copy_kind *copy_kind(const rtl_copy_t *copy)
{
    const struct copy_kind *kind = copy_kinds;
    while (kind->kind[0] && strcmp(kind->kind, copy->kind) != 0)
        ++kind;
    return kind;
}

static int call_of_copy(struct rpd *rpd, int64_t api, const char *name,
                        const struct export_event *event)
{
    const rtl_copy_t *copy = event->copy;
    struct handle stream =
        handle_text(lookup_stream(rpd->export, event->process, event->origin.stream));
    return database_row(&rpd->database, COPY,
                        "INSERT INTO rocpd_copyapi VALUES (?, ?, ?, 0, 0, ?, '', '', ?, ?, ?, 0)"
                        " ON CONFLICT (api_ptr_id) DO UPDATE SET size = size + excluded.size",
                        "itiiiii", api, stream.text, (int64_t)copy->bytes,
                        (int64_t)copy_kind(copy)->number,
                        gpu_id(lookup_gpu(rpd->export, copy->process, copy->dst)),
                        gpu_id(lookup_gpu(rpd->export, copy->process, copy->src)),
                        (int64_t)(strstr(name, "Async") == NULL));
}

/* A copy whose times nobody took is no op. */
static int copy_row(struct rpd *rpd, const struct export_event *event)
{
    const rtl_copy_t *copy = event->copy;
    const char *name;
    int64_t api;
    if (copy->start == 0 && copy->end == 0)
        return EXIT_FINE;
    int status = op_row(rpd, copy->gpu, copy->queue, copy->ordinal, copy->start, copy->end,
                        rpd->empty, string_id(rpd, copy_kind(copy)->type));
    if (status != EXIT_FINE || !find_call(rpd, event->process, event->origin.call, &api, &name))
        return status;
    status = link_row(rpd, api);
    if (status == EXIT_FINE && strstr(name, "Memcpy"))
        status = call_of_copy(rpd, api, name, event);
    return status;
}

static int visit_device(void *state, const struct export_event *event)
{
    struct rpd *rpd = state;
    return event->kind == EXPORT_KERNEL ? kernel_row(rpd, event) : copy_row(rpd, event);
}

/* About what an event takes, with its part of the indexes. */
static uint64_t weigh(void *state, const struct export_event *event)
{
    enum { OF_API = 50, OF_OP = 34, OF_LINK = 50, OF_LAUNCH = 50, OF_COUNTER = 16 };
    char args[4096];
    (void)state;
    if (event->kind == EXPORT_RANGE)
        return OF_API + 4 * strlen(event->range->name);
    if (event->kind != EXPORT_API) {
        uint64_t bytes = OF_OP + (event->origin.call ? OF_LINK : 0);
        bool replayed = event->kind == EXPORT_KERNEL && event->kernel->graph != RTL_TRACE_NONE;
        bytes += event->origin.call && !replayed ? OF_LAUNCH : 0;
        return bytes + (event->sample_count ? event->samples->count * (uint64_t)OF_COUNTER : 0);
    }
    rpd_arguments(event->api, args, sizeof args);
    return OF_API + 4 * strlen(args);
}

static int write_head(struct rpd *rpd)
{
    const rtl_trace_info_t *info = &rpd->export->info;
    const rtl_symbol_t *symbols;
    if (rtlTraceSymbols(rpd->export->trace, &symbols, &rpd->symbols) != RTL_OK)
        return open_failed(rpd->export->trace, rpd->export->path);
    rpd->names = memory_new(rpd->symbols + 1, sizeof *rpd->names);
    rpd->empty = string_id(rpd, "");
    rpd->kernel_type = string_id(rpd, "KernelExecution");
    rpd->marker = string_id(rpd, "UserMarker");
    rpd->hip = string_id(rpd, "hip");
    rpd->roctx = string_id(rpd, "roctx");
    text_row(rpd, USTRING, rpd->empty, "");
    int status = meta(rpd, "creator", info->creator);
    if (status == EXIT_FINE)
        status = meta(rpd, "host", info->host);
    return status == EXIT_FINE ? meta(rpd, "command", info->command) : status;
}

/* All calls come before all ops, so that an op finds its call: the clock of a device is not so
 * exact that its kernels always begin after their calls. */
static int write_events(struct rpd *rpd)
{
    int status = export_walk(rpd->export, EXPORT_RANGE | EXPORT_API, visit_host, rpd);
    if (status == EXIT_FINE)
        status = database_flush(&rpd->database);
    if (status == EXIT_FINE)
        status = export_walk(rpd->export, EXPORT_COPY | EXPORT_KERNEL, visit_device, rpd);
    return status == EXIT_FINE ? database_flush(&rpd->database) : status;
}

/* Ids of ops, and of what hangs at them, go on from part to part; an op has one call at most. */
static int go_on(struct rpd *rpd)
{
    static const char *const tables[] = {"rocpd_op", "rocpd_api_ops"};
    int status = EXIT_FINE;
    for (size_t i = 0; rpd->ops && status == EXIT_FINE && i < sizeof tables / sizeof *tables; ++i)
        status = database_continue(&rpd->database, tables[i], rpd->ops);
    if (rpd->counts && status == EXIT_FINE)
        status = database_continue(&rpd->database, "rocpd_counter", rpd->counts);
    return status;
}

static int write_rows(struct rpd *rpd, struct parts *parts)
{
    int status = write_head(rpd);
    uint64_t before = database_size(&rpd->database);
    if (status == EXIT_FINE)
        status = go_on(rpd);
    if (status == EXIT_FINE)
        status = parts_next(parts, EXPORT_RANGE | EXPORT_API | EXPORT_COPY | EXPORT_KERNEL,
                            before + OF_INDEXES + sizeof views + sizeof views_of_calls, weigh, rpd);
    if (status == EXIT_FINE)
        status = write_events(rpd);
    if (status == EXIT_FINE)
        status = database_run(&rpd->database, indexes);
    if (status == EXIT_FINE)
        parts_took(parts, database_size(&rpd->database) - before);
    if (status == EXIT_FINE)
        status = database_run(&rpd->database, views);
    return status == EXIT_FINE ? database_run(&rpd->database, views_of_calls) : status;
}

static int write_part(struct rpd *rpd, struct parts *parts)
{
    int status = database_begin(&rpd->database, rpd->export, schema);
    if (status == EXIT_FINE)
        status = write_rows(rpd, parts);
    if (status == EXIT_FINE)
        status = database_end(&rpd->database);
    database_drop(&rpd->database);
    texts_free(&rpd->strings);
    rpd_recent_free(&rpd->recent);
    free(rpd->names);
    rpd->names = NULL;
    return status;
}

static int run(struct export *export)
{
    struct rpd rpd = {.export = export};
    struct parts parts;
    int status = EXIT_FINE;
    parts_begin(&parts, export);
    while (status == EXIT_FINE && parts.left)
        status = write_part(&rpd, &parts);
    parts_end(&parts);
    return status;
}

const struct exporter export_rpd = {"rpd", ".rpd", EXPORT_SPLITS | EXPORT_PER_RANK, run};
