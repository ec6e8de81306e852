/* The arguments of host calls as text. */
#include "store/enums.h"
#include "store/reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const rtl_parameter_t unknown = {.name = "", .type = 'p', .enumeration = ""};

static uint32_t words_of(char type)
{
    return type == '3' ? 2 : 1;
}

/* How many arguments the definition of a call has. */
static size_t known_of(const rtl_api_t *api)
{
    return api->definition ? api->definition->parameter_count : 0;
}

/* Argument `index`, whose first word is `*word`, which moves on behind it. */
static rtl_status_t take_argument(const rtl_api_t *api, size_t index, size_t *word,
                                  rtl_argument_t *argument)
{
    argument->parameter = index < known_of(api) ? api->definition->parameters[index] : unknown;
    uint32_t words = words_of(argument->parameter.type);
    if (*word > api->word_count || words > api->word_count - *word)
        return RTL_END;
    argument->words[0] = api->words[*word];
    argument->words[1] = words > 1 ? api->words[*word + 1] : 0;
    *word += words;
    return RTL_OK;
}

rtl_status_t rtlApiArgument(const rtl_api_t *api, size_t index, rtl_argument_t *argument)
{
    if (!api || !argument)
        return RTL_E_ARGUMENT;
    size_t known = known_of(api);
    size_t word = index > known ? index - known : 0; /* one each, without a definition */
    for (size_t i = 0; i < index && i < known; i++)
        word += words_of(api->definition->parameters[i].type);
    return take_argument(api, index, &word, argument);
}

/* A text of which no more than `size` bytes are kept. */
struct text {
    char *bytes;
    size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void append(struct text *text, const char *format, ...)
{
    va_list arguments;
    size_t left = text->length < text->size ? text->size - text->length : 0;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start here */
    int length = vsnprintf(left ? text->bytes + text->length : NULL, left, format, arguments);
    va_end(arguments);
    if (length > 0)
        text->length += (size_t)length;
}

static void append_address(struct text *text, uint64_t value)
{
    if (value)
        append(text, "0x%" PRIx64, value);
    else
        append(text, "NULL");
}

static void append_enumeration(struct text *text, const char *enumeration, uint64_t value)
{
    const char *name = rtl_enum_name(enumeration, (int64_t)value);
    if (name)
        append(text, "%s", name);
    else
        append(text, "%" PRId64, (int64_t)value);
}

static void append_value(struct text *text, const rtl_argument_t *argument)
{
    uint64_t value = argument->words[0];
    double real = 0;
    switch (argument->parameter.type) {
    case 'u':
    case 'z':
        append(text, "%" PRIu64, value);
        break;
    case 'i':
        append(text, "%" PRId64, (int64_t)value);
        break;
    case 'b':
        append_enumeration(text, argument->parameter.enumeration, value);
        break;
    case 'd':
        memcpy(&real, &value, sizeof real);
        append(text, "%.15g", real);
        break;
    case '3':
        append(text, "{%" PRIu32 ", %" PRIu32 ", %" PRIu32 "}", (uint32_t)value,
               (uint32_t)(value >> 32), (uint32_t)argument->words[1]);
        break;
    default:
        append_address(text, value);
        break;
    }
}

static void append_argument(struct text *text, const rtl_api_t *api, const rtl_argument_t *argument)
{
    bool filled = argument->parameter.type == 'P';
    if (text->length)
        append(text, ", ");
    if (argument->parameter.name[0])
        append(text, "%s%s=", filled ? "*" : "", argument->parameter.name);
    if (filled && api->result != 0)
        append(text, "?");
    else
        append_value(text, argument);
}

size_t rtlApiArguments(const rtl_api_t *api, char *bytes, size_t size)
{
    struct text text = {bytes, size, 0};
    rtl_argument_t argument;
    size_t word = 0;
    if (size)
        bytes[0] = '\0';
    for (size_t i = 0; api && take_argument(api, i, &word, &argument) == RTL_OK; i++)
        append_argument(&text, api, &argument);
    return text.length;
}
