#include "common/shorten_pieces.h"

#include "common/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool piece_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Behind the symbol of operator<, operator() and their like, whose brackets are none; `at` where
 * none begins there. */
static unsigned behind_operator(const char *text, unsigned at)
{
    static const char word[] = "operator";
    size_t length = sizeof word - 1;
    if (strncmp(text + at, word, length) != 0 || (at > 0 && piece_is_word(text[at - 1])))
        return at;
    at += (unsigned)length;
    if (strncmp(text + at, "()", 2) == 0)
        return at + 2;
    return at + (unsigned)strspn(text + at, "<>=-");
}

static char closing(char open)
{
    switch (open) {
    case '<':
        return '>';
    case '(':
        return ')';
    case '[':
        return ']';
    default:
        return '}';
    }
}

/* Closes the last bracket of the stack that `c` belongs to. */
static size_t close(struct shorten_name *name, const unsigned *stack, size_t depth, unsigned at)
{
    char c = name->text[at];
    size_t left = depth;
    while (left > 0 && c != '>' && name->text[stack[left - 1]] == '<')
        --left;
    if (left == 0 || closing(name->text[stack[left - 1]]) != c)
        return depth;
    name->match[stack[left - 1]] = at;
    return left - 1;
}

void piece_match_brackets(struct shorten_name *name)
{
    unsigned length = (unsigned)strlen(name->text);
    unsigned *stack = memory_new(length + 1, sizeof *stack);
    size_t depth = 0;
    name->match = memory_new(length + 1, sizeof *name->match);
    for (unsigned at = 0; at < length; ++at) {
        at = behind_operator(name->text, at);
        char c = name->text[at];
        if (c == '\0')
            break;
        if (strchr("<([{", c))
            stack[depth++] = at;
        else if (strchr(">)]}", c) && !(c == '>' && at > 0 && name->text[at - 1] == '-'))
            depth = close(name, stack, depth, at);
    }
    free(stack);
}

unsigned piece_step(const struct shorten_name *name, unsigned at)
{
    unsigned behind = behind_operator(name->text, at);
    if (behind > at)
        return behind;
    return name->match[at] ? name->match[at] + 1 : at + 1;
}

const char *piece_text(const struct piece *piece, struct piece_range range)
{
    return piece->name->text + range.from;
}

int piece_compare(const struct piece *a, struct piece_range x, const struct piece *b,
                  struct piece_range y)
{
    unsigned length = x.to - x.from;
    unsigned other = y.to - y.from;
    int result = memcmp(piece_text(a, x), piece_text(b, y), length < other ? length : other);
    return result ? result : (length > other) - (length < other);
}

bool pieces_equal(const struct piece *pieces, size_t count)
{
    for (size_t i = 1; i < count; ++i)
        if (piece_compare(pieces, pieces->at, &pieces[i], pieces[i].at) != 0)
            return false;
    return true;
}

bool pieces_have_text(const struct piece *pieces, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (pieces[i].at.to > pieces[i].at.from)
            return true;
    return false;
}

void piece_add_part(struct shorten_name *name, struct piece_range range, unsigned number,
                    enum shorten_kind kind)
{
    if (name->part_count == name->part_capacity) {
        name->part_capacity = name->part_capacity ? 2 * name->part_capacity : 16;
        name->parts = memory_grown(name->parts, name->part_capacity, sizeof *name->parts);
    }
    name->parts[name->part_count++] = (struct shorten_part){range.from, range.to, number, kind};
}

void pieces_let_go(const struct piece *pieces, size_t count, enum shorten_kind kind,
                   unsigned *number)
{
    for (size_t i = 0; i < count; ++i)
        piece_add_part(pieces[i].name, pieces[i].at, *number, kind);
    ++*number;
}

static void add_element(struct piece_elements *elements, struct piece_range at, unsigned next)
{
    if (elements->count == elements->capacity) {
        elements->capacity = elements->capacity ? 2 * elements->capacity : 16;
        elements->list = memory_grown(elements->list, elements->capacity, sizeof *elements->list);
    }
    elements->list[elements->count++] = (struct piece_element){at, next};
}

/* Bytes of what parts elements at this place, 0 where nothing does. */
static unsigned separator(const char *text, enum piece_sequence sequence)
{
    switch (sequence) {
    case PIECE_ARGUMENTS:
        return text[0] == ',' ? 1 + (unsigned)strspn(text + 1, " ") : 0;
    case PIECE_SCOPES:
        return text[0] == ':' && text[1] == ':' ? 2 : 0;
    default:
        return (unsigned)strspn(text, "_ /.:-");
    }
}

struct piece_elements piece_split(const struct piece *piece, enum piece_sequence sequence)
{
    struct piece_elements elements = {0};
    const struct shorten_name *name = piece->name;
    struct piece_range range = piece->at;
    unsigned begin = range.from;
    /* Words may begin with what parts them, as in _Z and __half. */
    unsigned at =
        sequence == PIECE_WORDS ? begin + separator(name->text + begin, PIECE_WORDS) : begin;
    while (at < range.to) {
        unsigned length = separator(name->text + at, sequence);
        if (length == 0) {
            at = sequence == PIECE_WORDS ? at + 1 : piece_step(name, at);
            continue;
        }
        unsigned next = at + length < range.to ? at + length : range.to;
        add_element(&elements, (struct piece_range){begin, at}, next);
        begin = at = next;
    }
    if (begin < range.to)
        add_element(&elements, (struct piece_range){begin, range.to}, range.to);
    return elements;
}

/* `(ggml_type)` of `(ggml_type)8`. */
static unsigned behind_cast(const struct shorten_name *name, struct piece_range range)
{
    unsigned end = name->match[range.from];
    if (name->text[range.from] != '(' || end == 0 || end + 1 >= range.to)
        return range.from;
    for (unsigned i = range.from + 1; i < end; ++i)
        if (!piece_is_word(name->text[i]) && name->text[i] != ':' && name->text[i] != ' ')
            return range.from;
    return piece_is_word(name->text[end + 1]) || name->text[end + 1] == '-' ? end + 1 : range.from;
}

void piece_parse(struct piece *piece)
{
    const struct shorten_name *name = piece->name;
    struct piece_range at = piece->at;
    while (at.to > at.from && name->text[at.to - 1] == ' ')
        --at.to;
    unsigned base = at.from < at.to ? behind_cast(name, at) : at.from;
    piece->cast = (struct piece_range){at.from, base};
    piece->scopes.from = base;
    for (unsigned i = base; i < at.to; i = piece_step(name, i))
        if (separator(name->text + i, PIECE_SCOPES) && i > at.from && i + 2 < at.to)
            base = i + 2;
    piece->scopes.to = base;
    unsigned end = base;
    while (end < at.to && !name->match[end])
        end = piece_step(name, end);
    end = end < at.to ? end : at.to;
    piece->base = (struct piece_range){base, end};
    piece->open = '\0';
    piece->inner = piece->tail = (struct piece_range){at.to, at.to};
    if (end == at.to)
        return;
    piece->open = name->text[end];
    piece->inner = (struct piece_range){end + 1, name->match[end]};
    piece->tail = (struct piece_range){name->match[end] + 1, at.to};
}
