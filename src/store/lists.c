/* Reading the tables of a trace into memory: everything but the kernels. */
#include "store/reader.h"
#include "store/select.h"
#include "store/tables.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STRINGS_BLOCK 65536u

struct rtl_strings {
    struct rtl_strings *next;
    size_t used, size;
    char text[];
};

struct rtl_snapshot_row {
    uint32_t process;
    struct rtl_wire_clock_snapshot snapshot;
};

const char *rtl_trace_string(rtl_trace_t *trace, const char *text)
{
    if (!text || !*text)
        return "";
    size_t size = strlen(text) + 1;
    struct rtl_strings *block = trace->strings;
    if (!block || block->size - block->used < size) {
        size_t room = size > STRINGS_BLOCK ? size : STRINGS_BLOCK;
        block = malloc(sizeof *block + room);
        if (!block)
            return NULL;
        *block = (struct rtl_strings){.next = trace->strings, .size = room};
        trace->strings = block;
    }
    char *copy = block->text + block->used;
    memcpy(copy, text, size);
    block->used += size;
    return copy;
}

static int take_process(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_process_t *process = item;
    process->process = rtl_row_u32(trace, row, 0);
    process->pid = rtl_row_u32(trace, row, 1);
    process->ppid = rtl_row_u32(trace, row, 2);
    process->command = rtl_row_text(trace, row, 3);
    process->host = rtl_row_text(trace, row, 4);
    process->rank = rtl_row_text(trace, row, 5);
    process->mode = rtl_row_text(trace, row, 6);
    process->way = rtl_row_text(trace, row, 7);
    process->library = rtl_row_text(trace, row, 8);
    process->start = rtl_row_u64(row, 9);
    process->end = rtl_row_u64(row, 10);
    process->state = rtl_row_text(trace, row, 11);
    process->torn = rtl_row_u64(row, 12);
    process->title = rtl_row_text(trace, row, 13);
    process->comm = rtl_row_text(trace, row, 14);
    if (!process->command || !process->host || !process->rank || !process->mode || !process->way ||
        !process->library || !process->state || !process->title || !process->comm)
        return -1;
    return rtl_index_put(&trace->process_index, process->process, rtl_list_last(&trace->processes));
}

static int take_agent(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_agent_t *agent = item;
    agent->process = rtl_row_u32(trace, row, 0);
    agent->agent = rtl_row_u32(trace, row, 1);
    agent->gpu = rtl_row_id(trace, row, 2);
    agent->type = rtl_row_text(trace, row, 3);
    agent->name = rtl_row_text(trace, row, 4);
    agent->product = rtl_row_text(trace, row, 5);
    agent->uuid = rtl_row_text(trace, row, 6);
    agent->node = rtl_row_u32(trace, row, 7);
    agent->bdf = rtl_row_u32(trace, row, 8);
    agent->compute_units = rtl_row_u32(trace, row, 9);
    agent->clock_hz = rtl_row_u64(row, 10);
    if (!agent->type || !agent->name || !agent->product || !agent->uuid)
        return -1;
    return rtl_index_put(&trace->agent_index, rtl_index_key(agent->process, agent->agent),
                         rtl_list_last(&trace->agents));
}

static uint32_t gpu_of(const rtl_trace_t *trace, uint32_t process, uint32_t agent)
{
    uint32_t place = rtl_index_get(&trace->agent_index, rtl_index_key(process, agent));
    return place == RTL_INDEX_MISSING ? RTL_TRACE_NONE
                                      : ((const rtl_agent_t *)trace->agents.items)[place].gpu;
}

static int take_queue(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_queue_t *queue = item;
    queue->process = rtl_row_u32(trace, row, 0);
    queue->queue = rtl_row_u32(trace, row, 1);
    queue->agent = rtl_row_u32(trace, row, 2);
    queue->address = rtl_row_u64(row, 3);
    queue->hsa_id = rtl_row_u64(row, 4);
    queue->size = rtl_row_u32(trace, row, 5);
    queue->way = rtl_row_text(trace, row, 6);
    queue->start = rtl_row_u64(row, 7);
    queue->end = rtl_row_u64(row, 8);
    queue->gpu = gpu_of(trace, queue->process, queue->agent);
    if (!queue->way)
        return -1;
    return rtl_index_put(&trace->queue_index, rtl_index_key(queue->process, queue->queue),
                         rtl_list_last(&trace->queues));
}

