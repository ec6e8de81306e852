/**
 * Names of trace files.
 */
#ifndef RTL_COLLECT_OUTPUT_H
#define RTL_COLLECT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Writes `pattern` to `path` with `%p` replaced by `pid`, `%h` by the host's name, `%r` by the
 * rank that the launcher gave (common/rank.h; 0 without one) and `%%` by a percent sign. Anything
 * else after a percent sign stays as it is. 0, or -1 when `path` is too small. */
int rtl_output_expand(const char *pattern, uint32_t pid, char *path, size_t path_size);

/** True if `pattern` has a `%p`, so that its name is only known with the process. */
bool rtl_output_names_pid(const char *pattern);

/** Changes `path` to the first of name.db, name-1.db, name-2.db, … that does not exist yet. Returns
 * the number chosen, 0 if `path` was free, -1 when it is too small. What is no file (a device, a
 * FIFO, a folder, a descriptor such as /dev/stdout) keeps its name, with 0: no file is made beside
 * it, and who opens it refuses it. */
int rtl_output_free_name(char *path, size_t path_size);

#endif
