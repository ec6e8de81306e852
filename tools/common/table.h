/**
 * Tables of text: columns as wide as their widest cell, numbers to the right, names to the left.
 */
#ifndef RTL_TOOLS_TABLE_H
#define RTL_TOOLS_TABLE_H

#include <stdio.h>

#define TABLE_MOST_COLUMNS 12u

struct table;

/** A table with a column for each letter of `layout`: 'l' left, 'r' right, 'n' a kernel's name
 * (left, last, cut to the terminal's width only where the output is a terminal). Never NULL: memory
 * that is short ends the program with a sentence. */
struct table *table_new(const char *layout);

/** Adds a cell; rows fill from left to right, the first row is the heading. The text is copied. */
void table_cell(struct table *table, const char *text);

/** Writes the table with two spaces of indent and frees it. */
void table_print(struct table *table, FILE *out);

#endif
