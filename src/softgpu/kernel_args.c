/*
 * The explicit arguments of a kernel out of its code object's metadata, a msgpack document
 * (https://github.com/msgpack/msgpack/blob/master/spec.md):
 *
 *   { "amdhsa.kernels": [ { ".symbol": "name.kd",
 *                           ".args": [ { ".offset": 0, ".size": 8, ".value_kind": "global_buffer"
 * }, ... ] } ] }
 *
 * Arguments whose kind begins with "hidden_" are the compiler's, not the kernel's. The thunk is
 * loaded into programs of others, so this small reader is preferred to one more library in their
 * address space.
 */
#include "softgpu/kernel.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_LIMIT    32
#define ARGUMENT_LIMIT 4096U

typedef struct pack {
    const uint8_t *next, *end;
    bool bad;
} pack_t;

/* What one value is. */
enum value_kind { VALUE_OTHER, VALUE_NUMBER, VALUE_TEXT, VALUE_ARRAY, VALUE_MAP };

typedef struct value {
    enum value_kind kind;
    uint64_t
        number; /* the number, the bytes of a text, the elements of an array, the pairs of a map */
    const char *text;
} value_t;

static uint64_t read_big_endian(pack_t *in, unsigned size)
{
    if ((size_t)(in->end - in->next) < size) {
        in->bad = true;
        return 0;
    }
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++) {
        value = (value << 8U) | *in->next++;
    }
    return value;
}

static value_t container(enum value_kind kind, uint64_t count)
{
    return (value_t){.kind = kind, .number = count};
}

static value_t take_bytes(pack_t *in, enum value_kind kind, uint64_t size)
{
    if ((uint64_t)(in->end - in->next) < size) {
        in->bad = true;
        return container(VALUE_OTHER, 0);
    }
    value_t value = {.kind = kind, .number = size, .text = (const char *)in->next};
    in->next += size;
    return value;
}

/* Values whose first byte is 0xC0..0xDF: the byte tells type and width of what follows. */
static value_t read_typed(pack_t *in, uint8_t first)
{
    switch (first) {
    case 0xC4: /* bytes */
    case 0xC5:
    case 0xC6:
        return take_bytes(in, VALUE_OTHER, read_big_endian(in, 1U << (first - 0xC4U)));
    case 0xC7: /* extension: size, type, bytes */
    case 0xC8:
    case 0xC9:
        return take_bytes(in, VALUE_OTHER, 1 + read_big_endian(in, 1U << (first - 0xC7U)));
    case 0xCA: /* float */
        return take_bytes(in, VALUE_OTHER, 4);
    case 0xCB: /* double */
        return take_bytes(in, VALUE_OTHER, 8);
    case 0xCC: /* unsigned */
    case 0xCD:
    case 0xCE:
    case 0xCF:
        return container(VALUE_NUMBER, read_big_endian(in, 1U << (first - 0xCCU)));
    case 0xD0: /* signed: not used for sizes and offsets */
    case 0xD1:
    case 0xD2:
    case 0xD3:
        return take_bytes(in, VALUE_OTHER, 1U << (first - 0xD0U));
    case 0xD4: /* extension of fixed size: type, bytes */
    case 0xD5:
    case 0xD6:
    case 0xD7:
    case 0xD8:
        return take_bytes(in, VALUE_OTHER, 1 + (1U << (first - 0xD4U)));
    case 0xD9: /* text */
    case 0xDA:
    case 0xDB:
        return take_bytes(in, VALUE_TEXT, read_big_endian(in, 1U << (first - 0xD9U)));
    case 0xDC: /* array */
    case 0xDD:
        return container(VALUE_ARRAY, read_big_endian(in, 2U << (first - 0xDCU)));
    case 0xDE: /* map */
    case 0xDF:
        return container(VALUE_MAP, read_big_endian(in, 2U << (first - 0xDEU)));
    default: /* nil, false, true */
        return container(VALUE_OTHER, 0);
    }
}

static value_t read_value(pack_t *in)
{
    uint8_t first = (uint8_t)read_big_endian(in, 1);
    if (in->bad) {
        return container(VALUE_OTHER, 0);
    }
    if (first < 0x80U) {
        return container(VALUE_NUMBER, first);
    }
    if (first < 0x90U) {
        return container(VALUE_MAP, first & 0x0FU);
    }
    if (first < 0xA0U) {
        return container(VALUE_ARRAY, first & 0x0FU);
    }
    if (first < 0xC0U) {
        return take_bytes(in, VALUE_TEXT, first & 0x1FU);
    }
    return first >= 0xE0U ? container(VALUE_OTHER, 0) : read_typed(in, first);
}

