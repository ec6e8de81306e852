#include "export/rocpd_schema.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Tables with their columns, without those that nearly all have: id, guid, extdata. '*' stands for
 * NOT NULL, '>X' for a reference to table X. */
enum { PLAIN = 1, NO_EXTDATA = 2, MANY = 4 };

static const struct table {
    const char *name, *columns;
    /* PLAIN: neither guid nor extdata. MANY: it is filled without types and constraints, which it
     * gets then: to look at them for each row is a tenth of all that is done. */
    unsigned without;
} tables[] = {
    {"metadata", "tag TEXT*, value TEXT*", PLAIN},
    {"string", "string TEXT* UNIQUE ON CONFLICT ABORT", NO_EXTDATA},
    {"info_node",
     "hash BIGINT* UNIQUE, machine_id TEXT* UNIQUE, system_name TEXT, hostname TEXT, release TEXT,"
     " version TEXT, hardware_name TEXT, domain_name TEXT",
     NO_EXTDATA},
    {"info_process",
     "nid INTEGER*>info_node, ppid INTEGER, pid INTEGER*, init BIGINT, fini BIGINT, start BIGINT,"
     " end BIGINT, command TEXT, environment JSONB DEFAULT '{}'*",
     0},
    {"info_thread",
     "nid INTEGER*>info_node, ppid INTEGER, pid INTEGER*>info_process, tid INTEGER*, name TEXT,"
     " start BIGINT, end BIGINT",
     0},
    {"info_agent",
     "nid INTEGER*>info_node, pid INTEGER*>info_process,"
     " type TEXT CHECK(type IN ('CPU', 'GPU', 'NIC')), absolute_index INTEGER,"
     " logical_index INTEGER, type_index INTEGER, uuid INTEGER, name TEXT, model_name TEXT,"
     " vendor_name TEXT, product_name TEXT, user_name TEXT",
     0},
    {"info_queue", "nid INTEGER*>info_node, pid INTEGER*>info_process, name TEXT", 0},
    {"info_stream", "nid INTEGER*>info_node, pid INTEGER*>info_process, name TEXT", 0},
    {"info_pmc",
     "nid INTEGER*>info_node, pid INTEGER*>info_process, agent_id INTEGER>info_agent,"
     " target_arch TEXT CHECK(target_arch IN ('CPU', 'GPU')), event_code INT, instance_id INTEGER,"
     " name TEXT*, symbol TEXT*, description TEXT, long_description TEXT DEFAULT '',"
     " component TEXT, units TEXT DEFAULT '',"
     " value_type TEXT CHECK(value_type IN ('ABS', 'ACCUM', 'RELATIVE')), block TEXT,"
     " expression TEXT, is_constant INTEGER, is_derived INTEGER",
     0},
    {"info_code_object",
     "nid INTEGER*>info_node, pid INTEGER*>info_process, agent_id INTEGER>info_agent, uri TEXT,"
     " load_base BIGINT, load_size BIGINT, load_delta BIGINT,"
     " storage_type TEXT CHECK(storage_type IN ('FILE', 'MEMORY'))",
     0},
    {"info_kernel_symbol",
     "nid INTEGER*>info_node, pid INTEGER*>info_process, code_object_id INTEGER*>info_code_object,"
     " kernel_name TEXT, display_name TEXT, kernel_object INTEGER, kernarg_segment_size INTEGER,"
     " kernarg_segment_alignment INTEGER, group_segment_size INTEGER,"
     " private_segment_size INTEGER, sgpr_count INTEGER, arch_vgpr_count INTEGER,"
     " accum_vgpr_count INTEGER",
     0},
    {"track",
     "nid INTEGER*>info_node, pid INTEGER>info_process, tid INTEGER>info_thread,"
     " name_id INTEGER>string",
     0},
    {"event",
     "category_id INTEGER>string, stack_id INTEGER, parent_stack_id INTEGER,"
     " correlation_id INTEGER, call_stack JSONB DEFAULT '{}'*, line_info JSONB DEFAULT '{}'*",
     MANY},
    {"arg", "event_id INTEGER*>event, position INTEGER*, type TEXT*, name TEXT*, value TEXT", MANY},
    {"pmc_event", "event_id INTEGER>event, pmc_id INTEGER*>info_pmc, value REAL DEFAULT 0.0", 0},
    {"region",
     "nid INTEGER*>info_node, pid INTEGER*>info_process, tid INTEGER*>info_thread, start BIGINT*,"
     " end BIGINT*, name_id INTEGER*>string, event_id INTEGER>event",
     MANY},
    {"sample", "track_id INTEGER*>track, timestamp BIGINT*, event_id INTEGER>event", 0},
    {"kernel_dispatch",
     "nid INTEGER*>info_node, pid INTEGER*>info_process, tid INTEGER>info_thread,"
     " agent_id INTEGER*>info_agent, kernel_id INTEGER*>info_kernel_symbol, dispatch_id INTEGER*,"
     " queue_id INTEGER*>info_queue, stream_id INTEGER*>info_stream, start BIGINT*, end BIGINT*,"
     " private_segment_size INTEGER, group_segment_size INTEGER, workgroup_size_x INTEGER*,"
     " workgroup_size_y INTEGER*, workgroup_size_z INTEGER*, grid_size_x INTEGER*,"
     " grid_size_y INTEGER*, grid_size_z INTEGER*, graph_exec_id INTEGER* DEFAULT 0,"
     " graph_node_id INTEGER* DEFAULT 0, region_name_id INTEGER>string, event_id INTEGER>event",
     MANY},
    {"memory_copy",
     "nid INTEGER*>info_node, pid INTEGER*>info_process, tid INTEGER>info_thread, start BIGINT*,"
     " end BIGINT*, name_id INTEGER*>string, dst_agent_id INTEGER>info_agent, dst_address INTEGER,"
     " src_agent_id INTEGER>info_agent, src_address INTEGER, size INTEGER*,"
     " queue_id INTEGER>info_queue, stream_id INTEGER>info_stream,"
     " graph_exec_id INTEGER* DEFAULT 0, graph_node_id INTEGER* DEFAULT 0,"
     " region_name_id INTEGER>string, event_id INTEGER>event",
     0},
    {"memory_allocate",
     "nid INTEGER*>info_node, pid INTEGER*>info_process, tid INTEGER>info_thread,"
     " agent_id INTEGER>info_agent,"
     " type TEXT CHECK(type IN ('ALLOC', 'FREE', 'REALLOC', 'RECLAIM')),"
     " level TEXT CHECK(level IN ('REAL', 'VIRTUAL', 'SCRATCH')), start BIGINT*, end BIGINT*,"
     " address INTEGER, size INTEGER*, queue_id INTEGER>info_queue,"
     " stream_id INTEGER>info_stream, event_id INTEGER>event",
     0},
    {"graph_launch",
     "nid INTEGER*>info_node, pid INTEGER*>info_process, tid INTEGER>info_thread,"
     " agent_id INTEGER>info_agent, queue_id INTEGER>info_queue, start BIGINT*, end BIGINT*,"
     " graph_exec_id INTEGER*, kernel_dispatch_count INTEGER* DEFAULT 0, event_id INTEGER>event",
     0},
};