static int take_symbol(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_symbol_t *symbol = item;
    symbol->process = rtl_row_u32(trace, row, 0);
    symbol->symbol = rtl_row_u32(trace, row, 1);
    symbol->agent = rtl_row_u32(trace, row, 2);
    symbol->kernel_object = rtl_row_u64(row, 3);
    symbol->name = rtl_row_text(trace, row, 4);
    symbol->mangled = rtl_row_mangled(trace, row, 5, symbol->name);
    symbol->kernarg_size = rtl_row_u32(trace, row, 6);
    symbol->group_size = rtl_row_u32(trace, row, 7);
    symbol->private_size = rtl_row_u32(trace, row, 8);
    if (!symbol->name || !symbol->mangled)
        return -1;
    return rtl_index_put(&trace->symbol_index, rtl_index_key(symbol->process, symbol->symbol),
                         rtl_list_last(&trace->symbols));
}

/* The names of a shape: its symbol's, or what can be said without one. */
static int name_shape(rtl_trace_t *trace, struct rtl_shape *shape, uint64_t kernel_object)
{
    uint32_t place =
        rtl_index_get(&trace->symbol_index, rtl_index_key(shape->process, shape->symbol));
    if (shape->symbol != RTL_TRACE_NONE && place != RTL_INDEX_MISSING) {
        const rtl_symbol_t *symbol = (const rtl_symbol_t *)trace->symbols.items + place;
        shape->name = symbol->name;
        shape->mangled = symbol->mangled;
        return 0;
    }
    char name[40];
    (void)snprintf(name, sizeof name, "kernel object 0x%llx", (unsigned long long)kernel_object);
    shape->symbol = RTL_TRACE_NONE;
    shape->name = rtl_trace_string(trace, name);
    shape->mangled = "";
    return shape->name ? 0 : -1;
}

static int take_shape(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct rtl_shape *shape = item;
    shape->process = rtl_row_u32(trace, row, 0);
    shape->shape = rtl_row_u32(trace, row, 1);
    shape->symbol = rtl_row_id(trace, row, 2);
    for (int i = 0; i < 3; i++) {
        shape->grid[i] = rtl_row_u32(trace, row, 4 + i);
        shape->block[i] = rtl_row_u32(trace, row, 7 + i);
    }
    shape->group_size = rtl_row_u32(trace, row, 10);
    shape->private_size = rtl_row_u32(trace, row, 11);
    if (name_shape(trace, shape, rtl_row_u64(row, 3)) != 0)
        return -1;
    return rtl_index_put(&trace->shape_index, rtl_index_key(shape->process, shape->shape),
                         rtl_list_last(&trace->shapes));
}

static int take_snapshot(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct rtl_snapshot_row *snapshot = item;
    snapshot->process = rtl_row_u32(trace, row, 0);
    snapshot->snapshot.system_ns = rtl_row_u64(row, 1);
    snapshot->snapshot.boottime_ns = rtl_row_u64(row, 2);
    snapshot->snapshot.width_ns = rtl_row_u64(row, 3);
    return 0;
}

static int take_note(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_note_t *note = item;
    note->process = rtl_row_u32(trace, row, 0);
    note->queue = rtl_row_id(trace, row, 1);
    note->time = rtl_row_u64(row, 2);
    note->text = rtl_row_text(trace, row, 3);
    return note->text ? 0 : -1;
}

static int take_pause(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_pause_t *pause = item;
    pause->process = rtl_row_u32(trace, row, 0);
    pause->start = rtl_row_u64(row, 1);
    pause->end = rtl_row_u64(row, 2);
    pause->why = rtl_row_text(trace, row, 3);
    return pause->why ? 0 : -1;
}

