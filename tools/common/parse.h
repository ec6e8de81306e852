/**
 * Options of a subcommand, by argp.
 */
#ifndef RTL_TOOLS_PARSE_H
#define RTL_TOOLS_PARSE_H

#include <argp.h>

/** As argp_parse with these `flags` (ARGP_*). 0, or an exit status when a sentence has been said,
 * as on options that the command does not have. `--help` ends the program. */
int parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/** As parse with ARGP_IN_ORDER, of a command of which options stand behind its arguments, too, up
 * to
 * "--". The sentence on an option that it does not have ends with `hint`. */
int parse_to_end(const struct argp *argp, int argc, char **argv, const char *hint, void *input);

/** Takes the text of an option that may be given once; `*to` was NULL before. 0, or EINVAL when a
 * sentence has been said. */
int parse_once(const char *option, const char *text, const char **to);

/** Reads the count that an option was given. 0, or EINVAL when a sentence has been said. */
int parse_count(const char *option, const char *text, unsigned *count);

/** Gives `each` the items of a list with commas, which it may write to, until it returns another
 * value than 0. Returns that; or EINVAL when a sentence has been said that --OPTION has no item,
 * such as `example`; or 0. Ends the program without memory. */
int parse_list(const char *option, const char *list, const char *example,
               int (*each)(void *context, char *item), void *context);

#endif
