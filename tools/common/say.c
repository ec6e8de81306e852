#include "common/say.h"

#include "common/plain.h"
#include "common/why.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void write_line(const char *format, va_list arguments)
{
    char line[4096];
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start here */
    (void)vsnprintf(line, sizeof line, format, arguments);
    (void)fprintf(stderr, "rtl: %s\n", plain(line));
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
}

int say_fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
    return status;
}

const char *say_errno(int number)
{
    static _Thread_local char text[RTL_WHY_SIZE];
    return rtl_why(number, text);
}

#define LONGEST_WORD 31u

unsigned say_distance(const char *a, const char *b)
{
    size_t length = strlen(b);
    unsigned row[LONGEST_WORD + 1];
    if (length > LONGEST_WORD || strlen(a) > LONGEST_WORD)
        return LONGEST_WORD;
    for (unsigned j = 0; j <= length; ++j)
        row[j] = j;
    for (; *a; ++a) {
        unsigned diagonal = row[0]++;
        for (unsigned j = 1; j <= length; ++j) {
            unsigned above = row[j];
            unsigned best = diagonal + (*a != b[j - 1]);
            if (above + 1 < best)
                best = above + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
            diagonal = above;
        }
    }
    return row[length];
}
