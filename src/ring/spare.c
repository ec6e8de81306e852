/* Files of rings, made when they are needed or before. */
#include "common/private.h"
#include "ring/files.h"
#include "ring/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define LEAST_SLOTS 1024u
#define MOST_SLOTS  (1u << 24)

uint32_t rtl_ring_slots(size_t bytes)
{
    uint32_t slots = LEAST_SLOTS;
    while (slots < MOST_SLOTS && (uint64_t)slots * 2 * RTL_SLOT_SIZE <= bytes)
        slots *= 2;
    return slots;
}

/* Who makes a file longer than that gets a signal, which ends the program. */
static size_t longest_file(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur > SIZE_MAX ? SIZE_MAX
                                                                             : limit.rlim_cur;
}

uint32_t rtl_ring_slots_that_fit(const char *session, size_t bytes)
{
    const size_t header = sizeof(struct rtl_ring_header);
    size_t longest = longest_file();
    if (bytes > longest - (longest > header ? header : longest))
        bytes = longest > header ? longest - header : 0;
    struct statvfs space;
    if (statvfs(session, &space) == 0) {
        uint64_t left = (uint64_t)space.f_bavail * space.f_frsize / 4;
        if (left < bytes)
            bytes = (size_t)left;
    }
    return rtl_ring_slots(bytes);
}

size_t rtl_ring_file_size(uint32_t slots)
{
    return sizeof(struct rtl_ring_header) + (size_t)slots * RTL_SLOT_SIZE;
}

int rtl_ring_file_make(const char *name, uint32_t slots)
{
    size_t size = rtl_ring_file_size(slots);
    if (size > longest_file()) {
        errno = EFBIG;
        return -1;
    }
    int file = rtl_private_open(name, O_RDWR | O_CREAT);
    if (file < 0 || ftruncate(file, (off_t)size) == 0)
        return file;
    int saved = errno;
    close(file);
    (void)unlink(name);
    errno = saved;
    return -1;
}

static void name_spare(char *name, size_t size, const char *session, unsigned number)
{
    (void)snprintf(name, size, "%s/spare.%u", session, number);
}

/* Under a name that nobody takes until it is whole. */
static int make_spare(const char *session, uint32_t slots, unsigned number)
{
    char hidden[RTL_RING_PATH];
    char name[RTL_RING_PATH];
    (void)snprintf(hidden, sizeof hidden, "%s/.spare", session);
    name_spare(name, sizeof name, session, number);
    (void)unlink(hidden);
    int file = rtl_ring_file_make(hidden, slots);
    if (file < 0)
        return -1;
    off_t first = (off_t)(sizeof(struct rtl_ring_header) + RTL_RING_SMALL_PIECE);
    off_t whole = (off_t)rtl_ring_file_size(slots);
    int failed = number == 0 ? fallocate(file, 0, 0, first < whole ? first : whole) : 0;
    if (failed == 0)
        failed = rename(hidden, name);
    int saved = errno;
    close(file);
    if (failed != 0)
        (void)unlink(hidden);
    errno = saved;
    return failed;
}

int rtl_spares_make(const char *session, uint32_t slots, unsigned most)
{
    int result = 0;
    for (unsigned number = 0; number < most && number < RTL_SPARES; number++) {
        char name[RTL_RING_PATH];
        name_spare(name, sizeof name, session, number);
        if (access(name, F_OK) != 0 && make_spare(session, slots, number) != 0)
            result = -1;
    }
    return result;
}

/* Opens what was a spare; -1 if it is not of a size from `least` to `most`. */
static int open_sized(const char *name, uint32_t least, uint32_t most, uint32_t *slots)
{
    struct stat status;
    int file = rtl_private_open(name, O_RDWR);
    if (file < 0)
        return -1;
    for (*slots = most; fstat(file, &status) == 0 && *slots >= least && *slots > 0; *slots /= 2)
        if ((uint64_t)status.st_size == rtl_ring_file_size(*slots))
            return file;
    close(file);
    return -1;
}

int rtl_spare_take(const char *session, const char *name, uint32_t least, uint32_t most,
                   uint32_t *slots)
{
    for (unsigned number = 0; number < RTL_SPARES; number++) {
        char spare[RTL_RING_PATH];
        name_spare(spare, sizeof spare, session, number);
        if (rename(spare, name) != 0)
            continue;
        int file = open_sized(name, least, most, slots);
        if (file >= 0)
            return file;
        int saved = errno;
        (void)rename(name, spare);
        errno = saved;
        return -1; /* they are all alike */
    }
    errno = ENOENT;
    return -1;
}
