#include "common/moment.h"

#include "common/duration.h"
#include "common/say.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int moment_read(const char *option, const char *text, struct moment *moment)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    moment->given = true;
    moment->absolute = isdigit((unsigned char)text[0]) && !errno && !*end;
    moment->ns = value;
    bool has_unit = text[0] && !isdigit((unsigned char)text[strlen(text) - 1]);
    if (moment->absolute || (has_unit && rtl_duration_read(text, &moment->ns)))
        return 0;
    return say_fail(EINVAL, "'%s' is no time for --%s: write 1.5s or 200ms, or ns as a number",
                    text, option);
}

uint64_t moment_on_clock(const struct moment *moment, uint64_t start)
{
    uint64_t zero = moment->absolute ? 0 : start;
    return moment->ns < UINT64_MAX - zero ? zero + moment->ns : UINT64_MAX;
}

int moment_window(const rtl_trace_info_t *info, const struct moment *from, const struct moment *to,
                  uint64_t window[2])
{
    window[0] = from->given ? moment_on_clock(from, info->start) : 0;
    window[1] = to->given ? moment_on_clock(to, info->start) : 0;
    if (to->given && window[1] <= window[0])
        return say_fail(EINVAL, "--to is not after --from");
    return 0;
}
