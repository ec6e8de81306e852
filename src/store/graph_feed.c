#include "store/graph_feed.h"

#include "common/index.h"
#include "graph/match.h"
#include "store/checksum.h"
#include "store/graph_plan.h"
#include "store/text.h"

#include <stdlib.h>
#include <string.h>

enum statement {
    INSERT_GRAPH,
    INSERT_NODE,
    INSERT_NAME,
    INSERT_PLAN,
    INSERT_LAUNCH,
    INSERT_LATE,
    INSERT_SPAN,
    STATEMENTS
};

/* A process with its registry. */
struct rtl_graph_process {
    struct rtl_graph_feed *feed;
    uint32_t process;
    struct rtl_graphs *graphs;
    struct rtl_index names; /* number by hash */
    uint32_t name_count;
};

static void give(struct rtl_graph_process *it, enum rtl_graph_item type, const void *body,
                 size_t body_size, const void *rest, size_t rest_size)
{
    it->feed->give(it->feed->context, type, it->process, body, body_size, rest, rest_size);
}

/* Numbers a node's name and gives it, if it is new. 0: no name. */
static uint32_t number_of(struct rtl_graph_process *it, const char *name, size_t length)
{
    if (length == 0)
        return 0;
    uint64_t hash = rtl_match_name(name, length);
    uint32_t number = rtl_index_get(&it->names, hash);
    if (number != RTL_INDEX_MISSING)
        return number;
    const struct rtl_graph_name row = {it->name_count + 1, (uint32_t)length};
    if (rtl_index_put(&it->names, hash, row.name) != 0) {
        it->feed->forgotten++;
        return 0;
    }
    it->name_count++;
    give(it, RTL_GRAPH_NAME, &row, sizeof row, name, length);
    return row.name;
}

static void give_node(struct rtl_graph_process *it, const struct rtl_wire_node *node,
                      const void *dependencies, const char *name)
{
    const struct rtl_graph_node_row row = {*node, number_of(it, name, node->name_length)};
    give(it, RTL_GRAPH_NODE, &row, sizeof row, dependencies, node->dependencies * sizeof(uint32_t));
}

/* What the registry says. */

static void take_graph(void *context, const struct rtl_wire_graph *graph)
{
    give(context, RTL_GRAPH_INFERRED, graph, sizeof *graph, NULL, 0);
}

static void take_node(void *context, const struct rtl_wire_node *node, const char *name)
{
    give_node(context, node, NULL, name);
}

static void take_plan(void *context, const struct rtl_graphs_plan *plan)
{
    const struct rtl_graph_process *it = context;
    size_t size = 0;
    unsigned char *bytes = rtl_graph_plan_pack(plan->steps, plan->count, &size);
    const struct rtl_graph_plan row = {.plan = plan->plan,
                                       .graph = plan->graph,
                                       .generation = plan->generation,
                                       .kernels = plan->kernels,
                                       .begins = plan->begins,
                                       .size = (uint32_t)size};
    if (bytes)
        give(context, RTL_GRAPH_PLAN, &row, sizeof row, bytes, size);
    else
        it->feed->forgotten++;
    free(bytes);
}

static void take_launch(void *context, const struct rtl_graphs_launch *launch)
{
    const struct rtl_graph_launch_item row = {.body = *launch->body,
                                              .plan = launch->plan,
                                              .head_plan = launch->head_plan,
                                              .recorded = launch->recorded,
                                              .late = launch->late,
                                              .span_count = (uint32_t)launch->span_count};
    give(context, RTL_GRAPH_LAUNCH, &row, sizeof row, launch->spans,
         launch->span_count * sizeof *launch->spans);
}

/* Processes. */

static struct rtl_graph_process *make(struct rtl_graph_feed *feed, uint32_t process)
{
    struct rtl_graph_process *it = calloc(1, sizeof *it);
    const struct rtl_graphs_sink sink = {it, take_graph, take_node, take_plan, take_launch};
    if (!it)
        return NULL;
    it->feed = feed;
    it->process = process;
    it->graphs = rtl_graphs_new(&sink);
    if (it->graphs)
        return it;
    free(it);
    return NULL;
}

