#include "fleet/question.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/paths.h"
#include "common/say.h"
#include "common/table.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ENDING    ".sql"
#define NAME_MOST 64u

#define TOP_DEFAULT 20u

/* Where they are. */

static bool installed(char *folder, size_t size)
{
    char self[PATH_MAX];
    if (!paths_self(self, sizeof self))
        return false;
    char *slash = strrchr(self, '/');
    *slash = 0;
    slash = strrchr(self, '/');
    return slash &&
           snprintf(folder, size, "%.*s/share/rtl/fleet", (int)(slash - self), self) < (int)size;
}

static bool is_name(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    return length > 0 && length < NAME_MOST && name[length] == 0;
}

static FILE *open_in(const char *folder, const char *name)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s" ENDING, folder, name) >= (int)sizeof path)
        return NULL;
    return fopen(path, "re");
}

static char *read_all(FILE *file)
{
    size_t size = 0;
    size_t room = 4096;
    char *text = memory_new(room, 1);
    for (;;) {
        size_t got = fread(text + size, 1, room - size - 1, file);
        size += got;
        text[size] = 0;
        if (got == 0)
            return text;
        if (size + 1 == room) {
            room *= 2;
            text = memory_grown(text, room, 1);
        }
    }
}

char *question_read(const char *folder, const char *name)
{
    char own[PATH_MAX];
    FILE *file = NULL;
    if (is_name(name) && folder)
        file = open_in(folder, name);
    if (is_name(name) && !file && installed(own, sizeof own))
        file = open_in(own, name);
    if (!file) {
        say("there is no question '%s': 'rtl fleet' lists those that there are", name);
        return NULL;
    }
    char *text = read_all(file);
    bool failed = ferror(file) != 0;
    (void)fclose(file);
    if (!failed)
        return text;
    say("the question '%s' cannot be read: %s", name, say_errno(errno));
    free(text);
    return NULL;
}

int question_folder(const char *folder)
{
    DIR *directory = folder ? opendir(folder) : NULL;
    if (folder && !directory)
        return say_fail(EXIT_USAGE, "--sql-dir %s: %s", folder, say_errno(errno));
    if (directory)
        (void)closedir(directory);
    return EXIT_FINE;
}

/* The list. */

struct names {
    char (*items)[NAME_MOST];
    size_t count;
};

static int by_name(const void *left, const void *right)
{
    return strcmp(left, right);
}

static void take_names(const char *folder, struct names *names)
{
    DIR *directory = opendir(folder);
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) { // NOLINT(concurrency-mt-unsafe): own stream
        char name[NAME_MOST] = "";
        size_t length = strlen(entry->d_name);
        if (length <= strlen(ENDING) || length - strlen(ENDING) >= NAME_MOST ||
            strcmp(entry->d_name + length - strlen(ENDING), ENDING) != 0)
            continue;
        memcpy(name, entry->d_name, length - strlen(ENDING));
        bool known = !is_name(name);
        for (size_t i = 0; i < names->count && !known; ++i)
            known = strcmp(names->items[i], name) == 0;
        if (known)
            continue;
        names->items = memory_grown(names->items, names->count + 1, sizeof *names->items);
        memcpy(names->items[names->count++], name, sizeof name);
    }
    if (directory)
        (void)closedir(directory);
}

/* What stands behind "-- KEY: " in a line. */
static bool note_of(const char *text, const char *key, char *note, size_t size)
{
    for (const char *line = text; strncmp(line, "-- ", 3) == 0; line += strcspn(line, "\n") + 1) {
        size_t length = strlen(key);
        if (strncmp(line + 3, key, length) == 0 && line[3 + length] == ':') {
            const char *begin = line + 4 + length + strspn(line + 4 + length, " ");
            (void)snprintf(note, size, "%.*s", (int)strcspn(begin, "\n"), begin);
            return true;
        }
        if (!strchr(line, '\n'))
            break;
    }
    return false;
}

