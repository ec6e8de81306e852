/**
 * Regular expressions of users: POSIX extended, as regcomp(3) has them.
 */
#ifndef RTL_COMMON_REGEXP_H
#define RTL_COMMON_REGEXP_H

#include <regex.h>
#include <stddef.h>

/** Bytes of a pattern, at most. The C library compiles what is nested by calling itself: some
 * 13 000 parentheses were more than a stack of 8 MiB, and those of threads are smaller. */
enum { RTL_REGEXP_LONGEST = 1000 };

/** Compiles a pattern that is only looked for (REG_NOSUB). 0, and the caller frees it with regfree;
 * EINVAL, then `why` says so in words: the pattern itself may be among them, 1200 bytes are enough;
 * ENOMEM. */
int rtl_regexp_compile(regex_t *expression, const char *pattern, char *why, size_t size);

#endif
