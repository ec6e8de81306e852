#include "common/private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CAREFULLY (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

static void close_quietly(int file)
{
    int saved = errno;
    (void)close(file);
    errno = saved;
}

static int refuse(int file)
{
    (void)close(file);
    errno = EPERM;
    return -1;
}

int rtl_private_folder_of(const char *path, uid_t *owner)
{
    struct stat status;
    int folder = open(path, O_RDONLY | O_DIRECTORY | CAREFULLY);
    if (folder < 0)
        return -1;
    if (fstat(folder, &status) != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return refuse(folder);
    *owner = status.st_uid;
    return folder;
}

int rtl_private_folder(const char *path)
{
    uid_t owner;
    int folder = rtl_private_folder_of(path, &owner);
    return folder >= 0 && owner != geteuid() ? refuse(folder) : folder;
}

DIR *rtl_private_list(const char *path)
{
    int folder = rtl_private_folder(path);
    DIR *list = folder >= 0 ? fdopendir(folder) : NULL;
    if (list == NULL && folder >= 0)
        close_quietly(folder);
    return list;
}

/* What is no regular file may do something when it is opened for writing: it is looked at first. */
static bool is_regular(int folder, const char *name)
{
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    errno = S_ISLNK(status.st_mode) ? ELOOP : EPERM;
    return S_ISREG(status.st_mode);
}

int rtl_private_file_of(int folder, const char *name, int flags, uid_t owner)
{
    struct stat status;
    if (!is_regular(folder, name))
        return -1;
    int file = openat(folder, name, flags | CAREFULLY);
    if (file < 0)
        return -1;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != owner ||
        (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return refuse(file);
    return file;
}

int rtl_private_file(int folder, const char *name, int flags)
{
    if (flags & O_CREAT)
        return openat(folder, name, flags | O_EXCL | CAREFULLY, S_IRUSR | S_IWUSR);
    return rtl_private_file_of(folder, name, flags, geteuid());
}

/* The folder of a path, and where its name begins. -1 with errno. */
static int folder_of(const char *path, const char **name)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    *name = slash != NULL ? slash + 1 : path;
    if (slash == NULL)
        return rtl_private_folder(".");
    if (snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + (slash == path), path) >=
        (int)sizeof folder) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return rtl_private_folder(folder);
}

int rtl_private_open(const char *path, int flags)
{
    const char *name;
    int folder = folder_of(path, &name);
    if (folder < 0)
        return -1;
    int file = rtl_private_file(folder, name, flags);
    close_quietly(folder);
    return file;
}

int rtl_private_unlink(const char *path)
{
    const char *name;
    int folder = folder_of(path, &name);
    if (folder < 0)
        return -1;
    int result = unlinkat(folder, name, 0);
    close_quietly(folder);
    return result;
}

static bool is_in_good_hands(const char *path, uid_t owner)
{
    struct stat status;
    return stat(path, &status) == 0 &&
           (status.st_uid == 0 || status.st_uid == geteuid() || status.st_uid == owner);
}

bool rtl_private_may_use(const char *path, uid_t owner)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash - path >= PATH_MAX)
        return false;
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + (slash == path), path);
    return is_in_good_hands(folder, owner) && is_in_good_hands(path, owner);
}

const char *rtl_private_why(int error)
{
    switch (error) {
    case EPERM:
        return "it is not yours alone: another user's, no regular file, or one that others may "
               "write to";
    case ELOOP:
    case ENOTDIR:
        return "there is a symbolic link, or something else that is no folder";
    default:
        return strerrordesc_np(error);
    }
}
