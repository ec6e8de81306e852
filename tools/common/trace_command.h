/**
 * The command line of subcommands that read one trace: `rtl NAME FILE …`.
 */
#ifndef RTL_TOOLS_TRACE_COMMAND_H
#define RTL_TOOLS_TRACE_COMMAND_H

/** Takes an argument, as argp gives it for ARGP_KEY_ARG, for the trace's name. 0, or EINVAL when a
 * sentence has been said: there is a name already. */
int trace_command_take(const char *value, const char **path);

/** Whether a trace was named; if not, says how the command is called, such as "rtl info FILE". 0,
 * or EXIT_USAGE. */
int trace_command_needs(const char *path, const char *usage);

#endif
