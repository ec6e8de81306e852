#include "diff/limits.h"

#include "common/memory.h"
#include "common/plain.h"
#include "common/say.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"steps", "graphs", "kernels", "total", "count"};
static const char family_prefix[] = "family:";

enum percent { PERCENT_READ, PERCENT_WITHOUT_SIGN, PERCENT_WRONG };

/* Reads "3 %", with blanks around. */
static enum percent read_percent(const char *text, double *percent)
{
    char *end;
    *percent = strtod(text, &end);
    bool told = end != text && isfinite(*percent) && *percent >= 0;
    end += strspn(end, " ");
    if (!told || text[strspn(text, " 0123456789.%")] != '\0')
        return PERCENT_WRONG;
    if (*end == '\0')
        return PERCENT_WITHOUT_SIGN;
    return strcmp(end, "%") == 0 ? PERCENT_READ : PERCENT_WRONG;
}

static bool is_given(const struct diff_limits *limits, const struct diff_limit *limit)
{
    for (size_t i = 0; i < limits->count; ++i) {
        const struct diff_limit *other = &limits->list[i];
        if (other->what == limit->what && (!limit->name || strcmp(other->name, limit->name) == 0))
            return true;
    }
    return false;
}

/* What is before the sign; the name is a copy. False if there is none. */
static bool read_name(const char *text, size_t length, struct diff_limit *limit)
{
    while (length > 0 && text[length - 1] == ' ')
        --length;
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        if (strlen(kinds[i]) == length && strncmp(text, kinds[i], length) == 0) {
            limit->what = (enum diff_limited)i;
            return true;
        }
    limit->what = LIMIT_PHASE;
    if (strncmp(text, family_prefix, sizeof family_prefix - 1) == 0) {
        limit->what = LIMIT_FAMILY;
        text += sizeof family_prefix - 1;
        length = length < sizeof family_prefix ? 0 : length - (sizeof family_prefix - 1);
    }
    if (length == 0)
        return false;
    limit->name = memory_new(length + 1, 1);
    memcpy(limit->name, text, length);
    return true;
}

const char *diff_limit_name(const struct diff_limit *limit, const char **prefix)
{
    *prefix = limit->what == LIMIT_FAMILY ? family_prefix : "";
    return limit->name ? limit->name : kinds[limit->what];
}

static int refuse(const char *text)
{
    return say_fail(EINVAL,
                    "'%s' is nothing for --fail-if: it is such as 'steps > 3%%', 'graphs > 3%%', "
                    "'kernels > 10%%', 'total > 3%%', 'count > 3%%', 'family:gemm > 3%%' or, of a "
                    "phase, 'graph 2 > 3%%'",
                    plain(text));
}

/* Reads "steps > 3%". 0, or EINVAL when a sentence has been said. */
static int read_limit(const char *text, struct diff_limit *limit)
{
    const char *begin = text + strspn(text, " ");
    const char *sign = strrchr(begin, '>');
    enum percent read = sign ? read_percent(sign + 1, &limit->percent) : PERCENT_WRONG;
    if (read == PERCENT_WRONG || !read_name(begin, (size_t)(sign - begin), limit))
        return refuse(text);
    if (read == PERCENT_READ)
        return 0;
    const char *prefix;
    const char *name = plain(diff_limit_name(limit, &prefix));
    int status =
        say_fail(EINVAL, "--fail-if '%s' lacks a %%: limits are per cent, as in '%s%s > %g%%'",
                 plain(text), prefix, name, limit->percent);
    free(limit->name);
    return status;
}

int diff_limits_add(struct diff_limits *limits, const char *text)
{
    struct diff_limit limit = {0};
    int status = read_limit(text, &limit);
    if (status != 0)
        return status;
    if (is_given(limits, &limit)) {
        const char *prefix;
        const char *name = diff_limit_name(&limit, &prefix);
        status = say_fail(EINVAL, "--fail-if is given twice for %s%s", prefix, plain(name));
        free(limit.name);
        return status;
    }
    limits->list = memory_grown(limits->list, limits->count + 1, sizeof *limits->list);
    limits->list[limits->count++] = limit;
    return 0;
}

/* A phase by its number in `rtl steps` of the first run, or by its name. */
bool diff_limit_has_phase(const struct diff *diff, const struct diff_limit *limit,
                          const struct diff_phase *row)
{
    char number[24];
    if (!row->in[0] || !row->in[1])
        return false;
    (void)snprintf(number, sizeof number, "%zu", row->number);
    return limit->what == LIMIT_STEPS ||
           (limit->what == LIMIT_PHASE &&
            (strcmp(limit->name, number) == 0 ||
             strcmp(limit->name, diff_phase_first(&diff->runs, row, 0)->name) == 0));
}

bool diff_limit_has_family(const struct diff_limit *limit, const struct diff_family *family)
{
    return limit->what == LIMIT_FAMILY && family->in[0] && family->in[1] &&
           strcmp(limit->name, family->family) == 0;
}

void diff_limits_free(struct diff_limits *limits)
{
    for (size_t i = 0; i < limits->count; ++i)
        free(limits->list[i].name);
    free(limits->list);
    *limits = (struct diff_limits){0};
}