static int take_account(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    rtl_ledger_t *account = item;
    account->process = rtl_row_u32(trace, row, 0);
    account->queue = rtl_row_u32(trace, row, 1);
    account->packets = rtl_row_u64(row, 2);
    account->seen = rtl_row_u64(row, 3);
    account->skipped = rtl_row_u64(row, 4);
    account->recorded = rtl_row_u64(row, 5);
    account->forwarded = rtl_row_u64(row, 6);
    account->borrowed = rtl_row_u64(row, 7);
    account->helped = rtl_row_u64(row, 8);
    return rtl_index_put(&trace->ledger_index, rtl_index_key(account->process, account->queue),
                         rtl_list_last(&trace->ledger));
}

static rtl_ledger_t *account_of(rtl_trace_t *trace, uint32_t process, uint32_t queue)
{
    uint32_t place = rtl_index_get(&trace->ledger_index, rtl_index_key(process, queue));
    /* A process with more queues than rows has the rest of them in the last row. */
    if (place == RTL_INDEX_MISSING && queue >= RTL_LEDGER_ROWS)
        place = rtl_index_get(&trace->ledger_index, rtl_index_key(process, RTL_LEDGER_ROWS - 1));
    if (place != RTL_INDEX_MISSING)
        return (rtl_ledger_t *)trace->ledger.items + place;
    rtl_ledger_t *account = rtl_list_append(&trace->ledger, sizeof *account);
    if (!account || rtl_index_put(&trace->ledger_index, rtl_index_key(process, queue),
                                  rtl_list_last(&trace->ledger)) != 0)
        return NULL;
    account->process = process;
    account->queue = queue;
    return account;
}

/* Not a list: the row's number goes into its account. */
static int take_loss(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    (void)item;
    const char *reason = (const char *)sqlite3_column_text(row, 2);
    rtl_ledger_t *account =
        account_of(trace, rtl_row_u32(trace, row, 0), rtl_row_u32(trace, row, 1));
    if (!account)
        return -1;
    for (int i = 0; reason && i < RTL_LOSS_REASONS; i++)
        if (strcmp(reason, rtlLossName((rtl_loss_t)i)) == 0)
            account->lost[i] = rtl_row_u64(row, 3);
    return 0;
}

static int take_left_out(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    (void)item;
    rtl_ledger_t *account =
        account_of(trace, rtl_row_u32(trace, row, 0), rtl_row_u32(trace, row, 1));
    if (!account)
        return -1;
    account->stopped = rtl_row_u64(row, 2);
    account->withheld = rtl_row_u64(row, 3);
    return 0;
}

static int take_opaque(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    (void)item;
    rtl_ledger_t *account =
        account_of(trace, rtl_row_u32(trace, row, 0), rtl_row_u32(trace, row, 1));
    const char *what = (const char *)sqlite3_column_text(row, 2);
    if (!account)
        return -1;
    for (int i = 0; what && i < RTL_OPAQUES; i++)
        if (strcmp(what, rtlOpaqueName((rtl_opaque_t)i)) == 0) {
            account->opaque[i] = rtl_row_u64(row, 3);
            account->opaque_of_graphs[i] = rtl_row_u64(row, 4);
        }
    return 0;
}

/* A chunk with what is known of its queue: clock, GPU, counts. */
static int take_chunk(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    struct rtl_chunk_row *chunk = item;
    chunk->number = sqlite3_column_int64(row, 0);
    chunk->chunk = (struct rtl_chunk){
        .process = rtl_row_u32(trace, row, 1),
        .queue = rtl_row_u32(trace, row, 2),
        .kernels = rtl_row_u32(trace, row, 3),
        .packet_min = rtl_row_u64(row, 4),
        .packet_max = rtl_row_u64(row, 5),
        .start_min = rtl_row_u64(row, 6),
        .end_max = rtl_row_u64(row, 7),
        .checksum = rtl_row_u32(trace, row, 8),
    };
    uint32_t process = chunk->chunk.process;
    uint32_t place = rtl_index_get(&trace->queue_index, rtl_index_key(process, chunk->chunk.queue));
    chunk->gpu = RTL_TRACE_NONE;
    if (place != RTL_INDEX_MISSING) {
        rtl_queue_t *queue = (rtl_queue_t *)trace->queues.items + place;
        uint32_t agent = rtl_index_get(&trace->agent_index, rtl_index_key(process, queue->agent));
        queue->kernels += chunk->chunk.kernels;
        chunk->gpu = queue->gpu;
        if (agent != RTL_INDEX_MISSING)
            chunk->clock = (struct rtl_agent_clock *)trace->clocks.items + agent;
    }
    chunk->from = rtl_trace_ns(chunk->clock, chunk->chunk.start_min);
    chunk->to = rtl_trace_ns(chunk->clock, chunk->chunk.end_max);
    trace->info.kernels += chunk->chunk.kernels;
    rtl_ledger_t *account = account_of(trace, process, chunk->chunk.queue);
    if (!account)
        return -1;
    account->stored += chunk->chunk.kernels;
    return 0;
}

