#include "fleet/fill.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

uint32_t text_names_id(struct text_names *names, const char *text)
{
    uint32_t id = rtl_index_get(&names->by_pointer, (uint64_t)(uintptr_t)text);
    if (id != RTL_INDEX_MISSING)
        return id;
    size_t number = texts_number(&names->texts, text);
    if (number == TEXTS_NONE ||
        rtl_index_put(&names->by_pointer, (uint64_t)(uintptr_t)text, (uint32_t)number) != 0)
        memory_is_short();
    return (uint32_t)number;
}

void text_names_free(struct text_names *names)
{
    rtl_index_free(&names->by_pointer);
    texts_free(&names->texts);
}

void block_rows_set(struct block_rows *list, size_t block, uint64_t rows)
{
    if (block >= list->room) {
        size_t room = 2 * block + 64;
        list->rows = memory_grown(list->rows, room, sizeof *list->rows);
        memset(list->rows + list->room, 0, (room - list->room) * sizeof *list->rows);
        list->room = room;
    }
    list->rows[block] = rows;
    list->count = block >= list->count ? block + 1 : list->count;
}

/* A block that the server has is not sent. */
static void give(struct fill *fill)
{
    struct block *block = fill->block;
    fill->block = NULL;
    size_t number = block->number;
    uint64_t there = number < fill->there.count ? fill->there.rows[number] : 0;
    block_rows_set(&fill->made, number, block->rows);
    if (there == 0) {
        fill->failed = !send_block(fill->sender, block);
        return;
    }
    if (there != block->rows) {
        fill->wrong = number + 1;
        fill->failed = true;
    }
    block_free(block);
}

struct block *fill_row(struct fill *fill, uint16_t day)
{
    if (fill->block && (fill->block->rows == fill->most || fill->block->day != day))
        give(fill);
    if (fill->failed)
        return NULL;
    if (!fill->block) {
        fill->block = block_new(fill->table, (uint32_t)fill->made.count, day);
        ++fill->epoch;
    }
    ++fill->block->rows;
    return fill->block;
}

void fill_text(struct fill *fill, size_t column, uint32_t name)
{
    if (name >= fill->places_room) {
        size_t room = 2 * (size_t)name + 64;
        fill->places = memory_grown(fill->places, room, sizeof *fill->places);
        fill->epochs = memory_grown(fill->epochs, room, sizeof *fill->epochs);
        memset(fill->epochs + fill->places_room, 0,
               (room - fill->places_room) * sizeof *fill->epochs);
        fill->places_room = room;
    }
    if (fill->epochs[name] != fill->epoch) {
        fill->epochs[name] = fill->epoch;
        fill->places[name] = block_text_place(fill->block, fill->names->texts.list[name]);
    }
    block_text(fill->block, column, fill->places[name]);
}

bool fill_end(struct fill *fill)
{
    if (fill->block && !fill->failed)
        give(fill);
    return !fill->failed;
}

void fill_free(struct fill *fill)
{
    block_free(fill->block);
    free(fill->there.rows);
    free(fill->made.rows);
    free(fill->places);
    free(fill->epochs);
    *fill = (struct fill){0};
}