int question_list(const char *folder)
{
    char own[PATH_MAX];
    struct names names = {0};
    if (folder)
        take_names(folder, &names);
    if (installed(own, sizeof own))
        take_names(own, &names);
    if (names.count == 0)
        return say_fail(EXIT_USAGE, "there are no questions: share/rtl/fleet is not beside rtl");
    qsort(names.items, names.count, sizeof *names.items, by_name);
    struct table *table = table_new("ll");
    table_cell(table, "question");
    table_cell(table, "what it tells");
    for (size_t i = 0; i < names.count; ++i) {
        char title[256] = "";
        char *text = question_read(folder, names.items[i]);
        if (text)
            (void)note_of(text, "title", title, sizeof title);
        table_cell(table, names.items[i]);
        table_cell(table, title);
        free(text);
    }
    table_print(table, stdout);
    free(names.items);
    return EXIT_FINE;
}

/* Times. */

bool question_time(const char *text, uint64_t *ns)
{
    static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
                                        "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        struct tm parts = {0};
        const char *end = strptime(text, forms[i], &parts);
        if (!end || *end)
            continue;
        /* strptime takes the 30th of February and second 60, of which timegm makes what follows. */
        const struct tm told = parts;
        time_t seconds = timegm(&parts);
        if (seconds < 0 || parts.tm_mday != told.tm_mday || parts.tm_sec != told.tm_sec)
            return false;
        *ns = (uint64_t)seconds * 1000000000;
        return true;
    }
    return false;
}

/* SQL. */

struct sql {
    char *text;
    size_t size, room;
};

static void put_bytes(struct sql *sql, const char *text, size_t length)
{
    if (sql->size + length + 1 > sql->room) {
        sql->room = 2 * (sql->size + length + 1);
        sql->text = memory_grown(sql->text, sql->room, 1);
    }
    memcpy(sql->text + sql->size, text, length);
    sql->size += length;
    sql->text[sql->size] = 0;
}

static void put(struct sql *sql, const char *text)
{
    put_bytes(sql, text, strlen(text));
}

static void put_number(struct sql *sql, uint64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    put(sql, text);
}

/* A literal: what ends one, and what ClickHouse takes for more than itself, is escaped. */
static void put_literal(struct sql *sql, const char *text)
{
    put(sql, "'");
    for (; *text; ++text) {
        char code[8];
        if (*text == '\'' || *text == '\\')
            (void)snprintf(code, sizeof code, "\\%c", *text);
        else if (iscntrl((unsigned char)*text))
            (void)snprintf(code, sizeof code, "\\x%02X", (unsigned char)*text);
        else
            (void)snprintf(code, sizeof code, "%c", *text);
        put(sql, code);
    }
    put(sql, "'");
}

static bool is_key(const char *word, const char *key)
{
    size_t length = strlen(key);
    return strncmp(word, key, length) == 0 && word[length] == '=';
}

static int put_run_condition(struct sql *sql, const char *word)
{
    static const char *const columns[] = {"host", "rank", "trace"};
    const char *value = strchr(word, '=');
    uint64_t ns;
    if (!value || value == word)
        return say_fail(EXIT_USAGE, "'%s' chooses no runs: write KEY=VALUE", word);
    ++value;
    put(sql, " AND ");
    if (is_key(word, "run")) {
        if (!*value || value[strspn(value, "0123456789")] || strlen(value) > 20)
            return say_fail(EXIT_USAGE, "'%s' is no run's number", word);
        put(sql, "run = ");
        put(sql, value);
        return EXIT_FINE;
    }
    if (is_key(word, "from") || is_key(word, "to")) {
        if (!question_time(value, &ns))
            return say_fail(EXIT_USAGE,
                            "'%s' is no time: write one such as 2026-11-28 or "
                            "2026-11-28T16:30",
                            value);
        put(sql, is_key(word, "from") ? "min(begin) >= " : "min(begin) < ");
        put_number(sql, ns);
        return EXIT_FINE;
    }
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; ++i)
        if (is_key(word, columns[i])) {
            put(sql, "max(");
            put(sql, columns[i]);
            put(sql, " = ");
            put_literal(sql, value);
            put(sql, ") = 1");
            return EXIT_FINE;
        }
    put(sql, "max(has(arrayMap((k, v) -> concat(k, '=', v), label_keys, label_values), ");
    put_literal(sql, word);
    put(sql, ")) = 1");
    return EXIT_FINE;
}

