#include "analysis/family.h"

#include "analysis/family_size.h"
#include "common/memory.h"
#include "common/regexp.h"
#include "common/say.h"
#include "common/texts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_FAMILY 64u   /* bytes */
#define LONGEST_LINE   2000u /* of a file, bytes */
#define MOST_LINES     10000u
#define MOST_RULES     1000u
/* Of all patterns of a file, repetitions written out: the C library takes about 1 KiB for each. */
#define LARGEST_SIZE 100000
#define BLANKS       " \t\r\n\v\f"

struct rule {
    regex_t pattern;
    size_t family; /* number of it */
};

struct family_rules {
    struct rule *list;
    size_t count, capacity;
    double size; /* of the patterns of the file */
    struct texts families;
    struct texts names; /* that were asked for */
    size_t *found;      /* by name: number of its family */
    size_t found_capacity;
};

static const struct {
    const char *pattern, *family;
} built_in[] = {
#define FAMILY(pattern, family) {pattern, family},
#include "analysis/family.def"
#undef FAMILY
};

static size_t number_of(struct texts *texts, const char *text)
{
    size_t number = texts_number(texts, text);
    if (number == TEXTS_NONE)
        memory_is_short();
    return number;
}

/* False where the pattern is none: `why` says so. */
static bool add_rule(struct family_rules *rules, const char *pattern, const char *family, char *why,
                     size_t size)
{
    if (rules->count == rules->capacity) {
        rules->capacity = rules->capacity ? 2 * rules->capacity : 64;
        rules->list = memory_grown(rules->list, rules->capacity, sizeof *rules->list);
    }
    struct rule *rule = &rules->list[rules->count];
    int failed = rtl_regexp_compile(&rule->pattern, pattern, why, size);
    if (failed == ENOMEM)
        memory_is_short();
    if (failed)
        return false;
    rule->family = number_of(&rules->families, family);
    ++rules->count;
    return true;
}

/* Files. */

/* Without the blanks around it. */
static char *trimmed(char *text)
{
    text += strspn(text, BLANKS);
    size_t length = strlen(text);
    while (length > 0 && strchr(BLANKS, text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* Whether one more rule of a file is not too much; else says so. */
static bool has_room(struct family_rules *rules, const char *file, unsigned number,
                     const char *pattern)
{
    rules->size += family_pattern_size(pattern);
    if (rules->count == MOST_RULES)
        say("%s, line %u: a file has %u rules at most", file, number, MOST_RULES);
    else if (rules->size > LARGEST_SIZE)
        say("%s, line %u: the patterns up to here are too large: %u characters at most, "
            "repetitions such as {2,9} and + written out",
            file, number, LARGEST_SIZE);
    else
        return true;
    return false;
}

/* A pattern may hold a '=', a family's name does not. */
static bool take_line(struct family_rules *rules, const char *file, unsigned number, char *line)
{
    char why[RTL_REGEXP_LONGEST + 200];
    char *pattern = trimmed(line);
    if (pattern[0] == '\0' || pattern[0] == '#')
        return true;
    char *sign = strrchr(pattern, '=');
    const char *family = sign ? trimmed(sign + 1) : "";
    if (sign)
        *sign = '\0';
    pattern = trimmed(pattern);
    if (!sign || !pattern[0] || !family[0])
        say("%s, line %u: a rule is PATTERN = FAMILY", file, number);
    else if (strlen(family) > LONGEST_FAMILY)
        say("%s, line %u: the name of a family has %u bytes at most", file, number, LONGEST_FAMILY);
    else if (has_room(rules, file, number, pattern)) {
        if (add_rule(rules, pattern, family, why, sizeof why))
            return true;
        say("%s, line %u: %s", file, number, why);
    }
    return false;
}

/* Reads a line, which has no byte 0, into LONGEST_LINE + 2 bytes. 1; 0 at the end; -1 when a
 * sentence has been said. */
static int read_line(FILE *stream, const char *file, unsigned number, char *line)
{
    size_t used = 0;
    int c = getc(stream);
    if (c == EOF)
        return 0;
    for (; c != EOF && c != '\n' && c != '\0' && used < LONGEST_LINE; c = getc(stream))
        line[used++] = (char)c;
    line[used] = '\0';
    if (c == EOF || c == '\n')
        return 1;
    say(c == '\0' ? "%s, line %u: this is no text" : "%s, line %u: a line has 2000 bytes at most",
        file, number);
    return -1;
}

static bool read_rules(struct family_rules *rules, FILE *stream, const char *file)
{
    char line[LONGEST_LINE + 2];
    int got = 1;
    for (unsigned number = 1; got > 0; ++number) {
        got = read_line(stream, file, number, line);
        if (got > 0 && number > MOST_LINES) {
            say("%s has more than %u lines", file, MOST_LINES);
            return false;
        }
        if (got > 0 && !take_line(rules, file, number, line))
            got = -1;
    }
    if (got == 0 && ferror(stream)) {
        say("%s cannot be read: %s", file, say_errno(errno));
        got = -1;
    }
    return got == 0;
}

static bool read_file(struct family_rules *rules, const char *file)
{
    FILE *stream = fopen(file, "re");
    if (!stream) {
        say("%s cannot be opened: %s", file, say_errno(errno));
        return false;
    }
    bool read = read_rules(rules, stream, file);
    (void)fclose(stream);
    return read;
}

static bool add_built_in(struct family_rules *rules)
{
    char why[RTL_REGEXP_LONGEST + 200];
    for (size_t i = 0; i < sizeof built_in / sizeof *built_in; ++i)
        if (!add_rule(rules, built_in[i].pattern, built_in[i].family, why, sizeof why)) {
            say("family.def: %s", why);
            return false;
        }
    return true;
}

struct family_rules *family_rules_read(const char *file)
{
    struct family_rules *rules = memory_new(1, sizeof *rules);
    if ((file && !read_file(rules, file)) || !add_built_in(rules)) {
        family_rules_free(rules);
        return NULL;
    }
    (void)number_of(&rules->families, FAMILY_OTHER);
    return rules;
}

/* Names. */

static size_t look(struct family_rules *rules, const char *name)
{
    for (size_t i = 0; i < rules->count; ++i) {
        int code = regexec(&rules->list[i].pattern, name, 0, NULL, 0);
        if (code == REG_ESPACE)
            memory_is_short();
        if (code == 0)
            return rules->list[i].family;
    }
    return number_of(&rules->families, FAMILY_OTHER);
}

const char *family_of(struct family_rules *rules, const char *name)
{
    size_t known = rules->names.count;
    size_t number = number_of(&rules->names, name);
    if (number >= rules->found_capacity) {
        rules->found_capacity = rules->found_capacity ? 2 * rules->found_capacity : 64;
        rules->found = memory_grown(rules->found, rules->found_capacity, sizeof *rules->found);
    }
    if (number == known)
        rules->found[number] = look(rules, name);
    return rules->families.list[rules->found[number]];
}

void family_rules_free(struct family_rules *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; i < rules->count; ++i)
        regfree(&rules->list[i].pattern);
    free(rules->list);
    free(rules->found);
    texts_free(&rules->families);
    texts_free(&rules->names);
    free(rules);
}
