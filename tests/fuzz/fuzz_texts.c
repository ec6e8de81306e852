/*
 * What vendors of PrivateUse1 tracing say in words: any bytes as a name, and JSON that is made by
 * the rules, with escapes and bytes that break readers, and then damaged. jansson says what is
 * UTF-8 and what is JSON. What has been made plain must be both, without a backslash and no longer
 * than before; an object that jansson reads must be one.
 *
 * Input: the first byte says where the JSON is damaged and how; the others choose how it goes on,
 * and are the name.
 */
#include "kineto/members.h"
#include "kineto/text.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM    65536u
#define DEEPEST 12u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const char *what, const char *text)
{
    if (holds)
        return;
    (void)fprintf(stderr, "fuzz: not so: %s: %s\n", what, text);
    abort();
}

/* ---- JSON by the rules ---- */

struct maker {
    const uint8_t *data;
    size_t left, length;
    char text[ROOM];
};

static unsigned choose(struct maker *maker, unsigned below)
{
    if (maker->left == 0)
        return 0;
    maker->left--;
    return *maker->data++ % below;
}

static void add(struct maker *maker, const char *piece)
{
    size_t length = strlen(piece);
    if (maker->length + length < ROOM) {
        memcpy(maker->text + maker->length, piece, length + 1);
        maker->length += length;
    }
}

static void add_string(struct maker *maker)
{
    static const char *const pieces[] = {"a",
                                         "\\\"",
                                         "\\\\",
                                         "\\/",
                                         "\\n",
                                         "\\u0000",
                                         "\\u00e9",
                                         "\\ud800",
                                         "\\udc00",
                                         "\\ud83d\\ude00",
                                         "\\u0022",
                                         "\\u005C",
                                         "\x7f",
                                         "\xc3\xa9",
                                         "\xff",
                                         "\xe2\x82",
                                         "\xed\xa0\x80",
                                         "\xf0\x9f\x98\x80",
                                         "\\b\\f\\r\\t",
                                         "}]\x20{,:",
                                         "'"};
    add(maker, "\"");
    for (unsigned i = choose(maker, 5); i > 0; i--)
        add(maker, pieces[choose(maker, sizeof pieces / sizeof *pieces)]);
    add(maker, "\"");
}

static void add_items(struct maker *maker, unsigned depth, bool object);

static void add_value(struct maker *maker, unsigned depth)
{
    static const char *const words[] = {"0", "-1.5e+3", "12", "true", "false", "null"};
    unsigned what = choose(maker, depth < DEEPEST ? 9 : 7);
    if (what < 6)
        add(maker, words[what]);
    else if (what == 6)
        add_string(maker);
    else
        add_items(maker, depth + 1, what == 7);
}

static void add_items(struct maker *maker, unsigned depth, bool object)
{
    static const char *const blanks[] = {"", " ", "\n\t", "\r "};
    add(maker, object ? "{" : "[");
    for (unsigned i = choose(maker, 4), more = i; i > 0; i--) {
        add(maker, i < more ? "," : "");
        add(maker, blanks[choose(maker, 4)]);
        if (object) {
            add_string(maker);
            add(maker, ":");
        }
        add_value(maker, depth);
        add(maker, blanks[choose(maker, 4)]);
    }
    add(maker, object ? "}" : "]");
}

/* ---- what holds ---- */

static bool is_utf8(const char *text)
{
    json_t *string = json_string(text);
    json_decref(string);
    return string != NULL;
}

static bool is_object(const char *text)
{
    json_error_t error;
    json_t *value = json_loads(text, JSON_DECODE_INT_AS_REAL, &error);
    bool object = json_is_object(value);
    json_decref(value);
    /* A number that a double does not hold is one. */
    return object || (value == NULL && json_error_code(&error) == json_error_numeric_overflow);
}

static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f || *text == '\\')
            return false;
    return true;
}

static size_t members(const char *text)
{
    pu1_member_t member;
    size_t count = 0;
    while (pu1_next_member(&text, &member))
        count++;
    return count;
}

static void try_name(const uint8_t *data, size_t size)
{
    char *name = malloc(size + 1);
    if (name == NULL)
        return;
    memcpy(name, data, size);
    name[size] = '\0';
    size_t length = strlen(name);
    pu1_plain_name(name);
    must(strlen(name) == length, "a name is as long as it was", name);
    must(is_utf8(name) && is_plain(name) && strchr(name, '"') == NULL, "a name is plain", name);
    free(name);
}

static void try_object(const char *made)
{
    char *text = strdup(made); /* so that a step beyond its end is seen */
    must(text != NULL, "there is memory", made);
    bool object = pu1_is_object(text);
    must(object || !is_object(text), "what jansson reads is an object", text);
    if (object) {
        size_t count = members(text);
        pu1_mend_utf8(text);
        must(pu1_is_object(text) && is_utf8(text), "what is mended is UTF-8, and an object", made);
        memcpy(text, made, strlen(made) + 1);
        pu1_plain_object(text);
        must(strlen(text) <= strlen(made), "a plain object is no longer", made);
        must(pu1_is_object(text) && is_object(text) && is_plain(text), "a plain object is one",
             made);
        must(members(text) == count, "a plain object has the same members", made);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct maker maker;
    if (size < 3)
        return 0;
    try_name(data + 3, size - 3);
    maker = (struct maker){.data = data + 3, .left = size - 3};
    add_items(&maker, 1, true);
    must(pu1_is_object(maker.text), "what is made by the rules is an object", maker.text);
    try_object(maker.text);
    maker.text[(data[0] << 8 | data[1]) % maker.length] = (char)data[2];
    try_object(maker.text);
    return 0;
}
