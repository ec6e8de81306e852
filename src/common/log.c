#include "common/log.h"

#include "common/disarm.h"

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
    rtl_disarm(line, (size_t)length);
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
