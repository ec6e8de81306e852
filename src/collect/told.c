#include "collect/told.h"

#include "common/sentence.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What sentences of a kind have in common. */
struct told_kind {
    char *rest;               /* behind the pid */
    uint32_t first;           /* that was told */
    size_t others;            /* that were not */
    uint32_t pids[TOLD_PIDS]; /* of the first of these */
    bool differ;              /* in a number */
};

static struct told_kind *find(const struct told *told, const char *rest)
{
    for (size_t i = 0; i < told->count; i++)
        if (rtl_compare_but_numbers(told->kinds[i].rest, rest) == 0)
            return &told->kinds[i];
    return NULL;
}

/* Without memory the next one is told as if it were the first. */
static void add(struct told *told, uint32_t pid, const char *rest)
{
    struct told_kind *kinds = realloc(told->kinds, (told->count + 1) * sizeof *kinds);
    char *copy = kinds != NULL ? strdup(rest) : NULL;
    if (kinds != NULL)
        told->kinds = kinds;
    if (copy != NULL)
        kinds[told->count++] = (struct told_kind){.rest = copy, .first = pid};
}

void told_process(struct told *told, uint32_t pid, const char *sentence)
{
    if (told->say == NULL)
        return;
    const char *rest = rtl_behind_pid(sentence);
    struct told_kind *kind = find(told, rest);
    if (kind == NULL) {
        add(told, pid, rest);
        told->say(told->context, sentence);
        return;
    }
    kind->differ |= strcmp(kind->rest, rest) != 0;
    if (kind->others < TOLD_PIDS)
        kind->pids[kind->others] = pid;
    kind->others++;
}

static void tell_others(const struct told *told, const struct told_kind *kind)
{
    char pids[TOLD_PIDS * sizeof "4294967295, "];
    char sentence[sizeof pids + 128];
    size_t used = 0;
    for (size_t i = 0; i < kind->others && i < TOLD_PIDS; i++)
        used += (size_t)snprintf(pids + used, sizeof pids - used, "%s%" PRIu32, i > 0 ? ", " : "",
                                 kind->pids[i]);
    (void)snprintf(sentence, sizeof sentence,
                   "the same holds%s for %zu more %s as for process %" PRIu32 " (%s%s)",
                   kind->differ ? ", with other numbers," : "", kind->others,
                   kind->others == 1 ? "process" : "processes", kind->first, pids,
                   kind->others > TOLD_PIDS ? ", ..." : "");
    told->say(told->context, sentence);
}

void told_end(struct told *told)
{
    for (size_t i = 0; i < told->count; i++) {
        if (told->kinds[i].others > 0)
            tell_others(told, &told->kinds[i]);
        free(told->kinds[i].rest);
    }
    free(told->kinds);
    told->kinds = NULL;
    told->count = 0;
}
