#include "store/beside.h"

#include "common/why.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_SIZE (PATH_MAX + 16)
#define TRIES     100 /* to make a file that a reader makes as well */

const char *const rtl_beside_suffixes[] = {"-wal", "-shm", "-journal", NULL};
enum { SUFFIXES = sizeof rtl_beside_suffixes / sizeof *rtl_beside_suffixes - 1 };

static bool name(const char *path, const char *suffix, char *text)
{
    return snprintf(text, NAME_SIZE, "%s%s", path, suffix) < NAME_SIZE;
}

static bool is_own(const struct stat *status, const struct stat *trace)
{
    const mode_t others = S_IWGRP | S_IWOTH;
    bool known =
        status->st_uid == trace->st_uid || status->st_uid == geteuid() || status->st_uid == 0;
    return S_ISREG(status->st_mode) && known && (status->st_mode & others & ~trace->st_mode) == 0;
}

/* SQLite looks beside the file that links lead to. */
static bool resolve(const char *path, char *real, struct stat *trace)
{
    char whole[PATH_MAX];
    if (!realpath(path, whole) || stat(whole, trace) != 0)
        return false;
    (void)snprintf(real, PATH_MAX, "%s", whole);
    return true;
}

bool rtl_beside_is_own(const char *path, char *why, size_t size)
{
    char real[PATH_MAX];
    char file[NAME_SIZE];
    struct stat trace;
    struct stat status;
    if (!resolve(path, real, &trace))
        return true; /* there is nothing to read */
    for (int i = 0; i < SUFFIXES; i++) {
        if (!name(real, rtl_beside_suffixes[i], file) || lstat(file, &status) != 0 ||
            is_own(&status, &trace))
            continue;
        (void)snprintf(
            why, size,
            "%.400s is not the trace's own (another user's, no regular file, or one that "
            "others may write to): remove it, or copy the trace to another folder",
            file);
        return false;
    }
    return true;
}

bool rtl_beside_may_come(const char *path)
{
    char real[PATH_MAX];
    char file[NAME_SIZE];
    struct stat status;
    if (!resolve(path, real, &status))
        return false;
    for (int i = 0; i < SUFFIXES; i++)
        if (!name(real, rtl_beside_suffixes[i], file) || lstat(file, &status) == 0)
            return false;
    *strrchr(real, '/') = '\0';
    return stat(real[0] ? real : "/", &status) == 0 &&
           ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
            (status.st_uid != geteuid() && status.st_uid != 0));
}

/* Files of others are not removed, though root could. */
static int remove_own(const char *file)
{
    struct stat status;
    if (lstat(file, &status) != 0)
        return errno == ENOENT ? 0 : -1;
    if (status.st_uid == geteuid())
        return unlink(file);
    errno = EPERM;
    return -1;
}

bool rtl_beside_clear(const char *path, char *why, size_t size)
{
    char file[NAME_SIZE];
    char text[RTL_WHY_SIZE];
    for (int i = 0; i < SUFFIXES; i++) {
        if (!name(path, rtl_beside_suffixes[i], file) || remove_own(file) == 0)
            continue;
        (void)snprintf(why, size, "%.300s is in the way (%s): remove it, or choose another folder",
                       file, errno == EPERM ? "it is another user's" : rtl_why(errno, text));
        return false;
    }
    return true;
}

/* A reader of this user's may make one at any moment. */
static int make_new(const char *file)
{
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0; i++) {
        if (remove_own(file) != 0)
            return -1;
        fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

int rtl_beside_make(const char *path, const char *suffix)
{
    char file[NAME_SIZE];
    int fd = name(path, suffix, file) ? make_new(file) : -1;
    if (fd < 0)
        return -1;
    int result = fchmod(fd, S_IRUSR | S_IWUSR); /* whatever the umask */
    (void)close(fd);
    return result;
}

void rtl_beside_remove_empty(const char *path, const char *suffix)
{
    char file[NAME_SIZE];
    struct stat status;
    if (name(path, suffix, file) && lstat(file, &status) == 0 && status.st_size == 0)
        (void)remove_own(file);
}

void rtl_beside_remove(const char *path)
{
    char file[NAME_SIZE];
    for (int i = 0; i < SUFFIXES; i++)
        if (name(path, rtl_beside_suffixes[i], file))
            (void)remove_own(file);
}
