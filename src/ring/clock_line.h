/**
 * Turning the ticks of an agent into the trace's clock.
 *
 * Two lines through points, one after the other: ticks to the HSA system clock (one point per
 * rtl_wire_clock), and the system clock to CLOCK_BOOTTIME (one point per rtl_wire_clock_snapshot).
 * Both rise, so order is kept. Integers of 128 bits, rounded down: no drift, and never more than a
 * nanosecond from the line.
 */
#ifndef RTL_RING_CLOCK_LINE_H
#define RTL_RING_CLOCK_LINE_H

#include "ring/wire.h"

#include <stdbool.h>
#include <stddef.h>

/** A rising line through points; outside them it goes on at the rate dy/dx. */
struct rtl_line {
    uint64_t *x, *y; /**< both rise */
    size_t points, capacity;
    uint64_t dx, dy; /**< rate outside the points; dx is not 0 */
    size_t last;     /**< segment of the last lookup: the next is mostly in it */
};

/** Adds a point; they must come in the order of x. One that does not rise in both is left out. 0,
 * or -1 when memory is short. */
int rtl_line_add(struct rtl_line *line, uint64_t x, uint64_t y);

/** The line at `x`, rounded down, limited to 0 and UINT64_MAX. Without points: x * dy / dx. */
uint64_t rtl_line_at(struct rtl_line *line, uint64_t x);

void rtl_line_free(struct rtl_line *line);

/** Where a line is straight: y + (at - x) * dy / dx, rounded down, for x <= at <= last. */
struct rtl_stretch {
    uint64_t x, last, y;
    uint64_t dx, dy; /**< without a common factor */
};

/** The stretch of a line that has `at`. False where rtl_line_at does not just round down: before
 * the first point. */
bool rtl_line_stretch(struct rtl_line *line, uint64_t at, struct rtl_stretch *stretch);

/** After the last point of an agent: its rate outside them. That is the rate over all points where
 * they span a second, because reading both clocks takes up to some microseconds and a shorter base
 * would magnify that; else the agent's own frequency (0: unknown, the points decide). */
void rtl_clock_finish_ticks(struct rtl_line *line, uint64_t clock_hz);

/** Makes the line from the HSA system clock to CLOCK_BOOTTIME from a process's snapshots, in their
 * order. Where they agree within their widths that they are one clock the line is exactly y = x;
 * where they agree on an offset it is the offset of the tightest. 0, or -1 when memory is short. */
int rtl_clock_make_system(struct rtl_line *line, const struct rtl_wire_clock_snapshot *snapshots,
                          size_t count);

#endif
