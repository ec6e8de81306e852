#include "kineto/members.h"

#include <string.h>

#define DEEPEST 32

static const char *skip_value(const char *at, int depth); /* no deeper than DEEPEST */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\n\r");
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The functions below return what is behind a piece of JSON at `at`, NULL if there is none. */

static const char *skip_digits(const char *at)
{
    if (!is_digit(*at))
        return NULL;
    while (is_digit(*at))
        at++;
    return at;
}

static const char *skip_number(const char *at)
{
    at += *at == '-';
    at = *at == '0' ? at + 1 : skip_digits(at);
    if (at != NULL && *at == '.')
        at = skip_digits(at + 1);
    if (at != NULL && (*at == 'e' || *at == 'E')) {
        at++;
        at += *at == '+' || *at == '-';
        at = skip_digits(at);
    }
    return at;
}

static const char *skip_escape(const char *at)
{
    if (*at == 'u')
        return strspn(at + 1, "0123456789abcdefABCDEF") >= 4 ? at + 5 : NULL;
    return *at != '\0' && strchr("\"\\/bfnrt", *at) != NULL ? at + 1 : NULL;
}

static const char *skip_string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    while (at != NULL && *at != '"') {
        if ((unsigned char)*at < 0x20)
            return NULL;
        at = *at == '\\' ? skip_escape(at + 1) : at + 1;
    }
    return at != NULL ? at + 1 : NULL;
}

/* A key, the colon and what stands before the value. */
static const char *skip_key(const char *at)
{
    at = skip_string(at);
    if (at == NULL)
        return NULL;
    at = skip_blanks(at);
    return *at == ':' ? skip_blanks(at + 1) : NULL;
}

/* An object or an array, whose `end` is the bracket. */
static const char *skip_items(const char *at, char end, int depth)
{
    at = skip_blanks(at + 1);
    if (*at == end)
        return at + 1;
    for (;;) {
        at = end == '}' ? skip_key(at) : at;
        at = at != NULL ? skip_value(at, depth + 1) : NULL;
        if (at == NULL)
            return NULL;
        at = skip_blanks(at);
        if (*at == end)
            return at + 1;
        if (*at != ',')
            return NULL;
        at = skip_blanks(at + 1);
    }
}

static const char *skip_word(const char *at, const char *word)
{
    size_t length = strlen(word);
    return strncmp(at, word, length) == 0 ? at + length : NULL;
}

static const char *skip_value(const char *at, int depth)
{
    if (depth > DEEPEST)
        return NULL;
    switch (*at) {
    case '{':
        return skip_items(at, '}', depth);
    case '[':
        return skip_items(at, ']', depth);
    case '"':
        return skip_string(at);
    case 't':
        return skip_word(at, "true");
    case 'f':
        return skip_word(at, "false");
    case 'n':
        return skip_word(at, "null");
    default:
        return skip_number(at);
    }
}

bool pu1_is_object(const char *text)
{
    const char *at = skip_blanks(text);
    at = *at == '{' ? skip_value(at, 1) : NULL;
    return at != NULL && *skip_blanks(at) == '\0';
}

bool pu1_next_member(const char **at, pu1_member_t *member)
{
    const char *key = skip_blanks(*at);
    if (*key == '{' || *key == ',')
        key = skip_blanks(key + 1);
    if (*key != '"')
        return false;
    const char *behind = skip_string(key);
    const char *value = skip_key(key);
    const char *end = value != NULL ? skip_value(value, 1) : NULL;
    if (end == NULL)
        return false;
    *member = (pu1_member_t){key + 1, value, (size_t)(behind - key - 2), (size_t)(end - value)};
    *at = skip_blanks(end);
    return true;
}