/* Not a list: how many copies a queue has. */
static int take_copies(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    (void)item;
    uint32_t process = rtl_row_u32(trace, row, 0);
    uint32_t number = rtl_row_u32(trace, row, 1);
    uint64_t copies = rtl_row_u64(row, 2);
    uint32_t place = rtl_index_get(&trace->queue_index, rtl_index_key(process, number));
    rtl_ledger_t *account = account_of(trace, process, number);
    if (!account)
        return -1;
    if (place != RTL_INDEX_MISSING)
        ((rtl_queue_t *)trace->queues.items)[place].copies += copies;
    account->stored += copies;
    trace->info.copies += copies;
    return 0;
}

/* Clocks. */

static rtl_status_t make_system_lines(rtl_trace_t *trace)
{
    const struct rtl_snapshot_row *rows = trace->snapshots.items;
    struct rtl_wire_clock_snapshot *snapshots =
        calloc(trace->snapshots.count + 1, sizeof *snapshots);
    rtl_status_t status = RTL_OK;
    if (!snapshots)
        return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    const rtl_process_t *processes = trace->processes.items;
    size_t next = 0;
    /* Both are in the order of processes. */
    for (size_t i = 0; i < trace->processes.count && status == RTL_OK; i++) {
        size_t count = 0;
        for (; rows && next < trace->snapshots.count && rows[next].process <= processes[i].process;
             next++)
            if (rows[next].process == processes[i].process)
                snapshots[count++] = rows[next].snapshot;
        struct rtl_line *line = rtl_list_append(&trace->system_lines, sizeof *line);
        if (!line || rtl_clock_make_system(line, snapshots, count) != 0)
            status = rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
    }
    free(snapshots);
    return status;
}

static int take_clock_point(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    (void)item;
    uint32_t place = rtl_index_get(
        &trace->agent_index, rtl_index_key(rtl_row_u32(trace, row, 0), rtl_row_u32(trace, row, 1)));
    if (place == RTL_INDEX_MISSING)
        return 0;
    struct rtl_agent_clock *clock = (struct rtl_agent_clock *)trace->clocks.items + place;
    return rtl_line_add(&clock->ticks, rtl_row_u64(row, 2), rtl_row_u64(row, 3));
}

/* A clock for every agent, without points yet. */
static rtl_status_t make_clocks(rtl_trace_t *trace)
{
    const rtl_agent_t *agents = trace->agents.items;
    for (size_t i = 0; i < trace->agents.count; i++) {
        struct rtl_agent_clock *clock = rtl_list_append(&trace->clocks, sizeof *clock);
        if (!clock)
            return rtl_trace_fail_sqlite(trace, SQLITE_NOMEM);
        uint32_t place = rtl_index_get(&trace->process_index, agents[i].process);
        if (place != RTL_INDEX_MISSING)
            clock->system = (struct rtl_line *)trace->system_lines.items + place;
    }
    return RTL_OK;
}

static void finish_clocks(rtl_trace_t *trace)
{
    const rtl_agent_t *agents = trace->agents.items;
    struct rtl_agent_clock *clocks = trace->clocks.items;
    for (size_t i = 0; i < trace->clocks.count; i++)
        rtl_clock_finish_ticks(&clocks[i].ticks, agents[i].clock_hz);
}

