/**
 * Different texts, numbered from 0 in the order in which they came.
 */
#ifndef RTL_TOOLS_TEXTS_H
#define RTL_TOOLS_TEXTS_H

#include <stddef.h>
#include <stdint.h>

/** Zeroed memory is empty. */
struct texts {
    char **list; /**< copies */
    size_t count, capacity;
    uint32_t *table; /**< number + 1, 0: free */
    size_t table_size;
};

#define TEXTS_NONE SIZE_MAX

/** The number of a text, which is copied if it is new; TEXTS_NONE when memory is short. */
size_t texts_number(struct texts *texts, const char *text);

/** The same, but TEXTS_NONE for a text that has not come yet. */
size_t texts_find(const struct texts *texts, const char *text);

void texts_free(struct texts *texts);

#endif
