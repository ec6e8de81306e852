/**
 * What rtl-selftest-work knows (its head has the lines).
 */
#ifndef RTL_TOOLS_SELFTEST_KNOWN_H
#define RTL_TOOLS_SELFTEST_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KNOWN_WORDS 4u

/** A line: its key, and words after it, "" where it has fewer. The GPU's name is one word. */
struct known_line {
    const char *key;
    const char *word[KNOWN_WORDS];
};

/** Zeroed memory knows nothing. */
struct known {
    char *text;
    struct known_line *lines;
    size_t count;
};

/** Reads what there is of the file. */
void known_read(const char *path, struct known *known);

/** Whether it was written to its end. */
bool known_is_whole(const struct known *known);

void known_free(struct known *known);

/** The next line with that key after `line` (NULL: the first), or NULL. */
const struct known_line *known_next(const struct known *known, const char *key,
                                    const struct known_line *line);

/** A word as a number; 0 if it is none. */
uint64_t known_number(const struct known_line *line, unsigned word);

#endif
