#include "store/extent.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* https://www.sqlite.org/fileformat2.html, 1.3 and 4.1. */
#define HEAD_SIZE       100
#define LOG_HEAD_SIZE   32
#define FRAME_HEAD_SIZE 24

struct size {
    uint64_t page, pages; /* bytes of a page; how many the file has, by its own account */
};

static uint32_t read_u32(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static int open_file(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* 0 also where there is none. */
static uint64_t file_size(int fd)
{
    struct stat status;
    return fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size
                                                                         : 0;
}

/* The log. */

struct log {
    int fd;
    uint64_t frames;
    unsigned char salt[8]; /* of the frames that are of this round */
};

static void open_log(struct log *log, const char *path, uint64_t page)
{
    unsigned char head[LOG_HEAD_SIZE];
    char real[PATH_MAX];
    char name[PATH_MAX + 8];
    log->frames = 0;
    log->fd = -1;
    if (realpath(path, real)) { /* SQLite has it beside the file that links lead to */
        (void)snprintf(name, sizeof name, "%s-wal", real);
        log->fd = open_file(name);
    }
    uint64_t size = file_size(log->fd);
    if (size < sizeof head || pread(log->fd, head, sizeof head, 0) != (ssize_t)sizeof head)
        return;
    log->frames = (size - sizeof head) / (FRAME_HEAD_SIZE + page);
    memcpy(log->salt, head + 16, sizeof log->salt);
}

/* The number of the page that frame `i` has, 0 if that is of another round. */
static uint64_t page_of(const struct log *log, uint64_t page, uint64_t i)
{
    unsigned char head[FRAME_HEAD_SIZE];
    off_t place = (off_t)(LOG_HEAD_SIZE + i * (FRAME_HEAD_SIZE + page));
    if (pread(log->fd, head, sizeof head, place) != (ssize_t)sizeof head ||
        memcmp(head + 8, log->salt, sizeof log->salt) != 0)
        return 0;
    return read_u32(head);
}

/* How many of the `count` pages behind the first `whole` ones are not in the log. */
static uint64_t missing_pages(const struct log *log, uint64_t page, uint64_t whole, uint64_t count)
{
    if (count == 0)
        return 0;
    if (count > log->frames) /* of a page there may be many frames, never less than one */
        return count - log->frames;
    uint64_t missing = count;
    bool *found = calloc(count, sizeof *found);
    for (uint64_t i = 0; found && i < log->frames; i++) {
        uint64_t number = page_of(log, page, i);
        if (number == 0)
            break;
        if (number <= whole || number > whole + count || found[number - whole - 1])
            continue;
        found[number - whole - 1] = true;
        missing--;
    }
    free(found);
    return found ? missing : 0;
}

/* The file. */

static void compare(const struct size *size, uint64_t bytes, uint64_t missing_pages,
                    struct rtl_extent *extent)
{
    uint64_t wanted = size->page * size->pages;
    extent->behind = bytes > wanted ? bytes - wanted : 0;
    if (bytes < wanted && missing_pages > 0) {
        uint64_t most = wanted - bytes;
        uint64_t pages = missing_pages * size->page;
        extent->missing = pages < most ? pages : most;
    }
}

static uint64_t number_of(sqlite3 *db, const char *pragma, int *result)
{
    sqlite3_stmt *statement = NULL;
    uint64_t number = 0;
    if (*result == SQLITE_OK)
        *result = sqlite3_prepare_v2(db, pragma, -1, &statement, NULL);
    if (*result == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        number = (uint64_t)sqlite3_column_int64(statement, 0);
    int end = sqlite3_finalize(statement);
    *result = *result == SQLITE_OK ? end : *result;
    return number;
}

/* In the transaction no page that is counted is lost, though pages may go from the log into the
 * file: so the log is looked at first, and then the file. */
static void look(const char *path, const struct size *size, struct rtl_extent *extent)
{
    struct log log;
    uint64_t missing = 0;
    int fd = open_file(path);
    uint64_t bytes = file_size(fd);
    if (bytes < size->page * size->pages) {
        uint64_t whole = bytes / size->page;
        open_log(&log, path, size->page);
        missing = missing_pages(&log, size->page, whole, size->pages - whole);
        if (log.fd >= 0)
            (void)close(log.fd);
        bytes = file_size(fd);
    }
    if (fd >= 0)
        (void)close(fd);
    compare(size, bytes, missing, extent);
}

int rtl_extent_read(sqlite3 *db, const char *path, struct rtl_extent *extent)
{
    struct size size;
    *extent = (struct rtl_extent){0};
    int result = SQLITE_OK;
    size.pages = number_of(db, "PRAGMA main.page_count", &result);
    size.page = number_of(db, "PRAGMA main.page_size", &result);
    if (result == SQLITE_OK && size.page > 0)
        look(path, &size, extent);
    return result;
}

void rtl_extent_guess(const char *path, struct rtl_extent *extent)
{
    unsigned char head[HEAD_SIZE];
    int fd = open_file(path);
    uint64_t bytes = file_size(fd);
    *extent = (struct rtl_extent){0};
    if (bytes >= sizeof head && pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
        memcmp(head, "SQLite format 3", 16) == 0 && memcmp(head + 24, head + 92, 4) == 0) {
        uint64_t page = (uint64_t)head[16] << 8 | head[17];
        const struct size size = {page == 1 ? 65536 : page, read_u32(head + 28)};
        compare(&size, bytes, size.pages, extent);
    }
    if (fd >= 0)
        (void)close(fd);
}
