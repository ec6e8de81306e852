/** Text from outside (file names, settings, names of kernels) without control characters, so that
 * printing it cannot change the state of a terminal. */
#ifndef RTL_COMMON_DISARM_H
#define RTL_COMMON_DISARM_H

#include <stdbool.h>
#include <stddef.h>

/** Puts a ? in the place of each control character: C0, DEL, and C1 as UTF-8 has it. */
static inline void rtl_disarm(char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool c1 = c >= 0x80 && c < 0xa0 && i > 0 && (unsigned char)text[i - 1] == 0xc2;
        if (c < 0x20 || c == 0x7f || c1)
            text[i] = '?';
    }
}

#endif
