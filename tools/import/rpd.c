#include "import/rpd.h"

#include "common/command.h"
#include "common/say.h"
#include "common/show.h"
#include "common/texts.h"
#include "store/beside.h"
#include "store/extent.h"
#include "store/sqlite_path.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Events between two checkpoints: what lies between them is held in memory. */
#define CHECKPOINT_EVENTS 200000u

#define MOST_NESTED   256u
#define NEWEST_SCHEMA 3

/* The number of a call in RPD is unique in the file, in a trace in its process. `rtl export` puts
 * the process above these bits; no other file has ids as large. */
#define CORRELATION_BITS ((UINT64_C(1) << 40) - 1)

/* A range that is open while rows of its thread come. */
struct open_range {
    uint64_t id, end;
};

/* A queue of the file: kernels and copies of one number are two queues here. */
struct queue {
    int64_t pid, gpu, number;
    bool copies;
    bool ordered; /* sequenceId tells its ops apart */
    uint32_t process, queue;
    uint64_t count;
};

struct rpd {
    sqlite3 *db;
    const char *path;
    struct rtl_writer *writer;
    struct rpd_result *result;
    int64_t *pids; /* process - 1 is the place */
    size_t process_count;
    struct queue *queues;
    size_t queue_count, queue_capacity;
    struct texts calls, symbols, shapes; /* with their process before them */
    struct open_range nested[MOST_NESTED];
    unsigned depth;
    int64_t nested_pid, nested_tid;
    unsigned since; /* events after the last checkpoint */
    uint64_t *ends; /* of the processes */
};

static int fail(const struct rpd *rpd)
{
    return say_fail(EXIT_USAGE, "%s could not be read: %s", rpd->path, sqlite3_errmsg(rpd->db));
}

static int no_memory(void)
{
    return say_fail(EXIT_USAGE, "there is not enough memory");
}

