#include "collect/tally.h"

#include "collect/maps.h"
#include "ring/process.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNEL_THREADS 2u   /* pid of their parent, and of itself */
#define BEFORE         100u /* ticks: a second in which who has begun may not have loaded it yet */
#define MOST_ANCESTORS 64u
#define FIRST_PIDS     0xEFFFFFFCu /* inode of the machine's first pid namespace: Linux's own */

struct tally_stranger {
    uint32_t pid;
    uint64_t start, image;
};

void tally_begin(struct tally *tally)
{
    uint64_t begun = rtl_process_facts((uint32_t)getpid()).start;
    bool known = begun != RTL_START_UNKNOWN && begun > BEFORE;
    *tally = (struct tally){.begun = known ? begun - BEFORE : 0,
                            .veiled = rtl_process_id_own().space != FIRST_PIDS};
}

static bool is_counted(const struct tally *tally, const struct tally_stranger *stranger)
{
    for (size_t i = 0; i < tally->stranger_count; i++) {
        const struct tally_stranger *known = &tally->strangers[i];
        if (known->pid == stranger->pid && known->start == stranger->start &&
            known->image == stranger->image)
            return true;
    }
    return false;
}

/* What is not remembered is counted again at the next look, and explains more than it should. */
static void count(struct tally *tally, const struct tally_stranger *stranger)
{
    struct tally_stranger *strangers =
        realloc(tally->strangers, (tally->stranger_count + 1) * sizeof *strangers);
    if (!strangers)
        return;
    strangers[tally->stranger_count++] = *stranger;
    tally->strangers = strangers;
    tally->seen++;
    tally->veiled = true; /* others open it too: what nobody explains may be theirs */
}

static bool is_newcomer(const struct tally *tally, uint32_t pid,
                        const struct rtl_process_facts *facts)
{
    return facts->start != 0 && facts->start != RTL_START_UNKNOWN && facts->start >= tally->begun &&
           pid != KERNEL_THREADS && facts->parent != KERNEL_THREADS;
}

static bool is_own_ancestor(uint32_t pid)
{
    uint32_t ancestor = (uint32_t)getpid();
    for (unsigned i = 0; i < MOST_ANCESTORS && ancestor != 0; i++) {
        if (ancestor == pid)
            return true;
        ancestor = rtl_process_facts(ancestor).parent;
    }
    return false;
}

/* Whose parents are gone has one that was there before: init, or another that takes up orphans. It
 * is an ancestor of this process too, but so may be a shell. */
static bool may_be_orphan(const struct tally *tally, uint32_t parent)
{
    struct rtl_process_facts facts = rtl_process_facts(parent);
    for (unsigned i = 0; i < MOST_ANCESTORS && is_newcomer(tally, parent, &facts); i++) {
        parent = facts.parent;
        facts = rtl_process_facts(parent);
    }
    return is_own_ancestor(parent);
}

/* What has the same path elsewhere is another file, as a rule. */
static bool is_elsewhere(uint32_t pid)
{
    char path[32];
    struct stat own;
    struct stat other;
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/ns/mnt", pid);
    return stat("/proc/self/ns/mnt", &own) != 0 || stat(path, &other) != 0 ||
           own.st_ino != other.st_ino;
}

static void look_at(struct tally *tally, uint32_t pid, bool known, struct openings *openings)
{
    struct rtl_process_facts facts = rtl_process_facts(pid);
    const struct tally_stranger stranger = {pid, facts.start, facts.image};
    struct maps maps;
    if (!is_newcomer(tally, pid, &facts) || is_counted(tally, &stranger))
        return;
    enum maps_read read = maps_read(pid, "", &maps);
    if (read == MAPS_HIDDEN)
        tally->veiled = true;
    /* A fork has what its parent had opened. */
    if (read != MAPS_READ || !maps.library[0] ||
        rtl_process_facts(facts.parent).image == facts.image ||
        !openings_learn(openings, maps.library))
        return;
    if (is_elsewhere(pid) || (!known && may_be_orphan(tally, facts.parent)))
        tally->veiled = true;
    else
        count(tally, &stranger);
}

void tally_strangers(struct tally *tally, const struct tree *tree, struct openings *openings)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    while (folder &&
           (entry = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe): own stream
        uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (isdigit((unsigned char)entry->d_name[0]) && pid != (uint32_t)getpid() &&
            !tree_find(tree, pid))
            look_at(tally, pid, tree_hears_forks(tree), openings);
    }
    if (folder)
        (void)closedir(folder);
}

void tally_end(struct tally *tally)
{
    free(tally->strangers);
    *tally = (struct tally){0};
}