/* Passes over the elements of a value that has been begun. */
static void skip_rest(pack_t *in, value_t value, int depth)
{
    uint64_t elements = value.kind == VALUE_ARRAY ? value.number
                        : value.kind == VALUE_MAP ? value.number * 2
                                                  : 0;
    if (depth > DEPTH_LIMIT) {
        in->bad = true;
    }
    for (uint64_t i = 0; i < elements && !in->bad; i++) {
        skip_rest(in, read_value(in), depth + 1);
    }
}

static void skip(pack_t *in)
{
    skip_rest(in, read_value(in), 0);
}

static bool is_text(value_t value, const char *text)
{
    return value.kind == VALUE_TEXT && value.text != NULL && value.number == strlen(text) &&
           memcmp(value.text, text, value.number) == 0;
}

/* Reads a value that should be of a kind; another one is passed over and comes back as empty. */
static value_t expect(pack_t *in, enum value_kind kind)
{
    value_t value = read_value(in);
    if (value.kind != kind) {
        skip_rest(in, value, 0);
        return container(kind, 0);
    }
    return value;
}

/* Reads one element of `.args`. Returns whether it is an explicit argument. */
static bool read_argument(pack_t *in, softgpu_argument_t *argument)
{
    bool hidden = false;
    uint64_t pairs = expect(in, VALUE_MAP).number;
    for (uint64_t pair = 0; pair < pairs && !in->bad; pair++) {
        value_t key = read_value(in);
        if (is_text(key, ".offset")) {
            argument->offset = (uint32_t)expect(in, VALUE_NUMBER).number;
        } else if (is_text(key, ".size")) {
            argument->size = (uint32_t)expect(in, VALUE_NUMBER).number;
        } else if (is_text(key, ".value_kind")) {
            value_t kind = expect(in, VALUE_TEXT);
            hidden = kind.number >= 7 && memcmp(kind.text, "hidden_", 7) == 0;
        } else {
            skip(in);
        }
    }
    return !hidden;
}

typedef struct list {
    softgpu_argument_t *arguments;
    size_t count;
} list_t;

static void read_arguments(pack_t *in, list_t *list)
{
    uint64_t elements = expect(in, VALUE_ARRAY).number;
    if (elements > ARGUMENT_LIMIT) {
        in->bad = true;
        return;
    }
    list->arguments = calloc(elements + 1, sizeof *list->arguments);
    for (uint64_t i = 0; i < elements && !in->bad && list->arguments != NULL; i++) {
        softgpu_argument_t argument = {0};
        if (read_argument(in, &argument)) {
            list->arguments[list->count++] = argument;
        }
    }
    in->bad = in->bad || list->arguments == NULL;
}

/* Reads one element of `amdhsa.kernels`. Returns whether it is the kernel with this symbol. */
static bool read_kernel(pack_t *in, const char *symbol, list_t *list)
{
    bool found = false;
    uint64_t pairs = expect(in, VALUE_MAP).number;
    for (uint64_t pair = 0; pair < pairs && !in->bad; pair++) {
        value_t key = read_value(in);
        if (is_text(key, ".args") && list->arguments == NULL) {
            read_arguments(in, list);
        } else if (is_text(key, ".symbol")) {
            found = is_text(expect(in, VALUE_TEXT), symbol);
        } else {
            skip(in);
        }
    }
    return found && !in->bad;
}

static bool read_kernels(pack_t *in, const char *symbol, list_t *list)
{
    uint64_t kernels = expect(in, VALUE_ARRAY).number;
    for (uint64_t kernel = 0; kernel < kernels && !in->bad; kernel++) {
        if (read_kernel(in, symbol, list)) {
            return true;
        }
        free(list->arguments);
        *list = (list_t){0};
    }
    return false;
}

bool sg_metadata_arguments(const uint8_t *metadata, size_t size, const char *symbol,
                           softgpu_argument_t **arguments, size_t *count)
{
    pack_t in = {.next = metadata, .end = metadata + size, .bad = metadata == NULL};
    list_t list = {0};
    uint64_t pairs = in.bad ? 0 : expect(&in, VALUE_MAP).number;
    for (uint64_t pair = 0; pair < pairs && !in.bad; pair++) {
        value_t key = read_value(&in);
        if (!is_text(key, "amdhsa.kernels")) {
            skip(&in);
        } else if (read_kernels(&in, symbol, &list)) {
            *arguments = list.arguments;
            *count = list.count;
            return true;
        }
    }
    free(list.arguments);
    return false;
}