static bool has(const struct rpd *rpd, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(rpd->db, "main", table, column, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

/* Runs a query and gives its rows to `take`. */
static int each(struct rpd *rpd, const char *query, int (*take)(struct rpd *, sqlite3_stmt *))
{
    sqlite3_stmt *row = NULL;
    int code;
    int status = EXIT_FINE;
    if (sqlite3_prepare_v2(rpd->db, query, -1, &row, NULL) != SQLITE_OK)
        return fail(rpd);
    while (status == EXIT_FINE && (code = sqlite3_step(row)) == SQLITE_ROW)
        status = take(rpd, row);
    if (status == EXIT_FINE && code != SQLITE_DONE)
        status = fail(rpd);
    (void)sqlite3_finalize(row);
    return status;
}

static uint64_t unsigned_column(sqlite3_stmt *row, int column)
{
    return (uint64_t)sqlite3_column_int64(row, column);
}

static const char *text_column(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text ? text : "";
}

static uint16_t text_length(const char *text)
{
    size_t length = strlen(text);
    return (uint16_t)(length > UINT16_MAX ? UINT16_MAX : length);
}

/* Takes the time of an event into account, and stores what has come so far. */
static int event(struct rpd *rpd, uint32_t process, uint64_t start, uint64_t end)
{
    struct rpd_result *result = rpd->result;
    if (result->start == 0 || start < result->start)
        result->start = start;
    if (end > result->end)
        result->end = end;
    if (end > rpd->ends[process - 1])
        rpd->ends[process - 1] = end;
    if (++rpd->since < CHECKPOINT_EVENTS)
        return EXIT_FINE;
    rpd->since = 0;
    return rtl_writer_checkpoint(rpd->writer) == 0
               ? EXIT_FINE
               : say_fail(EXIT_USAGE, "%s", rtl_writer_error(rpd->writer));
}

/* The file. */

static int take_version(struct rpd *rpd, sqlite3_stmt *row)
{
    rpd->result->version = sqlite3_column_int(row, 0);
    return EXIT_FINE;
}

static int take_host(struct rpd *rpd, sqlite3_stmt *row)
{
    (void)snprintf(rpd->result->host, sizeof rpd->result->host, "%s", text_column(row, 0));
    return EXIT_FINE;
}

static int take_command(struct rpd *rpd, sqlite3_stmt *row)
{
    (void)snprintf(rpd->result->command, sizeof rpd->result->command, "%s", text_column(row, 0));
    return EXIT_FINE;
}

/* A file without a version is older than those. */
static int read_metadata(struct rpd *rpd)
{
    rpd->result->version = 2;
    if (!has(rpd, "rocpd_metadata", "tag"))
        return EXIT_FINE;
    int status =
        each(rpd, "SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'", take_version);
    if (status == EXIT_FINE)
        status = each(rpd, "SELECT value FROM rocpd_metadata WHERE tag = 'host'", take_host);
    if (status == EXIT_FINE)
        status = each(rpd, "SELECT value FROM rocpd_metadata WHERE tag = 'command'", take_command);
    return status;
}

static int check(struct rpd *rpd)
{
    static const char *const columns[][2] = {
        {"rocpd_op", "gpuId"},          {"rocpd_op", "queueId"},    {"rocpd_op", "sequenceId"},
        {"rocpd_op", "description_id"}, {"rocpd_op", "opType_id"},  {"rocpd_string", "string"},
        {"rocpd_api", "apiName_id"},    {"rocpd_api_ops", "op_id"},
    };
    int readable = sqlite3_exec(rpd->db, "SELECT 1 FROM sqlite_master", NULL, NULL, NULL);
    if (readable == SQLITE_NOTADB)
        return say_fail(EXIT_USAGE, "%s is no RPD file: it is no database", rpd->path);
    if (readable != SQLITE_OK)
        return fail(rpd);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; ++i)
        if (!has(rpd, columns[i][0], columns[i][1]))
            return say_fail(EXIT_USAGE, "%s is no RPD file: it has no %s.%s", rpd->path,
                            columns[i][0], columns[i][1]);
    int status = read_metadata(rpd);
    if (status == EXIT_FINE && rpd->result->version > NEWEST_SCHEMA)
        return say_fail(EXIT_USAGE, "%s has schema version %d of RPD; rtl reads up to %d",
                        rpd->path, rpd->result->version, NEWEST_SCHEMA);
    return status;
}

/* Ops with the call that they come from, the least if there are several. An op has the process of
 * its call; one without a call that of a call to the same queue, else of the first call. */
#define LINKS "(SELECT op_id, min(api_id) AS api_id FROM rocpd_api_ops GROUP BY op_id)"
#define OWNERS                                                                                     \
    "(SELECT p.gpuId, p.queueId, min(b.pid) AS pid FROM rocpd_op p JOIN " LINKS                    \
    " m ON m.op_id = p.id JOIN rocpd_api b ON b.id = m.api_id GROUP BY 1, 2)"
#define OPS                                                                                        \
    "(SELECT o.*, l.api_id, coalesce(a.pid, w.pid, (SELECT pid FROM rocpd_api ORDER BY id LIMIT"   \
    " 1), 0) AS pid, d.string AS description, t.string AS type,"                                   \
    " t.string GLOB 'Copy*' AND d.string = '' AS copies FROM rocpd_op o LEFT JOIN " LINKS          \
    " l ON l.op_id = o.id LEFT JOIN rocpd_api a ON a.id = l.api_id LEFT JOIN " OWNERS              \
    " w ON w.gpuId = o.gpuId AND w.queueId = o.queueId"                                            \
    " LEFT JOIN rocpd_string d ON d.id = o.description_id"                                         \
    " LEFT JOIN rocpd_string t ON t.id = o.opType_id)"

/* Processes. */

static uint32_t process_of(const struct rpd *rpd, int64_t pid)
{
    for (size_t i = 0; i < rpd->process_count; ++i)
        if (rpd->pids[i] == pid)
            return (uint32_t)i + 1;
    return 0;
}

static int take_process(struct rpd *rpd, sqlite3_stmt *row)
{
    int64_t pid = sqlite3_column_int64(row, 0);
    size_t count = rpd->process_count + 1;
    int64_t *pids = realloc(rpd->pids, count * sizeof *pids);
    rpd->pids = pids ? pids : rpd->pids;
    uint64_t *ends = realloc(rpd->ends, count * sizeof *ends);
    rpd->ends = ends ? ends : rpd->ends;
    if (!pids || !ends)
        return no_memory();
    const struct rtl_wire_process process = {
        .time_ns = unsigned_column(row, 1),
        .pid = (uint32_t)pid,
        .mode = RTL_MODE_HIP,
        .interception = RTL_INTERCEPTED,
        .command_length = text_length(rpd->result->command),
        .host_length = text_length(rpd->result->host),
    };
    char texts[sizeof rpd->result->command + sizeof rpd->result->host];
    (void)snprintf(texts, sizeof texts, "%s%s", rpd->result->command, rpd->result->host);
    rpd->pids[rpd->process_count] = pid;
    rpd->ends[rpd->process_count] = unsigned_column(row, 1);
    rpd->process_count = count;
    (void)rtl_writer_process(rpd->writer, &process, texts);
    return EXIT_FINE;
}

/* Agents and queues. The times of RPD are ns: an agent's ticks are, without a clock. */

static uint32_t agent_of(int64_t gpu)
{
    return (uint32_t)(gpu + 1);
}

static void write_agent(struct rpd *rpd, uint32_t process, int64_t gpu)
{
    const struct rtl_wire_agent agent = {.clock_hz = 1000000000,
                                         .agent = agent_of(gpu),
                                         .device_type = gpu < 0 ? 0 : 1,
                                         .gpu = gpu < 0 ? RTL_NONE : (uint32_t)gpu,
                                         .name_length = 3};
    rtl_writer_agent(rpd->writer, process, &agent, gpu < 0 ? "CPU" : "GPU");
}

/* Numbers stay where they are free; a second queue of a number gets one that no other has. */
static uint32_t free_number(const struct rpd *rpd, uint32_t process, int64_t wanted)
{
    uint32_t number = wanted >= 0 && wanted < (1 << 20) ? (uint32_t)wanted : 0;
    bool taken;
    do {
        taken = false;
        for (size_t i = 0; i < rpd->queue_count && !taken; ++i)
            taken = rpd->queues[i].process == process && rpd->queues[i].queue == number;
        number += taken;
    } while (taken);
    return number;
}

static int take_queue(struct rpd *rpd, sqlite3_stmt *row)
{
    struct queue queue = {.pid = sqlite3_column_int64(row, 0),
                          .gpu = sqlite3_column_int64(row, 1),
                          .number = sqlite3_column_int64(row, 2),
                          .copies = sqlite3_column_int(row, 3) != 0,
                          .ordered = sqlite3_column_int64(row, 4) == sqlite3_column_int64(row, 5)};
    if (rpd->queue_count == rpd->queue_capacity) {
        size_t capacity = rpd->queue_capacity ? 2 * rpd->queue_capacity : 16;
        struct queue *queues = realloc(rpd->queues, capacity * sizeof *queues);
        if (!queues)
            return no_memory();
        rpd->queues = queues;
        rpd->queue_capacity = capacity;
    }
    queue.process = process_of(rpd, queue.pid);
    queue.queue = free_number(rpd, queue.process, queue.number);
    const struct rtl_wire_queue body = {
        .time_ns = unsigned_column(row, 6),
        .hsa_id = (uint64_t)queue.number,
        .queue = queue.queue,
        .agent = agent_of(queue.gpu),
        .interception = queue.copies ? RTL_COPIES_ONLY : RTL_INTERCEPTED,
    };
    write_agent(rpd, queue.process, queue.gpu);
    rtl_writer_queue(rpd->writer, queue.process, &body);
    rpd->queues[rpd->queue_count++] = queue;
    return EXIT_FINE;
}

static struct queue *queue_of(struct rpd *rpd, int64_t pid, int64_t gpu, int64_t number,
                              bool copies)
{
    for (size_t i = 0; i < rpd->queue_count; ++i) {
        struct queue *queue = &rpd->queues[i];
        if (queue->pid == pid && queue->gpu == gpu && queue->number == number &&
            queue->copies == copies)
            return queue;
    }
    return NULL;
}

/* Host calls and ranges. */

/* The number of a text in its process; `*added` if it is new. */
static uint32_t number_of(struct texts *texts, uint32_t process, const char *text, bool *added)
{
    size_t before = texts->count;
    size_t size = strlen(text) + 16;
    char *key = malloc(size);
    size_t number = TEXTS_NONE;
    if (key) {
        (void)snprintf(key, size, "%u:%s", process, text);
        number = texts_number(texts, key);
        free(key);
    }
    *added = texts->count != before;
    return number == TEXTS_NONE ? RTL_NONE : (uint32_t)number;
}

static uint32_t define_call(struct rpd *rpd, uint32_t process, const char *name)
{
    bool added;
    uint32_t number = number_of(&rpd->calls, process, name, &added);
    const struct rtl_wire_call call = {.call = number, .name_length = text_length(name)};
    if (added)
        rtl_writer_call(rpd->writer, process, &call, name);
    return number;
}

/* Leaves the ranges that are over; rows come by thread, and by start. */
static uint64_t innermost(struct rpd *rpd, int64_t pid, int64_t tid, uint64_t end)
{
    if (pid != rpd->nested_pid || tid != rpd->nested_tid)
        rpd->depth = 0;
    rpd->nested_pid = pid;
    rpd->nested_tid = tid;
    while (rpd->depth && rpd->nested[rpd->depth - 1].end < end)
        --rpd->depth;
    return rpd->depth ? rpd->nested[rpd->depth - 1].id : 0;
}

enum { API_ID, API_PID, API_TID, API_START, API_END, API_NAME, API_TEXT, API_STREAM };

static int take_range(struct rpd *rpd, sqlite3_stmt *row, uint32_t process, uint64_t parent)
{
    const char *name = text_column(row, API_TEXT);
    const struct rtl_wire_range range = {
        .id = unsigned_column(row, API_ID) & CORRELATION_BITS,
        .start_ns = unsigned_column(row, API_START),
        .parent = parent,
        .thread = (uint32_t)unsigned_column(row, API_TID),
        .kind = unsigned_column(row, API_START) == unsigned_column(row, API_END) ? RTL_RANGE_MARK
                                                                                 : RTL_RANGE_PUSH,
        .text_length = text_length(name)};
    const struct rtl_wire_range_end end = {.id = range.id, .end_ns = unsigned_column(row, API_END)};
    rtl_writer_range(rpd->writer, process, &range, name);
    if (range.kind == RTL_RANGE_PUSH) {
        rtl_writer_range_end(rpd->writer, process, &end);
        if (rpd->depth < MOST_NESTED)
            rpd->nested[rpd->depth++] = (struct open_range){range.id, end.end_ns};
    }
    ++rpd->result->ranges;
    return event(rpd, process, range.start_ns, end.end_ns);
}

static int take_api(struct rpd *rpd, sqlite3_stmt *row)
{
    int64_t pid = sqlite3_column_int64(row, API_PID);
    uint32_t process = process_of(rpd, pid);
    uint64_t range =
        innermost(rpd, pid, sqlite3_column_int64(row, API_TID), unsigned_column(row, API_END));
    const char *name = text_column(row, API_NAME);
    if (strcmp(name, "UserMarker") == 0)
        return take_range(rpd, row, process, range);
    bool stream = sqlite3_column_type(row, API_STREAM) != SQLITE_NULL;
    const struct rtl_wire_api api = {
        .start_ns = unsigned_column(row, API_START),
        .end_ns = unsigned_column(row, API_END),
        .correlation = unsigned_column(row, API_ID) & CORRELATION_BITS,
        .range = range,
        .stream = stream ? strtoull(text_column(row, API_STREAM), NULL, 16) : 0,
        .call = define_call(rpd, process, name),
        .thread = (uint32_t)unsigned_column(row, API_TID),
        .flags = stream ? RTL_API_STREAM : 0};
    rtl_writer_api(rpd->writer, process, &api, NULL);
    ++rpd->result->calls;
    return event(rpd, process, api.start_ns, api.end_ns);
}

/* The stream of a call is told where it launched or copied, and of others in their arguments. */
static int read_apis(struct rpd *rpd)
{
    static const struct {
        const char *table, *alias;
    } streams[] = {{"rocpd_kernelapi", "k"}, {"rocpd_copyapi", "c"}, {"rocpd_graphLaunchapi", "g"}};
    sqlite3_str *joins = sqlite3_str_new(NULL);
    sqlite3_str *query = sqlite3_str_new(NULL);
    sqlite3_str_appendall(query, "SELECT a.id, a.pid, a.tid, a.start, a.end, n.string, u.string,"
                                 " coalesce(NULL, NULL");
    for (size_t i = 0; i < sizeof streams / sizeof *streams; ++i) {
        if (!has(rpd, streams[i].table, "stream") || !has(rpd, streams[i].table, "api_ptr_id"))
            continue;
        sqlite3_str_appendf(query, ", %s.stream", streams[i].alias);
        sqlite3_str_appendf(joins, " LEFT JOIN %s %s ON %s.api_ptr_id = a.id", streams[i].table,
                            streams[i].alias, streams[i].alias);
    }
    char *joined = sqlite3_str_finish(joins);
    sqlite3_str_appendf(query,
                        ", CASE WHEN instr('| ' || u.string, '| stream = ') THEN"
                        " substr('| ' || u.string, instr('| ' || u.string, '| stream = ') + 11)"
                        " END) FROM rocpd_api a LEFT JOIN rocpd_string n ON n.id = a.apiName_id"
                        " LEFT JOIN %s u ON u.id = a.args_id%s ORDER BY 2, 3, 4, 5 DESC",
                        has(rpd, "rocpd_ustring", "string") ? "rocpd_ustring" : "rocpd_string",
                        joined ? joined : "");
    char *text = sqlite3_str_finish(query);
    int status = text ? each(rpd, text, take_api) : no_memory();
    sqlite3_free(joined);
    sqlite3_free(text);
    return status;
}

/* Ops. */

enum {
    OP_PID,
    OP_GPU,
    OP_QUEUE,
    OP_SEQUENCE,
    OP_START,
    OP_END,
    OP_API,
    OP_DESCRIPTION,
    OP_TYPE,
    OP_COPIES,
    OP_BYTES,
    OP_GRID,
    OP_BLOCK = OP_GRID + 3,
    OP_GROUP = OP_BLOCK + 3,
    OP_PRIVATE
};

static uint32_t define_symbol(struct rpd *rpd, uint32_t process, const char *name)
{
    bool added;
    uint32_t number = number_of(&rpd->symbols, process, name, &added);
    const struct rtl_wire_symbol symbol = {.symbol = number, .name_length = text_length(name)};
    if (added)
        rtl_writer_symbol(rpd->writer, process, &symbol, name);
    return number;
}

/* RPD has a grid in groups; where no call tells (replays of graphs) it is 0, not known. */
static uint32_t define_shape(struct rpd *rpd, uint32_t process, sqlite3_stmt *row)
{
    bool added;
    char text[200];
    const char *name = text_column(row, OP_DESCRIPTION);
    struct rtl_wire_shape shape = {
        .symbol = define_symbol(rpd, process, name[0] ? name : text_column(row, OP_TYPE)),
        .group_size = (uint32_t)unsigned_column(row, OP_GROUP),
        .private_size = (uint32_t)unsigned_column(row, OP_PRIVATE)};
    for (int i = 0; i < 3; ++i) {
        shape.block[i] = (uint16_t)unsigned_column(row, OP_BLOCK + i);
        shape.grid[i] = (uint32_t)unsigned_column(row, OP_GRID + i) * shape.block[i];
    }
    (void)snprintf(text, sizeof text, "%u %u %u %u %u %u %u %u %u", shape.symbol, shape.grid[0],
                   shape.grid[1], shape.grid[2], shape.block[0], shape.block[1], shape.block[2],
                   shape.group_size, shape.private_size);
    shape.shape = number_of(&rpd->shapes, process, text, &added);
    if (added)
        rtl_writer_shape(rpd->writer, process, &shape);
    return shape.shape;
}

static uint16_t copy_kind(const char *type)
{
    static const struct {
        const char *type;
        uint16_t kind;
    } kinds[] = {{"CopyHostToDevice", RTL_COPY_HOST_TO_DEVICE},
                 {"CopyDeviceToHost", RTL_COPY_DEVICE_TO_HOST},
                 {"CopyHostToHost", RTL_COPY_HOST_TO_HOST}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strcmp(kinds[i].type, type) == 0)
            return kinds[i].kind;
    return RTL_COPY_DEVICE_TO_DEVICE;
}

static int take_copy(struct rpd *rpd, sqlite3_stmt *row, struct queue *queue, uint64_t sequence)
{
    const struct rtl_wire_copy copy = {.ordinal = sequence,
                                       .start = unsigned_column(row, OP_START),
                                       .end = unsigned_column(row, OP_END),
                                       .bytes = unsigned_column(row, OP_BYTES),
                                       .correlation =
                                           unsigned_column(row, OP_API) & CORRELATION_BITS,
                                       .queue = queue->queue,
                                       .src = RTL_NONE,
                                       .dst = RTL_NONE,
                                       .kind = copy_kind(text_column(row, OP_TYPE)),
                                       .engine = RTL_ENGINE_UNKNOWN};
    rtl_writer_copy(rpd->writer, queue->process, &copy);
    ++rpd->result->copies;
    return event(rpd, queue->process, copy.start, copy.end);
}

static int take_op(struct rpd *rpd, sqlite3_stmt *row)
{
    struct queue *queue =
        queue_of(rpd, sqlite3_column_int64(row, OP_PID), sqlite3_column_int64(row, OP_GPU),
                 sqlite3_column_int64(row, OP_QUEUE), sqlite3_column_int(row, OP_COPIES) != 0);
    if (!queue)
        return say_fail(EXIT_USAGE, "%s changed while it was read", rpd->path);
    uint64_t sequence = queue->ordered ? unsigned_column(row, OP_SEQUENCE) : queue->count;
    ++queue->count;
    if (queue->copies)
        return take_copy(rpd, row, queue, sequence);
    const struct rtl_wire_kernel kernel = {.packet = sequence,
                                           .start = unsigned_column(row, OP_START),
                                           .end = unsigned_column(row, OP_END),
                                           .correlation =
                                               unsigned_column(row, OP_API) & CORRELATION_BITS,
                                           .queue = queue->queue,
                                           .shape = define_shape(rpd, queue->process, row),
                                           .launch = RTL_NONE,
                                           .ordinal = RTL_NONE};
    rtl_writer_kernel(rpd->writer, queue->process, &kernel);
    ++rpd->result->kernels;
    return event(rpd, queue->process, kernel.start, kernel.end);
}

/* Sizes that no table of this version has are 0. A call that led to several copies names their
 * sum: the first one gets it. */
static int read_ops(struct rpd *rpd)
{
    bool grids = has(rpd, "rocpd_kernelapi", "gridX") && has(rpd, "rocpd_kernelapi", "api_ptr_id");
    bool bytes = has(rpd, "rocpd_copyapi", "size");
    char *text = sqlite3_mprintf(
        "SELECT o.pid, o.gpuId, o.queueId, o.sequenceId, o.start, o.end, o.api_id, o.description,"
        " o.type, o.copies, %s FROM " OPS " o%s%s ORDER BY o.start",
        grids ? bytes ? "CASE WHEN o.id = (SELECT min(m.op_id) FROM rocpd_api_ops m WHERE"
                        " o.copies AND m.api_id = o.api_id) THEN c.size ELSE 0 END, k.gridX,"
                        " k.gridY, k.gridZ, k.workgroupX, k.workgroupY, k.workgroupZ,"
                        " k.groupSegmentSize, k.privateSegmentSize"
                      : "0, k.gridX, k.gridY, k.gridZ, k.workgroupX, k.workgroupY, k.workgroupZ,"
                        " k.groupSegmentSize, k.privateSegmentSize"
              : "0, 0, 0, 0, 0, 0, 0, 0, 0",
        grids ? " LEFT JOIN rocpd_kernelapi k ON k.api_ptr_id = o.api_id" : "",
        grids && bytes ? " LEFT JOIN rocpd_copyapi c ON c.api_ptr_id = o.api_id" : "");
    int status = text ? each(rpd, text, take_op) : no_memory();
    sqlite3_free(text);
    return status;
}

/* What is left out. */

static int take_count(struct rpd *rpd, sqlite3_stmt *row)
{
    uint64_t *const counts[] = {&rpd->result->monitors, &rpd->result->counters,
                                &rpd->result->frames, &rpd->result->graphs};
    *counts[sqlite3_column_int(row, 0)] = unsigned_column(row, 1);
    return EXIT_FINE;
}

static int count_rest(struct rpd *rpd)
{
    static const char *const tables[] = {"rocpd_monitor", "rocpd_counter", "rocpd_stackframe",
                                         "rocpd_graphLaunchapi"};
    char query[128];
    int status = EXIT_FINE;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == EXIT_FINE; ++i) {
        (void)snprintf(query, sizeof query, "SELECT %zu, count(*) FROM %s", i, tables[i]);
        if (has(rpd, tables[i], NULL))
            status = each(rpd, query, take_count);
    }
    return status;
}

