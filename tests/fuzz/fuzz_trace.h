/** What the fuzzer of the reader consists of: damage to a trace, and reading all of one. */
#ifndef RTL_TESTS_FUZZ_TRACE_H
#define RTL_TESTS_FUZZ_TRACE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/** The input, taken from its begin; past its end there are zeros. */
struct fuzz_input {
    const uint8_t *data;
    size_t size;
};

uint8_t fuzz_byte(struct fuzz_input *input);

/** A number of 64 bits: often one at which something ends, else what the input says. */
uint64_t fuzz_number(struct fuzz_input *input);

/** A connection to a copy in memory of a golden trace, damaged as the input says: rows, or the
 * bytes of the file, or both. The caller closes it. */
sqlite3 *fuzz_damaged(struct fuzz_input *input);

/** Damages rows, tables and chunks of an open trace, as the input says. Damaged data gets a
 * checksum that is right, most of the time, so that what lies behind that is reached. */
void fuzz_damage_rows(sqlite3 *db, struct fuzz_input *input);

/** Damages the bytes of a file, and cuts it: its new size. */
size_t fuzz_damage_bytes(unsigned char *bytes, size_t size, struct fuzz_input *input);

/** Reads all of the trace behind a connection, through <rtl/rtl_trace.h> and by SQL. Whatever the
 * trace, what is read keeps its promises; aborts if it does not. */
void fuzz_read(sqlite3 *db, struct fuzz_input *input);

/** Aborts with a sentence unless `holds`. */
static inline void fuzz_must(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "fuzz: not so: %s\n", what);
    abort();
}

#endif
