#include "store/schema.h"

/* Tables that are looked up by (process, id) have that as their key and no rowid. Unsigned 64-bit
 * values are stored as the signed value of the same bits; "none" is NULL. */
const char rtl_schema[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;"

    "CREATE TABLE processes(process INTEGER PRIMARY KEY, pid INTEGER, ppid INTEGER, command TEXT,"
    " host TEXT, rank TEXT, mode TEXT, way TEXT, library TEXT, hsa TEXT, core_table INTEGER,"
    " ext_table INTEGER, start INTEGER, end INTEGER, state TEXT, torn INTEGER, title TEXT,"
    " comm TEXT);"

    "CREATE TABLE agents(process INTEGER, agent INTEGER, gpu INTEGER, type TEXT, name TEXT,"
    " product TEXT, uuid TEXT, node INTEGER, bdf INTEGER, compute_units INTEGER,"
    " clock_hz INTEGER, handle INTEGER, PRIMARY KEY(process, agent)) WITHOUT ROWID;"

    "CREATE TABLE queues(process INTEGER, queue INTEGER, agent INTEGER, address INTEGER,"
    " hsa_id INTEGER, size INTEGER, type INTEGER, way TEXT, start INTEGER, end INTEGER,"
    " PRIMARY KEY(process, queue)) WITHOUT ROWID;"

    /* With a rowid: in a table without one, a row of a thousand bytes takes a page of its own. With
     * an index that has a text, since digests cover no other. */
    "CREATE TABLE symbols(process INTEGER, symbol INTEGER, agent INTEGER, kernel_object INTEGER,"
    " name TEXT, mangled TEXT, kernarg_size INTEGER, group_size INTEGER, private_size INTEGER);"
    "CREATE UNIQUE INDEX symbols_by_number ON symbols(process, symbol);"

    "CREATE TABLE symbol_blocks(block INTEGER PRIMARY KEY, process INTEGER, symbols INTEGER,"
    " bytes INTEGER, symbol_min INTEGER, symbol_max INTEGER, checksum INTEGER, data BLOB);"

    "CREATE TABLE shapes(process INTEGER, shape INTEGER, symbol INTEGER, kernel_object INTEGER,"
    " grid_x INTEGER, grid_y INTEGER, grid_z INTEGER, block_x INTEGER, block_y INTEGER,"
    " block_z INTEGER, group_size INTEGER, private_size INTEGER,"
    " PRIMARY KEY(process, shape)) WITHOUT ROWID;"

    "CREATE TABLE clock_points(process INTEGER, agent INTEGER, ticks INTEGER, system INTEGER,"
    " PRIMARY KEY(process, agent, ticks)) WITHOUT ROWID;"

    "CREATE TABLE clock_brackets(process INTEGER, system INTEGER, monotonic INTEGER,"
    " boottime INTEGER, realtime INTEGER, width INTEGER,"
    " PRIMARY KEY(process, system)) WITHOUT ROWID;"

    "CREATE TABLE kernel_chunks(chunk INTEGER PRIMARY KEY, process INTEGER, queue INTEGER,"
    " kernels INTEGER, packet_min INTEGER, packet_max INTEGER, start_min INTEGER,"
    " end_max INTEGER, checksum INTEGER, data BLOB);"

    "CREATE TABLE copies(id INTEGER PRIMARY KEY, process INTEGER, queue INTEGER, ordinal INTEGER,"
    " start_ticks INTEGER, end_ticks INTEGER, bytes INTEGER, kind TEXT, engine TEXT, src INTEGER,"
    " dst INTEGER, correlation INTEGER);"
    "CREATE INDEX copies_by_time ON copies(process, queue, start_ticks);"

    "CREATE TABLE calls(process INTEGER, call INTEGER, name TEXT, arguments TEXT,"
    " PRIMARY KEY(process, call)) WITHOUT ROWID;"

    "CREATE TABLE api_chunks(chunk INTEGER PRIMARY KEY, process INTEGER, calls INTEGER,"
    " words INTEGER, start_min INTEGER, end_max INTEGER, correlation_min INTEGER,"
    " correlation_max INTEGER, checksum INTEGER, data BLOB);"

    "CREATE TABLE streams(process INTEGER, stream INTEGER, handle INTEGER, generation INTEGER,"
    " name TEXT, created INTEGER, destroyed INTEGER, PRIMARY KEY(process, stream)) WITHOUT ROWID;"

    "CREATE TABLE threads(process INTEGER, thread INTEGER, tid INTEGER, generation INTEGER,"
    " comm TEXT, PRIMARY KEY(process, thread)) WITHOUT ROWID;"

    "CREATE TABLE names(process INTEGER, kind TEXT, handle INTEGER, name TEXT,"
    " PRIMARY KEY(process, kind, handle)) WITHOUT ROWID;"

    "CREATE TABLE ranges(process INTEGER, id INTEGER, thread INTEGER, kind TEXT, name TEXT,"
    " start INTEGER, end INTEGER, parent INTEGER, PRIMARY KEY(process, id)) WITHOUT ROWID;";

/* Apart, because a string literal has its limits (C11 5.2.4.1). */
const char rtl_schema_ledger[] =
    "CREATE TABLE ledger_rows(process INTEGER, queue INTEGER, packets INTEGER, seen INTEGER,"
    " skipped INTEGER, recorded INTEGER, forwarded INTEGER, borrowed INTEGER, helped INTEGER,"
    " PRIMARY KEY(process, queue)) WITHOUT ROWID;"

    "CREATE TABLE ledger_losses(process INTEGER, queue INTEGER, reason TEXT, lost INTEGER,"
    " PRIMARY KEY(process, queue, reason)) WITHOUT ROWID;"

    "CREATE TABLE ledger_left_out(process INTEGER, queue INTEGER, stopped INTEGER,"
    " withheld INTEGER, PRIMARY KEY(process, queue)) WITHOUT ROWID;"

    "CREATE TABLE ledger_opaque(process INTEGER, queue INTEGER, what TEXT, packets INTEGER,"
    " of_graphs INTEGER, PRIMARY KEY(process, queue, what)) WITHOUT ROWID;"

    "CREATE TABLE ledger_kind_rows(process INTEGER, kind TEXT, recorded INTEGER, dropped INTEGER,"
    " waiting INTEGER, stopped INTEGER, withheld INTEGER, PRIMARY KEY(process, kind))"
    " WITHOUT ROWID;"

    "CREATE TABLE ledger_kind_losses(process INTEGER, kind TEXT, reason TEXT, lost INTEGER,"
    " PRIMARY KEY(process, kind, reason)) WITHOUT ROWID;"

    "CREATE TABLE pauses(process INTEGER, start INTEGER, end INTEGER, why TEXT,"
    " PRIMARY KEY(process, start)) WITHOUT ROWID;"

    "CREATE TABLE notes(id INTEGER PRIMARY KEY, process INTEGER, queue INTEGER, time INTEGER,"
    " text TEXT);";

const char rtl_schema_graphs[] =
    "CREATE TABLE graph_rows(process INTEGER, graph INTEGER, generation INTEGER, source TEXT,"
    " nodes INTEGER, exec INTEGER, hip_graph INTEGER, correlation INTEGER, time INTEGER,"
    " flags INTEGER, PRIMARY KEY(process, graph, generation)) WITHOUT ROWID;"

    "CREATE TABLE graph_names(process INTEGER, number INTEGER, name TEXT, mangled TEXT);"
    "CREATE UNIQUE INDEX graph_names_by_number ON graph_names(process, number);"

    "CREATE TABLE graph_node_rows(process INTEGER, graph INTEGER, generation INTEGER,"
    " node INTEGER, type INTEGER, name INTEGER, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,"
    " block_x INTEGER, block_y INTEGER, block_z INTEGER, group_size INTEGER, bytes INTEGER,"
    " parent INTEGER, enabled INTEGER, range INTEGER, dependencies BLOB,"
    " PRIMARY KEY(process, graph, generation, node)) WITHOUT ROWID;"

    "CREATE TABLE graph_plans(process INTEGER, plan INTEGER, graph INTEGER, generation INTEGER,"
    " begins INTEGER, kernels INTEGER, checksum INTEGER, data BLOB,"
    " PRIMARY KEY(process, plan)) WITHOUT ROWID;"

    "CREATE TABLE graph_launch_rows(process INTEGER, launch INTEGER, graph INTEGER,"
    " generation INTEGER, plan INTEGER, head_plan INTEGER, time INTEGER, correlation INTEGER,"
    " range INTEGER, thread INTEGER, queue INTEGER, first INTEGER, packets INTEGER,"
    " kernels INTEGER, recorded INTEGER, unseen INTEGER, clock_queue INTEGER,"
    " start_ticks INTEGER, end_ticks INTEGER, PRIMARY KEY(process, launch)) WITHOUT ROWID;"

    "CREATE TABLE graph_launch_spans(process INTEGER, launch INTEGER, queue INTEGER,"
    " start_ticks INTEGER, end_ticks INTEGER, PRIMARY KEY(process, launch, queue))"
    " WITHOUT ROWID;"

    "CREATE TABLE graph_launch_late(process INTEGER, launch INTEGER, recorded INTEGER,"
    " PRIMARY KEY(process, launch)) WITHOUT ROWID;"

    /* The summary stands before the data: a reader of all summaries does not touch that. */
    "CREATE TABLE launch_chunks(chunk INTEGER PRIMARY KEY, process INTEGER, launches INTEGER,"
    " spans INTEGER, headed INTEGER, launch_min INTEGER, launch_max INTEGER, time_min INTEGER,"
    " time_max INTEGER, correlation_min INTEGER, correlation_max INTEGER,"
    " summary_checksum INTEGER, summary BLOB, checksum INTEGER, data BLOB);"

    /* Beside kernel_chunks and not in it: columns behind its data would be slow to read. */
    "CREATE TABLE kernel_chunk_launches(chunk INTEGER PRIMARY KEY, launch_min INTEGER,"
    " launch_max INTEGER);";

const char rtl_schema_counters[] =
    "CREATE TABLE counting(process INTEGER PRIMARY KEY, mode TEXT, pass INTEGER, passes INTEGER,"
    " metrics TEXT);"

    "CREATE TABLE counters(process INTEGER, counter INTEGER, agent INTEGER, name TEXT,"
    " block INTEGER, event INTEGER, instances INTEGER, pass INTEGER,"
    " PRIMARY KEY(process, counter)) WITHOUT ROWID;"

    "CREATE TABLE sample_chunks(chunk INTEGER PRIMARY KEY, process INTEGER, queue INTEGER,"
    " samples INTEGER, counts INTEGER, owner_min INTEGER, owner_max INTEGER, checksum INTEGER,"
    " data BLOB);"

    /* Its agent may be NULL, so no key has it. */
    "CREATE TABLE uncounted(process INTEGER, agent INTEGER, why TEXT, count INTEGER);"
    "CREATE INDEX uncounted_by_process ON uncounted(process);";

const char rtl_schema_hip[] =
    "CREATE TABLE hip_queues(process INTEGER, queue INTEGER, library TEXT, calls TEXT,"
    " PRIMARY KEY(process, queue)) WITHOUT ROWID;";

/* Its rows are of no process. */
const char rtl_schema_clocks[] =
    "CREATE TABLE clock_exchanges(host TEXT, boot TEXT, peer_host TEXT, peer_boot TEXT,"
    " sent INTEGER, received INTEGER, answered INTEGER, returned INTEGER);";

/* Of a merged trace alone: others have it in processes and meta. */
const char rtl_schema_merged[] = "CREATE TABLE main.process_clocks(process INTEGER PRIMARY KEY,"
                                 " boot TEXT, start INTEGER);";

/* Made anew in traces of an earlier version, too. */
const char rtl_schema_stats[] =
    "CREATE TABLE IF NOT EXISTS main.stat_blocks(block INTEGER PRIMARY KEY, process INTEGER,"
    " groups INTEGER, bins INTEGER, kernels INTEGER, checksum INTEGER, data BLOB);"

    /* Its agent or queue is NULL, so no key has them. */
    "CREATE TABLE IF NOT EXISTS main.stat_spans(process INTEGER, agent INTEGER, queue INTEGER,"
    " kernels INTEGER, start INTEGER, end INTEGER, busy INTEGER, overlap INTEGER,"
    " copied INTEGER);"

    "CREATE TABLE IF NOT EXISTS main.stat_chunks(chunk INTEGER PRIMARY KEY, shapes INTEGER,"
    " busy INTEGER, checksum INTEGER, data BLOB);";

const char rtl_schema_digests[] = "CREATE TABLE IF NOT EXISTS main.digests(name TEXT PRIMARY KEY "
                                  "NOT NULL, rows INTEGER, digest INTEGER)"
                                  " WITHOUT ROWID;";