enum { TABLES = sizeof tables / sizeof tables[0] };

#define CATEGORY                                                                                   \
    "(SELECT c.string FROM rocpd_string c WHERE c.id = e.category_id AND c.guid = e.guid)"         \
    " AS category, "
#define STACK "e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id"

/* The views that its tools ask: a table m and what it is joined with, "ALIAS=TABLE.COLUMN" where
 * COLUMN of m has the id; a '?' before it: rows without are kept. */
static const struct view {
    const char *name, *columns, *table, *joins;
} views[] = {
    {"processes",
     "n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release,"
     " n.version AS system_version, m.guid, m.ppid, m.pid, m.init, m.start, m.end, m.fini,"
     " m.command",
     "info_process", "n=info_node.nid"},
    {"threads",
     "n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release,"
     " n.version AS system_version, p.guid, p.ppid, p.pid, m.tid, m.start, m.end, m.name",
     "info_thread", "p=info_process.pid n=info_node.nid"},
    {"code_objects",
     "m.id, m.guid, m.nid, p.pid, a.absolute_index AS agent_abs_index, m.uri, m.load_base,"
     " m.load_size, m.load_delta, m.storage_type AS storage_type_str,"
     " json_extract(m.extdata, '$.size') AS code_object_size,"
     " json_extract(m.extdata, '$.storage_type') AS storage_type,"
     " json_extract(m.extdata, '$.memory_base') AS memory_base,"
     " json_extract(m.extdata, '$.memory_size') AS memory_size",
     "info_code_object", "a=info_agent.agent_id p=info_process.pid"},
    {"kernel_symbols",
     "m.id, m.guid, m.nid, p.pid, m.code_object_id, m.kernel_name, m.display_name,"
     " m.kernel_object, m.kernarg_segment_size, m.kernarg_segment_alignment,"
     " m.group_segment_size, m.private_segment_size, m.sgpr_count, m.arch_vgpr_count,"
     " m.accum_vgpr_count, json_extract(m.extdata, '$.size') AS kernel_symbol_size,"
     " json_extract(m.extdata, '$.kernel_id') AS kernel_id,"
     " json_extract(m.extdata, '$.kernel_code_entry_byte_offset')"
     " AS kernel_code_entry_byte_offset,"
     " json_extract(m.extdata, '$.formatted_kernel_name') AS formatted_kernel_name,"
     " json_extract(m.extdata, '$.demangled_kernel_name') AS demangled_kernel_name,"
     " json_extract(m.extdata, '$.truncated_kernel_name') AS truncated_kernel_name,"
     " json_extract(m.extdata, '$.kernel_address.handle') AS kernel_address",
     "info_kernel_symbol", "p=info_process.pid"},
    {"regions",
     "m.id, m.guid, " CATEGORY "s.string AS name, m.nid, p.pid, t.tid, m.start, m.end,"
     " m.end - m.start AS duration, m.event_id, " STACK ", e.extdata, e.call_stack, e.line_info",
     "region", "e=event.event_id s=string.name_id p=info_process.pid t=info_thread.tid"},
    {"events_args",
     "e.id AS event_id, " CATEGORY "e.stack_id, e.parent_stack_id, e.correlation_id,"
     " m.position AS arg_position, m.type AS arg_type, m.name AS arg_name, m.value AS arg_value,"
     " e.call_stack, e.line_info, m.extdata",
     "arg", "e=event.event_id"},
    {"kernels",
     "m.id, m.guid, t.tid, " CATEGORY "r.string AS region, y.display_name AS name, m.nid, p.pid,"
     " a.absolute_index AS agent_abs_index, a.logical_index AS agent_log_index,"
     " a.type_index AS agent_type_index, a.type AS agent_type, y.code_object_id, m.kernel_id,"
     " m.dispatch_id, m.stream_id, m.queue_id, q.name AS queue, s.name AS stream, m.start, m.end,"
     " m.end - m.start AS duration, m.grid_size_x AS grid_x, m.grid_size_y AS grid_y,"
     " m.grid_size_z AS grid_z, m.workgroup_size_x AS workgroup_x,"
     " m.workgroup_size_y AS workgroup_y, m.workgroup_size_z AS workgroup_z,"
     " m.group_segment_size AS lds_size, m.private_segment_size AS scratch_size,"
     " y.arch_vgpr_count AS vgpr_count, y.accum_vgpr_count, y.sgpr_count,"
     " y.group_segment_size AS static_lds_size,"
     " y.private_segment_size AS static_scratch_size, m.event_id, " STACK ", m.graph_exec_id,"
     " m.graph_node_id",
     "kernel_dispatch",
     "a=info_agent.agent_id e=event.event_id r=string.region_name_id"
     " y=info_kernel_symbol.kernel_id ?s=info_stream.stream_id ?q=info_queue.queue_id"
     " p=info_process.pid t=info_thread.tid"},
    {"pmc_info",
     "m.id, m.guid, m.nid, p.pid, a.absolute_index AS agent_abs_index, m.is_constant,"
     " m.is_derived, m.name, m.description, m.block, m.expression",
     "info_pmc", "a=info_agent.agent_id p=info_process.pid"},
    {"memory_copies",
     "m.id, m.guid, " CATEGORY "m.nid, p.pid, t.tid, m.start, m.end, m.end - m.start AS duration,"
     " n.string AS name, r.string AS region_name, m.stream_id, m.queue_id, m.graph_exec_id,"
     " m.graph_node_id, s.name AS stream_name,"
     " q.name AS queue_name, m.size, d.name AS dst_device,"
     " d.absolute_index AS dst_agent_abs_index, d.logical_index AS dst_agent_log_index,"
     " d.type_index AS dst_agent_type_index, d.type AS dst_agent_type, m.dst_address,"
     " o.name AS src_device, o.absolute_index AS src_agent_abs_index,"
     " o.logical_index AS src_agent_log_index, o.type_index AS src_agent_type_index,"
     " o.type AS src_agent_type, m.src_address, " STACK,
     "memory_copy",
     "n=string.name_id ?r=string.region_name_id d=info_agent.dst_agent_id"
     " o=info_agent.src_agent_id ?q=info_queue.queue_id ?s=info_stream.stream_id"
     " e=event.event_id p=info_process.pid t=info_thread.tid"},
    {"memory_allocations",
     "m.id, m.guid, " CATEGORY "m.nid, p.pid, t.tid, m.start, m.end, m.end - m.start AS duration,"
     " m.type, m.level, a.name AS agent_name, a.absolute_index AS agent_abs_index,"
     " a.logical_index AS agent_log_index, a.type_index AS agent_type_index,"
     " a.type AS agent_type, m.address, m.size, m.queue_id, q.name AS queue_name, m.stream_id,"
     " s.name AS stream_name, " STACK,
     "memory_allocate",
     "?a=info_agent.agent_id ?q=info_queue.queue_id ?s=info_stream.stream_id e=event.event_id"
     " p=info_process.pid t=info_thread.tid"},
    {"graph_launches",
     "m.id, m.guid, m.nid, p.pid, t.tid, m.agent_id, a.absolute_index AS agent_abs_index,"
     " a.logical_index AS agent_log_index, a.type_index AS agent_type_index,"
     " a.type AS agent_type, m.queue_id, q.name AS queue, 'Graph Execution' AS name, m.start,"
     " m.end, m.end - m.start AS duration, m.graph_exec_id, m.kernel_dispatch_count,"
     " m.event_id, " STACK,
     "graph_launch",
     "?a=info_agent.agent_id ?q=info_queue.queue_id e=event.event_id p=info_process.pid"
     " t=info_thread.tid"},
};

