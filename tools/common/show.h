/**
 * How numbers and tables look, the same in every subcommand: thousands are parted by a space,
 * durations have a unit, colours are for terminals only.
 */
#ifndef RTL_TOOLS_SHOW_H
#define RTL_TOOLS_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Room for any text of these functions, with its terminator. */
struct shown {
    char text[48];
};

/** 1234567 -> "1 234 567" */
struct shown show_count(uint64_t count);

/** "1 kernel", "2 kernels"; `thing` is one of them, up to 17 letters: process, launch and copy get
 * their endings. */
struct shown show_things(uint64_t count, const char *thing);

/** "is" or "are" of so many. */
const char *show_are(uint64_t count);

/** ns -> "1.234 us"; four figures and a unit of ns, us, ms, s, min, h or d. */
struct shown show_duration(double ns);

/** "12.3 MiB" */
struct shown show_bytes(uint64_t bytes);

/** "12.3 %"; 0 of 0 is 0 %. */
struct shown show_share(uint64_t part, uint64_t whole);

/** "1.2 M/s" */
struct shown show_rate(double per_second);

/** Date and time of a CLOCK_REALTIME stamp in ns, local time. */
struct shown show_date(uint64_t realtime_ns);

/** True if `file` is a terminal. */
bool show_terminal(const FILE *file);

/** Columns of the terminal behind `file`, 0 if it is none. */
unsigned show_width(FILE *file);

/** Writes a text, as plain has it, in bold, red or green where `file` is a terminal (and NO_COLOR
 * is not set). */
enum show_style { SHOW_BOLD, SHOW_GOOD, SHOW_BAD };
void show_styled(FILE *file, enum show_style style, const char *text);

#endif
