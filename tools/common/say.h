/**
 * Sentences for the user.
 */
#ifndef RTL_TOOLS_SAY_H
#define RTL_TOOLS_SAY_H

/** Writes "rtl: sentence" and a newline to stderr. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** As say, and returns `status` for the caller to return in turn. */
int say_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** What errno `number` means, without the number, and the limit that is behind it (common/why.h).
 * Until the thread's next call. */
const char *say_errno(int number);

/** Changes of letters that turn `a` into `b` (Levenshtein), for "did you mean". */
unsigned say_distance(const char *a, const char *b);

#endif
