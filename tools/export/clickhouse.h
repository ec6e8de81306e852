/**
 * `rtl export --to clickhouse`: what the command line says of a database server, where no file is
 * made.
 */
#ifndef RTL_TOOLS_EXPORT_CLICKHOUSE_H
#define RTL_TOOLS_EXPORT_CLICKHOUSE_H

#include "fleet/load.h"

#include <argp.h>
#include <stdbool.h>

/** Zeroed memory: none was given. The texts are the command line's. */
struct clickhouse {
    struct load_options load;
    const char *given;  /**< an option of these that was given, NULL: none */
    const char **paths; /**< of the traces */
    unsigned count;
};

/** The parser of the options, to be argp's child; its input is a struct clickhouse. */
extern const struct argp clickhouse_argp;

/** Takes the name of a trace. */
void clickhouse_path(struct clickhouse *clickhouse, const char *path);

/** Loads the traces. An exit status. */
int clickhouse_run(const struct clickhouse *clickhouse);

void clickhouse_free(struct clickhouse *clickhouse);

#endif