enum { VIEWS = sizeof views / sizeof views[0] };

/* What was counted, with the kernel that has the same event. */
#define COUNTED                                                                                    \
    " FROM rocpd_pmc_event m JOIN rocpd_info_pmc i ON i.id = m.pmc_id AND i.guid = m.guid"         \
    " JOIN rocpd_event e ON e.id = m.event_id AND e.guid = m.guid"                                 \
    " JOIN rocpd_kernel_dispatch k ON k.event_id = m.event_id AND k.guid = m.guid"                 \
    " JOIN rocpd_info_kernel_symbol y ON y.id = k.kernel_id AND y.guid = k.guid"                   \
    " JOIN rocpd_info_process p ON p.id = k.pid AND p.guid = k.guid"

/* A sample is an instant on a track, which has its name, process and thread. */
#define SAMPLE "SELECT m.id, m.guid, " CATEGORY "n.string AS name, k.nid, p.pid, t.tid, "
#define SAMPLED                                                                                    \
    " m.event_id, " STACK ", e.extdata, e.call_stack, e.line_info FROM rocpd_sample m"             \
    " JOIN rocpd_track k ON k.id = m.track_id AND k.guid = m.guid"                                 \
    " JOIN rocpd_event e ON e.id = m.event_id AND e.guid = m.guid"                                 \
    " JOIN rocpd_info_process p ON p.id = k.pid AND p.guid = k.guid"                               \
    " JOIN rocpd_info_thread t ON t.id = k.tid AND t.guid = k.guid"                                \
    " LEFT JOIN rocpd_string n ON n.id = k.name_id AND n.guid = k.guid"

