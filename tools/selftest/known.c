#include "selftest/known.h"

#include "common/memory.h"
#include "common/process.h"

#include <stdlib.h>
#include <string.h>

static void cut_line(char *text, struct known_line *line)
{
    *line = (struct known_line){.key = text, .word = {"", "", "", ""}};
    for (unsigned i = 0; i < KNOWN_WORDS; ++i) {
        text = i == 0 || strcmp(line->key, "gpu") != 0 ? strchr(text, ' ') : NULL;
        if (!text)
            return;
        *text++ = '\0';
        line->word[i] = text;
    }
}

void known_read(const char *path, struct known *known)
{
    *known = (struct known){.text = process_read(path)};
    size_t room = 0;
    char *rest = known->text;
    for (char *text; rest && (text = strsep(&rest, "\n")) && *text;) {
        if (known->count == room) {
            room = room ? 2 * room : 128;
            known->lines = memory_grown(known->lines, room, sizeof *known->lines);
        }
        cut_line(text, &known->lines[known->count++]);
    }
}

bool known_is_whole(const struct known *known)
{
    return known->count > 0 && strcmp(known->lines[known->count - 1].key, "end") == 0;
}

void known_free(struct known *known)
{
    free(known->lines);
    free(known->text);
    *known = (struct known){0};
}

const struct known_line *known_next(const struct known *known, const char *key,
                                    const struct known_line *line)
{
    const struct known_line *end = known->lines + known->count;
    for (line = line ? line + 1 : known->lines; line < end; ++line)
        if (strcmp(line->key, key) == 0)
            return line;
    return NULL;
}

uint64_t known_number(const struct known_line *line, unsigned word)
{
    return strtoull(line->word[word], NULL, 10);
}