/* RPD keeps no account: what is in the file is all that is known to have been seen. */
static void close_processes(struct rpd *rpd)
{
    for (size_t i = 0; i < rpd->queue_count; ++i) {
        const struct queue *queue = &rpd->queues[i];
        const struct rtl_writer_account account = {
            .packets = queue->count, .seen = queue->count, .recorded = queue->count};
        rtl_writer_ledger(rpd->writer, queue->process, queue->queue, &account);
    }
    for (size_t i = 0; i < rpd->process_count; ++i) {
        char text[512];
        (void)snprintf(text, sizeof text,
                       "imported from an RPD file, schema version %d, which does not tell whether "
                       "kernels are missing",
                       rpd->result->version);
        const struct rtl_wire_note note = {
            .time_ns = rpd->ends[i], .queue = RTL_NONE, .text_length = text_length(text)};
        rtl_writer_note(rpd->writer, (uint32_t)i + 1, &note, text);
        rtl_writer_process_end(rpd->writer, (uint32_t)i + 1, "imported", rpd->ends[i], 0);
    }
}

static int read_all(struct rpd *rpd)
{
    int status = each(rpd,
                      "SELECT pid, min(start) FROM (SELECT pid, start FROM rocpd_api"
                      " UNION ALL SELECT pid, start FROM " OPS ") GROUP BY pid ORDER BY 2, 1",
                      take_process);
    if (status == EXIT_FINE)
        status = each(rpd,
                      "SELECT pid, gpuId, queueId, copies, count(*), count(DISTINCT sequenceId),"
                      " min(start) FROM " OPS " GROUP BY 1, 2, 3, 4 ORDER BY 1, 4, 2, 3",
                      take_queue);
    if (status == EXIT_FINE)
        status = read_apis(rpd);
    if (status == EXIT_FINE)
        status = read_ops(rpd);
    if (status == EXIT_FINE)
        status = count_rest(rpd);
    if (status == EXIT_FINE)
        close_processes(rpd);
    return status;
}

