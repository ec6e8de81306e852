/* Two tables over what the reader has in memory: each row is an item of a list. Nodes are in a
 * list for each generation, since generations share them. */
#include "store/sql_graphs.h"

#include "store/sql_table.h"

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
    struct rtl_sql_kind kind; /* first: a cursor knows its source by it */
    size_t size;              /* of an item */
    rtl_status_t (*list)(rtl_trace_t *trace, size_t which, struct list *list);
    void (*column)(sqlite3_context *result, const struct list *list, const void *item, int column);
};

struct cursor {
    struct rtl_sql_cursor base;
    struct list list;
    size_t which, next; /* next list, and item in this one */
    const void *item;
};

static int plan(sqlite3_index_info *info)
{
    info->estimatedCost = 1e4;
    info->estimatedRows = 10000;
    return SQLITE_OK;
}

static rtl_status_t start(struct rtl_sql_cursor *base, const struct rtl_sql_choice *choice)
{
    struct cursor *cursor = (struct cursor *)base;
    (void)choice;
    *cursor = (struct cursor){.base = *base};
    base->row = 0;
    return RTL_OK;
}

static const struct source *source_of(const struct cursor *cursor)
{
    return (const struct source *)cursor->base.kind;
}

/* Takes the next list. */
static rtl_status_t next_list(struct cursor *cursor)
{
    cursor->list = (struct list){0};
    cursor->next = 0;
    return source_of(cursor)->list(cursor->base.trace, cursor->which++, &cursor->list);
}

static rtl_status_t next(struct rtl_sql_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    while (cursor->next >= cursor->list.count) {
        rtl_status_t status = cursor->list.last ? RTL_END : next_list(cursor);
        if (status != RTL_OK)
            return status;
    }
    cursor->item = (const char *)cursor->list.items + cursor->next++ * source_of(cursor)->size;
    base->row++;
    return RTL_OK;
}

static rtl_status_t column(struct rtl_sql_cursor *base, sqlite3_context *result, int which)
{
    const struct cursor *cursor = (struct cursor *)base;
    source_of(cursor)->column(result, &cursor->list, cursor->item, which);
    return RTL_OK;
}

#define KIND(sql)                                                                                  \
    {                                                                                              \
        .declaration = (sql), .cursor_size = sizeof(struct cursor), .plan = plan, .start = start,  \
        .next = next, .column = column                                                             \
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
        rtl_sql_result(result, graph->graph);
        break;
    case 1:
        rtl_sql_result(result, graph->generation);
        break;
    case 2:
        rtl_sql_result_id(result, graph->nodes);
        break;
    case 3:
        rtl_sql_result(result, graph->launches);
        break;
    case 4:
        rtl_sql_result(result, graph->process);
        break;
    case 5:
        rtl_sql_result_known_text(result, graph->source);
        break;
    case 6:
        rtl_sql_result(result, graph->kernels);
        break;
    case 7:
        rtl_sql_result(result, graph->expected);
        break;
    case 8:
        rtl_sql_result_known(result, graph->exec);
        break;
    case 9:
        rtl_sql_result_known(result, graph->hip_graph);
        break;
    case 10:
        rtl_sql_result_known(result, graph->correlation);
        break;
    default:
        rtl_sql_result_known(result, graph->time);
        break;
    }
}

static const struct source graphs = {
    KIND("CREATE TABLE graphs(graph INTEGER, generation INTEGER, nodes INTEGER, launches INTEGER,"
         " process INTEGER, source TEXT, kernels INTEGER, expected INTEGER, exec INTEGER,"
         " hip_graph INTEGER, correlation INTEGER, time INTEGER)"),
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
    else if (node->dependency_count)
        sqlite3_result_error_nomem(result);
}

static void column_of_node(sqlite3_context *result, const struct list *list, const void *item,
                           int column)
{
    const rtl_graph_node_t *node = item;
    bool kernel = strcmp(node->type, "kernel") == 0;
    switch (column) {
    case 0:
        rtl_sql_result(result, node->graph);
        break;
    case 1:
        rtl_sql_result(result, list->graph->generation);
        break;
    case 2:
        rtl_sql_result(result, node->node);
        break;
    case 3:
        rtl_sql_result_known_text(result, node->name);
        break;
    case 4:
        rtl_sql_result(result, node->process);
        break;
    case 5:
        rtl_sql_result_known_text(result, node->type);
        break;
    case 6:
    case 7:
    case 8:
        if (kernel)
            rtl_sql_result(result, node->grid[column - 6]);
        break;
    case 9:
    case 10:
    case 11:
        if (kernel)
            rtl_sql_result(result, node->block[column - 9]);
        break;
    case 12:
        if (kernel)
            rtl_sql_result(result, node->group_size);
        break;
    case 13:
        rtl_sql_result_known(result, node->bytes);
        break;
    case 14:
        rtl_sql_result_id(result, node->parent);
        break;
    case 15:
        result_dependencies(result, node);
        break;
    case 16:
        rtl_sql_result_known(result, node->range);
        break;
    case 17:
        rtl_sql_result(result, (uint64_t)node->enabled);
        break;
    default:
        rtl_sql_result_known_text(result, node->mangled);
        break;
    }
}

static const struct source nodes = {
    KIND("CREATE TABLE graph_nodes(graph INTEGER, generation INTEGER, node INTEGER, name TEXT,"
         " process INTEGER, type TEXT, grid_x INTEGER, grid_y INTEGER, grid_z INTEGER,"
         " block_x INTEGER, block_y INTEGER, block_z INTEGER, group_size INTEGER, bytes INTEGER,"
         " parent INTEGER, dependencies TEXT, range INTEGER, enabled INTEGER, mangled TEXT)"),
    sizeof(rtl_graph_node_t), list_nodes, column_of_node};

int rtl_sql_register_graphs(sqlite3 *db, struct rtl_sql_trace *shared)
{
    int result = rtl_sql_add_table(db, "graphs", &graphs.kind, shared);
    return result == SQLITE_OK ? rtl_sql_add_table(db, "graph_nodes", &nodes.kind, shared) : result;
}
