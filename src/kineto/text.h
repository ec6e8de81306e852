/**
 * What vendors say in words, in a form that every reader of a trace can read. All functions rewrite
 * a text in its place and never make it longer.
 */
#ifndef RTL_KINETO_TEXT_H
#define RTL_KINETO_TEXT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How many bytes the UTF-8 character at `at` has (RFC 3629); 0 if there is none. At the end of the
 * text it is 1. */
size_t pu1_character(const char *at);

/** A byte that belongs to no character becomes '?'. An object (members.h) stays one. */
void pu1_mend_utf8(char *text);

/** A name for Kineto, which writes names into its file without escapes, drops newlines, makes
 * slashes of backslashes and writes "unknown" for a name that has an unprintable character: quotes
 * become apostrophes, backslashes slashes, control characters blanks, and what is not UTF-8 '?'. */
void pu1_plain_name(char *name);

/** An object, for which pu1_is_object holds, for Kineto, which makes slashes of backslashes in
 * metadata: an object with the same members and no backslash. Escapes become the characters that
 * they stand for, but for those that a string cannot have without one: quotes become apostrophes,
 * backslashes slashes, control characters blanks, halves of surrogate pairs '?'. What is not UTF-8
 * becomes '?', and a number of more than 400 characters, which some readers refuse, null. */
void pu1_plain_object(char *text);

#ifdef __cplusplus
}
#endif

#endif
