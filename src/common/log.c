#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_bool debugging;

void rtl_log_debug(bool on)
{
    atomic_store_explicit(&debugging, on, memory_order_relaxed);
}

bool rtl_log_debugging(void)
{
    return atomic_load_explicit(&debugging, memory_order_relaxed);
}

/* A name from outside does not command the terminal: C0, DEL, and C1 as UTF-8 has it. */
static void disarm(char *text, int length)
{
    for (int i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool c1 = c >= 0x80 && c < 0xa0 && i > 0 && (unsigned char)text[i - 1] == 0xc2;
        if (c < 0x20 || c == 0x7f || c1)
            text[i] = '?';
    }
}

static void write_line(const char *prefix, const char *format, va_list arguments)
{
    char line[512];
    int saved = errno;
    int length = snprintf(line, sizeof line - 1, "%s", prefix);
    int more = vsnprintf(line + length, sizeof line - 1 - (size_t)length, format, arguments);
    if (more > 0)
        length += more;
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    disarm(line, length);
    line[length++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, (size_t)length);
    (void)written;
    errno = saved;
}

void rtl_debug(const char *format, ...)
{
    if (!rtl_log_debugging())
        return;
    char prefix[32];
    (void)snprintf(prefix, sizeof prefix, "rtl[%d]: ", (int)getpid());
    va_list arguments;
    va_start(arguments, format);
    write_line(prefix, format, arguments);
    va_end(arguments);
}

void rtl_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line("rtl: ", format, arguments);
    va_end(arguments);
}
