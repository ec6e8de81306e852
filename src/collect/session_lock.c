#include "collect/session_lock.h"

#include "common/private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int rtl_ring_dir_open(const char *path, int flags)
{
    char name[PATH_MAX];
    if (snprintf(name, sizeof name, "%s/session", path) < (int)sizeof name)
        return rtl_private_open(name, flags);
    errno = ENAMETOOLONG;
    return -1;
}

int rtl_ring_dir_lock(const char *path)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int file = rtl_ring_dir_open(path, O_RDWR | O_APPEND);
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0) {
        (void)close(file);
        return -1;
    }
    if (file >= 0 && fcntl(file, F_OFD_SETLK, &lock) == 0)
        (void)dprintf(file, "collector %d\n", (int)getpid());
    return file;
}

bool rtl_ring_dir_facts(int file, struct rtl_ring_dir_facts *facts)
{
    char text[256];
    struct stat status;
    ssize_t length = pread(file, text, sizeof text - 1, 0);
    if (length < 0 || fstat(file, &status) != 0)
        return false;
    text[length] = '\0';
    *facts = (struct rtl_ring_dir_facts){
        .length = (size_t)length,
        .young = status.st_mtime + RTL_RING_DIR_YOUNG_S >= time(NULL),
    };
    const char *line = strstr(text, "\nmaker ");
    if (line &&
        sscanf(line, "\nmaker %" SCNu32 " %" SCNu64, &facts->maker, &facts->maker_start) != 2)
        facts->maker_start = 0;
    uint32_t collector = 0;
    const char *collected = strstr(text, "\ncollector ");
    facts->collected_before = collected != NULL;
    facts->by_maker = collected && sscanf(collected, "\ncollector %" SCNu32, &collector) == 1 &&
                      collector == facts->maker;
    return length == 0 || strncmp(text, "wire ", 5) == 0;
}

/* Where Linux cannot tell, nothing is said against it. */
bool rtl_ring_dir_is_collected(int file)
{
    struct rtl_ring_dir_facts facts;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK)
        return true;
    return rtl_ring_dir_facts(file, &facts) && !facts.collected_before && facts.young;
}
