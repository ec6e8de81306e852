/**
 * The processes of a recorded program: the one that rtl started, and its descendants (private to
 * the collector).
 *
 * Nothing of the program's changes for it: rtl is no subreaper (prctl(2)), since an orphan would
 * see another parent than without RTL. Linux tells of each process that is made (forks.h), or
 * else /proc is looked through for new ones: those whose parent is a member, whose session or
 * process group was made by one, or that have this recording in their environment. What is left out
 * then: an orphan whose parent came and went between two looks, without any of these.
 *
 * A tree is the collector's one thread's: no function here may be called by another, nor waits for
 * anybody.
 */
#ifndef RTL_COLLECT_TREE_H
#define RTL_COLLECT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct member {
    uint32_t pid, parent;
    uint64_t start;       /**< 0: not known yet, as in ring/process.h otherwise */
    uint64_t image;       /**< what was seen of it was seen of this one; 0: nothing was */
    pid_t session, group; /**< as last seen */
    uint64_t met_ns;      /**< when it was first seen in the image of its parent; 0: it was not */
    bool foreign;         /**< of another rtl trace */
    bool over;            /**< it was so when it was last looked at */
    bool again, next_foreign; /**< another member has the pid now */
    struct sight *sight;      /**< whose it is that looks (watch.c), NULL: nothing is to be kept */
};

struct tree {
    struct member *members; /* by pid */
    size_t count, capacity;
    char *variable;    /* of the environment, with its NUL: RTL_SESSION=… */
    char *environment; /* of a process that is looked at */
    uint32_t root;
    pid_t session, group; /* that the program was started in */
    int forks;            /* events of Linux, -1: none */
    bool broken;          /* some of them are lost: /proc is looked through from now on */
    uint32_t *known;      /* pids at the last look through /proc, in order */
    size_t known_count;
    struct newcomer *newcomers; /* pids of this one that were not there */
    size_t newcomer_count, newcomer_at;
};

/** Begins to listen, before the program is started. `tree` need not be set; `session` is copied.
 * False if memory is short. */
bool tree_begin(struct tree *tree, const char *session);

/** The program, once this process has made it, in its own session and process group. */
void tree_root(struct tree *tree, uint32_t pid);

/** Takes up processes that have come. False if it is not done by `until` (rtl_now): it goes on with
 * the next call. */
bool tree_update(struct tree *tree, uint64_t until);

/** Whether Linux tells who makes whom, and has not lost any of it. */
static inline bool tree_hears_forks(const struct tree *tree)
{
    return tree->forks >= 0 && !tree->broken;
}

/** The member of that pid, NULL if there is none. The tree's, until the next update or removal. */
struct member *tree_find(const struct tree *tree, uint32_t pid);

/** Removes a member that is gone; `sight` is the caller's to free. Where another one has its pid,
 * this one has its place. */
void tree_remove(struct tree *tree, struct member *member);

/** This process and its descendants, so far and later, are of another recording. */
void tree_disown(struct tree *tree, uint32_t pid);

/** Stops listening and frees all. */
void tree_end(struct tree *tree);

#endif
