/**
 * Questions: SQL in files, in which names in braces stand for what the command line says.
 */
#ifndef RTL_TOOLS_FLEET_QUESTION_H
#define RTL_TOOLS_FLEET_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What runs are wanted: KEY=VALUE of a label, or run=, host=, rank=, trace=, from=, to=; all hold.
 */
struct question_runs {
    const char **words;
    unsigned count;
};

/** The command line's part in a question. */
struct question_words {
    struct question_runs runs, before, after;
    uint64_t from, to;  /**< ns since 1970; to UINT64_MAX: no end */
    const char *kernel; /**< part of a name, NULL: any */
    const char *by;     /**< a label: runs with one value of it are one; NULL: each is one */
    unsigned top;       /**< 0: not given */
};

/** The text of a question, NULL when a sentence has been said. It is looked for in `folder` (NULL:
 * not given), then where RTL is installed. The caller frees it. */
char *question_read(const char *folder, const char *name);

/** Lists questions on stdout: each with its title. EXIT_FINE, or EXIT_USAGE with a sentence. */
int question_list(const char *folder);

/** The question with what the words say; the caller frees it. NULL when a sentence has been said:
 * what the words say has no place in it, say. Texts of the command line come into it as literals of
 * SQL, so that they mean nothing else. */
char *question_fill(const char *name, const char *text, const struct question_words *words);

/** A query that counts the whole runs which `runs` chooses, and `also` too unless it is NULL. The
 * caller frees it. NULL when a sentence has been said. */
char *question_count_runs(const struct question_runs *runs, const struct question_runs *also);

/** A query that counts those of the whole runs of before and after which have the label `by`, as
 * question_count_runs. */
char *question_count_labelled(const struct question_words *words);

/** EXIT_FINE where `folder` can be read, or is NULL; else EXIT_USAGE, with a sentence. */
int question_folder(const char *folder);

/** Reads "2026-11-28", "2026-11-28 16:30" or "2026-11-28T16:30:05", of UTC. False: it is none. */
bool question_time(const char *text, uint64_t *ns);

#endif
