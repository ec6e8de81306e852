#include "common/table.h"

#include "common/memory.h"
#include "common/plain.h"
#include "common/show.h"

#include <stdlib.h>
#include <string.h>

#define GAP        2u  /* before each column */
#define NAME_LEAST 12u /* columns of a name, however narrow the terminal is */

struct table {
    const char *layout;
    unsigned columns;
    size_t cells, capacity;
    char **texts;
};

struct table *table_new(const char *layout)
{
    struct table *table = memory_new(1, sizeof *table);
    table->layout = layout;
    table->columns = (unsigned)strlen(layout);
    return table;
}

void table_cell(struct table *table, const char *text)
{
    if (table->cells == table->capacity) {
        table->capacity = table->capacity ? 2 * table->capacity : 64;
        table->texts = memory_grown(table->texts, table->capacity, sizeof(char *));
    }
    size_t size = plain_size(text);
    table->texts[table->cells++] = plain_text(text, memory_new(size, 1), size);
}

static void measure(const struct table *table, unsigned *widths)
{
    for (unsigned column = 0; column < TABLE_MOST_COLUMNS; ++column)
        widths[column] = 0;
    for (size_t i = 0; i < table->cells; ++i) {
        unsigned length = plain_width(table->texts[i]);
        if (length > widths[i % table->columns])
            widths[i % table->columns] = length;
    }
}

/* Columns that are left for the name, 0 if it need not be cut. */
static unsigned room_for_name(const struct table *table, const unsigned *widths, FILE *out)
{
    unsigned used = GAP;
    unsigned width = show_width(out);
    for (unsigned column = 0; column + 1 < table->columns; ++column)
        used += widths[column] + GAP;
    if (width == 0)
        return 0;
    return width > used + NAME_LEAST ? width - used : NAME_LEAST;
}

static void print_cell(const struct table *table, size_t i, const unsigned *widths, unsigned room,
                       FILE *out)
{
    char cut[512];
    unsigned column = (unsigned)(i % table->columns);
    const char *text = table->texts[i];
    int space = (int)(widths[column] - plain_width(text));
    switch (table->layout[column]) {
    case 'r':
        (void)fprintf(out, "%*s%s", space, "", text);
        break;
    case 'n':
        (void)fputs(show_name(text, room, cut, sizeof cut), out);
        break;
    default:
        (void)fprintf(out, "%s%*s", text, column + 1 < table->columns ? space : 0, "");
        break;
    }
}

void table_print(struct table *table, FILE *out)
{
    unsigned widths[TABLE_MOST_COLUMNS];
    measure(table, widths);
    unsigned room = room_for_name(table, widths, out);
    for (size_t i = 0; i < table->cells; ++i) {
        (void)fprintf(out, "%*s", (int)GAP, "");
        print_cell(table, i, widths, room, out);
        if (i % table->columns + 1 == table->columns)
            (void)fputc('\n', out);
        free(table->texts[i]);
    }
    free(table->texts);
    free(table);
}
