/**
 * Notes as they are shown: what is said of many processes in the same words takes one line.
 */
#ifndef RTL_TOOLS_NOTES_H
#define RTL_TOOLS_NOTES_H

#include <rtl/rtl_trace.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Pids that a line names at most. */
#define NOTES_PIDS 8u

/** A note, and of how many processes more the same is said. */
struct notes_line {
    const rtl_note_t *note; /**< the trace's */
    size_t others;
    uint32_t pids[NOTES_PIDS]; /**< of the first of these, 0 if unknown */
    bool differ;               /**< in numbers */
};

struct notes {
    struct notes_line *lines; /**< in the order of the trace */
    size_t count;
};

/** Reads them. Those of different processes that differ at most in the pid behind "process " at
 * their beginning, and in numbers, share a line. For notes_end. */
rtl_status_t notes_read(rtl_trace_t *trace, struct notes *notes);

void notes_end(struct notes *notes);

/** Writes it as plain has it, without an end of line: "process 5 … (the same holds for 2 more
 * processes: 6, 7)". */
void notes_show(FILE *file, const struct notes_line *line);

#endif
