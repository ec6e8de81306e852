#include "store/target.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_LINKS 40u /* as Linux has it */

/* The folder that `path` is in, resolved; false if there is none. */
static bool folder_of(const char *path, char *folder)
{
    char part[PATH_MAX];
    const char *slash = strrchr(path, '/');
    (void)snprintf(part, sizeof part, "%.*s", slash ? (int)(slash - path) + 1 : 1,
                   slash ? path : ".");
    return realpath(part, folder) != NULL;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* True in /proc/PID/fd and /proc/PID/task/TID/fd, whose links are no names; `*own` if it is this
 * process's. */
static bool holds_descriptors(const char *folder, bool *own)
{
    size_t length = strlen(folder);
    char self[32];
    int size = snprintf(self, sizeof self, "/proc/%ld/", (long)getpid());
    *own = strncmp(folder, self, (size_t)size) == 0;
    return strncmp(folder, "/proc/", 6) == 0 && length > 9 &&
           strcmp(folder + length - 3, "/fd") == 0;
}

static int number_of(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);
    return *name && !*end && number >= 0 && number <= INT_MAX ? (int)number : -1;
}

/* A link that another user has put where everybody may: following it would write where that user
 * wants. */
static bool is_trap(const char *path, const char *folder)
{
    struct stat link;
    struct stat place;
    if (lstat(path, &link) != 0 || stat(folder, &place) != 0)
        return false;
    return (place.st_mode & S_ISVTX) && (place.st_mode & S_IWOTH) && link.st_uid != geteuid() &&
           link.st_uid != place.st_uid;
}

/* Puts what the link at `path` says in its place. 0, or -1 with errno. */
static int follow(char *path, const char *folder, const char *text)
{
    char next[2 * PATH_MAX];
    (void)snprintf(next, sizeof next, "%s%s%s", text[0] == '/' ? "" : folder,
                   text[0] == '/' ? "" : "/", text);
    if (strlen(next) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(path, next, strlen(next) + 1);
    return 0;
}

/* One step: 1 when `path` is no link, 0 when it was one, -1 with errno. */
static int step(char *path, int *descriptor)
{
    char folder[PATH_MAX];
    char text[PATH_MAX];
    bool own = false;
    if (!folder_of(path, folder))
        return 1;
    if (holds_descriptors(folder, &own)) {
        *descriptor = own ? number_of(name_of(path)) : -1;
        return 1;
    }
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0)
        return 1;
    text[length] = '\0';
    if (is_trap(path, folder)) {
        errno = EACCES;
        return -1;
    }
    return follow(path, folder, text);
}

char *rtl_target(const char *path, int *descriptor)
{
    char now[PATH_MAX];
    *descriptor = -1;
    if (strlen(path) >= sizeof now) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    memcpy(now, path, strlen(path) + 1);
    for (unsigned links = 0; links <= MOST_LINKS; ++links) {
        int done = step(now, descriptor);
        if (done < 0)
            return NULL;
        if (done)
            return strdup(now);
    }
    errno = ELOOP;
    return NULL;
}
