#include "store/file.h"

#include "store/blank.h"
#include "store/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct failure {
    char *text;
    size_t size;
};

static int fail(const struct failure *failure, const char *path, const char *why)
{
    (void)snprintf(failure->text, failure->size, "cannot write the trace %s: %s", path, why);
    return -1;
}

static int fail_errno(const struct failure *failure, const char *path)
{
    char text[128];
    return fail(failure, path, strerror_r(errno, text, sizeof text));
}

/* 0 also for a journal in memory, which has no control. */
static int last_errno(sqlite3_file *file)
{
    int number = 0;
    if (file && file->pMethods && file->pMethods->xFileControl)
        (void)file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
    return number;
}

const char *rtl_file_reason(sqlite3 *db, int result, char *text, size_t size)
{
    sqlite3_file *file = NULL;
    sqlite3_file *log = NULL;
    if (result == SQLITE_READONLY_DBMOVED)
        return "the file was removed or renamed while it was written";
    if (!db)
        return sqlite3_errstr(result);
    if ((result & 0xff) == SQLITE_CANTOPEN && sqlite3_system_errno(db) != 0)
        return strerror_r(sqlite3_system_errno(db), text, size);
    if ((result & 0xff) != SQLITE_IOERR)
        return sqlite3_errmsg(db);
    (void)sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    (void)sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    int number = last_errno(log);
    if (number == 0)
        number = last_errno(file);
    return number ? strerror_r(number, text, size) : sqlite3_errmsg(db);
}

unsigned long long rtl_file_process_start(long pid)
{
    char path[64];
    char stat[1024];
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : RTL_FILE_START_UNKNOWN;
    errno = ESRCH;
    ssize_t size = read(fd, stat, sizeof stat - 1);
    bool gone = size <= 0 && errno == ESRCH;
    (void)close(fd);
    if (size <= 0)
        return gone ? 0 : RTL_FILE_START_UNKNOWN;
    stat[size] = '\0';
    /* The second field is the program's name in parentheses and may hold anything; the third
     * follows the last parenthesis. */
    const char *field = strrchr(stat, ')');
    for (int i = 2; field && i < 22; i++)
        field = strchr(field + 1, ' ');
    return field ? strtoull(field, NULL, 10) : 0;
}