/* Those that are more than joins with the table that they are of. */
static const char others[] =
    "CREATE VIEW samples AS " SAMPLE "m.timestamp," SAMPLED ";"
    "CREATE VIEW sample_regions AS " SAMPLE
    "m.timestamp AS start, m.timestamp AS end, 0 AS duration," SAMPLED ";"
    "CREATE VIEW scratch_memory AS SELECT v.id, v.guid, v.nid, v.pid, v.type AS operation,"
    " v.agent_name, v.agent_abs_index, v.agent_log_index, v.agent_type_index, v.agent_type,"
    " v.queue_id, v.tid, json_extract(m.extdata, '$.flags') AS alloc_flags, v.start, v.end,"
    " v.duration, v.size, v.address, e.correlation_id, v.stack_id, v.parent_stack_id, v.corr_id,"
    " v.category, e.extdata AS event_extdata FROM memory_allocations v"
    " JOIN rocpd_memory_allocate m ON m.id = v.id AND m.guid = v.guid"
    " JOIN rocpd_event e ON e.id = m.event_id AND e.guid = m.guid WHERE v.level = 'SCRATCH'"
    " ORDER BY v.start;"
    "CREATE VIEW stream_args AS SELECT m.id AS argument_id, m.event_id,"
    " m.position AS arg_position, m.type AS arg_type, m.value AS arg_value, s.id AS stream_id,"
    " s.nid, p.pid, s.name AS stream_name, s.extdata FROM rocpd_arg m JOIN rocpd_info_stream s"
    " ON s.id = json_extract(m.extdata, '$.stream_id') AND s.guid = m.guid"
    " JOIN rocpd_info_process p ON p.id = s.pid AND p.guid = s.guid WHERE m.name = 'stream';";

