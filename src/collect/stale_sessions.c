#include "collect/stale_sessions.h"

#include "collect/session_lock.h"
#include "common/private.h"
#include "ring/files.h"
#include "ring/maker.h"
#include "ring/process.h"
#include "ring/ring.h"
#include "store/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Sessions of older versions do not say who made them: they stay. */
static bool maker_has_ended(const struct rtl_ring_dir_facts *facts)
{
    if (facts->length == 0)
        return true;
    uint64_t now = rtl_process_facts(facts->maker).start;
    return facts->maker_start != 0 &&
           (now == 0 || !rtl_process_same_start(now, facts->maker_start));
}

/* A ring that cannot be looked into may be in use. */
static bool ring_is_dead(const char *session, const char *name, uint32_t pid)
{
    char path[PATH_MAX];
    char library[33];
    uint32_t version;
    struct rtl_ring ring;
    if (snprintf(path, sizeof path, "%s/%s", session, name) >= (int)sizeof path ||
        rtl_ring_open(&ring, path, &version, library) != 0)
        return rtl_process_facts(pid).start == 0;
    int file = rtl_private_open(path, O_RDWR);
    struct rtl_ring_maker maker = rtl_ring_find_maker(ring.header, file);
    bool alive = rtl_ring_maker_lives(ring.header, &maker, file);
    rtl_ring_unmap(&ring);
    if (file >= 0)
        (void)close(file);
    return !alive;
}

static bool rings_are_dead(const char *session)
{
    DIR *folder = rtl_private_list(session);
    struct dirent *entry;
    bool dead = folder != NULL;
    while (dead && (entry = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe): own stream
        uint32_t pid;
        const char *name = entry->d_name + (entry->d_name[0] == '.');
        if (sscanf(name, "ring.%" SCNu32 ".", &pid) == 1)
            dead = ring_is_dead(session, entry->d_name, pid);
    }
    if (folder)
        (void)closedir(folder);
    return dead;
}

/* What was removed half, by somebody who did not see what is there: files of a session alone, and
 * not the one that makes it one. */
static bool is_remains(const char *path)
{
    DIR *folder = rtl_private_list(path);
    struct dirent *entry;
    struct stat status;
    unsigned own = 0;
    bool other = folder == NULL || fstat(dirfd(folder), &status) != 0 ||
                 status.st_mtime + RTL_RING_DIR_YOUNG_S >= time(NULL);
    while (!other &&
           (entry = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe): own stream
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        other = !rtl_ring_dir_owns(name) || strcmp(name, "session") == 0;
        own++;
    }
    if (folder)
        (void)closedir(folder);
    return !other && own > 0;
}

/* The lock is kept until the folder is gone, so that nobody begins to use it meanwhile. */
static bool remove_if_stale(const char *path)
{
    struct rtl_ring_dir_facts facts;
    int file = rtl_ring_dir_open(path, O_RDONLY);
    if (file < 0) {
        bool remains = errno == ENOENT && is_remains(path) && rings_are_dead(path);
        if (remains)
            rtl_ring_dir_remove(path);
        return remains;
    }
    bool unused = rtl_ring_dir_facts(file, &facts) && !facts.young && maker_has_ended(&facts) &&
                  flock(file, LOCK_EX | LOCK_NB) == 0 && rings_are_dead(path);
    if (unused)
        rtl_ring_dir_remove(path);
    (void)close(file);
    return unused;
}

static unsigned remove_stale_in(const char *place)
{
    DIR *folder = opendir(place);
    struct dirent *entry;
    unsigned removed = 0;
    if (!folder)
        return 0;
    while ((entry = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe): own stream
        char path[PATH_MAX];
        if (strncmp(entry->d_name, "rtl.", 4) == 0 && strlen(entry->d_name) == 10 &&
            snprintf(path, sizeof path, "%s/%s", place, entry->d_name) < (int)sizeof path)
            removed += remove_if_stale(path);
    }
    (void)closedir(folder);
    return removed;
}

unsigned rtl_stale_sessions_remove(void)
{
    const char *temporary = secure_getenv("TMPDIR");
    unsigned removed = remove_stale_in("/dev/shm") + remove_stale_in("/tmp");
    if (temporary && strcmp(temporary, "/tmp") != 0)
        removed += remove_stale_in(temporary);
    return removed;
}