static rtl_status_t load_clocks(rtl_trace_t *trace)
{
    /* Unsigned order: what SQLite sees as negative is above the rest. */
    static const char points_query[] =
        "SELECT process, agent, ticks, system FROM main.clock_points "
        "ORDER BY process, agent, ticks < 0, ticks";
    static const char snapshots_query[] =
        "SELECT process, system, boottime, width "
        "FROM main.clock_brackets ORDER BY process, system < 0, system";
    struct rtl_list none = {0};
    const struct rtl_table snapshots = {snapshots_query, sizeof(struct rtl_snapshot_row),
                                        take_snapshot, &trace->snapshots};
    const struct rtl_table points = {points_query, 1, take_clock_point, &none};
    rtl_status_t status = rtl_table_load(trace, &snapshots);
    if (status == RTL_OK)
        status = make_system_lines(trace);
    if (status == RTL_OK)
        status = make_clocks(trace);
    if (status == RTL_OK)
        status = rtl_table_load(trace, &points);
    free(none.items);
    finish_clocks(trace);
    return status;
}

/* Facts. */

static bool take_basis(int64_t value, uint32_t *basis)
{
    *basis = (uint32_t)value;
    return value >= 0 && value <= UINT32_MAX;
}

static int take_fact(rtl_trace_t *trace, sqlite3_stmt *row, void *item)
{
    (void)item;
    rtl_trace_info_t *info = &trace->info;
    const char *key = (const char *)sqlite3_column_text(row, 0);
    if (!key)
        return 0;
    if (strcmp(key, "creator") == 0)
        info->creator = rtl_row_text(trace, row, 1);
    else if (strcmp(key, "command") == 0)
        info->command = rtl_row_text(trace, row, 1);
    else if (strcmp(key, "host") == 0)
        info->host = rtl_row_text(trace, row, 1);
    else if (strcmp(key, "start") == 0)
        info->start = rtl_row_u64(row, 1);
    else if (strcmp(key, "end") == 0)
        info->end = rtl_row_u64(row, 1);
    else if (strcmp(key, "realtime_offset") == 0)
        info->realtime_offset = sqlite3_column_int64(row, 1);
    else if (strcmp(key, "finished") == 0)
        info->finished = sqlite3_column_int(row, 1) != 0;
    else if (strcmp(key, "exit_status") == 0)
        info->exit_status = sqlite3_column_int(row, 1);
    else if (strcmp(key, "writer_pid") == 0)
        info->writer_pid = rtl_row_u32(trace, row, 1);
    else if (strcmp(key, "writer_start") == 0)
        info->writer_start = rtl_row_u64(row, 1);
    else if (strcmp(key, "failure") == 0)
        info->failure = rtl_row_text(trace, row, 1);
    else if (strcmp(key, "accounted") == 0)
        info->accounted = sqlite3_column_int(row, 1) != 0;
    else if (strcmp(key, "stats") == 0)
        trace->stats.made = take_basis(sqlite3_column_int64(row, 1), &trace->stats.basis);
    else if (strcmp(key, "stats_graphs") == 0)
        trace->stats.graphs = sqlite3_column_int(row, 1) != 0;
    return info->creator && info->command && info->host && info->failure ? 0 : -1;
}

