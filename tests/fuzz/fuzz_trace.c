/*
 * The reader under damaged traces: rows that claim anything, tables that are missing, chunks whose
 * bytes are wrong under a checksum that is right, and files with other bytes in them. It says what
 * is wrong or reads what is there, within the memory and the time that the fuzzer has, and what it
 * gives out is what its header promises.
 *
 * Input: which trace of tests/golden, and what to damage (fuzz_trace_golden.c,
 * fuzz_trace_damage.c).
 */
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    sqlite3 *db = fuzz_damaged(&input);
    fuzz_read(db, &input);
    fuzz_must(sqlite3_close(db) == SQLITE_OK, "nothing is left open");
    return 0;
}