/* And those that add up. */
static const char sums[] =
    "CREATE VIEW pmc_events AS SELECT m.id, m.guid, m.pmc_id, e.id AS event_id, " CATEGORY
    "y.display_name AS name, k.nid, p.pid, k.dispatch_id, k.start, k.end,"
    " k.end - k.start AS duration, i.name AS counter_name, m.value AS counter_value" COUNTED ";"
    "CREATE VIEW counters_collection AS SELECT min(m.id) AS id, m.guid, k.dispatch_id,"
    " k.kernel_id, e.id AS event_id, e.correlation_id, e.stack_id, e.parent_stack_id, p.pid,"
    " t.tid, k.agent_id, a.absolute_index AS agent_abs_index,"
    " a.logical_index AS agent_log_index, a.type_index AS agent_type_index,"
    " a.type AS agent_type, k.queue_id, k.grid_size_x, k.grid_size_y, k.grid_size_z,"
    " k.grid_size_x * k.grid_size_y * k.grid_size_z AS grid_size, y.display_name AS kernel_name,"
    " r.string AS kernel_region, k.workgroup_size_x, k.workgroup_size_y, k.workgroup_size_z,"
    " k.workgroup_size_x * k.workgroup_size_y * k.workgroup_size_z AS workgroup_size,"
    " k.group_segment_size AS lds_block_size, k.private_segment_size AS scratch_size,"
    " y.arch_vgpr_count AS vgpr_count, y.accum_vgpr_count, y.sgpr_count,"
    " i.name AS counter_name, i.symbol AS counter_symbol, i.component, i.description, i.block,"
    " i.expression, i.value_type, i.id AS counter_id, sum(m.value) AS value, k.start, k.end,"
    " i.is_constant, i.is_derived, k.end - k.start AS duration, " CATEGORY
    "k.nid, e.extdata, y.code_object_id" COUNTED
    " JOIN rocpd_info_agent a ON a.id = k.agent_id AND a.guid = k.guid"
    " JOIN rocpd_info_thread t ON t.id = k.tid AND t.guid = k.guid"
    " LEFT JOIN rocpd_string r ON r.id = k.region_name_id AND r.guid = k.guid"
    " GROUP BY m.guid, k.dispatch_id, i.name, k.agent_id;"
    "CREATE VIEW regions_and_samples AS SELECT * FROM regions"
    " UNION ALL SELECT * FROM sample_regions;"
    "CREATE VIEW region_args AS SELECT r.id, r.guid, r.nid, r.pid, a.type, a.name, a.value"
    " FROM regions r JOIN rocpd_arg a ON a.event_id = r.event_id AND a.guid = r.guid;"
    "CREATE VIEW top_kernels AS SELECT name, count(*) AS total_calls,"
    " sum(duration) / 1000.0 AS total_duration, sum(duration) / count(*) / 1000.0 AS average,"
    " sum(duration) * 100.0 / (SELECT sum(end - start) FROM rocpd_kernel_dispatch) AS percentage"
    " FROM kernels GROUP BY name ORDER BY total_duration DESC;"
    "CREATE VIEW top AS WITH times AS (SELECT name, duration FROM kernels"
    " UNION ALL SELECT name, duration FROM memory_copies"
    " UNION ALL SELECT name, duration FROM regions)"
    " SELECT name, count(*) AS total_calls, sum(duration) / 1000.0 AS total_duration,"
    " sum(duration) / count(*) / 1000.0 AS average,"
    " sum(duration) * 100.0 / (SELECT sum(duration) FROM times) AS percentage"
    " FROM times GROUP BY name ORDER BY total_duration DESC;"
    "CREATE VIEW busy AS WITH times(agent_id, start, end) AS (SELECT agent_id, start, end"
    " FROM rocpd_kernel_dispatch UNION ALL SELECT dst_agent_id, start, end"
    " FROM rocpd_memory_copy), wall AS (SELECT max(end) - min(start) AS WallTime FROM times)"
    " SELECT t.agent_id, a.type, sum(t.end - t.start) AS GpuTime, WallTime,"
    " sum(t.end - t.start) * 1.0 / WallTime AS Busy FROM times t"
    " JOIN rocpd_info_agent a ON a.id = t.agent_id, wall GROUP BY t.agent_id;";

