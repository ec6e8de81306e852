#include "common/table.h"

#include "common/memory.h"
#include "common/plain.h"
#include "common/shorten.h"
#include "common/show.h"

#include <stdlib.h>
#include <string.h>

#define GAP        2u  /* before each column */
#define NAME_LEAST 12u /* columns of a name, however narrow the terminal is */

struct cell {
    char *text; /* with its escapes; of a name what stands before it */
    char *name; /* as it came, NULL: this cell is none */
};

struct table {
    const char *layout;
    unsigned columns;
    bool wide;
    size_t count, capacity;
    struct cell *cells;
};

struct table *table_new(const char *layout)
{
    struct table *table = memory_new(1, sizeof *table);
    table->layout = layout;
    table->columns = (unsigned)strlen(layout);
    return table;
}

void table_wide(struct table *table, bool wide)
{
    table->wide = wide;
}

static struct cell *add_cell(struct table *table, const char *text)
{
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? 2 * table->capacity : 64;
        table->cells = memory_grown(table->cells, table->capacity, sizeof *table->cells);
    }
    size_t size = plain_size(text);
    struct cell *cell = &table->cells[table->count++];
    *cell = (struct cell){.text = plain_text(text, memory_new(size, 1), size)};
    return cell;
}

void table_name(struct table *table, const char *before, const char *name)
{
    size_t size = strlen(name) + 1;
    add_cell(table, before)->name = memcpy(memory_new(size, 1), name, size);
}

void table_cell(struct table *table, const char *text)
{
    bool heading = table->count < table->columns;
    if (!heading && table->layout[table->count % table->columns] == 'n')
        table_name(table, "", text);
    else
        (void)add_cell(table, text);
}

static void measure(const struct table *table, unsigned *widths)
{
    for (unsigned column = 0; column < TABLE_MOST_COLUMNS; ++column)
        widths[column] = 0;
    for (size_t i = 0; i < table->count; ++i) {
        unsigned length = plain_width(table->cells[i].text);
        if (length > widths[i % table->columns])
            widths[i % table->columns] = length;
    }
}

/* Columns that are left for the last column, 0 if it need not be cut. */
static unsigned room_for_name(const struct table *table, const unsigned *widths, FILE *out)
{
    unsigned used = GAP;
    unsigned width = table->wide ? 0 : show_width(out);
    for (unsigned column = 0; column + 1 < table->columns; ++column)
        used += widths[column] + GAP;
    if (width == 0)
        return 0;
    return width > used + NAME_LEAST ? width - used : NAME_LEAST;
}

/* The names of all rows but the heading, as they fit; the caller frees them with shorten_free. */
static char **short_names(const struct table *table, size_t rows, unsigned room)
{
    struct shorten_item *items = memory_new(rows, sizeof *items);
    for (size_t row = 0; row < rows; ++row) {
        const struct cell *cell = &table->cells[(row + 2) * table->columns - 1];
        unsigned before = plain_width(cell->text);
        items[row] = (struct shorten_item){cell->name, room > before ? room - before : 0};
    }
    char **names = shorten_names(items, rows);
    free(items);
    return names;
}

static void print_name(const struct table *table, size_t i, unsigned room, char *const *names,
                       FILE *out)
{
    char cut[512];
    const struct cell *cell = &table->cells[i];
    if (!cell->name)
        (void)fputs(room ? plain_fit(cell->text, room, cut, sizeof cut) : cell->text, out);
    else
        (void)fprintf(out, "%s%s", cell->text,
                      names ? names[i / table->columns - 1] : plain(cell->name));
}

static void print_cell(const struct table *table, size_t i, unsigned width, FILE *out)
{
    unsigned column = (unsigned)(i % table->columns);
    const char *text = table->cells[i].text;
    int space = (int)(width - plain_width(text));
    if (table->layout[column] == 'r')
        (void)fprintf(out, "%*s%s", space, "", text);
    else
        (void)fprintf(out, "%s%*s", text, column + 1 < table->columns ? space : 0, "");
}

static void release(struct table *table)
{
    for (size_t i = 0; i < table->count; ++i) {
        free(table->cells[i].text);
        free(table->cells[i].name);
    }
    free(table->cells);
    free(table);
}

void table_print(struct table *table, FILE *out)
{
    unsigned widths[TABLE_MOST_COLUMNS];
    measure(table, widths);
    unsigned room = room_for_name(table, widths, out);
    size_t rows = table->count / table->columns;
    rows -= rows > 0;
    bool cut = room && rows && table->layout[table->columns - 1] == 'n';
    char **names = cut ? short_names(table, rows, room) : NULL;
    for (size_t i = 0; i < table->count; ++i) {
        unsigned column = (unsigned)(i % table->columns);
        (void)fprintf(out, "%*s", (int)GAP, "");
        if (table->layout[column] == 'n')
            print_name(table, i, room, names, out);
        else
            print_cell(table, i, widths[column], out);
        if (column + 1 == table->columns)
            (void)fputc('\n', out);
    }
    shorten_free(names, rows);
    release(table);
}