static struct rtl_graph_process *process_of(struct rtl_graph_feed *feed, uint32_t process)
{
    if (process == 0)
        return NULL;
    if (process > feed->count) {
        uint32_t count = process + 16;
        struct rtl_graph_process **more =
            realloc(feed->processes, count * sizeof(struct rtl_graph_process *));
        if (!more)
            return NULL;
        memset(more + feed->count, 0, (count - feed->count) * sizeof(struct rtl_graph_process *));
        feed->processes = more;
        feed->count = count;
    }
    if (!feed->processes[process - 1])
        feed->processes[process - 1] = make(feed, process);
    return feed->processes[process - 1];
}

struct rtl_graphs *rtl_graph_feed_registry(struct rtl_graph_feed *feed, uint32_t process)
{
    struct rtl_graph_process *it = process_of(feed, process);
    if (!it && process)
        feed->forgotten++;
    return it ? it->graphs : NULL;
}

void rtl_graph_feed_graph(struct rtl_graph_feed *feed, uint32_t process,
                          const struct rtl_wire_graph *graph)
{
    struct rtl_graph_process *it = process_of(feed, process);
    if (!it) {
        feed->forgotten++;
        return;
    }
    give(it, RTL_GRAPH_TOLD, graph, sizeof *graph, NULL, 0);
    rtl_graphs_graph(it->graphs, graph);
}

void rtl_graph_feed_node(struct rtl_graph_feed *feed, uint32_t process,
                         const struct rtl_wire_node *node, const void *rest)
{
    struct rtl_graph_process *it = process_of(feed, process);
    if (!it) {
        feed->forgotten++;
        return;
    }
    give_node(it, node, rest, (const char *)rest + node->dependencies * sizeof(uint32_t));
    rtl_graphs_node(it->graphs, node, rest);
}

void rtl_graph_feed_flush(struct rtl_graph_feed *feed)
{
    for (uint32_t i = 0; i < feed->count; i++)
        if (feed->processes[i])
            rtl_graphs_flush(feed->processes[i]->graphs);
}

/* Returns what the registry forgot. */
static uint64_t forget(struct rtl_graph_feed *feed, uint32_t place)
{
    struct rtl_graph_process *it = feed->processes[place];
    uint64_t forgotten = rtl_graphs_forgotten(it->graphs);
    feed->processes[place] = NULL;
    rtl_graphs_free(it->graphs);
    rtl_index_free(&it->names);
    free(it);
    return forgotten;
}

uint64_t rtl_graph_feed_end(struct rtl_graph_feed *feed, uint32_t process)
{
    uint64_t forgotten = feed->forgotten;
    feed->forgotten = 0;
    for (uint32_t i = 0; i < feed->count; i++) {
        if (!feed->processes[i] || (process && i != process - 1))
            continue;
        rtl_graphs_finish(feed->processes[i]->graphs);
        forgotten += forget(feed, i) + feed->forgotten;
        feed->forgotten = 0;
    }
    return forgotten;
}

void rtl_graph_feed_close(struct rtl_graph_feed *feed)
{
    for (uint32_t i = 0; i < feed->count; i++)
        if (feed->processes[i])
            (void)forget(feed, i);
    free(feed->processes);
    feed->processes = NULL;
    feed->count = 0;
    for (size_t i = 0; i < STATEMENTS; i++)
        (void)sqlite3_finalize(feed->statements[i]);
    memset(feed->statements, 0, sizeof feed->statements);
}

/* Rows. */

static const char *const sources[] = {
    [INSERT_GRAPH] = "INSERT OR REPLACE INTO graph_rows VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_NODE] = "INSERT OR REPLACE INTO graph_node_rows VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                    " ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_NAME] = "INSERT OR REPLACE INTO graph_names VALUES(?1, ?2, ?3, nullif(?4, ?3))",
    [INSERT_PLAN] = "INSERT OR REPLACE INTO graph_plans VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_LAUNCH] = "INSERT OR REPLACE INTO graph_launch_rows VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?,"
                      " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [INSERT_LATE] = "INSERT INTO graph_launch_late VALUES(?, ?, ?) ON CONFLICT(process, launch)"
                    " DO UPDATE SET recorded = recorded + excluded.recorded",
    [INSERT_SPAN] = "INSERT INTO graph_launch_spans VALUES(?, ?, ?, ?, ?)"
                    " ON CONFLICT(process, launch, queue) DO UPDATE SET"
                    " start_ticks = min(start_ticks, excluded.start_ticks),"
                    " end_ticks = max(end_ticks, excluded.end_ticks)",
};

