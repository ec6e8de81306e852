#include "common/shorten_parts.h"

#include "common/memory.h"
#include "common/shorten_pieces.h"
#include "common/shorten_words.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST 12u /* levels of arguments in arguments that are compared */

/* Sequences. */

static void compare_expressions(struct piece *pieces, size_t count, unsigned level,
                                unsigned *number);

static bool is_anonymous(const char *scope)
{
    static const char anonymous[] = "(anonymous namespace)::";
    return strncmp(scope, anonymous, sizeof anonymous - 1) == 0;
}

/* A scope that is a function or has arguments says more than a namespace does. */
static bool is_namespace(const struct piece *piece)
{
    const struct piece_range at = piece->at;
    for (unsigned i = at.from; i < at.to; ++i)
        if (piece->name->match[i])
            return false;
    return true;
}

static enum shorten_kind kind_of(const struct piece *piece, enum piece_sequence sequence,
                                 unsigned level)
{
    if (sequence == PIECE_SCOPES && is_namespace(piece))
        return level == 0 ? SHORTEN_SCOPE : SHORTEN_INNER_SCOPE;
    return SHORTEN_ARGUMENT;
}

/* The elements of one place: `from_end` counts from the last one. */
static bool compare_place(const struct piece *pieces, const struct piece_elements *elements,
                          size_t count, size_t place, bool from_end, enum piece_sequence sequence,
                          unsigned level, bool deeper, unsigned *number)
{
    struct piece *column = memory_new(count, sizeof *column);
    for (size_t i = 0; i < count; ++i) {
        size_t at = from_end ? elements[i].count - 1 - place : place;
        column[i] = (struct piece){.name = pieces[i].name, .at = elements[i].list[at].at};
    }
    bool equal = pieces_equal(column, count);
    if (equal) {
        enum shorten_kind kind = kind_of(column, sequence, level);
        for (size_t i = 0; i < count; ++i) {
            size_t at = from_end ? elements[i].count - 1 - place : place;
            column[i].at.to = elements[i].list[at].next;
        }
        pieces_let_go(column, count, kind, number);
    } else if (deeper) {
        compare_expressions(column, count, level + 1, number);
    }
    free(column);
    return equal;
}

/* Sequences of one length place by place. Of others what is equal at their beginnings and at their
 * ends. */
static void compare_elements(const struct piece *pieces, const struct piece_elements *elements,
                             size_t count, enum piece_sequence sequence, unsigned level,
                             unsigned *number)
{
    size_t least = elements[0].count;
    bool same = true;
    for (size_t i = 1; i < count; ++i) {
        same = same && elements[i].count == least;
        least = elements[i].count < least ? elements[i].count : least;
    }
    size_t place = 0;
    while (place < least &&
           (compare_place(pieces, elements, count, place, false, sequence, level, same, number) ||
            same))
        ++place;
    for (size_t end = 0; !same && place + end < least; ++end)
        if (!compare_place(pieces, elements, count, end, true, sequence, level, false, number))
            break;
}

/* Anonymous namespaces say nothing, and go in any case. */
static void leave_anonymous(const struct piece *piece, struct piece_elements *scopes,
                            unsigned level, unsigned *number)
{
    size_t kept = 0;
    for (size_t i = 0; i < scopes->count; ++i) {
        const struct piece_element *scope = &scopes->list[i];
        const struct piece part = {.name = piece->name, .at = {scope->at.from, scope->next}};
        if (is_anonymous(piece->name->text + scope->at.from))
            pieces_let_go(&part, 1, level == 0 ? SHORTEN_SCOPE : SHORTEN_INNER_SCOPE, number);
        else
            scopes->list[kept++] = *scope;
    }
    scopes->count = kept;
}

static void compare_sequences(const struct piece *pieces, size_t count,
                              enum piece_sequence sequence, unsigned level, unsigned *number)
{
    struct piece_elements *elements = memory_new(count, sizeof *elements);
    for (size_t i = 0; i < count; ++i) {
        elements[i] = piece_split(&pieces[i], sequence);
        if (sequence == PIECE_SCOPES)
            leave_anonymous(&pieces[i], &elements[i], level, number);
    }
    compare_elements(pieces, elements, count, sequence, level, number);
    for (size_t i = 0; i < count; ++i)
        free(elements[i].list);
    free(elements);
}

