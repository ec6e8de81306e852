#include "kineto/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LONGEST_NUMBER 400u

/* ---- UTF-8 ---- */

/* How many bytes a character has that begins so; 0: none does. */
static size_t length_of(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* True if the second byte makes the character too long, a surrogate, or larger than U+10FFFF. */
static bool is_out_of_range(unsigned char first, unsigned char second)
{
    return (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
           (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
}

size_t pu1_character(const char *at)
{
    const unsigned char *bytes = (const unsigned char *)at;
    size_t length = length_of(*bytes);
    for (size_t i = 1; i < length; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    return length > 1 && is_out_of_range(bytes[0], bytes[1]) ? 0 : length;
}

void pu1_mend_utf8(char *text)
{
    while (*text != '\0') {
        size_t length = pu1_character(text);
        if (length == 0)
            *text = '?';
        text += length > 0 ? length : 1;
    }
}

/* ---- what Kineto can have in its strings ---- */

static char plain(char c)
{
    unsigned char byte = (unsigned char)c;
    if (byte < 0x20 || byte == 0x7f)
        return ' ';
    return c == '"' ? '\'' : c == '\\' ? '/' : c;
}

void pu1_plain_name(char *name)
{
    pu1_mend_utf8(name);
    for (; *name != '\0'; name++)
        *name = plain(*name);
}

/* ---- objects: all functions below read at `at`, write at `*to`, and return what is behind ---- */

static char *put_code(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = plain((char)code);
        return to;
    }
    unsigned more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char marks[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(marks[more] | code >> 6 * more);
    while (more-- > 0)
        *to++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    return to;
}

/* The number of four hexadecimal digits, which are there. */
static uint32_t read_hex(const char *at)
{
    uint32_t code = 0;
    for (int i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)at[i];
        code = code << 4 | (c <= '9' ? c - 48u : (c | 0x20u) - 87u); /* '0', 'a' - 10 */
    }
    return code;
}

/* `at` is behind "\u". */
static const char *plain_code(const char *at, char **to)
{
    uint32_t code = read_hex(at);
    at += 4;
    if (code >= 0xd800 && code < 0xdc00 && at[0] == '\\' && at[1] == 'u') {
        uint32_t low = read_hex(at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            at += 6;
        }
    }
    *to = put_code(*to, code >= 0xd800 && code < 0xe000 ? '?' : code);
    return at;
}

/* `at` is behind a backslash. */
static const char *plain_escape(const char *at, char **to)
{
    if (*at == 'u')
        return plain_code(at + 1, to);
    *(*to)++ = *at == '"' || *at == '\\' || *at == '/' ? plain(*at) : ' '; /* \b \f \n \r \t */
    return at + 1;
}

static const char *plain_string(const char *at, char **to)
{
    *(*to)++ = *at++;
    while (*at != '"') {
        size_t length = pu1_character(at);
        if (*at == '\\') {
            at = plain_escape(at + 1, to);
            continue;
        }
        length = length > 0 ? length : 1;
        memmove(*to, at, length);
        if (length == 1)
            **to = pu1_character(at) == 0 ? '?' : plain(*at);
        *to += length;
        at += length;
    }
    *(*to)++ = *at++;
    return at;
}

static const char *plain_number(const char *at, char **to)
{
    size_t length = strspn(at, "0123456789+-.eE");
    bool shown = length <= LONGEST_NUMBER;
    memmove(*to, shown ? at : "null", shown ? length : 4);
    *to += shown ? length : 4;
    return at + length;
}

void pu1_plain_object(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0';) {
        if (*at == '"')
            at = plain_string(at, &to);
        else if (*at == '-' || (*at >= '0' && *at <= '9'))
            at = plain_number(at, &to);
        else
            *to++ = plain(*at++);
    }
    *to = '\0';
}
