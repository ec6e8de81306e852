#include "store/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST  ((off_t)256 << 10)
#define LEAST ((off_t)16 << 10)

int rtl_reserve(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 0;
    if (snprintf(folder, sizeof folder, "%.*s.", length, path) >= (int)sizeof folder)
        return -1;
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    for (off_t size = MOST; file >= 0 && size >= LEAST; size /= 2)
        if (fallocate(file, 0, 0, size) == 0)
            return file;
    if (file >= 0)
        (void)close(file);
    return -1;
}
