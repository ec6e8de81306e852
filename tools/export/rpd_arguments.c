#include "export/rpd_arguments.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define RECENT 16384u

/* The end of an argument: a comma that is not within a dim3's braces. */
static size_t length_of(const char *text)
{
    size_t length = 0;
    for (unsigned depth = 0; text[length] && (depth || text[length] != ','); ++length)
        depth += (text[length] == '{') - (text[length] == '}');
    return length;
}

/* The name of an argument, of so many bytes: "*pGraph" is "graph"; without the star a name stays as
 * it is. */
static void name_of(const char *argument, size_t length, char *name, size_t size)
{
    bool filled = length > 0 && argument[0] == '*';
    argument += filled;
    length -= filled;
    bool prefixed =
        filled && length > 1 && argument[0] == 'p' && isupper((unsigned char)argument[1]);
    (void)snprintf(name, size, "%.*s", (int)(length - prefixed), argument + prefixed);
    if (prefixed)
        name[0] = (char)tolower((unsigned char)name[0]);
}

/* Puts one argument, "name=value", behind those that are there; a name may have been lost. */
static void put(char *text, size_t size, size_t *at, const char *argument, size_t length)
{
    char name[128] = "";
    const char *equals = memchr(argument, '=', length);
    const char *value = equals ? equals + 1 : argument;
    size_t value_length = (size_t)(argument + length - value);
    if (equals)
        name_of(argument, (size_t)(equals - argument), name, sizeof name);
    if (value_length == 4 && memcmp(value, "NULL", 4) == 0) {
        value = "0x0";
        value_length = 3;
    }
    if (*at < size)
        *at += (size_t)snprintf(text + *at, size - *at, "%s%s%s%.*s", *at ? " | " : "", name,
                                equals ? " = " : "", (int)value_length, value);
}

void rpd_arguments(const rtl_api_t *api, char *text, size_t size)
{
    char plain[4096];
    size_t at = 0;
    text[0] = '\0';
    (void)rtlApiArguments(api, plain, sizeof plain);
    for (const char *argument = plain; *argument;) {
        size_t length = length_of(argument);
        put(text, size, &at, argument, length);
        argument += length;
        argument += strspn(argument, ", ");
    }
}

int64_t rpd_recent_number(struct rpd_recent *recent, const char *text, bool *added)
{
    size_t number = texts_find(&recent->texts, text);
    *added = number == TEXTS_NONE;
    if (!*added)
        return recent->before + (int64_t)number;
    if (recent->texts.count == RECENT) {
        texts_free(&recent->texts);
        recent->before += RECENT;
    }
    number = texts_number(&recent->texts, text);
    return number == TEXTS_NONE ? -1 : recent->before + (int64_t)number;
}

void rpd_recent_free(struct rpd_recent *recent)
{
    texts_free(&recent->texts);
}