static int by_base(const void *left, const void *right)
{
    const struct piece *a = left;
    const struct piece *b = right;
    if (a->open != b->open)
        return a->open < b->open ? -1 : 1;
    return piece_compare(a, a->base, b, b->base);
}

/* A part of each piece as pieces; the caller frees them. */
static struct piece *parts_of(const struct piece *pieces, size_t count,
                              struct piece_range (*which)(const struct piece *))
{
    struct piece *parts = memory_new(count, sizeof *parts);
    for (size_t i = 0; i < count; ++i)
        parts[i] = (struct piece){.name = pieces[i].name, .at = which(&pieces[i])};
    return parts;
}

static struct piece_range cast_of(const struct piece *piece)
{
    return piece->cast;
}

static struct piece_range scopes_of(const struct piece *piece)
{
    return piece->scopes;
}

static struct piece_range inner_of(const struct piece *piece)
{
    return piece->inner;
}

static struct piece_range tail_of(const struct piece *piece)
{
    return piece->tail;
}

/* Expressions with one identifier. */
static void compare_alike(const struct piece *pieces, size_t count, unsigned level,
                          unsigned *number)
{
    struct piece *casts = parts_of(pieces, count, cast_of);
    struct piece *scopes = parts_of(pieces, count, scopes_of);
    struct piece *inner = parts_of(pieces, count, inner_of);
    struct piece *tails = parts_of(pieces, count, tail_of);
    if (pieces_have_text(casts, count) && pieces_equal(casts, count))
        pieces_let_go(casts, count, SHORTEN_INNER_SCOPE, number);
    compare_sequences(scopes, count, PIECE_SCOPES, level, number);
    compare_sequences(inner, count, PIECE_ARGUMENTS, level, number);
    if (pieces_have_text(tails, count))
        compare_expressions(tails, count, level + 1, number);
    free(casts);
    free(scopes);
    free(inner);
    free(tails);
}

/* Whether sorted expressions have one identifier with arguments, and differ in these alone. */
static bool is_head(const struct piece *pieces, size_t count)
{
    const struct piece *first = pieces;
    const struct piece *last = &pieces[count - 1];
    struct piece *scopes = parts_of(pieces, count, scopes_of);
    bool alike = count > 1 && by_base(first, last) == 0 && pieces_equal(scopes, count);
    free(scopes);
    return alike && first->open && first->base.to > first->base.from &&
           piece_text(first, first->at)[0] != ':';
}

static void let_heads_go(const struct piece *pieces, size_t count, unsigned *number)
{
    for (size_t i = 0; i < count; ++i) {
        const struct piece *piece = &pieces[i];
        unsigned end = piece->inner.to;
        piece_add_part(piece->name, (struct piece_range){piece->base.from, piece->inner.from},
                       *number, SHORTEN_HEAD);
        piece_add_part(piece->name, (struct piece_range){end, end + 1}, *number, SHORTEN_HEAD);
    }
    ++*number;
}

/* Expressions with another identifier differ by it: their arguments need not be told apart. */
static void compare_expressions(struct piece *pieces, size_t count, unsigned level,
                                unsigned *number)
{
    if (level > DEEPEST)
        return;
    for (size_t i = 0; i < count; ++i)
        piece_parse(&pieces[i]);
    qsort(pieces, count, sizeof *pieces, by_base);
    if (level == 0 && !pieces->open)
        shorten_words(pieces, count, number);
    if (level > 0 && is_head(pieces, count))
        let_heads_go(pieces, count, number);
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && by_base(&pieces[from], &pieces[to]) == 0)
            ++to;
        compare_alike(pieces + from, to - from, level, number);
    }
}

/* Whole names. */

/* A name as a function: return type, the function with its scopes and arguments, parameters. */
struct function {
    struct shorten_name *name;
    struct piece_range returned, core, parameters; /* parameters: to the end */
    struct piece piece;                            /* of core */
    struct piece_range key;                        /* same key: compared */
};

/* `(` of the parameters, the text's length where there are none. */
static unsigned find_parameters(const struct shorten_name *name)
{
    unsigned length = (unsigned)strlen(name->text);
    unsigned found = length;
    for (unsigned at = 0; at < length; at = piece_step(name, at)) {
        unsigned end = name->match[at];
        if (name->text[at] != '(' || end == 0 || at == 0)
            continue;
        char before = name->text[at - 1];
        char after = name->text[end + 1];
        if ((piece_is_word(before) || before == '>' || before == ')') && strchr(" .[", after))
            found = at;
    }
    return found;
}

