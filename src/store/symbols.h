/**
 * Kernel symbols on their way into the file. Used by the writer only.
 *
 * A library defines thousands of kernels and a program dispatches a few. A symbol that a shape
 * names is a row, which any SQLite program can read; all others lie packed in blocks. One that is
 * dispatched later gets its row then, from its block, in the transaction that stores the shape.
 */
#ifndef RTL_STORE_SYMBOLS_H
#define RTL_STORE_SYMBOLS_H

#include "store/rows.h"
#include "store/symbol_codec.h"

/** What is known of the symbols of a process. */
struct rtl_symbols_of;

/** A definition that is being stored, and its place among all of them. */
struct rtl_symbol_told {
    uint32_t process;
    size_t place;
    const struct rtl_wire_symbol *body;
    const char *text;
};

/** A symbol that has been dispatched. */
struct rtl_symbol_key {
    uint32_t process, symbol;
};

/** All of them. Zeroed memory is empty. */
struct rtl_symbols {
    struct rtl_symbols_of *list; /**< by process, from 1 */
    uint32_t count;
    struct rtl_symbol_codec *codec;
    uint32_t process;             /**< whose block is being made */
    struct rtl_symbol_told *told; /**< in this transaction */
    size_t told_count, told_capacity;
    struct rtl_symbol_key *late; /**< got their shape in this transaction, and may be in a block */
    size_t late_count, late_capacity;
};

void rtl_symbols_free(struct rtl_symbols *symbols);

/** A shape names a symbol: it will be a row, wherever its definition is by now. */
void rtl_symbols_dispatched(struct rtl_symbols *symbols, uint32_t process, uint32_t symbol);

/** A transaction begins, which stores definitions one by one. */
void rtl_symbols_begin(struct rtl_symbols *symbols);

/** Takes the definition of a symbol, which stays where it is until rtl_symbols_end stores it. An
 * SQLite result code, as that of all functions below. */
int rtl_symbols_add(struct rtl_symbols *symbols, uint32_t process,
                    const struct rtl_wire_symbol *body, const char *text);

/** A shape that names the symbol has been stored. */
int rtl_symbols_shape(struct rtl_symbols *symbols, uint32_t process, uint32_t symbol);

/** All other definitions of the transaction have been stored: stores the symbols, as rows and in
 * blocks. Names are demangled here. */
int rtl_symbols_end(struct rtl_symbols *symbols, struct rtl_rows *rows);

#endif
