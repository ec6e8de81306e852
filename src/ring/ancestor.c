#include "ring/ancestor.h"

#include "common/private.h"
#include "ring/process.h"
#include "ring/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_ANCESTORS 64u
#define NAME_LENGTH    10u /* rtl.XXXXXX */
#define SESSION_TEXT   256u

struct ancestor {
    uint32_t pid;
    uint64_t start;
};

/* The nearest first. One that ends meanwhile ends the line. */
struct line {
    struct ancestor ancestors[MOST_ANCESTORS];
    unsigned count; /* those after the best one that was found do not matter any more */
};

static void find_ancestors(struct line *line)
{
    uint32_t pid = rtl_process_facts(rtl_process_own()).parent;
    line->count = 0;
    while (pid != 0 && line->count < MOST_ANCESTORS) {
        struct rtl_process_facts facts = rtl_process_facts(pid);
        line->ancestors[line->count++] = (struct ancestor){pid, facts.start};
        pid = facts.parent;
    }
}

/* Reads who made a session, who must collect it, too: a session that librtl.so has made is of the
 * process that made it alone, and collected by another one. */
static bool read_maker(const char *text, struct ancestor *maker)
{
    uint32_t version;
    uint32_t collector;
    const char *made = strstr(text, "\nmaker ");
    const char *collected = strstr(text, "\ncollector ");
    return rtl_ring_dir_read(text, &version) == 1 && made != NULL && collected != NULL &&
           sscanf(made, "\nmaker %" SCNu32 " %" SCNu64, &maker->pid, &maker->start) == 2 &&
           sscanf(collected, "\ncollector %" SCNu32, &collector) == 1 && collector == maker->pid &&
           maker->start != 0;
}

static bool read_session(const char *path, struct ancestor *maker)
{
    char text[SESSION_TEXT];
    int folder = rtl_private_folder(path);
    int file = folder >= 0 ? rtl_private_file(folder, "session", O_RDONLY) : -1;
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0)
        close(file);
    if (folder >= 0)
        close(folder);
    text[length > 0 ? length : 0] = '\0';
    return length > 0 && read_maker(text, maker);
}

static void look_at(const char *place, const char *name, struct line *line, char *path, size_t size)
{
    char candidate[RTL_RING_PATH];
    struct ancestor maker;
    if (strncmp(name, "rtl.", 4) != 0 || strlen(name) != NAME_LENGTH ||
        snprintf(candidate, sizeof candidate, "%s/%s", place, name) >= (int)sizeof candidate ||
        strlen(candidate) >= size || !read_session(candidate, &maker))
        return;
    for (unsigned i = 0; i < line->count; i++) {
        const struct ancestor *ancestor = &line->ancestors[i];
        if (ancestor->pid != maker.pid || ancestor->start == RTL_START_UNKNOWN ||
            !rtl_process_same_start(ancestor->start, maker.start))
            continue;
        memcpy(path, candidate, strlen(candidate) + 1);
        line->count = i;
        return;
    }
}

static void look_in(const char *place, struct line *line, char *path, size_t size)
{
    _Alignas(struct dirent64) char entries[2048];
    int folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ssize_t length = 0;
    while (folder >= 0 && (length = getdents64(folder, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < length;) {
            const struct dirent64 *entry = (const struct dirent64 *)(void *)(entries + at);
            look_at(place, entry->d_name, line, path, size);
            at += entry->d_reclen;
        }
    }
    if (folder >= 0)
        close(folder);
}

bool rtl_ring_dir_of_ancestor(char *path, size_t size)
{
    int saved = errno;
    const char *temporary = secure_getenv("TMPDIR");
    struct line line;
    path[0] = '\0';
    find_ancestors(&line);
    look_in("/dev/shm", &line, path, size);
    if (temporary != NULL && temporary[0] == '/' && strcmp(temporary, "/tmp") != 0)
        look_in(temporary, &line, path, size);
    look_in("/tmp", &line, path, size);
    errno = saved;
    return path[0] != '\0';
}
