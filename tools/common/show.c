#include "common/show.h"

#include "common/plain.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

struct shown show_count(uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    struct shown shown = {""};
    char *out = shown.text;
    for (int i = 0; i < length; ++i) {
        if (i > 0 && (length - i) % 3 == 0)
            *out++ = ' ';
        *out++ = digits[i];
    }
    *out = '\0';
    return shown;
}

/* Four figures whatever the size: 1.234, 12.34, 123.4, 1234. */
static int decimals(double value)
{
    if (value >= 999.95)
        return 0;
    return value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;
}

#define LONGEST_THING 17 /* beside any number, and an ending */

static const char *ending_of(const char *thing, size_t *kept)
{
    size_t length = strlen(thing);
    *kept = length;
    if (length < 2)
        return "s";
    char last = thing[length - 1];
    if (last == 'y' && !strchr("aeiou", thing[length - 2])) {
        --*kept;
        return "ies";
    }
    return last == 's' || last == 'x' || (last == 'h' && strchr("cs", thing[length - 2])) ? "es"
                                                                                          : "s";
}

struct shown show_things(uint64_t count, const char *thing)
{
    struct shown shown = show_count(count);
    size_t used = strlen(shown.text);
    size_t kept = strlen(thing);
    const char *ending = count == 1 ? "" : ending_of(thing, &kept);
    int letters = kept < LONGEST_THING ? (int)kept : LONGEST_THING;
    (void)snprintf(shown.text + used, sizeof shown.text - used, " %.*s%s", letters, thing, ending);
    return shown;
}

const char *show_are(uint64_t count)
{
    return count == 1 ? "is" : "are";
}

struct shown show_duration(double ns)
{
    static const struct {
        double above, unit;
        const char *name;
    } units[] = {{8.64e14, 8.64e13, "d"}, {3.6e13, 3.6e12, "h"}, {6e11, 6e10, "min"},
                 {1e9, 1e9, "s"},         {1e6, 1e6, "ms"},      {1e3, 1e3, "us"}};
    struct shown shown;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
        if (fabs(ns) < units[i].above)
            continue;
        double value = ns / units[i].unit;
        (void)snprintf(shown.text, sizeof shown.text, "%.*f %s", decimals(fabs(value)), value,
                       units[i].name);
        return shown;
    }
    (void)snprintf(shown.text, sizeof shown.text, "%.0f ns", ns);
    return shown;
}

struct shown show_bytes(uint64_t bytes)
{
    static const char *const names[] = {"KiB", "MiB", "GiB", "TiB"};
    struct shown shown;
    if (bytes < 1024) {
        (void)snprintf(shown.text, sizeof shown.text, "%" PRIu64 " B", bytes);
        return shown;
    }
    double value = (double)bytes / 1024;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof names / sizeof names[0]; ++unit)
        value /= 1024;
    (void)snprintf(shown.text, sizeof shown.text, "%.1f %s", value, names[unit]);
    return shown;
}

struct shown show_share(uint64_t part, uint64_t whole)
{
    struct shown shown;
    (void)snprintf(shown.text, sizeof shown.text, "%.1f %%",
                   whole ? 100.0 * (double)part / (double)whole : 0.0);
    return shown;
}

struct shown show_rate(double per_second)
{
    struct shown shown;
    if (per_second >= 1e6)
        (void)snprintf(shown.text, sizeof shown.text, "%.1f M/s", per_second / 1e6);
    else if (per_second >= 1e3)
        (void)snprintf(shown.text, sizeof shown.text, "%.1f k/s", per_second / 1e3);
    else
        (void)snprintf(shown.text, sizeof shown.text, "%.0f /s", per_second);
    return shown;
}

struct shown show_date(uint64_t realtime_ns)
{
    struct shown shown = {"unknown"};
    time_t seconds = (time_t)(realtime_ns / 1000000000u);
    struct tm parts;
    if (localtime_r(&seconds, &parts))
        (void)strftime(shown.text, sizeof shown.text, "%Y-%m-%d %H:%M:%S", &parts);
    return shown;
}

bool show_terminal(const FILE *file)
{
    return isatty(fileno((FILE *)file)) == 1;
}

unsigned show_width(FILE *file)
{
    struct winsize size;
    if (!show_terminal(file))
        return 0;
    if (ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

void show_styled(FILE *file, enum show_style style, const char *text)
{
    static const char *const codes[] = {"\033[1m", "\033[32m", "\033[31m"};
    const char *no_color = secure_getenv("NO_COLOR");
    bool colored = show_terminal(file) && !(no_color && no_color[0]);
    (void)fprintf(file, "%s%s%s", colored ? codes[style] : "", plain(text),
                  colored ? "\033[0m" : "");
}
