/* Three tables over what the reader has in memory: each row is an item of a list. Nodes are in a
 * list for each generation, since generations share them. */
#include "store/sql_graphs.h"

#include <stdbool.h>
#include <string.h>

/* A list: the items of a table, or those of a generation. */
struct list {
    const void *items;
    size_t count;
    const rtl_graph_t *graph; /* the generation, NULL: all */
    bool last;
};

/* How a table gets its lists, numbered from 0, and a column of an item. */
struct source {
    const char *declaration;
    size_t size; /* of an item */
    rtl_status_t (*list)(rtl_trace_t *trace, size_t which, struct list *list);
    void (*column)(sqlite3_context *result, const struct list *list, const void *item, int column);
};

/* What a module is registered with. */
struct context {
    const struct source *source;
    struct rtl_sql_trace *shared;
};

struct table {
    sqlite3_vtab base;
    const struct source *source;
    struct rtl_sql_trace *shared;
};

struct cursor {
    sqlite3_vtab_cursor base;
    rtl_trace_t *trace; /* held */
    struct list list;
    size_t which, next; /* list, and item in it */
    sqlite3_int64 row;
};

static int fail(struct table *table, const char *sentence)
{
    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg = sqlite3_mprintf("%s", sentence);
    return SQLITE_ERROR;
}

