#include "common/plain.h"

#include "common/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ESCAPE_MOST 10u /* characters of an escape: \u and eight digits */
#define ESCAPE_BYTE 4u  /* of those of one byte, which grow most */

struct interval {
    uint32_t first, last;
};

static bool within(uint32_t code, const struct interval *list, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (code >= list[i].first && code <= list[i].last)
            return true;
    return false;
}

/* Controls, and what turns the direction of what follows (Unicode, Bidi_Control), which could make
 * a line read as another. */
static bool is_harmful(uint32_t code)
{
    static const struct interval list[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x061c, 0x061c},
                                           {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
                                           {0xfeff, 0xfeff}};
    return within(code, list, sizeof list / sizeof *list);
}

/* Combining marks and joiners. */
static bool has_no_width(uint32_t code)
{
    static const struct interval list[] = {{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd},
                                           {0x0610, 0x061a}, {0x064b, 0x065f}, {0x200b, 0x200d},
                                           {0x20d0, 0x20f0}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
    return within(code, list, sizeof list / sizeof *list);
}

/* East Asian wide and full-width characters (Unicode, UAX 11), by their blocks. */
static bool is_wide(uint32_t code)
{
    static const struct interval list[] = {
        {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},  {0xac00, 0xd7a3},
        {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},  {0xffe0, 0xffe6},
        {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
    return within(code, list, sizeof list / sizeof *list);
}

/* The character at `text` and its length in bytes; a byte that is no UTF-8 counts as a control. */
static unsigned decode(const char *text, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned length = bytes[0] < 0x80               ? 1
                      : (bytes[0] & 0xe0u) == 0xc0u ? 2
                      : (bytes[0] & 0xf0u) == 0xe0u ? 3
                      : (bytes[0] & 0xf8u) == 0xf0u ? 4
                                                    : 0;
    *code = length == 1 ? bytes[0] : length ? bytes[0] & (0x7fu >> length) : 0;
    for (unsigned i = 1; i < length; ++i) {
        if ((bytes[i] & 0xc0u) != 0x80u) {
            *code = 0;
            return 1;
        }
        *code = *code << 6 | (bytes[i] & 0x3fu);
    }
    if (length == 0 || *code < least[length] || *code > 0x10ffff ||
        (*code >= 0xd800 && *code <= 0xdfff)) {
        *code = 0;
        return 1;
    }
    return length;
}

static unsigned width_of(uint32_t code)
{
    return has_no_width(code) ? 0 : is_wide(code) ? 2 : 1;
}

/* How a character that is no text is written; a byte that is no UTF-8 has the code 0. */
static int escape(const char *text, uint32_t code, char *buffer, size_t size)
{
    static const char letters[] = "abtnvfr"; /* from 7 */
    if (code >= 7 && code <= 13)
        return snprintf(buffer, size, "\\%c", letters[code - 7]);
    if (code < 0x80)
        return snprintf(buffer, size, "\\x%02x", (unsigned char)*text);
    return snprintf(buffer, size, "\\u%04x", code);
}

char *plain_text(const char *text, char *buffer, size_t size)
{
    size_t used = 0;
    while (*text) {
        uint32_t code;
        char escaped[ESCAPE_MOST + 1];
        unsigned length = decode(text, &code);
        bool harmful = is_harmful(code);
        size_t room = harmful ? (size_t)escape(text, code, escaped, sizeof escaped) : length;
        if (used + room + 1 > size)
            break;
        memcpy(buffer + used, harmful ? escaped : text, room);
        used += room;
        text += length;
    }
    buffer[used] = '\0';
    return buffer;
}

static bool is_plain(const char *text)
{
    while (*text) {
        uint32_t code;
        text += decode(text, &code);
        if (is_harmful(code))
            return false;
    }
    return true;
}

const char *plain(const char *text)
{
    static char *copies[PLAIN_COPIES];
    static unsigned next;
    if (is_plain(text))
        return text;
    char **copy = &copies[next++ % PLAIN_COPIES];
    size_t size = plain_size(text);
    *copy = memory_grown(*copy, size, 1);
    return plain_text(text, *copy, size);
}

size_t plain_size(const char *text)
{
    return ESCAPE_BYTE * strlen(text) + 1;
}

unsigned plain_unsafe(const char *text)
{
    uint32_t code = 0;
    unsigned char first = (unsigned char)*text;
    if (first < 0x7f)
        return 0;
    (void)decode(text, &code);
    return code >= 0x7f && is_harmful(code) ? code : 0;
}

unsigned plain_width(const char *text)
{
    unsigned width = 0;
    while (*text) {
        uint32_t code;
        text += decode(text, &code);
        width += width_of(code);
    }
    return width;
}

size_t plain_head(const char *text, unsigned width)
{
    size_t used = 0;
    while (text[used]) {
        uint32_t code;
        unsigned length = decode(text + used, &code);
        if (width_of(code) > width)
            break;
        width -= width_of(code);
        used += length;
    }
    return used;
}

size_t plain_tail(const char *text, unsigned width)
{
    unsigned whole = plain_width(text);
    size_t at = 0;
    while (text[at] && whole > width) {
        uint32_t code;
        unsigned length = decode(text + at, &code);
        whole -= width_of(code);
        at += length;
    }
    return at;
}

char *plain_fit(const char *text, unsigned width, char *buffer, size_t size)
{
    unsigned dots = width < 8 ? 0 : 3;
    unsigned tail = dots ? (width - dots) / 3 : 0;
    size_t used = 0;
    text = plain(text);
    if (plain_width(text) <= width)
        return plain_text(text, buffer, size);
    const char *const parts[] = {text, "...", text + plain_tail(text, tail)};
    const size_t lengths[] = {plain_head(text, width - dots - tail), dots, strlen(parts[2])};
    for (size_t i = 0; i < 3 && used + lengths[i] < size; ++i) {
        memcpy(buffer + used, parts[i], lengths[i]);
        used += lengths[i];
    }
    buffer[used] = '\0';
    return buffer;
}
