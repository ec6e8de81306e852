#include "collect/tree.h"

#include "collect/forks.h"
#include "collect/left.h"
#include "common/clock.h"
#include "ring/process.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct newcomer {
    struct rtl_process_facts facts;
    uint32_t pid;
    bool taken;
};

/* Index of the first member whose pid is not below. */
static size_t place_of(const struct tree *tree, uint32_t pid)
{
    size_t from = 0;
    size_t to = tree->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (tree->members[middle].pid < pid)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

struct member *tree_find(const struct tree *tree, uint32_t pid)
{
    size_t place = place_of(tree, pid);
    return place < tree->count && tree->members[place].pid == pid ? &tree->members[place] : NULL;
}

static bool make_room(struct tree *tree)
{
    if (tree->count < tree->capacity)
        return true;
    size_t capacity = tree->capacity ? 2 * tree->capacity : 16;
    struct member *members = realloc(tree->members, capacity * sizeof *members);
    if (!members)
        return false;
    tree->members = members;
    tree->capacity = capacity;
    return true;
}

static void add(struct tree *tree, const struct member *member)
{
    if (!make_room(tree))
        return;
    size_t place = place_of(tree, member->pid);
    memmove(tree->members + place + 1, tree->members + place,
            (tree->count - place) * sizeof *tree->members);
    tree->members[place] = *member;
    tree->count++;
}

static int compare_pids(const void *a, const void *b)
{
    const uint32_t *left = a;
    const uint32_t *right = b;
    return (*left > *right) - (*left < *right);
}

/* It was listed while the member was there, who may have been over by then: whoever has the pid now
 * has not been looked at. */
static void forget_known(struct tree *tree, uint32_t pid)
{
    uint32_t *known = tree->known_count > 0
                          ? bsearch(&pid, tree->known, tree->known_count, sizeof pid, compare_pids)
                          : NULL;
    if (!known)
        return;
    tree->known_count--;
    memmove(known, known + 1, (size_t)(tree->known + tree->known_count - known) * sizeof *known);
}

void tree_remove(struct tree *tree, struct member *member)
{
    size_t place = (size_t)(member - tree->members);
    if (member->again) {
        *member = (struct member){.pid = member->pid, .foreign = member->next_foreign};
        return;
    }
    forget_known(tree, member->pid);
    tree->count--;
    memmove(member, member + 1, (tree->count - place) * sizeof *member);
}

/* Where a pid comes again, whoever had it is gone, and may not have been judged yet. */
static void met(void *context, uint32_t parent, uint32_t child)
{
    struct tree *tree = context;
    const struct member *from = tree_find(tree, parent);
    struct member *former = tree_find(tree, child);
    const struct member member = {
        .pid = child, .parent = parent, .foreign = from != NULL && from->foreign};
    if (child == tree->root && parent == (uint32_t)getpid())
        return;
    if (former && (former->start != 0 || former->sight)) {
        former->again = from != NULL;
        former->next_foreign = member.foreign;
        return;
    }
    if (former)
        tree_remove(tree, former);
    if (from)
        add(tree, &member);
}

void tree_root(struct tree *tree, uint32_t pid)
{
    const struct member member = {.pid = pid, .parent = (uint32_t)getpid()};
    tree->root = pid;
    tree->session = getsid(0); /* the program may have made its own by now */
    tree->group = getpgid(0);
    if (!tree_find(tree, pid))
        add(tree, &member);
}

/* Sessions and groups that members have made: all but those that the program was started in, which
 * are 0 where their leaders are outside of this pid namespace. */
static bool shares(const struct tree *tree, const struct rtl_process_facts *facts)
{
    for (size_t i = 0; tree->session >= 0 && tree->group >= 0 && i < tree->count; i++) {
        const struct member *member = &tree->members[i];
        if (member->session == facts->session && facts->session != tree->session &&
            facts->session > 0)
            return true;
        if (member->group == facts->group && facts->group != tree->group && facts->group > 0)
            return true;
    }
    return false;
}

static void take(struct tree *tree, struct newcomer *newcomer)
{
    const struct member *parent = tree_find(tree, newcomer->facts.parent);
    const struct member member = {.pid = newcomer->pid,
                                  .parent = newcomer->facts.parent,
                                  .start = newcomer->facts.start,
                                  .session = newcomer->facts.session,
                                  .group = newcomer->facts.group,
                                  .foreign = parent && parent->foreign};
    struct member *former = tree_find(tree, member.pid);
    newcomer->taken = true;
    if (!former) {
        add(tree, &member);
        return;
    }
    former->again = true;
    former->next_foreign = member.foreign;
}

/* A parent may have come with its child, and have the higher pid. */
static void take_children(struct tree *tree)
{
    bool more = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < tree->newcomer_count; i++) {
            struct newcomer *newcomer = &tree->newcomers[i];
            if (newcomer->taken || !tree_find(tree, newcomer->facts.parent))
                continue;
            take(tree, newcomer);
            more = true;
        }
    }
}