static uint64_t size_of(const char *path, const char *suffix)
{
    struct stat status;
    char name[PATH_MAX + 8];
    (void)snprintf(name, sizeof name, "%s%s", path, suffix);
    return stat(name, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static rtl_status_t load_facts(rtl_trace_t *trace)
{
    struct rtl_list none = {0};
    const struct rtl_table facts = {"SELECT key, value FROM main.meta", 1, take_fact, &none};
    rtl_trace_info_t *info = &trace->info;
    info->creator = info->command = info->host = info->mode = info->failure = "";
    info->exit_status = -1;
    info->bytes = size_of(trace->path, "") + size_of(trace->path, "-wal");
    rtl_status_t status = rtl_table_load(trace, &facts);
    free(none.items);
    if (trace->processes.count) {
        const rtl_process_t *first = trace->processes.items;
        info->mode = first->mode;
        if (!info->command[0]) /* recorded without rtl trace */
            info->command = first->command;
    }
    return status;
}

/* Everything. */

static int by_queue(const void *left, const void *right)
{
    const rtl_ledger_t *a = left;
    const rtl_ledger_t *b = right;
    uint64_t key_a = rtl_index_key(a->process, a->queue);
    uint64_t key_b = rtl_index_key(b->process, b->queue);
    return (key_a > key_b) - (key_a < key_b);
}

/* Of a process; format 1.5 has more. */
#define PROCESS_COLUMNS                                                                            \
    "SELECT process, pid, ppid, command, host, rank, mode, way, library, start, end, state, torn"

static rtl_status_t load_definitions(rtl_trace_t *trace)
{
    static const char processes[] =
        PROCESS_COLUMNS ", title, comm FROM main.processes ORDER BY process";
    static const char processes_before_5[] =
        PROCESS_COLUMNS ", NULL, NULL FROM main.processes ORDER BY process";
    bool titled = rtl_trace_has_generations(trace);
    const struct rtl_table tables[] = {
        {titled ? processes : processes_before_5, sizeof(rtl_process_t), take_process,
         &trace->processes},
        {"SELECT process, agent, gpu, type, name, product, uuid, node, bdf, compute_units, "
         "clock_hz FROM main.agents ORDER BY process, agent",
         sizeof(rtl_agent_t), take_agent, &trace->agents},
        {"SELECT process, queue, agent, address, hsa_id, size, way, start, end FROM main.queues "
         "ORDER BY process, queue",
         sizeof(rtl_queue_t), take_queue, &trace->queues},
        {"SELECT process, symbol, agent, kernel_object, name, mangled, kernarg_size, group_size, "
         "private_size FROM main.symbols ORDER BY process, symbol",
         sizeof(rtl_symbol_t), take_symbol, &trace->symbols},
        {"SELECT process, shape, symbol, kernel_object, grid_x, grid_y, grid_z, block_x, block_y, "
         "block_z, group_size, private_size FROM main.shapes ORDER BY process, shape",
         sizeof(struct rtl_shape), take_shape, &trace->shapes},
        {"SELECT process, queue, time, text FROM main.notes ORDER BY id", sizeof(rtl_note_t),
         take_note, &trace->notes},
        {"SELECT process, queue, packets, seen, skipped, recorded, forwarded, borrowed, helped "
         "FROM main.ledger_rows ORDER BY process, queue",
         sizeof(rtl_ledger_t), take_account, &trace->ledger},
    };
    rtl_status_t status = RTL_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == RTL_OK; i++)
        status = rtl_table_load(trace, &tables[i]);
    return status;
}

/* Before format 1.3 a chunk that was full was stored as soon as it was, and the account of a
 * process that still runs (or ran when its collector was killed) is as old as the last checkpoint:
 * what is in the file was recorded, and seen. */
static void catch_up(rtl_trace_t *trace)
{
    const rtl_process_t *processes = trace->processes.items;
    rtl_ledger_t *accounts = trace->ledger.items;
    for (size_t i = 0; i < trace->ledger.count; i++) {
        rtl_ledger_t *account = &accounts[i];
        uint32_t place = rtl_index_get(&trace->process_index, account->process);
        if (place == RTL_INDEX_MISSING || strcmp(processes[place].state, "running") != 0 ||
            account->seen == 0 || account->recorded >= account->stored)
            continue;
        account->recorded = account->stored;
        uint64_t explained = account->recorded + account->skipped;
        for (unsigned reason = 0; reason < RTL_LOSS_REASONS; reason++)
            explained += account->lost[reason];
        if (account->seen < explained)
            account->seen = explained;
    }
}

static rtl_status_t load_copies(rtl_trace_t *trace)
{
    struct rtl_list none = {0};
    const struct rtl_table copies = {
        "SELECT process, queue, count(*) FROM main.copies GROUP BY process, queue", 1, take_copies,
        &none};
    rtl_status_t status = rtl_table_load(trace, &copies);
    free(none.items);
    return status;
}

static rtl_status_t load_pauses(rtl_trace_t *trace)
{
    const struct rtl_table pauses = {
        "SELECT process, start, end, why FROM main.pauses ORDER BY process, start",
        sizeof(rtl_pause_t), take_pause, &trace->pauses};
    return rtl_trace_has_pauses(trace) ? rtl_table_load(trace, &pauses) : RTL_OK;
}

/* What needs the definitions: losses, chunks and copies. */
static rtl_status_t load_contents(rtl_trace_t *trace)
{
    struct rtl_list none = {0};
    const struct rtl_table losses = {"SELECT process, queue, reason, lost FROM main.ledger_losses",
                                     1, take_loss, &none};
    const struct rtl_table chunks = {
        "SELECT chunk, process, queue, kernels, packet_min, packet_max, "
        "start_min, end_max, checksum FROM main.kernel_chunks ORDER BY chunk",
        sizeof(struct rtl_chunk_row), take_chunk, &trace->chunks};
    const struct rtl_table left_out = {
        "SELECT process, queue, stopped, withheld FROM main.ledger_left_out", 1, take_left_out,
        &none};
    const struct rtl_table opaque = {
        "SELECT process, queue, what, packets, of_graphs FROM main.ledger_opaque", 1, take_opaque,
        &none};
    rtl_status_t status = rtl_table_load(trace, &losses);
    if (status == RTL_OK && rtl_trace_has_kinds(trace))
        status = rtl_table_load(trace, &left_out);
    if (status == RTL_OK && rtl_trace_has_kinds(trace))
        status = rtl_table_load(trace, &opaque);
    free(none.items);
    if (status == RTL_OK)
        status = rtl_table_load(trace, &chunks);
    if (status == RTL_OK && rtl_trace_has_copies(trace))
        status = load_copies(trace);
    if (status == RTL_OK && rtl_trace_has_calls(trace))
        status = rtl_trace_load_calls(trace);
    if (status == RTL_OK)
        status = rtl_trace_load_counters(trace);
    if (status == RTL_OK)
        status = rtl_trace_load_hip_queues(trace);
    catch_up(trace);
    if (trace->ledger.count)
        qsort(trace->ledger.items, trace->ledger.count, sizeof(rtl_ledger_t), by_queue);
    return status;
}

rtl_status_t rtl_trace_load(rtl_trace_t *trace)
{
    rtl_status_t status = load_definitions(trace);
    if (status == RTL_OK)
        status = load_clocks(trace);
    if (status == RTL_OK)
        status = load_facts(trace);
    if (status == RTL_OK)
        status = load_pauses(trace);
    if (status == RTL_OK)
        status = load_contents(trace);
    return status;
}

static void free_lines(rtl_trace_t *trace)
{
    struct rtl_agent_clock *clocks = trace->clocks.items;
    for (size_t i = 0; i < trace->clocks.count; i++)
        rtl_line_free(&clocks[i].ticks);
    struct rtl_line *lines = trace->system_lines.items;
    for (size_t i = 0; i < trace->system_lines.count; i++)
        rtl_line_free(&lines[i]);
}

static void free_strings(struct rtl_trace *trace)
{
    while (trace->strings) {
        struct rtl_strings *next = trace->strings->next;
        free(trace->strings);
        trace->strings = next;
    }
}

void rtl_trace_unload(rtl_trace_t *trace)
{
    free_lines(trace);
    rtl_select_free(trace->select);
    trace->select = NULL;
    rtl_trace_unload_graphs(trace);
    rtl_list_free(&trace->processes);
    rtl_list_free(&trace->agents);
    rtl_list_free(&trace->queues);
    rtl_list_free(&trace->symbols);
    rtl_list_free(&trace->all_symbols);
    rtl_list_free(&trace->ledger);
    rtl_list_free(&trace->kinds);
    rtl_list_free(&trace->notes);
    rtl_list_free(&trace->pauses);
    rtl_list_free(&trace->shapes);
    rtl_list_free(&trace->chunks);
    rtl_list_free(&trace->snapshots);
    rtl_list_free(&trace->system_lines);
    rtl_list_free(&trace->clocks);
    rtl_trace_unload_calls(trace);
    rtl_trace_unload_counters(trace);
    rtl_list_free(&trace->hip_queues);
    rtl_trace_forget_kernels(trace);
    rtl_trace_forget_origins(trace);
    rtl_index_free(&trace->process_index);
    rtl_index_free(&trace->agent_index);
    rtl_index_free(&trace->queue_index);
    rtl_index_free(&trace->symbol_index);
    rtl_index_free(&trace->shape_index);
    rtl_index_free(&trace->ledger_index);
    free_strings(trace);
}
