/**
 * Tables of text: columns as wide as their widest cell, numbers to the right, names to the left.
 */
#ifndef RTL_TOOLS_TABLE_H
#define RTL_TOOLS_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#define TABLE_MOST_COLUMNS 13u

struct table;

/** A table with a column for each letter of `layout`: 'l' left, 'r' right, 'n' a kernel's name
 * (left, last, shortened to the terminal's width as shorten.h says, only where the output is a
 * terminal). Never NULL: memory that is short ends the program with a sentence. */
struct table *table_new(const char *layout);

/** Adds a cell; rows fill from left to right, the first row is the heading. The text is copied. */
void table_cell(struct table *table, const char *text);

/** Adds a name to the last column of a layout with 'n', and before it a text that is not shortened.
 */
void table_name(struct table *table, const char *before, const char *name);

/** Whether names are shown whole even where the terminal is too narrow for them; false at first. */
void table_wide(struct table *table, bool wide);

/** Writes the table with two spaces of indent and frees it. */
void table_print(struct table *table, FILE *out);

#endif
