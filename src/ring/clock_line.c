#include "ring/clock_line.h"

#include <stdlib.h>

#define SECOND UINT64_C(1000000000)

__extension__ typedef unsigned __int128 wide; /* NOLINT(readability-identifier-naming) */

int rtl_line_add(struct rtl_line *line, uint64_t x, uint64_t y)
{
    size_t n = line->points;
    if (n && (x <= line->x[n - 1] || y <= line->y[n - 1]))
        return 0;
    if (n == line->capacity) {
        size_t capacity = n ? n * 2 : 8;
        uint64_t *xs = realloc(line->x, capacity * sizeof *xs);
        if (!xs)
            return -1;
        line->x = xs;
        uint64_t *ys = realloc(line->y, capacity * sizeof *ys);
        if (!ys)
            return -1;
        line->y = ys;
        line->capacity = capacity;
    }
    line->x[n] = x;
    line->y[n] = y;
    line->points = n + 1;
    return 0;
}

void rtl_line_free(struct rtl_line *line)
{
    free(line->x);
    free(line->y);
    *line = (struct rtl_line){.dx = 1, .dy = 1};
}

/* The segment [i, i+1] that holds x, which lies inside the points. */
static size_t segment(struct rtl_line *line, uint64_t x)
{
    size_t i = line->last;
    if (i + 1 < line->points && line->x[i] <= x && x < line->x[i + 1])
        return i;
    size_t low = 0;
    size_t high = line->points - 1;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (line->x[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return line->last = low;
}

static wide scale(uint64_t x, uint64_t dx, uint64_t dy)
{
    return (wide)x * dy / dx;
}

static uint64_t above(const struct rtl_line *line, size_t point, uint64_t x)
{
    wide y = line->y[point] + scale(x - line->x[point], line->dx, line->dy);
    return y > UINT64_MAX ? UINT64_MAX : (uint64_t)y;
}

static uint64_t below(const struct rtl_line *line, uint64_t x)
{
    /* Rounded up, so that the result is rounded down. */
    wide back = ((wide)(line->x[0] - x) * line->dy + line->dx - 1) / line->dx;
    return back > line->y[0] ? 0 : line->y[0] - (uint64_t)back;
}

uint64_t rtl_line_at(struct rtl_line *line, uint64_t x)
{
    if (line->points == 0) {
        wide y = scale(x, line->dx, line->dy);
        return y > UINT64_MAX ? UINT64_MAX : (uint64_t)y;
    }
    if (x < line->x[0])
        return below(line, x);
    if (x >= line->x[line->points - 1])
        return above(line, line->points - 1, x);
    size_t i = segment(line, x);
    uint64_t dx = line->x[i + 1] - line->x[i];
    uint64_t dy = line->y[i + 1] - line->y[i];
    uint64_t away = x - line->x[i];
    /* Points are seconds apart: the product mostly fits, and a 64-bit division is several times as
     * fast. */
    if (away <= UINT32_MAX && dy <= UINT32_MAX)
        return line->y[i] + away * dy / dx;
    return line->y[i] + (uint64_t)scale(away, dx, dy);
}

static uint64_t common_factor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

bool rtl_line_stretch(struct rtl_line *line, uint64_t at, struct rtl_stretch *stretch)
{
    size_t last = line->points ? line->points - 1 : 0;
    *stretch = (struct rtl_stretch){.last = UINT64_MAX, .dx = line->dx, .dy = line->dy};
    if (line->points && at < line->x[0])
        return false;
    if (line->points && at >= line->x[last]) {
        stretch->x = line->x[last];
        stretch->y = line->y[last];
    } else if (line->points) {
        size_t i = segment(line, at);
        *stretch = (struct rtl_stretch){.x = line->x[i],
                                        .last = line->x[i + 1] - 1,
                                        .y = line->y[i],
                                        .dx = line->x[i + 1] - line->x[i],
                                        .dy = line->y[i + 1] - line->y[i]};
    }
    uint64_t factor = common_factor(stretch->dx, stretch->dy);
    stretch->dx /= factor;
    stretch->dy /= factor;
    return true;
}

void rtl_clock_finish_ticks(struct rtl_line *line, uint64_t clock_hz)
{
    line->dx = clock_hz ? clock_hz : SECOND;
    line->dy = SECOND;
    if (line->points < 2)
        return;
    uint64_t dx = line->x[line->points - 1] - line->x[0];
    uint64_t dy = line->y[line->points - 1] - line->y[0];
    if (dy >= SECOND || clock_hz == 0) {
        line->dx = dx;
        line->dy = dy;
    }
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static bool same_clock(const struct rtl_wire_clock_snapshot *snapshots, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (distance(snapshots[i].boottime_ns, snapshots[i].system_ns) > snapshots[i].width_ns)
            return false;
    return true;
}

/* True if every snapshot, within its width, has the offset of `best`. */
static bool same_offset(const struct rtl_wire_clock_snapshot *snapshots, size_t count,
                        const struct rtl_wire_clock_snapshot *best)
{
    uint64_t offset = best->boottime_ns - best->system_ns;
    for (size_t i = 0; i < count; i++) {
        uint64_t expected = snapshots[i].system_ns + offset;
        uint64_t width = snapshots[i].width_ns;
        if (distance(snapshots[i].boottime_ns, expected) > width &&
            distance(snapshots[i].boottime_ns, expected) - width > best->width_ns)
            return false;
    }
    return true;
}

int rtl_clock_make_system(struct rtl_line *line, const struct rtl_wire_clock_snapshot *snapshots,
                          size_t count)
{
    line->dx = line->dy = 1;
    if (same_clock(snapshots, count))
        return 0;
    const struct rtl_wire_clock_snapshot *best = &snapshots[0];
    for (size_t i = 1; i < count; i++)
        if (snapshots[i].width_ns < best->width_ns)
            best = &snapshots[i];
    if (same_offset(snapshots, count, best))
        return rtl_line_add(line, best->system_ns, best->boottime_ns);
    for (size_t i = 0; i < count; i++)
        if (rtl_line_add(line, snapshots[i].system_ns, snapshots[i].boottime_ns) != 0)
            return -1;
    return 0;
}
