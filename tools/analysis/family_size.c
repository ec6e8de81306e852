#include "analysis/family_size.h"

#include "common/memory.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A group that is open: what it has so far, and the last thing in it, which a repetition is of. */
struct group {
    double size, last;
};

static void add(struct group *group, double size)
{
    group->size += size;
    group->last = size;
}

static void repeat(struct group *group, double times)
{
    group->size += group->last * (times - 1);
    group->last *= times;
}

/* The end of a list in brackets, the last character of it. */
static const char *end_of_list(const char *at)
{
    ++at;
    at += *at == '^';
    at += *at == ']';
    while (*at && *at != ']') {
        if (at[0] == '[' && at[1] && strchr(":.=", at[1])) {
            const char end[] = {at[1], ']', '\0'};
            const char *behind = strstr(at + 2, end);
            at = behind ? behind + 1 : at;
        }
        ++at;
    }
    return *at ? at : at - 1;
}

/* Of {2}, {2,} and {2,9} what is written out: 2, 3 and 9 times. The last character of it. */
static const char *take_interval(struct group *group, const char *at)
{
    char *end;
    double least = strtod(at + 1, &end);
    double most = least;
    if (*end == ',') {
        ++end;
        most = isdigit((unsigned char)*end) ? strtod(end, &end) : least + 1;
    }
    if (*end != '}') {
        add(group, 1);
        return at;
    }
    repeat(group, fmax(1, most));
    return end;
}

static const char *take(struct group *groups, size_t *depth, const char *at)
{
    struct group *group = &groups[*depth];
    switch (*at) {
    case '(':
        groups[++*depth] = (struct group){0};
        return at;
    case ')':
        if (*depth > 0)
            add(&groups[--*depth], group->size);
        return at;
    case '[':
        add(group, 1);
        return end_of_list(at);
    case '{':
        return take_interval(group, at);
    case '+': /* a+ is aa* */
        repeat(group, 2);
        return at;
    case '*':
    case '?':
        ++group->size;
        ++group->last;
        return at;
    case '\\':
        add(group, 1);
        return at[1] ? at + 1 : at;
    default:
        add(group, 1);
        return at;
    }
}

double family_pattern_size(const char *pattern)
{
    size_t depth = 0;
    struct group *groups = memory_new(strlen(pattern) + 1, sizeof *groups);
    for (const char *at = pattern; *at; ++at)
        at = take(groups, &depth, at);
    double size = 0;
    for (size_t i = 0; i <= depth; ++i)
        size += groups[i].size;
    free(groups);
    return size;
}
