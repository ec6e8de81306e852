#include "export/utf8.h"

#include <stdbool.h>

static bool follows(const unsigned char *text, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if ((text[i] & 0xC0) != 0x80)
            return false;
    return true;
}

/* Unicode 15, table 3-7. */
size_t utf8_sequence(const char *string)
{
    const unsigned char *text = (const unsigned char *)string;
    if (text[0] < 0x80)
        return 1;
    if (text[0] >= 0xC2 && text[0] <= 0xDF)
        return follows(text + 1, 1) ? 2 : 0;
    if ((text[0] & 0xF0) == 0xE0) {
        bool overlong = text[0] == 0xE0 && text[1] < 0xA0;
        bool surrogate = text[0] == 0xED && text[1] >= 0xA0;
        return !overlong && !surrogate && follows(text + 1, 2) ? 3 : 0;
    }
    if (text[0] >= 0xF0 && text[0] <= 0xF4) {
        bool overlong = text[0] == 0xF0 && text[1] < 0x90;
        bool beyond = text[0] == 0xF4 && text[1] >= 0x90;
        return !overlong && !beyond && follows(text + 1, 3) ? 4 : 0;
    }
    return 0;
}
