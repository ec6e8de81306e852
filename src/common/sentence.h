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

#endif
