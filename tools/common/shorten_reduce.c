#include "common/shorten_reduce.h"

#include <string.h>

static bool leaves_no_dots(const struct shorten_part *part)
{
    return part->kind != SHORTEN_ARGUMENT && part->kind != SHORTEN_WORD;
}

/* Bytes of what parts an argument from the next one, at the end of a text. */
static size_t comma_of(const char *text, size_t length)
{
    size_t left = length;
    while (left > 0 && text[left - 1] == ' ')
        --left;
    return left > 0 && text[left - 1] == ',' ? length - left + 1 : 0;
}

/* A name that loses parts. */
struct reduction {
    const struct shorten_name *name;
    const bool *gone;
    size_t part; /* the next one */
    char *out;
    size_t used;
    size_t at; /* in the name: what is before it was written, or is gone */
    bool dots;
};

static bool is_gone(const struct reduction *reduction, size_t part)
{
    return reduction->gone[reduction->name->parts[part].number];
}

/* The next part that goes. */
static const struct shorten_part *next_gone(struct reduction *reduction)
{
    const struct shorten_name *name = reduction->name;
    while (reduction->part < name->part_count && !is_gone(reduction, reduction->part))
        ++reduction->part;
    return reduction->part < name->part_count ? &name->parts[reduction->part++] : NULL;
}

/* What was written ends with dots and a comma. */
static bool has_dots(const struct reduction *reduction)
{
    static const char dots[] = SHORTEN_ELLIPSIS ", ";
    size_t length = sizeof dots - 1;
    return reduction->used >= length &&
           memcmp(reduction->out + reduction->used - length, dots, length) == 0;
}

/* Writes dots in place of a run of parts; what takes no more room than they do stays. */
static void put_dots(struct reduction *reduction, const char *text, size_t length)
{
    char *out = reduction->out + reduction->used;
    size_t comma = comma_of(text, length);
    if (comma && has_dots(reduction))
        return;
    if (length - comma <= SHORTEN_ELLIPSIS_WIDTH) {
        memcpy(out, text, length);
        reduction->used += length;
        return;
    }
    memset(out, '.', SHORTEN_ELLIPSIS_WIDTH);
    memcpy(out + SHORTEN_ELLIPSIS_WIDTH, text + length - comma, comma);
    reduction->used += SHORTEN_ELLIPSIS_WIDTH + comma;
}

/* Behind a bracket that is gone, those of `> >`. */
static void skip_blanks(struct reduction *reduction)
{
    const char *text = reduction->name->text + reduction->at;
    size_t blanks = strspn(text, " ");
    if (text[blanks] == '>')
        reduction->at += blanks;
}

/* Leaves a run of parts out, and what would be left of its list: a comma, brackets. */
static void put_nothing(struct reduction *reduction, const char *text, size_t length)
{
    const char *after = reduction->name->text + reduction->at;
    size_t space = strspn(after, " ");
    if (comma_of(text, length) || after[space] == '\0' || !strchr(">)", after[space]))
        return;
    size_t before = comma_of(reduction->out, reduction->used);
    reduction->used -= before;
    if (before || reduction->used == 0 || !strchr("<(", reduction->out[reduction->used - 1]))
        return;
    --reduction->used;
    reduction->at += space + 1;
    skip_blanks(reduction);
}

static void put_run(struct reduction *reduction, size_t from, size_t to)
{
    const char *text = reduction->name->text + from;
    reduction->at = to;
    if (reduction->dots)
        put_dots(reduction, text, to - from);
    else
        put_nothing(reduction, text, to - from);
}

static void put_until(struct reduction *reduction, size_t to)
{
    if (to < reduction->at)
        return;
    const char *text = reduction->name->text + reduction->at;
    memcpy(reduction->out + reduction->used, text, to - reduction->at);
    reduction->used += to - reduction->at;
    reduction->at = to;
}

/* A part without dots; around a bracket that closes, blanks go, too. */
static void skip(struct reduction *reduction, const struct shorten_part *part)
{
    const char *text = reduction->name->text;
    bool closes = part->kind == SHORTEN_HEAD && strchr(">)]}", text[part->from]);
    while (closes && reduction->used > 0 && reduction->out[reduction->used - 1] == ' ')
        --reduction->used;
    reduction->at = part->to;
    if (closes)
        skip_blanks(reduction);
}

void shorten_reduce(const struct shorten_name *name, const bool *gone, char *out)
{
    struct reduction reduction = {.name = name, .gone = gone, .out = out, .dots = true};
    const struct shorten_part *next = next_gone(&reduction);
    while (next) {
        const struct shorten_part *part = next;
        size_t to = part->to;
        next = next_gone(&reduction);
        if (part->kind == SHORTEN_DOTS) {
            reduction.dots = false;
            continue;
        }
        put_until(&reduction, part->from);
        for (; next && !leaves_no_dots(part) && next->from == to && !leaves_no_dots(next);
             next = next_gone(&reduction))
            to = next->to;
        if (leaves_no_dots(part))
            skip(&reduction, part);
        else
            put_run(&reduction, part->from, to);
    }
    put_until(&reduction, strlen(name->text));
    out[reduction.used] = '\0';
}
