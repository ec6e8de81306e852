/**
 * What other profilers call commands, options, formats and tables, for users who type that: what to
 * type here.
 */
#ifndef RTL_TOOLS_ELSEWHERE_H
#define RTL_TOOLS_ELSEWHERE_H

/** The command of RTL, such as "sql FILE top", that another tool calls `name`; NULL if none does.
 */
const char *elsewhere_command(const char *name);

/** What there is in place of an option, "--stats" or "-d", of a command, "rtl trace": half a
 * sentence. NULL: nothing is known of it. What is behind a '=' does not count. */
const char *elsewhere_option(const char *command, const char *option);

/** The formats of `rtl export` that another tool calls `name`, in words; NULL if there is none. */
const char *elsewhere_format(const char *name);

/** The table of RTL's SQL that another tool's database calls `name`; NULL if none is. */
const char *elsewhere_table(const char *name);

#endif
