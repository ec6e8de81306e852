/**
 * Rows into blocks: which row is in which block depends on the trace alone, so that a load that was
 * broken off goes on with the same blocks.
 */
#ifndef RTL_TOOLS_FLEET_FILL_H
#define RTL_TOOLS_FLEET_FILL_H

#include "common/index.h"
#include "common/texts.h"
#include "fleet/send.h"
#include "fleet/tables.h"

/** Texts of a trace, numbered. The same pointer is the same text. */
struct text_names {
    struct rtl_index by_pointer;
    struct texts texts;
};

uint32_t text_names_id(struct text_names *names, const char *text);
void text_names_free(struct text_names *names);

/** Rows of blocks, by the block's number; 0: there is none. */
struct block_rows {
    uint64_t *rows;
    size_t count, room;
};

void block_rows_set(struct block_rows *list, size_t block, uint64_t rows);

/** A table while it is filled. */
struct fill {
    const struct table_shape *table;
    struct text_names *names;
    struct sender *sender;
    size_t most;               /**< rows of a block */
    struct block_rows there;   /**< on the server, when filling began */
    struct block_rows made;    /**< of all blocks so far */
    struct block *block;       /**< at hand, NULL: none */
    uint32_t *places, *epochs; /**< of a text in the block, if its epoch is the block's */
    size_t places_room;
    uint32_t epoch;
    uint64_t wrong; /**< number + 1 of a block that the server has with other rows */
    bool failed;    /**< no more rows are taken */
};

/** The block that a row of this day goes into, which is appended to then; NULL when filling has
 * failed. */
struct block *fill_row(struct fill *fill, uint16_t day);

/** A text of the row. */
void fill_text(struct fill *fill, size_t column, uint32_t name);

/** Gives away what is at hand. False when filling has failed. */
bool fill_end(struct fill *fill);

void fill_free(struct fill *fill);

#endif