/* Writes columns as SQL: a '*' is NOT NULL, a '>' begins the name of a table. */
static void append_columns(sqlite3_str *sql, const char *columns, const char *suffix)
{
    for (const char *at = columns; *at; ++at) {
        size_t name = strcspn(at + 1, ",");
        if (*at == '*') {
            sqlite3_str_appendall(sql, " NOT NULL");
        } else if (*at == '>') {
            sqlite3_str_appendf(sql, " REFERENCES \"rocpd_%.*s%s\"(id) ON UPDATE CASCADE",
                                (int)name, at + 1, suffix);
            at += name;
        } else {
            sqlite3_str_append(sql, at, 1);
        }
    }
}

/* Writes their names and defaults alone. */
static void append_bare_columns(sqlite3_str *sql, const char *columns)
{
    for (const char *at = columns; *at;) {
        size_t length = strcspn(at, ",");
        const char *given = strstr(at, " DEFAULT ");
        sqlite3_str_append(sql, at, (int)strcspn(at, " *"));
        if (given && given < at + length) {
            size_t value = strcspn(given + strlen(" DEFAULT "), ",*");
            sqlite3_str_append(sql, given, (int)(strlen(" DEFAULT ") + value));
        }
        at += length;
        size_t comma = strspn(at, ", ");
        sqlite3_str_append(sql, at, (int)comma);
        at += comma;
    }
}