static bool has_variable(struct tree *tree, uint32_t pid)
{
    if (!tree->environment)
        tree->environment = malloc(LEFT_ENVIRONMENT);
    return tree->environment && left_has(pid, tree->variable, tree->environment);
}

static void take_orphans(struct tree *tree)
{
    for (size_t i = 0; i < tree->newcomer_count; i++) {
        struct newcomer *newcomer = &tree->newcomers[i];
        if (!newcomer->taken && newcomer->facts.start != 0 &&
            (shares(tree, &newcomer->facts) || has_variable(tree, newcomer->pid)))
            take(tree, newcomer);
    }
}

static uint32_t *list_processes(size_t *count)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    size_t capacity = 0;
    uint32_t *pids = NULL;
    *count = 0;
    while (folder &&
           (entry = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe): own stream
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            uint32_t *more = realloc(pids, capacity * sizeof *pids);
            if (!more)
                break;
            pids = more;
        }
        pids[(*count)++] = (uint32_t)strtoul(entry->d_name, NULL, 10);
    }
    if (folder)
        (void)closedir(folder);
    if (*count > 0)
        qsort(pids, *count, sizeof *pids, compare_pids);
    return pids;
}

/* What is there before the program is none of its processes. */
bool tree_begin(struct tree *tree, const char *session)
{
    *tree = (struct tree){.forks = -1};
    if (asprintf(&tree->variable, "RTL_SESSION=%s", session) < 0) {
        tree->variable = NULL;
        return false;
    }
    tree->forks = forks_open();
    if (tree->forks < 0)
        tree->known = list_processes(&tree->known_count);
    return true;
}

/* Both lists are in order. A member's pid may be another process's by now, and is looked at again.
 */
static void begin_look(struct tree *tree)
{
    size_t count;
    size_t old = 0;
    uint32_t *pids = list_processes(&count);
    tree->newcomers = calloc(count + 1, sizeof *tree->newcomers);
    tree->newcomer_count = tree->newcomer_at = 0;
    for (size_t i = 0; tree->newcomers && i < count; i++) {
        while (old < tree->known_count && tree->known[old] < pids[i])
            old++;
        if (old == tree->known_count || tree->known[old] != pids[i] || tree_find(tree, pids[i]))
            tree->newcomers[tree->newcomer_count++].pid = pids[i];
    }
    if (!tree->newcomers) { /* the next look takes them for new again */
        free(pids);
        return;
    }
    free(tree->known);
    tree->known = pids;
    tree->known_count = count;
}

/* Whether it is the member of that pid, as far as can be told. */
static bool is_member(const struct tree *tree, const struct newcomer *newcomer)
{
    const struct member *member = tree_find(tree, newcomer->pid);
    uint64_t start = newcomer->facts.start;
    return member && (member->again || member->start == 0 || start == 0 ||
                      start == RTL_START_UNKNOWN || start == member->start);
}

static bool look_through(struct tree *tree, uint64_t until)
{
    if (!tree->newcomers)
        begin_look(tree);
    if (!tree->newcomers)
        return true;
    for (; tree->newcomer_at < tree->newcomer_count; tree->newcomer_at++) {
        struct newcomer *newcomer = &tree->newcomers[tree->newcomer_at];
        if (rtl_now() > until)
            return false;
        newcomer->facts = rtl_process_facts(newcomer->pid);
        newcomer->taken = is_member(tree, newcomer);
    }
    take_children(tree);
    take_orphans(tree);
    take_children(tree);
    free(tree->newcomers);
    tree->newcomers = NULL;
    return true;
}

bool tree_update(struct tree *tree, uint64_t until)
{
    if (tree->forks >= 0 && !tree->broken)
        tree->broken = !forks_take(tree->forks, met, tree);
    return tree->forks >= 0 && !tree->broken ? true : look_through(tree, until);
}

void tree_disown(struct tree *tree, uint32_t pid)
{
    if (!tree_find(tree, pid))
        (void)tree_update(tree, UINT64_MAX);
    struct member *member = tree_find(tree, pid);
    bool more = member != NULL;
    if (member)
        member->foreign = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < tree->count; i++) {
            const struct member *parent = tree_find(tree, tree->members[i].parent);
            if (tree->members[i].foreign || !parent || !parent->foreign)
                continue;
            tree->members[i].foreign = true;
            more = true;
        }
    }
}

void tree_end(struct tree *tree)
{
    if (tree->forks >= 0)
        (void)close(tree->forks);
    free(tree->variable);
    free(tree->environment);
    free(tree->members);
    free(tree->known);
    free(tree->newcomers);
    *tree = (struct tree){.forks = -1};
}
