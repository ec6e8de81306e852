#include "export/html_tables.h"

#include <stdlib.h>

static bool has_row(struct html_tables *tables, enum html_table table, uint32_t name)
{
    size_t count = tables->counts[table] ? tables->counts[table] : 64;
    if (name < tables->counts[table])
        return true;
    while (count <= name)
        count *= 2;
    struct html_row *rows = realloc(tables->rows[table], count * sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = tables->counts[table]; i < count; ++i)
        rows[i] = (struct html_row){0};
    tables->rows[table] = rows;
    tables->counts[table] = count;
    return true;
}

bool html_tables_add(struct html_tables *tables, enum html_table table,
                     const struct html_entry *entry)
{
    if (!has_row(tables, table, entry->name))
        return false;
    struct html_row *row = &tables->rows[table][entry->name];
    if (row->duration.count == 0 || entry->duration > row->duration.most) {
        row->lane = entry->lane;
        row->start = entry->start;
    }
    row->failed += entry->failed != 0;
    row->bytes += entry->bytes;
    return spread_add(&row->duration, entry->duration);
}

void html_tables_own(struct html_tables *tables, enum html_table table, uint32_t name, uint64_t ns)
{
    if (name < tables->counts[table])
        tables->rows[table][name].own += ns;
}

static json_t *row_json(size_t name, const struct html_row *row)
{
    const struct spread *spread = &row->duration;
    return json_pack("[I,I,I,I,I,I,I,I,I,I,I,I]", (json_int_t)name, (json_int_t)spread->count,
                     (json_int_t)spread->sum, (json_int_t)spread->least,
                     (json_int_t)spread_quantile(spread, 0.5),
                     (json_int_t)spread_quantile(spread, 0.99), (json_int_t)spread->most,
                     (json_int_t)row->failed, (json_int_t)row->bytes, (json_int_t)row->lane,
                     (json_int_t)row->start, (json_int_t)row->own);
}

static int by_total(const void *a, const void *b)
{
    const struct html_row *left = *(const struct html_row *const *)a;
    const struct html_row *right = *(const struct html_row *const *)b;
    if (left->duration.sum != right->duration.sum)
        return left->duration.sum < right->duration.sum ? 1 : -1;
    return (left > right) - (left < right);
}

json_t *html_tables_json(const struct html_tables *tables, enum html_table table)
{
    const struct html_row *rows = tables->rows[table];
    const struct html_row **order =
        malloc((tables->counts[table] + 1) * sizeof(const struct html_row *));
    json_t *list = json_array();
    size_t count = 0;
    for (size_t i = 0; order && i < tables->counts[table]; ++i)
        if (rows[i].duration.count)
            order[count++] = &rows[i];
    if (count)
        qsort(order, count, sizeof(const struct html_row *), by_total);
    for (size_t i = 0; i < count; ++i)
        (void)json_array_append_new(list, row_json((size_t)(order[i] - rows), order[i]));
    free(order);
    return list;
}

void html_tables_free(struct html_tables *tables)
{
    for (size_t table = 0; table < HTML_TABLES; ++table) {
        for (size_t i = 0; i < tables->counts[table]; ++i)
            spread_free(&tables->rows[table][i].duration);
        free(tables->rows[table]);
    }
    *tables = (struct html_tables){0};
}
