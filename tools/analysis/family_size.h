/**
 * How large a pattern is to the C library. Pure.
 */
#ifndef RTL_TOOLS_FAMILY_SIZE_H
#define RTL_TOOLS_FAMILY_SIZE_H

/** Characters of a POSIX extended regular expression with its repetitions written out, as regcomp
 * does: a pattern of 40 bytes, such as ((a{1,99}){1,99}){1,99}, takes gigabytes and minutes. What
 * is between brackets is one character; of what is no pattern the size is any. */
double family_pattern_size(const char *pattern);

#endif
