/**
 * The ranges of a page, each with what it cost the GPU (ranges_read.h), and merged by name: what
 * stands at the same path of names is one row, so that as many ranges as there are can be looked
 * at. They lie in a piece of the page of their own, which is unpacked when it is looked at: the
 * length of a JSON text (varint), the text, and two tables of numbers, of single ranges and of
 * merged ones.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_RANGES_H
#define RTL_TOOLS_EXPORT_HTML_RANGES_H

#include "common/bytes.h"
#include "export/export.h"

/** Single ranges in a page; of more, those that last longest are taken. */
#define HTML_RANGES_MOST 131072u

/** Merged rows; further names of a place in the tree are one row. */
#define HTML_RANGES_MERGED 32768u

/** Appends the ranges of the export that are wanted; times count from `zero`, ns on the trace's
 * clock. Appends nothing if there is none. Memory that is short ends the program with a sentence,
 * so no file may have been begun. */
rtl_status_t html_ranges(const struct export *export, uint64_t zero, struct bytes *bytes);

#endif
