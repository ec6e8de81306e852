/**
 * What the subcommands that read a trace have in common: `FILE [--json]`, opening, JSON output.
 */
#ifndef RTL_TOOLS_OPEN_H
#define RTL_TOOLS_OPEN_H

#include <rtl/rtl_trace.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/** Opens a trace; on failure says why and returns NULL. Says it too if the file goes on after the
 * trace. Where all that was recorded has ended and the recorder has not, it is waited for, up to
 * five seconds (settle.h). */
rtl_trace_t *open_trace(const char *path);

/** Says that the file has so many bytes after the trace; nothing for 0. */
void open_say_behind(const char *path, uint64_t bytes);

/** Says what went wrong while `trace` was read, and returns EXIT_USAGE. */
int open_failed(const rtl_trace_t *trace, const char *path);

/** Writes `object` to stdout, indented, with a newline, and gives up the reference. Returns
 * `status`, or EXIT_USAGE if there is nothing to write; what became of it, written.h tells. */
int open_print_json(json_t *object, int status);

/** Writes an object (NULL: there is none) as open_print_json does. 0, or -1. */
int open_write_object(FILE *file, const json_t *object);

/** Writes a value as json_dumpf does with these flags, and escapes in its strings also what a
 * terminal would act on (plain.h). 0, or -1. */
int open_write_json(FILE *file, const json_t *value, size_t flags);

/** A JSON number, or null for RTL_TRACE_NONE. */
json_t *open_id(uint32_t id);

/** A JSON number; values above INT64_MAX become strings of hexadecimal digits. */
json_t *open_number(uint64_t value);

/** A JSON string from text that may not be UTF-8: bytes that are not become '?'. "" is null. */
json_t *open_text(const char *text);

/** "0x…" as a JSON string. */
json_t *open_address(uint64_t address);

#endif