/* The end of the return type, which only a name with parameters has. */
static unsigned find_function(const struct shorten_name *name, unsigned parameters)
{
    unsigned found = 0;
    if (name->text[parameters] == '\0')
        return 0;
    for (unsigned at = 0; at < parameters && name->text[at] != '('; at = piece_step(name, at))
        if (name->text[at] == ' ')
            found = at + 1;
    return found;
}

static struct function function_of(struct shorten_name *name)
{
    unsigned length = (unsigned)strlen(name->text);
    unsigned parameters = find_parameters(name);
    unsigned core = find_function(name, parameters);
    struct function function = {.name = name,
                                .returned = {0, core},
                                .core = {core, parameters},
                                .parameters = {parameters, length}};
    function.piece = (struct piece){.name = name, .at = function.core};
    piece_parse(&function.piece);
    function.key = function.piece.base;
    if (function.piece.open)
        return function;
    const struct piece base = {.name = name, .at = function.key};
    struct piece_elements words = piece_split(&base, PIECE_WORDS);
    if (words.count)
        function.key = words.list[0].at;
    free(words.list);
    return function;
}

static int by_key(const void *left, const void *right)
{
    const struct function *a = left;
    const struct function *b = right;
    if (a->piece.open != b->piece.open)
        return a->piece.open < b->piece.open ? -1 : 1;
    return piece_compare(&a->piece, a->key, &b->piece, b->key);
}

/* All that is before the parameters. */
static int by_front(const void *left, const void *right)
{
    const struct function *a = left;
    const struct function *b = right;
    return piece_compare(&a->piece, (struct piece_range){0, a->core.to}, &b->piece,
                         (struct piece_range){0, b->core.to});
}

static void compare_parameters(struct function *functions, size_t count, unsigned *number)
{
    struct piece *pieces = memory_new(count, sizeof *pieces);
    qsort(functions, count, sizeof *functions, by_front);
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && by_front(&functions[from], &functions[to]) == 0)
            ++to;
        for (size_t i = from; i < to; ++i)
            pieces[i - from] =
                (struct piece){.name = functions[i].name, .at = functions[i].parameters};
        if (to - from > 1)
            compare_expressions(pieces, to - from, 1, number);
        else if (pieces_have_text(pieces, 1))
            pieces_let_go(pieces, 1, SHORTEN_PARAMETERS, number);
    }
    free(pieces);
}

static void compare_functions(struct function *functions, size_t count, unsigned *number)
{
    struct piece *pieces = memory_new(count, sizeof *pieces);
    for (size_t i = 0; i < count; ++i)
        pieces[i] = (struct piece){.name = functions[i].name, .at = functions[i].returned};
    if (pieces_have_text(pieces, count) && pieces_equal(pieces, count))
        pieces_let_go(pieces, count, SHORTEN_RETURN, number);
    for (size_t i = 0; i < count; ++i)
        pieces[i] = (struct piece){.name = functions[i].name, .at = functions[i].core};
    compare_expressions(pieces, count, 0, number);
    if (functions->piece.open && functions->key.to > functions->key.from) {
        for (size_t i = 0; i < count; ++i)
            pieces[i] = (struct piece){.name = functions[i].name};
        pieces_let_go(pieces, count, SHORTEN_DOTS, number);
    }
    free(pieces);
    compare_parameters(functions, count, number);
}

static int by_place(const void *left, const void *right)
{
    const struct shorten_part *a = left;
    const struct shorten_part *b = right;
    return (a->from > b->from) - (a->from < b->from);
}

unsigned shorten_compare(struct shorten_name *names, size_t count)
{
    struct function *functions = memory_new(count, sizeof *functions);
    unsigned number = 0;
    for (size_t i = 0; i < count; ++i) {
        piece_match_brackets(&names[i]);
        functions[i] = function_of(&names[i]);
    }
    qsort(functions, count, sizeof *functions, by_key);
    for (size_t from = 0, to = 0; from < count; from = to) {
        while (to < count && by_key(&functions[from], &functions[to]) == 0)
            ++to;
        compare_functions(functions + from, to - from, &number);
    }
    free(functions);
    for (size_t i = 0; i < count; ++i) {
        free(names[i].match);
        names[i].match = NULL;
        if (names[i].part_count)
            qsort(names[i].parts, names[i].part_count, sizeof *names[i].parts, by_place);
    }
    return number;
}