static int connect(sqlite3 *db, void *given, int count, const char *const *arguments,
                   sqlite3_vtab **made, char **error)
{
    const struct context *context = given;
    (void)count;
    (void)arguments;
    (void)error;
    int result = sqlite3_declare_vtab(db, context->source->declaration);
    if (result != SQLITE_OK)
        return result;
    struct table *table = sqlite3_malloc(sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    *table =
        (struct table){.source = context->source, .shared = rtl_sql_trace_keep(context->shared)};
    *made = &table->base;
    return sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
}

static int disconnect(sqlite3_vtab *base)
{
    struct table *table = (struct table *)base;
    rtl_sql_trace_drop(table->shared);
    sqlite3_free(table);
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    (void)base;
    info->estimatedCost = 1e4;
    info->estimatedRows = 10000;
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    struct table *table = (struct table *)base;
    char error[512] = "";
    rtl_trace_t *trace = rtl_sql_trace_hold(table->shared, error, sizeof error);
    if (!trace)
        return fail(table, error);
    struct cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (!cursor) {
        rtl_sql_trace_release(table->shared);
        return SQLITE_NOMEM;
    }
    *cursor = (struct cursor){.trace = trace};
    *made = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    rtl_sql_trace_release(((struct table *)base->pVtab)->shared);
    sqlite3_free(base);
    return SQLITE_OK;
}

/* Goes on to the first list from `which` on that has an item, or to the end of the last. */
static int begin_list(struct cursor *cursor, size_t which)
{
    struct table *table = (struct table *)cursor->base.pVtab;
    cursor->next = 0;
    for (;; which++) {
        cursor->which = which;
        cursor->list = (struct list){0};
        if (table->source->list(cursor->trace, which, &cursor->list) != RTL_OK)
            return fail(table, rtlTraceError(cursor->trace));
        if (cursor->list.count || cursor->list.last)
            return SQLITE_OK;
    }
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *plan, int count,
                  sqlite3_value **values)
{
    struct cursor *cursor = (struct cursor *)base;
    (void)number;
    (void)plan;
    (void)count;
    (void)values;
    cursor->row = 1;
    return begin_list(cursor, 0);
}

static int next(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    cursor->row++;
    cursor->next++;
    return cursor->next < cursor->list.count || cursor->list.last
               ? SQLITE_OK
               : begin_list(cursor, cursor->which + 1);
}

static int at_end(sqlite3_vtab_cursor *base)
{
    const struct cursor *cursor = (struct cursor *)base;
    return cursor->next >= cursor->list.count;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *result, int which)
{
    const struct cursor *cursor = (struct cursor *)base;
    const struct source *source = ((struct table *)base->pVtab)->source;
    source->column(result, &cursor->list,
                   (const char *)cursor->list.items + cursor->next * source->size, which);
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    *id = ((struct cursor *)base)->row;
    return SQLITE_OK;
}

/* Results. A column that gets none is NULL. */

static void number(sqlite3_context *result, uint64_t value)
{
    sqlite3_result_int64(result, (sqlite3_int64)value);
}

static void known(sqlite3_context *result, uint64_t value)
{
    if (value)
        number(result, value);
}

static void id(sqlite3_context *result, uint32_t value)
{
    if (value != RTL_TRACE_NONE)
        number(result, value);
}

static void text(sqlite3_context *result, const char *value)
{
    if (value[0])
        sqlite3_result_text(result, value, -1, SQLITE_TRANSIENT);
}

/* Graphs. */

static rtl_status_t list_graphs(rtl_trace_t *trace, size_t which, struct list *list)
{
    (void)which;
    list->last = true;
    return rtlTraceGraphs(trace, (const rtl_graph_t **)&list->items, &list->count);
}

static void column_of_graph(sqlite3_context *result, const struct list *list, const void *item,
                            int column)
{
    (void)list;
    const rtl_graph_t *graph = item;
    switch (column) {
    case 0:
        number(result, graph->graph);
        break;
    case 1:
        number(result, graph->generation);
        break;
    case 2:
        id(result, graph->nodes);
        break;
    case 3:
        number(result, graph->launches);
        break;
    case 4:
        number(result, graph->process);
        break;
    case 5:
        text(result, graph->source);
        break;
    case 6:
        number(result, graph->kernels);
        break;
    case 7:
        number(result, graph->expected);
        break;
    case 8:
        known(result, graph->exec);
        break;
    case 9:
        known(result, graph->hip_graph);
        break;
    case 10:
        known(result, graph->correlation);
        break;
    default:
        known(result, graph->time);
        break;
    }
}

static const struct source graphs = {
    "CREATE TABLE graphs(graph INTEGER, generation INTEGER, nodes INTEGER, launches INTEGER,"
    " process INTEGER, source TEXT, kernels INTEGER, expected INTEGER, exec INTEGER,"
    " hip_graph INTEGER, correlation INTEGER, time INTEGER)",
    sizeof(rtl_graph_t), list_graphs, column_of_graph};

/* Nodes. */

static rtl_status_t list_nodes(rtl_trace_t *trace, size_t which, struct list *list)
{
    const rtl_graph_t *graphs = NULL;
    size_t count = 0;
    rtl_status_t status = rtlTraceGraphs(trace, &graphs, &count);
    list->last = which + 1 >= count;
    if (status != RTL_OK || which >= count)
        return status;
    list->graph = &graphs[which];
    return rtlTraceGraphNodes(trace, list->graph, (const rtl_graph_node_t **)&list->items,
                              &list->count);
}

static void result_dependencies(sqlite3_context *result, const rtl_graph_node_t *node)
{
    sqlite3_str *list = sqlite3_str_new(NULL);
    for (uint32_t i = 0; i < node->dependency_count; i++)
        sqlite3_str_appendf(list, i ? ",%u" : "%u", node->dependencies[i]);
    char *string = sqlite3_str_finish(list);
    if (string)
        sqlite3_result_text(result, string, -1, sqlite3_free);
}

static void column_of_node(sqlite3_context *result, const struct list *list, const void *item,
                           int column)
{
    const rtl_graph_node_t *node = item;
    bool kernel = strcmp(node->type, "kernel") == 0;
    switch (column) {
    case 0:
        number(result, node->graph);
        break;
    case 1:
        number(result, list->graph->generation);
        break;
    case 2:
        number(result, node->node);
        break;
    case 3:
        text(result, node->name);
        break;
    case 4:
        number(result, node->process);
        break;
    case 5:
        text(result, node->type);
        break;
    case 6:
    case 7:
    case 8:
        if (kernel)
            number(result, node->grid[column - 6]);
        break;
    case 9:
    case 10:
    case 11:
        if (kernel)
            number(result, node->block[column - 9]);
        break;
    case 12:
        if (kernel)
            number(result, node->group_size);
        break;
    case 13:
        known(result, node->bytes);
        break;
    case 14:
        id(result, node->parent);
        break;
    case 15:
        result_dependencies(result, node);
        break;
    case 16:
        known(result, node->range);
        break;
    case 17:
        number(result, (uint64_t)node->enabled);
        break;
    default:
        text(result, node->mangled);
        break;
    }
}

static const struct source nodes = {
    "CREATE TABLE graph_nodes(graph INTEGER, generation INTEGER, node INTEGER, name TEXT,"
    " process INTEGER, type TEXT, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,"
    " block_x INTEGER, block_y INTEGER, block_z INTEGER, group_size INTEGER, bytes INTEGER,"
    " parent INTEGER, dependencies TEXT, range INTEGER, enabled INTEGER, mangled TEXT)",
    sizeof(rtl_graph_node_t), list_nodes, column_of_node};

/* Launches. */

static rtl_status_t list_launches(rtl_trace_t *trace, size_t which, struct list *list)
{
    (void)which;
    list->last = true;
    return rtlTraceGraphLaunches(trace, (const rtl_graph_launch_t **)&list->items, &list->count);
}

static void column_of_launch(sqlite3_context *result, const struct list *list, const void *item,
                             int column)
{
    (void)list;
    const rtl_graph_launch_t *launch = item;
    switch (column) {
    case 0:
        number(result, launch->graph);
        break;
    case 1:
        number(result, launch->generation);
        break;
    case 2:
        number(result, launch->launch);
        break;
    case 3:
        known(result, launch->start);
        break;
    case 4:
        known(result, launch->end);
        break;
    case 5:
        number(result, launch->kernels);
        break;
    case 6:
        known(result, launch->correlation);
        break;
    case 7:
        number(result, launch->process);
        break;
    case 8:
        number(result, launch->expected);
        break;
    case 9:
        number(result, (uint64_t)launch->certain);
        break;
    case 10:
        known(result, launch->range);
        break;
    case 11:
        number(result, launch->thread);
        break;
    case 12:
        number(result, launch->time);
        break;
    default:
        number(result, launch->unseen);
        break;
    }
}

static const struct source launches = {
    "CREATE TABLE graph_launches(graph INTEGER, generation INTEGER, launch INTEGER,"
    " start INTEGER, end INTEGER, kernels INTEGER, correlation INTEGER, process INTEGER,"
    " expected INTEGER, certain INTEGER, range INTEGER, thread INTEGER, time INTEGER,"
    " unseen INTEGER)",
    sizeof(rtl_graph_launch_t), list_launches, column_of_launch};

static void drop_context(void *given)
{
    struct context *context = given;
    rtl_sql_trace_drop(context->shared);
    sqlite3_free(context);
}

static int add_table(sqlite3 *db, const char *name, const struct source *source,
                     struct rtl_sql_trace *shared)
{
    static const sqlite3_module module = {
        .iVersion = 1,
        .xConnect = connect,
        .xBestIndex = best_index,
        .xDisconnect = disconnect,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter,
        .xNext = next,
        .xEof = at_end,
        .xColumn = column,
        .xRowid = row_id,
    };
    struct context *context = sqlite3_malloc(sizeof *context);
    if (!context)
        return SQLITE_NOMEM;
    *context = (struct context){source, rtl_sql_trace_keep(shared)};
    return sqlite3_create_module_v2(db, name, &module, context, drop_context);
}

int rtl_sql_register_graphs(sqlite3 *db, struct rtl_sql_trace *shared)
{
    int result = add_table(db, "graphs", &graphs, shared);
    if (result == SQLITE_OK)
        result = add_table(db, "graph_nodes", &nodes, shared);
    return result == SQLITE_OK ? add_table(db, "graph_launches", &launches, shared) : result;
}