const char *rtl_file_boot(char *text, size_t size)
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, size - 1) : 0;
    if (fd >= 0)
        (void)close(fd);
    text[length > 0 ? length : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static long long meta_number(sqlite3 *db, const char *key)
{
    sqlite3_stmt *statement = NULL;
    long long value = 0;
    if (sqlite3_prepare_v2(db, "SELECT value FROM meta WHERE key = ?", -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return value;
}

/* The process that is recording into the trace at `path` now, 0 if there is none. */
static long recorder(const char *path)
{
    sqlite3 *db = NULL;
    long pid = 0;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        !meta_number(db, "finished")) {
        long long start = meta_number(db, "writer_start");
        pid = (long)meta_number(db, "writer_pid");
        unsigned long long now = rtl_file_process_start(pid);
        if (start == 0 || (now != (unsigned long long)start && now != RTL_FILE_START_UNKNOWN))
            pid = 0;
    }
    (void)sqlite3_close(db);
    return pid;
}

/* True if the file is a trace by its head: SQLite's magic string, and at 68 the application id
 * (https://www.sqlite.org/fileformat2.html, 1.3). */
static bool is_trace(const char *path)
{
    unsigned char head[72];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t size = read(fd, head, sizeof head);
    (void)close(fd);
    if (size != (ssize_t)sizeof head || memcmp(head, "SQLite format 3", 16) != 0)
        return false;
    uint32_t id = (uint32_t)head[68] << 24 | (uint32_t)head[69] << 16 | (uint32_t)head[70] << 8 |
                  (uint32_t)head[71];
    return id == RTL_APPLICATION_ID;
}

/* Whether what is at `path` may be replaced; 0 also if nothing is there. */
static int check_existing(const char *path, bool replace, const struct failure *failure)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return errno == ENOENT ? 0 : fail_errno(failure, path);
    if (S_ISDIR(status.st_mode))
        return fail(failure, path, "it is a folder");
    if (!S_ISREG(status.st_mode))
        return fail(failure, path, "it is not a regular file");
    if (!replace)
        return fail(failure, path, "the file exists already");
    if (status.st_size == 0)
        return 0;
    if (!is_trace(path))
        return fail(failure, path, "the file exists and is not a trace, so it is not replaced");
    long pid = recorder(path);
    if (pid) {
        char why[96];
        (void)snprintf(why, sizeof why, "process %ld is recording into it", pid);
        return fail(failure, path, why);
    }
    return 0;
}

/* Makes the empty file a trace that holds nothing yet. */
static int write_blank(int fd)
{
    size_t size;
    const char *blank = rtl_blank(&size);
    for (size_t done = 0; done < size;) {
        ssize_t written = write(fd, blank + done, size - done);
        if (written < 0 && errno != EINTR)
            return -1;
        done += written > 0 ? (size_t)written : 0;
    }
    return 0;
}

/* Adds what the trace at `path` is to hold from the first, in SQLite's log mode where the file
 * system can have it. No journal on disk and no sync: the program waits for it, the file gets its
 * name when it is whole, and who fills it syncs what is worth it at the end. */
static int add_first(const char *path, const char *final, const struct rtl_file_filler *filler,
                     const struct failure *failure)
{
    sqlite3 *db = NULL;
    int result = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_exec(db, "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; BEGIN", NULL,
                              NULL, NULL);
    if (result == SQLITE_OK && filler)
        result = filler->fill(filler->context, db);
    if (result == SQLITE_OK)
        result = sqlite3_exec(db, "COMMIT; PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    if (result != SQLITE_OK) {
        char text[128];
        (void)fail(failure, final, rtl_file_reason(db, result, text, sizeof text));
    }
    (void)sqlite3_close(db);
    return result == SQLITE_OK ? 0 : -1;
}

/* Removes what SQLite may have left beside a trace whose recorder was killed: it would be taken for
 * a part of the new file. */
static void remove_companions(const char *path)
{
    static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
    char name[PATH_MAX + 16];
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        (void)snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        (void)unlink(name);
    }
}

/* Gives the new file its name, and fails with EEXIST rather than replace another. */
static int rename_new(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    /* A file system that cannot rename so: a second name cannot replace either. */
    if (link(from, to) != 0)
        return -1;
    (void)unlink(from);
    return 0;
}

static int place(const char *from, const char *to, bool replace, const struct failure *failure)
{
    if (rename_new(from, to) == 0) {
        remove_companions(to);
        return 0;
    }
    if (errno == EEXIST && replace) {
        remove_companions(to);
        if (rename(from, to) == 0)
            return 0;
    }
    return fail_errno(failure, to);
}

static int create(const char *path, bool replace, const struct rtl_file_filler *filler,
                  const struct failure *failure)
{
    char name[PATH_MAX + 16];
    if ((size_t)snprintf(name, sizeof name, "%s.XXXXXX", path) >= sizeof name - 8)
        return fail(failure, path, "the path is too long");
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0)
        return fail_errno(failure, path);
    bool made = fchmod(fd, S_IRUSR | S_IWUSR) == 0 && write_blank(fd) == 0;
    int result = made ? 0 : fail_errno(failure, path);
    (void)close(fd);
    if (result == 0)
        result = add_first(name, path, filler, failure);
    if (result == 0)
        result = place(name, path, replace, failure);
    if (result != 0)
        rtl_file_remove(name);
    return result;
}

void rtl_file_remove(const char *path)
{
    remove_companions(path);
    (void)unlink(path);
}

char *rtl_file_create(const char *path, bool replace, const struct rtl_file_filler *filler,
                      char *error, size_t error_size)
{
    const struct failure failure = {.text = error, .size = error_size};
    char *target = realpath(path, NULL);
    if (!target)
        target = strdup(path);
    if (!target) {
        (void)fail(&failure, path, "memory is short");
        return NULL;
    }
    if (check_existing(target, replace, &failure) == 0 &&
        create(target, replace, filler, &failure) == 0)
        return target;
    free(target);
    return NULL;
}
