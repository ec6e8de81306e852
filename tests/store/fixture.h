/** What the tests of the store share: folders, seeded numbers, small traces. */
#ifndef RTL_TESTS_STORE_FIXTURE_H
#define RTL_TESTS_STORE_FIXTURE_H

#include "../common/check.h"
#include "ring/wire.h"
#include "store/writer.h"

#include <rtl/rtl_trace.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Numbers that only depend on the seed (SplitMix64, Steele, Lea and Flood 2014). */
uint64_t fixture_random(uint64_t *state);

/** Makes an empty folder of its own and writes `FOLDER/trace.db` to `path`, which has room for
 * FIXTURE_PATH bytes. */
#define FIXTURE_PATH 256
bool fixture_path(char *path);

/** Removes the folder of `path` with all its files. */
void fixture_remove(const char *path);

/** Opens a writer at `path`; NULL and the sentence on stderr if that fails. */
struct rtl_writer *fixture_open(const char *path);

/** Adds a process, a GPU agent with a clock of 100 MHz that began with the system clock, `queues`
 * queues and `shapes` shapes; returns the process. */
uint32_t fixture_define(struct rtl_writer *writer, uint32_t queues, uint32_t shapes);

/** Kernel `i` of an orderly queue: 1000 ticks long, every 2000 ticks, eager. */
struct rtl_wire_kernel fixture_kernel(uint32_t queue, uint64_t i);

/** Gives kernels `from` to `to` of a queue to the writer. */
void fixture_kernels(struct rtl_writer *writer, uint32_t process, uint32_t queue, uint64_t from,
                     uint64_t to);

/** Writes a closed trace with `count` kernels in each of two queues. */
bool fixture_trace(const char *path, uint64_t count);

/** All kernels that the filter leaves. The caller frees them. NULL with *status set on failure. */
rtl_kernel_t *fixture_read(rtl_trace_t *trace, const rtl_kernel_filter_t *filter, size_t *count,
                           rtl_status_t *status);

/** Opens, counts the kernels by iterating, closes. -1 if anything fails. */
int64_t fixture_count(const char *path);

/** Adds a host call with this correlation, of thread 100, without arguments. */
void fixture_call(struct rtl_writer *writer, uint32_t process, uint64_t correlation);

/** The first column of the first row of a query by rtl_sql_open; INT64_MIN on any error. */
int64_t fixture_number(const char *path, const char *query);

/** The checksum of a chunk whose row has these fields, as docs/format.md has it. */
uint32_t fixture_checksum(const uint64_t *fields, size_t count, const unsigned char *data,
                          size_t size);

/** Runs SQL on the file as any program could. */
bool fixture_sql(const char *path, const char *sql);

#endif