_Static_assert(STATEMENTS <=
                   sizeof((struct rtl_graph_feed *)0)->statements / sizeof(sqlite3_stmt *),
               "room for the statements");

/* A row that is being bound, column by column. */
struct row {
    sqlite3_stmt *statement;
    int column, result;
};

static struct row begin(struct rtl_graph_feed *feed, enum statement which)
{
    sqlite3_stmt **statement = &feed->statements[which];
    int result = SQLITE_OK;
    if (!*statement)
        result = sqlite3_prepare_v3(feed->db, sources[which], -1, SQLITE_PREPARE_PERSISTENT,
                                    statement, NULL);
    return (struct row){.statement = *statement, .result = result};
}

static void number(struct row *row, uint64_t value)
{
    row->column++;
    if (row->result == SQLITE_OK)
        row->result = sqlite3_bind_int64(row->statement, row->column, (sqlite3_int64)value);
}

/* A column that is NULL unless `known`: columns begin as NULL. */
static void optional(struct row *row, bool known, uint64_t value)
{
    if (known)
        number(row, value);
    else
        row->column++;
}

/* NULL: it could not be made. */
static void text(struct row *row, const char *value)
{
    row->column++;
    if (row->result == SQLITE_OK && !value)
        row->result = SQLITE_NOMEM;
    if (row->result == SQLITE_OK)
        row->result = sqlite3_bind_text(row->statement, row->column, value, -1, SQLITE_TRANSIENT);
}

static void blob(struct row *row, const void *bytes, size_t size)
{
    row->column++;
    if (row->result == SQLITE_OK)
        row->result =
            sqlite3_bind_blob64(row->statement, row->column, bytes, size, SQLITE_TRANSIENT);
}

/* Bindings go in any case: a column that the next row leaves out must not have this one's value. */
static int end(struct row *row)
{
    if (row->result == SQLITE_OK) {
        (void)sqlite3_step(row->statement);
        row->result = sqlite3_reset(row->statement);
    }
    if (row->statement)
        (void)sqlite3_clear_bindings(row->statement);
    return row->result;
}

static int store_graph(struct rtl_graph_feed *feed, uint32_t process,
                       const struct rtl_wire_graph *body, bool found)
{
    struct row row = begin(feed, INSERT_GRAPH);
    number(&row, process);
    number(&row, body->graph);
    number(&row, body->generation);
    text(&row, found ? "packets" : "hip");
    optional(&row, !(body->flags & RTL_GRAPH_UNKNOWN), body->nodes);
    optional(&row, body->exec != 0, body->exec);
    optional(&row, body->source != 0, body->source);
    optional(&row, body->correlation != 0, body->correlation);
    optional(&row, body->time_ns != 0, body->time_ns);
    number(&row, body->flags);
    return end(&row);
}

static int store_node(struct rtl_graph_feed *feed, uint32_t process,
                      const struct rtl_graph_node_row *item, const void *dependencies)
{
    const struct rtl_wire_node *body = &item->body;
    struct row row = begin(feed, INSERT_NODE);
    bool kernel = body->type == RTL_NODE_KERNEL;
    number(&row, process);
    number(&row, body->graph);
    number(&row, body->generation);
    number(&row, body->node);
    number(&row, body->type);
    optional(&row, item->name != 0, item->name);
    for (int i = 0; i < 3; i++)
        optional(&row, kernel, body->grid[i]);
    for (int i = 0; i < 3; i++)
        optional(&row, kernel, body->block[i]);
    optional(&row, kernel, body->group_size);
    optional(&row, body->type == RTL_NODE_MEMCPY || body->type == RTL_NODE_MEMSET, body->bytes);
    optional(&row, body->parent != RTL_NONE, body->parent);
    number(&row, (body->flags & RTL_NODE_DISABLED) == 0);
    optional(&row, (body->flags & RTL_NODE_RANGED) != 0, body->range);
    if (body->dependencies)
        blob(&row, dependencies, body->dependencies * sizeof(uint32_t));
    return end(&row);
}

