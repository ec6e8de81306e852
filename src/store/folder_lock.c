#include "store/folder_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 5000000L
#define NAPS   200 /* anybody who can read the folder can hold the lock, for ever if he likes */

static int open_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 1;
    (void)snprintf(folder, sizeof folder, "%.*s", length, slash ? path : ".");
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int rtl_folder_lock(const char *path)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    int lock = open_folder(path);
    for (int i = 0; lock >= 0; i++) {
        if (flock(lock, LOCK_EX | LOCK_NB) == 0)
            return lock;
        if ((errno != EWOULDBLOCK && errno != EINTR) || i == NAPS)
            break;
        (void)nanosleep(&nap, NULL);
    }
    if (lock >= 0)
        (void)close(lock);
    return -1;
}

void rtl_folder_unlock(int lock)
{
    int error = errno;
    if (lock >= 0)
        (void)close(lock);
    errno = error;
}
