#include "store/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MOST  ((off_t)256 << 10)
#define LEAST ((off_t)32 << 10)
#define SHORT ((uint64_t)1 << 20)

/* Bytes that are free; as many as can be where that is not known. */
static uint64_t space(const char *path)
{
    struct statvfs space;
    return statvfs(path, &space) == 0 && space.f_blocks > 0
               ? (uint64_t)space.f_bavail * space.f_frsize
               : UINT64_MAX;
}

/* A quarter of what there is. */
static off_t most(const char *path)
{
    uint64_t free = space(path);
    off_t size = MOST;
    while (size > LEAST && (uint64_t)size > free / 4)
        size /= 2;
    return size;
}

int rtl_reserve(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 0;
    if (snprintf(folder, sizeof folder, "%.*s.", length, path) >= (int)sizeof folder)
        return -1;
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    for (off_t size = most(path); file >= 0 && size >= LEAST; size /= 2)
        if (fallocate(file, 0, 0, size) == 0)
            return file;
    if (file >= 0)
        (void)close(file);
    return -1;
}

bool rtl_reserve_is_short(const char *path)
{
    return space(path) < SHORT;
}