static int store_name(struct rtl_graph_feed *feed, uint32_t process,
                      const struct rtl_graph_name *item, const char *bytes)
{
    struct row row = begin(feed, INSERT_NAME);
    char *mangled = rtl_text_copy(bytes, item->length);
    char *name = mangled ? rtl_text_demangle(mangled) : NULL;
    number(&row, process);
    number(&row, item->name);
    text(&row, name);
    text(&row, mangled);
    free(mangled);
    free(name);
    return end(&row);
}

static int store_plan(struct rtl_graph_feed *feed, uint32_t process,
                      const struct rtl_graph_plan *item, const void *bytes)
{
    const uint64_t fields[] = {process,          item->plan,   item->graph,
                               item->generation, item->begins, item->kernels};
    struct row row = begin(feed, INSERT_PLAN);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        number(&row, fields[i]);
    number(&row, rtl_checksum_row(fields, sizeof fields / sizeof *fields, bytes, item->size));
    blob(&row, bytes, item->size);
    return end(&row);
}

static int store_span(struct rtl_graph_feed *feed, uint32_t process, uint32_t launch,
                      const struct rtl_graphs_span *span)
{
    struct row row = begin(feed, INSERT_SPAN);
    number(&row, process);
    number(&row, launch);
    number(&row, span->queue);
    number(&row, span->start);
    number(&row, span->end);
    return end(&row);
}

static int insert_late(struct rtl_graph_feed *feed, uint32_t process,
                       const struct rtl_graph_launch_item *item)
{
    struct row row = begin(feed, INSERT_LATE);
    number(&row, process);
    number(&row, item->body.launch);
    number(&row, item->recorded);
    return end(&row);
}

/* The first span stands in the launch's row: nearly all have but one. */
static int insert_launch(struct rtl_graph_feed *feed, uint32_t process,
                         const struct rtl_graph_launch_item *item,
                         const struct rtl_graphs_span *spans)
{
    const struct rtl_wire_launch *body = &item->body;
    struct row row = begin(feed, INSERT_LAUNCH);
    bool found = body->graph == RTL_NONE;
    bool ran = item->span_count > 0;
    number(&row, process);
    number(&row, body->launch);
    optional(&row, !found, body->graph);
    optional(&row, !found, body->generation);
    optional(&row, item->plan != 0, item->plan);
    optional(&row, item->head_plan != 0, item->head_plan);
    number(&row, body->time_ns);
    optional(&row, body->correlation != 0, body->correlation);
    optional(&row, body->range != 0, body->range);
    number(&row, body->thread);
    optional(&row, body->queue != RTL_NONE, body->queue);
    optional(&row, found, body->first);
    number(&row, body->packets);
    number(&row, body->kernels);
    number(&row, item->recorded);
    number(&row, body->unseen);
    optional(&row, ran, ran ? spans->queue : 0);
    optional(&row, ran, ran ? spans->start : 0);
    optional(&row, ran, ran ? spans->end : 0);
    return end(&row);
}

static int store_launch(struct rtl_graph_feed *feed, uint32_t process,
                        const struct rtl_graph_launch_item *item, const void *rest)
{
    const struct rtl_graphs_span *spans = rest;
    int result =
        item->late ? insert_late(feed, process, item) : insert_launch(feed, process, item, spans);
    for (uint32_t i = item->late ? 0 : 1; i < item->span_count && result == SQLITE_OK; i++)
        result = store_span(feed, process, item->body.launch, &spans[i]);
    return result;
}

int rtl_graph_feed_store(struct rtl_graph_feed *feed, const struct rtl_deferred_item *item)
{
    switch ((enum rtl_graph_item)item->type) {
    case RTL_GRAPH_TOLD:
    case RTL_GRAPH_INFERRED:
        return store_graph(feed, item->process, item->body,
                           (uint32_t)item->type == RTL_GRAPH_INFERRED);
    case RTL_GRAPH_NODE:
        return store_node(feed, item->process, item->body, item->texts);
    case RTL_GRAPH_NAME:
        return store_name(feed, item->process, item->body, item->texts);
    case RTL_GRAPH_PLAN:
        return store_plan(feed, item->process, item->body, item->texts);
    case RTL_GRAPH_LAUNCH:
        return store_launch(feed, item->process, item->body, item->texts);
    }
    return SQLITE_MISUSE;
}
