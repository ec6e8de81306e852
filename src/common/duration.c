#include "common/duration.h"

#include <stddef.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)
#define MOST   (UINT64_C(100) * 366 * 24 * 3600 * SECOND)
#define FINEST 1000000u /* parts of a unit: their product with an hour still fits */

static bool find_unit(const char *text, uint64_t *unit)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"", SECOND}, {"s", SECOND},      {"ms", 1000000},
                 {"us", 1000}, {"m", 60 * SECOND}, {"h", 3600 * SECOND}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(text, units[i].name) == 0) {
            *unit = units[i].ns;
            return true;
        }
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool rtl_duration_read(const char *text, uint64_t *ns)
{
    uint64_t whole = 0;
    uint64_t part = 0; /* in units of 1 / scale */
    uint64_t scale = 1;
    uint64_t unit;
    const char *at = text;
    for (; is_digit(*at) && whole <= MOST / 10; at++)
        whole = whole * 10 + (uint64_t)(*at - '0');
    if (*at == '.' && (at > text || is_digit(at[1])))
        for (at++; is_digit(*at); at++)
            if (scale < FINEST) {
                part = part * 10 + (uint64_t)(*at - '0');
                scale *= 10;
            }
    if (at == text || !find_unit(at, &unit) || whole > MOST / unit)
        return false;
    *ns = whole * unit + part * unit / scale;
    return true;
}