static int put_runs(struct sql *sql, bool whole, const struct question_runs *runs)
{
    int status = EXIT_FINE;
    put(sql, "(SELECT run FROM rtl_runs GROUP BY run HAVING ");
    put(sql, whole ? "max(complete) = 1" : "1");
    for (unsigned i = 0; i < runs->count && status == EXIT_FINE; ++i)
        status = put_run_condition(sql, runs->words[i]);
    put(sql, ")");
    return status;
}

/* By minutes, of which those count that begin in the time, and days, which are partitions. */
static void put_in_time(struct sql *sql, const struct question_words *words)
{
    const uint64_t day = UINT64_C(86400000000000);
    uint64_t last = words->to / day < UINT16_MAX ? words->to / day : UINT16_MAX;
    put(sql, "(day BETWEEN toDate(toUInt16(");
    put_number(sql, words->from / day);
    put(sql, ")) AND toDate(toUInt16(");
    put_number(sql, last);
    put(sql, ")) AND toUInt32(minute) >= ");
    put_number(sql, words->from / 1000000000);
    put(sql, " AND toUInt32(minute) < ");
    put_number(sql, words->to / 1000000000 < UINT32_MAX ? words->to / 1000000000 : UINT32_MAX);
    put(sql, ")");
}

/* What makes runs one, of a row of rtl_runs. No run's number has a '='. */
static void put_by(struct sql *sql, const char *label)
{
    if (!label) {
        put(sql, "toString(run)");
        return;
    }
    put(sql, "if(has(label_keys, ");
    put_literal(sql, label);
    put(sql, "), concat('=', arrayElement(label_values, indexOf(label_keys, ");
    put_literal(sql, label);
    put(sql, "))), toString(run))");
}

static int put_word(struct sql *sql, const char *word, const struct question_words *words)
{
    if (strcmp(word, "runs") == 0)
        return put_runs(sql, true, &words->runs);
    if (strcmp(word, "any_runs") == 0)
        return put_runs(sql, false, &words->runs);
    if (strcmp(word, "before") == 0)
        return put_runs(sql, true, &words->before);
    if (strcmp(word, "after") == 0)
        return put_runs(sql, true, &words->after);
    if (strcmp(word, "from") == 0)
        put_number(sql, words->from);
    else if (strcmp(word, "to") == 0)
        put_number(sql, words->to);
    else if (strcmp(word, "top") == 0)
        put_number(sql, words->top ? words->top : TOP_DEFAULT);
    else if (strcmp(word, "by") == 0)
        put_by(sql, words->by);
    else if (strcmp(word, "in_time") == 0)
        put_in_time(sql, words);
    else if (strcmp(word, "of_kernel") == 0 && !words->kernel)
        put(sql, "1");
    else if (strcmp(word, "of_kernel") == 0) {
        put(sql, "position(toString(name), ");
        put_literal(sql, words->kernel);
        put(sql, ") > 0");
    } else
        return say_fail(EXIT_USAGE, "a question has {%s}, which stands for nothing", word);
    return EXIT_FINE;
}

static int check_needs(const char *name, const char *text, const struct question_words *words)
{
    char needs[128] = "";
    (void)note_of(text, "needs", needs, sizeof needs);
    if (strstr(needs, "before") && words->before.count == 0)
        return say_fail(EXIT_USAGE, "%s needs --before KEY=VALUE, and --after", name);
    if (strstr(needs, "after") && words->after.count == 0)
        return say_fail(EXIT_USAGE, "%s needs --after KEY=VALUE, and --before", name);
    return EXIT_FINE;
}