static void append_table(sqlite3_str *sql, const struct table *table, const char *guid,
                         const char *suffix, bool bare)
{
    bool described = table->without != PLAIN;
    sqlite3_str_appendf(
        sql, "CREATE TABLE \"rocpd_%s%s\"(id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, ",
        table->name, suffix);
    if (described)
        sqlite3_str_appendf(sql, "guid%s DEFAULT %Q%s, ", bare ? "" : " TEXT", guid,
                            bare ? "" : " NOT NULL");
    if (bare)
        append_bare_columns(sql, table->columns);
    else
        append_columns(sql, table->columns, suffix);
    if (described && table->without != NO_EXTDATA)
        sqlite3_str_appendf(sql, ", extdata%s DEFAULT '{}'%s", bare ? "" : " JSONB",
                            bare ? "" : " NOT NULL");
    sqlite3_str_appendchar(sql, 1, ')');
}

char *rocpd_schema_tables(const char *guid)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    for (size_t i = 0; i < TABLES; ++i) {
        append_table(sql, &tables[i], guid, "", tables[i].without == MANY);
        sqlite3_str_appendchar(sql, 1, ';');
    }
    return sqlite3_str_finish(sql);
}

/* The way that SQLite's manual has for constraints of a table with rows (ALTER TABLE, "making other
 * kinds of table schema changes"). */
static void append_constraints(sqlite3_str *sql, const struct table *table, const char *guid,
                               const char *suffix)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    append_table(text, table, guid, suffix, false);
    char *whole = sqlite3_str_finish(text);
    sqlite3_str_appendf(sql, "UPDATE sqlite_schema SET sql = %Q WHERE name = 'rocpd_%s%s';",
                        whole ? whole : "", table->name, suffix);
    sqlite3_free(whole);
}

char *rocpd_schema_names(const char *guid, const char *suffix)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    for (size_t i = 0; i < TABLES; ++i)
        sqlite3_str_appendf(sql, "ALTER TABLE rocpd_%s RENAME TO \"rocpd_%s%s\";", tables[i].name,
                            tables[i].name, suffix);
    sqlite3_str_appendall(sql, "PRAGMA writable_schema=ON;");
    for (size_t i = 0; i < TABLES; ++i)
        if (tables[i].without == MANY)
            append_constraints(sql, &tables[i], guid, suffix);
    sqlite3_str_appendall(sql, "PRAGMA writable_schema=RESET;");
    for (size_t i = 0; i < TABLES; ++i)
        sqlite3_str_appendf(sql, "CREATE VIEW rocpd_%s AS SELECT * FROM \"rocpd_%s%s\";",
                            tables[i].name, tables[i].name, suffix);
    return sqlite3_str_finish(sql);
}

static void append_join(sqlite3_str *sql, const char *join)
{
    char alias[2];
    char table[32];
    char column[32];
    bool optional = join[0] == '?';
    if (sscanf(join + optional, "%1[a-z]=%31[a-z_].%31[a-z_]", alias, table, column) == 3)
        sqlite3_str_appendf(sql, "%s JOIN rocpd_%s %s ON %s.id = m.%s AND %s.guid = m.guid",
                            optional ? " LEFT" : "", table, alias, alias, column, alias);
}

char *rocpd_schema_views(void)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    for (size_t i = 0; i < VIEWS; ++i) {
        sqlite3_str_appendf(sql, "CREATE VIEW %s AS SELECT %s FROM rocpd_%s m", views[i].name,
                            views[i].columns, views[i].table);
        for (const char *join = views[i].joins; join; join = strchr(join, ' ')) {
            join += *join == ' ';
            append_join(sql, join);
        }
        sqlite3_str_appendall(sql, ";");
    }
    sqlite3_str_appendall(sql, others);
    sqlite3_str_appendall(sql, sums);
    return sqlite3_str_finish(sql);
}