/* SQLite would wait for a FIFO, and take what lies beside the file for a part of it. */
static int may_be_read(const char *path)
{
    char why[RTL_BESIDE_WHY];
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return say_fail(EXIT_USAGE, "%s could not be read: it is not a regular file", path);
    return rtl_beside_is_own(path, why, sizeof why)
               ? EXIT_FINE
               : say_fail(EXIT_USAGE, "%s could not be read: %s", path, why);
}

/* What is cut off SQLite takes for zeroes; what is read is of one moment. */
static int check_extent(struct rpd *rpd)
{
    struct rtl_extent extent = {0};
    if (sqlite3_exec(rpd->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK ||
        rtl_extent_read(rpd->db, rpd->path, &extent) != SQLITE_OK)
        return fail(rpd);
    if (extent.missing)
        return say_fail(EXIT_USAGE, "%s could not be read: its last %s %s missing", rpd->path,
                        show_things(extent.missing, "byte").text, show_are(extent.missing));
    return EXIT_FINE;
}

int rpd_import(const char *path, struct rtl_writer *(*open)(const char *command),
               struct rpd_result *result)
{
    struct rpd rpd = {.path = path, .result = result};
    *result = (struct rpd_result){0};
    int status = may_be_read(path);
    if (status == EXIT_FINE && rtl_sqlite_open(path, &rpd.db, SQLITE_OPEN_READONLY) != SQLITE_OK)
        status = fail(&rpd);
    if (status == EXIT_FINE)
        status = check(&rpd);
    if (status == EXIT_FINE)
        status = check_extent(&rpd);
    if (status == EXIT_FINE) {
        rpd.writer = open(result->command);
        status = rpd.writer ? read_all(&rpd) : EXIT_USAGE;
    }
    (void)sqlite3_close(rpd.db);
    texts_free(&rpd.calls);
    texts_free(&rpd.symbols);
    texts_free(&rpd.shapes);
    free(rpd.pids);
    free(rpd.ends);
    free(rpd.queues);
    return status;
}
