/**
 * A made-up recording with everything that a trace can hold, in three parts; and what of it a trace
 * holds, as lines of text that can be compared.
 */
#ifndef RTL_TESTS_FAULTS_WORLD_H
#define RTL_TESTS_FAULTS_WORLD_H

#include "../common/check.h"
#include "ring/wire.h"
#include "store/writer.h"

#include <stdbool.h>
#include <stddef.h>

#define WORLD_PARTS 3

/** Takes a record; `rest` follows its body. */
typedef void (*world_take)(void *context, enum rtl_wire_type type, const void *body,
                           size_t body_size, const void *rest, size_t rest_size);

/** Gives the records of a part, from 0. */
void world_give(unsigned part, world_take take, void *context);

/** A world_take whose context is a struct world_writer: gives the record to the writer. */
struct world_writer {
    struct rtl_writer *writer;
    uint32_t process; /**< as the writer numbered it */
};
void world_write(void *context, enum rtl_wire_type type, const void *body, size_t body_size,
                 const void *rest, size_t rest_size);

/** The account of queue 0, 1 or 2 after a part. */
struct rtl_writer_account world_account(unsigned part, uint32_t queue);

/** Kernels, copies and host calls of the first `parts` parts. */
uint64_t world_events(unsigned parts);

/** Writes a closed trace with all parts; `path`, of FIXTURE_PATH bytes, gets its name. */
bool world_trace(char *path);

/** What a trace holds. */
struct world_lines {
    char **lines; /**< sorted */
    size_t count, capacity;
    int finished;
    uint64_t events; /**< kernels, copies and host calls */
};

/** Reads all of a trace, by its tables and by the reader. Fails if that does. */
const char *world_read(const char *path, struct world_lines *lines);

void world_free(struct world_lines *lines);

/** Events that lie in the file now, by its tables alone; `path` may be being written. */
const char *world_stored(const char *path, uint64_t *events);

/** Compares what was to be stored with what was. Events and definitions are all there unless
 * somebody was `told` that they are not; and whatever is missing in a finished trace is told by its
 * notes, events with their number. Nothing may be there that was not given, but rows that say what
 * is known.
 */
const char *world_compare(const struct world_lines *want, const struct world_lines *got, bool told);

#endif
