/**
 * Text and bytes into a file, in large pieces. Errors are kept: out_end tells.
 */
#ifndef RTL_TOOLS_EXPORT_OUT_H
#define RTL_TOOLS_EXPORT_OUT_H

#include "export/export.h"

#include <stddef.h>
#include <zlib.h>

#define OUT_BUFFER 65536u

struct out {
    struct export *export;
    struct output *output; /**< NULL: bytes are counted alone */
    bool terminal;         /**< the output is one */
    int error;             /**< errno of the first write that failed, 0 if none did */
    uint64_t written;      /**< bytes, those in the buffer included, before they are packed */
    z_stream gzip;         /**< with --gzip; `state` NULL: it has not begun, or has ended */
    size_t used;
    char buffer[OUT_BUFFER];
};

/** Begins the next file of the export. */
int out_begin(struct out *out, struct export *export);

/** Begins to count the bytes of what would be written: no file is made, and out_end is not
 * called. */
void out_count(struct out *out, struct export *export);

/** Writes what is left and closes. `out` may begin again. */
int out_end(struct out *out);

/** Closes a file that nobody wants any more. */
void out_drop(struct out *out);

/** True when the file is as large as --split-size wants it. */
bool out_full(const struct out *out);

void out_bytes(struct out *out, const void *bytes, size_t size);
void out_text(struct out *out, const char *text);
void out_number(struct out *out, uint64_t number);
void out_signed(struct out *out, int64_t number);

/** A string of JSON with its quotes; bytes that are not UTF-8 become U+FFFD, and what a terminal
 * would act on is escaped. */
void out_json(struct out *out, const char *text);

/** ns as µs with three decimals. */
void out_micros(struct out *out, uint64_t ns);

/** A field of CSV (RFC 4180) that is text, in quotes if it needs them. An apostrophe stands before
 * what a spreadsheet would take for a formula (= + - @, tab, line ends at its begin), and on a
 * terminal it is as plain has it. */
void out_csv(struct out *out, const char *text);

#endif
