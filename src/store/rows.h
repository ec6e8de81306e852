/**
 * One definition of the wire, one row of the trace: the statements that store them. Used by the
 * writer only.
 */
#ifndef RTL_STORE_ROWS_H
#define RTL_STORE_ROWS_H

#include "common/exchange.h"
#include "ring/wire.h"
#include "store/api_codec.h"
#include "store/codec.h"
#include "store/launch_codec.h"
#include "store/sample_codec.h"
#include "store/symbol_codec.h"
#include "store/writer.h"

#include <sqlite3.h>
#include <stddef.h>

#define RTL_ROWS_STATEMENTS 43

/** Prepared statements, made when first needed. */
struct rtl_rows {
    sqlite3 *db;
    sqlite3_stmt *statements[RTL_ROWS_STATEMENTS];
};

/** Frees the statements. */
void rtl_rows_close(struct rtl_rows *rows);

/** Stores a definition; `body` is the struct of ring/wire.h for `type`, `texts` what follows it.
 * An SQLite result code, SQLITE_OK if all is well. All functions below alike. */
int rtl_rows_definition(struct rtl_rows *rows, enum rtl_wire_type type, uint32_t process,
                        const void *body, const char *texts);

/** Stores a symbol as a row of its own, over what was there before, and symbols packed in a block.
 */
int rtl_rows_symbol(struct rtl_rows *rows, uint32_t process,
                    const struct rtl_packed_symbol *symbol);
int rtl_rows_symbol_block(struct rtl_rows *rows, const struct rtl_symbol_block *block,
                          const void *data, size_t size);

/** Stores a chunk under its number, over what was there before. */
int rtl_rows_chunk(struct rtl_rows *rows, int64_t number, const struct rtl_chunk *chunk,
                   const void *data, size_t size);

/** The same of host calls. */
int rtl_rows_api_chunk(struct rtl_rows *rows, int64_t number, const struct rtl_api_chunk *chunk,
                       const void *data, size_t size);

/** The same of graph launches. */
int rtl_rows_launch_chunk(struct rtl_rows *rows, int64_t number,
                          const struct rtl_launch_chunk *chunk,
                          const struct rtl_launch_packed *packed);

/** The same of what hardware counters counted. */
int rtl_rows_sample_chunk(struct rtl_rows *rows, int64_t number,
                          const struct rtl_sample_chunk *chunk, const void *data, size_t size);

/** Least and greatest launch that the kernels of a chunk name, RTL_NONE both if none does. */
int rtl_rows_chunk_launches(struct rtl_rows *rows, int64_t number, uint32_t launch_min,
                            uint32_t launch_max);

/** A stream as a row of the trace. */
struct rtl_row_stream {
    uint64_t handle;
    uint64_t created, destroyed; /**< 0: not known */
    const char *name;            /**< NULL: none */
    uint32_t process, stream, generation;
};

/** A stream, and a thread that is known of a process; both may come again. */
int rtl_rows_stream(struct rtl_rows *rows, const struct rtl_row_stream *row);
int rtl_rows_thread(struct rtl_rows *rows, uint32_t process, uint32_t thread);

int rtl_rows_account(struct rtl_rows *rows, uint32_t process, uint32_t queue,
                     const struct rtl_writer_account *account);

/** A kind's account: what was handed over, how much of that is known not to be in the file, and
 * what was not handed over. */
struct rtl_kind_account {
    uint64_t recorded, dropped;
    struct rtl_writer_kind rest;
};

int rtl_rows_kind(struct rtl_rows *rows, uint32_t process, enum rtl_kind kind,
                  const struct rtl_kind_account *account);

int rtl_rows_process_end(struct rtl_rows *rows, uint32_t process, const char *state, uint64_t time,
                         uint64_t torn);

/** An exchange of the host that records. */
int rtl_rows_exchange(struct rtl_rows *rows, const struct rtl_exchange *exchange);

/** Facts about the whole trace. */
int rtl_rows_meta_number(struct rtl_rows *rows, const char *key, int64_t value);
int rtl_rows_meta_text(struct rtl_rows *rows, const char *key, const char *value);

#endif