static bool is_comment(const char *at)
{
    return strncmp(at, "--", 2) == 0;
}

/* Whether one of `words`, which spaces part, stands in braces somewhere but in comments. */
static bool has_word(const char *text, const char *words)
{
    for (; *text; ++text) {
        if (is_comment(text) && !*(text += strcspn(text, "\n")))
            return false;
        for (const char *word = words; *text == '{' && *word; word += strspn(word, " ")) {
            size_t length = strcspn(word, " ");
            if (strncmp(text + 1, word, length) == 0 && text[1 + length] == '}')
                return true;
            word += length;
        }
    }
    return false;
}

/* What is asked for and has no place in the SQL would be taken for done. */
static int check_used(const char *name, const char *text, const struct question_words *words)
{
    const struct {
        const char *option;
        bool given;
        const char *words;
    } options[] = {{"where", words->runs.count > 0, "runs any_runs"},
                   {"before", words->before.count > 0, "before"},
                   {"after", words->after.count > 0, "after"},
                   {"from", words->from > 0, "in_time from"},
                   {"to", words->to < UINT64_MAX, "in_time to"},
                   {"kernel", words->kernel != NULL, "of_kernel"},
                   {"by", words->by != NULL, "by"},
                   {"top", words->top > 0, "top"}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; ++i)
        if (options[i].given && !has_word(text, options[i].words))
            return say_fail(
                EXIT_USAGE, "--%s says nothing to the question '%s': its SQL has no {%.*s}",
                options[i].option, name, (int)strcspn(options[i].words, " "), options[i].words);
    return EXIT_FINE;
}

/* Comments stay out: they may have anything in braces. */
static const char *put_piece(struct sql *sql, const char *at, const struct question_words *words,
                             int *status)
{
    char word[32];
    if (is_comment(at))
        return at + strcspn(at, "\n");
    size_t length = *at == '{' ? strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_") : 0;
    if (length == 0 || length >= sizeof word || at[1 + length] != '}') {
        put_bytes(sql, at, 1);
        return at + 1;
    }
    (void)snprintf(word, sizeof word, "%.*s", (int)length, at + 1);
    *status = put_word(sql, word, words);
    return at + length + 2;
}

char *question_count_runs(const struct question_runs *runs, const struct question_runs *also)
{
    struct sql sql = {0};
    put(&sql, "SELECT uniqExact(run) FROM rtl_runs WHERE run GLOBAL IN ");
    int status = put_runs(&sql, true, runs);
    if (status == EXIT_FINE && also) {
        put(&sql, " AND run GLOBAL IN ");
        status = put_runs(&sql, true, also);
    }
    put(&sql, " FORMAT TabSeparated");
    if (status == EXIT_FINE)
        return sql.text;
    free(sql.text);
    return NULL;
}

char *question_count_labelled(const struct question_words *words)
{
    struct sql sql = {0};
    put(&sql, "SELECT uniqExact(run) FROM rtl_runs WHERE has(label_keys, ");
    put_literal(&sql, words->by);
    put(&sql, ") AND (run GLOBAL IN ");
    int status = put_runs(&sql, true, &words->before);
    put(&sql, " OR run GLOBAL IN ");
    if (status == EXIT_FINE)
        status = put_runs(&sql, true, &words->after);
    put(&sql, ") FORMAT TabSeparated");
    if (status == EXIT_FINE)
        return sql.text;
    free(sql.text);
    return NULL;
}

char *question_fill(const char *name, const char *text, const struct question_words *words)
{
    struct sql sql = {0};
    int status = check_needs(name, text, words);
    if (status == EXIT_FINE)
        status = check_used(name, text, words);
    put(&sql, "");
    while (*text && status == EXIT_FINE)
        text = put_piece(&sql, text, words, &status);
    if (status == EXIT_FINE)
        return sql.text;
    free(sql.text);
    return NULL;
}
