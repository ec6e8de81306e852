/**
 * Sentences about processes, which begin "process PID".
 */
#ifndef RTL_COMMON_SENTENCE_H
#define RTL_COMMON_SENTENCE_H

#include <ctype.h>
#include <string.h>

/** What stands behind the pid at the beginning of a sentence; the sentence itself if it does not
 * begin so. Points into the argument. Any thread. */
static inline const char *rtl_behind_pid(const char *sentence)
{
    static const char begin[] = "process ";
    if (strncmp(sentence, begin, strlen(begin)) != 0)
        return sentence;
    const char *at = sentence + strlen(begin);
    while (isdigit((unsigned char)*at))
        at++;
    return at;
}

/** Where the number ends that is a word of its own at `at` in a sentence that begins at `begin`
 * (" is 30273 KiB", " is 12)"); `at` where there is none. Any thread. */
static inline const char *rtl_behind_number(const char *begin, const char *at)
{
    const char *end = at;
    if (at == begin || at[-1] != ' ')
        return at;
    while (isdigit((unsigned char)*end))
        end++;
    return isalnum((unsigned char)*end) || *end == '_' ? at : end;
}

/** As strcmp, but numbers that are words of their own are all the same (limits, say, of which each
 * process has another), and come before every letter. Any thread. */
static inline int rtl_compare_but_numbers(const char *one, const char *other)
{
    const char *a = one;
    const char *b = other;
    while (1) {
        const char *behind_a = rtl_behind_number(one, a);
        const char *behind_b = rtl_behind_number(other, b);
        int first = behind_a != a ? 1 : (unsigned char)*a;
        int second = behind_b != b ? 1 : (unsigned char)*b;
        if (first != second || first == 0)
            return first - second;
        a = behind_a != a ? behind_a : a + 1;
        b = behind_b != b ? behind_b : b + 1;
    }
}

#endif
