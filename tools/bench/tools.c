/* The tools of rtl bench: RTL's modes and ways, and templates of other profilers. */
#include "bench/bench.h"

#include "common/memory.h"
#include "common/parse.h"
#include "common/say.h"

#include <stdlib.h>
#include <string.h>

static const char *const modes[] = {"lite", "standard", "hip", "full"};
static const char *const ways[] = {"interpose", "intercept"};

enum { MODES = sizeof modes / sizeof modes[0], WAYS = sizeof ways / sizeof ways[0] };

static const char *const names[MODES][WAYS] = {{"lite", "lite/intercept"},
                                               {"standard", "standard/intercept"},
                                               {"hip", "hip/intercept"},
                                               {"full", "full/intercept"}};

static int add(struct bench *bench, const struct bench_tool *tool)
{
    for (unsigned i = 0; i < bench->tool_count; ++i)
        if (strcmp(bench->tools[i].name, tool->name) == 0) {
            say("two tools of --tool are called '%s'", tool->name);
            return -1;
        }
    if (bench->tool_count == BENCH_MOST_TOOLS) {
        say("there are more than %u tools", BENCH_MOST_TOOLS - 1);
        return -1;
    }
    bench->tools[bench->tool_count++] = *tool;
    return 0;
}

static int add_rtl(struct bench *bench, unsigned mode, unsigned way)
{
    const struct bench_tool tool = {
        .name = names[mode][way], .mode = modes[mode], .way = ways[way]};
    return add(bench, &tool);
}

static int add_all(struct bench *bench)
{
    int status = 0;
    for (unsigned way = 0; way < WAYS; ++way)
        for (unsigned mode = 0; status == 0 && mode < MODES; ++mode)
            status = add_rtl(bench, mode, way);
    return status;
}

void bench_tools_default(struct bench *bench)
{
    for (unsigned mode = 0; mode < MODES; ++mode)
        (void)add_rtl(bench, mode, 0);
    (void)add_rtl(bench, MODES - 1, 1);
}

static int add_named(void *context, char *text)
{
    struct bench *bench = context;
    if (strcmp(text, "all") == 0)
        return add_all(bench);
    for (unsigned mode = 0; mode < MODES; ++mode)
        for (unsigned way = 0; way < WAYS; ++way) {
            size_t length = strlen(modes[mode]);
            bool explicit_way = strncmp(text, modes[mode], length) == 0 && text[length] == '/' &&
                                strcmp(text + length + 1, ways[way]) == 0;
            if (explicit_way || strcmp(text, names[mode][way]) == 0)
                return add_rtl(bench, mode, way);
        }
    if (strcmp(text, "none") == 0) {
        say("none is always measured: --tool names what is compared with it");
        return -1;
    }
    say("there is no tool '%s': it is lite, standard, hip or full, with /interpose or /intercept "
        "if wanted, or all, or name=NAME,command=COMMAND",
        text);
    return -1;
}

static const char *const keys[] = {"name=", "env=", "command=", "count="};

enum { KEY_NAME, KEY_ENV, KEY_COMMAND, KEY_COUNT, KEYS };

static int key_of(const char *text)
{
    for (int key = 0; key < KEYS; ++key)
        if (strncmp(text, keys[key], strlen(keys[key])) == 0)
            return key;
    return -1;
}

/* Ends the item at `text` before the comma that a known key follows, and returns what comes then,
 * NULL at the end. */
static char *cut_item(char *text)
{
    for (char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ','))
        if (key_of(comma + 1) >= 0) {
            *comma = '\0';
            return comma + 1;
        }
    return NULL;
}

static int take_env(struct bench_tool *tool, const char *value)
{
    if (value[0] == '=' || !strchr(value, '=')) {
        say("'%s' in --tool is no variable: it is env=NAME=VALUE", value);
        return -1;
    }
    if (tool->env_count == BENCH_MOST_ENV) {
        say("a tool of --tool has more than %u variables", BENCH_MOST_ENV);
        return -1;
    }
    tool->env[tool->env_count++] = value;
    return 0;
}

static int take_item(struct bench_tool *tool, const char *item)
{
    int key = key_of(item);
    const char *value = key < 0 ? item : item + strlen(keys[key]);
    const char **fields[] = {&tool->name, NULL, &tool->command, &tool->count};
    if (key < 0) {
        say("'%s' in --tool is none of name=, env=, command= and count=", item);
        return -1;
    }
    if (key == KEY_ENV)
        return take_env(tool, value);
    if (!value[0] || *fields[key]) {
        say("a tool of --tool has %s '%s'", value[0] ? "a second" : "an empty", keys[key]);
        return -1;
    }
    *fields[key] = value;
    return 0;
}

static int check_template(const struct bench_tool *tool, const char *text)
{
    if (!tool->name)
        say("a tool of --tool has no name=: %s", text);
    else if (strcmp(tool->name, "none") == 0)
        say("a tool of --tool cannot be called none");
    else if (!tool->command && tool->env_count == 0)
        say("the tool '%s' has neither command= nor env=", tool->name);
    else if (tool->command && !strstr(tool->command, "{program}"))
        say("the command of tool '%s' does not say where the program goes: {program}", tool->name);
    else
        return 0;
    return -1;
}

static int add_template(struct bench *bench, const char *text)
{
    struct bench_tool tool = {.memory = strdup(text)};
    int status = 0;
    if (!tool.memory)
        memory_is_short();
    for (char *item = tool.memory, *next; status == 0 && item; item = next) {
        next = cut_item(item);
        status = take_item(&tool, item);
    }
    if (status == 0)
        status = check_template(&tool, text);
    if (status == 0)
        status = add(bench, &tool);
    if (status != 0)
        free(tool.memory);
    return status;
}

int bench_tools_add(struct bench *bench, const char *text)
{
    if (strchr(text, '='))
        return add_template(bench, text);
    return parse_list("tool", text, "lite,full", add_named, bench) ? -1 : 0;
}

void bench_tools_free(struct bench *bench)
{
    for (unsigned i = 0; i < bench->tool_count; ++i)
        free(bench->tools[i].memory);
    bench->tool_count = 0;
}

/* A word as a shell reads it back. */
static void put_word(FILE *file, const char *word, bool quoted)
{
    if (!quoted) {
        (void)fputs(word, file);
        return;
    }
    (void)fputc('\'', file);
    for (; *word; ++word)
        if (*word == '\'')
            (void)fputs("'\\''", file);
        else
            (void)fputc(*word, file);
    (void)fputc('\'', file);
}

static void put_words(FILE *file, char *const *words, bool quoted)
{
    for (char *const *word = words; word && *word; ++word) {
        if (word != words)
            (void)fputc(' ', file);
        put_word(file, *word, quoted);
    }
}

char *bench_tools_fill(const char *text, const char *out, char *const *program, bool quoted)
{
    char *filled = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&filled, &size);
    if (!file)
        memory_is_short();
    while (*text) {
        if (strncmp(text, "{out}", strlen("{out}")) == 0) {
            put_word(file, out, quoted);
            text += strlen("{out}");
        } else if (program && strncmp(text, "{program}", strlen("{program}")) == 0) {
            put_words(file, program, quoted);
            text += strlen("{program}");
        } else {
            (void)fputc(*text++, file);
        }
    }
    bool bad = ferror(file) != 0;
    if (fclose(file) != 0 || bad || !filled)
        memory_is_short();
    return filled;
}
