#include "store/file.h"

#include "common/boot.h"
#include "common/clock.h"
#include "common/why.h"
#include "store/beside.h"
#include "store/empty_db.h"
#include "store/folder_lock.h"
#include "store/genuine.h"
#include "store/network.h"
#include "store/schema.h"
#include "store/sqlite_path.h"
#include "store/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
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

const char *rtl_file_system_reason(const char *path, int number, char *text, size_t size)
{
    const char *slash = strrchr(path, '/');
    int length = slash > path ? (int)(slash - path) : slash == path;
    if (number != ENOSPC)
        return rtl_why(number, text);
    (void)snprintf(text, size, "the disk is full, %.*s has no space for more", length ? length : 1,
                   length ? path : ".");
    return text;
}

static int fail_errno(const struct failure *failure, const char *path)
{
    char text[RTL_FILE_REASON];
    return fail(failure, path, rtl_file_system_reason(path, errno, text, sizeof text));
}

/* 0 also for a journal in memory, which has no control. */
static int last_errno(sqlite3_file *file)
{
    int number = 0;
    if (file && file->pMethods && file->pMethods->xFileControl)
        (void)file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
    return number;
}

/* The system's number for what SQLite calls by one of its own; 0: it is not known. That of a call
 * for the log's index only the connection has. SQLite gives up as "locking protocol" when it has
 * tried a hundred times to read a log of which no page can be written, and takes for "malformed"
 * what it could not read. */
static int system_errno(sqlite3 *db, int result)
{
    sqlite3_file *file = NULL;
    sqlite3_file *log = NULL;
    int kind = result & 0xff;
    if (kind == SQLITE_FULL)
        return ENOSPC;
    bool told = kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN;
    if (db == NULL || (!told && kind != SQLITE_PROTOCOL && kind != SQLITE_CORRUPT))
        return 0;
    if (kind == SQLITE_CANTOPEN)
        return sqlite3_system_errno(db);
    (void)sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    (void)sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    int number = last_errno(log);
    if (number == 0)
        number = last_errno(file);
    return number || !told ? number : sqlite3_system_errno(db);
}

bool rtl_file_is_full(sqlite3 *db, int result)
{
    return system_errno(db, result) == ENOSPC;
}

const char *rtl_file_reason(sqlite3 *db, int result, const char *path, char *text, size_t size)
{
    int number = system_errno(db, result);
    if (result == SQLITE_READONLY_DBMOVED)
        return "the file was removed or renamed while it was written";
    if (number != 0)
        return rtl_file_system_reason(path, number, text, size);
    return db != NULL ? sqlite3_errmsg(db) : sqlite3_errstr(result);
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
    return field ? rtl_clock_start_ticks(strtoull(field, NULL, 10)) : 0;
}

/* A row that gives the value of meta's key; NULL if there is none. The caller finalizes it. */
static sqlite3_stmt *meta_row(sqlite3 *db, const char *key)
{
    sqlite3_stmt *statement = NULL;
    if (rtl_genuine_is_table(db, "meta") &&
        sqlite3_prepare_v2(db, "SELECT value FROM meta WHERE key = ?", -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        return statement;
    (void)sqlite3_finalize(statement);
    return NULL;
}

static long long meta_number(sqlite3 *db, const char *key)
{
    sqlite3_stmt *row = meta_row(db, key);
    long long value = row ? sqlite3_column_int64(row, 0) : 0;
    (void)sqlite3_finalize(row);
    return value;
}

static void meta_text(sqlite3 *db, const char *key, char *text, size_t size)
{
    sqlite3_stmt *row = meta_row(db, key);
    const unsigned char *value = row ? sqlite3_column_text(row, 0) : NULL;
    (void)snprintf(text, size, "%s", value ? (const char *)value : "");
    (void)sqlite3_finalize(row);
}

/* The process that is recording into the trace at `path` now, 0 if there is none. */
static long recorder(const char *path)
{
    sqlite3 *db = NULL;
    long pid = 0;
    if (rtl_sqlite_open(path, &db, SQLITE_OPEN_READONLY) == SQLITE_OK &&
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

/* A recorder writes each second. */
#define ELSEWHERE_S 600

static bool is_young(const char *path)
{
    char log[PATH_MAX + 8];
    struct stat file;
    struct stat status;
    if (stat(path, &file) != 0)
        return false;
    (void)snprintf(log, sizeof log, "%s-wal", path);
    if (stat(log, &status) == 0 && status.st_mtime > file.st_mtime)
        file = status;
    long long age = (long long)time(NULL) - (long long)file.st_mtime;
    return age < ELSEWHERE_S && -age < ELSEWHERE_S;
}

/* The host that may be recording into the trace at `path` now: another one, which has written a
 * moment ago. False if it is none; whether a process of it lives is not seen from here. */
static bool may_record_elsewhere(const char *path, char *host, size_t size)
{
    char own_host[256] = "";
    char own_boot[64];
    char boot[64] = "";
    sqlite3 *db = NULL;
    bool open = rtl_sqlite_open(path, &db, SQLITE_OPEN_READONLY) == SQLITE_OK &&
                !meta_number(db, "finished") && meta_number(db, "writer_start");
    if (open) {
        meta_text(db, "host", host, size);
        meta_text(db, "boot", boot, sizeof boot);
    }
    (void)sqlite3_close(db);
    (void)gethostname(own_host, sizeof own_host - 1);
    return open && strcmp(host, own_host) != 0 &&
           strcmp(boot, rtl_boot(own_boot, sizeof own_boot)) != 0 && is_young(path);
}

#define HEAD_SIZE 72

/* Reads the head of an SQLite file (https://www.sqlite.org/fileformat2.html, 1.3); false if it is
 * none. */
static bool read_head(const char *path, unsigned char head[HEAD_SIZE])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t size = read(fd, head, HEAD_SIZE);
    (void)close(fd);
    return size == HEAD_SIZE && memcmp(head, "SQLite format 3", 16) == 0;
}

/* The version for reading: 2 with a log. */
bool rtl_file_has_log(const char *path)
{
    unsigned char head[HEAD_SIZE];
    return read_head(path, head) && head[19] == 2;
}

/* The files of the log of the trace `from`, beside the name that it is about to get. */
static bool make_log(const char *from, const char *to)
{
    return !rtl_file_has_log(from) ||
           (rtl_beside_make(to, "-wal") == 0 && rtl_beside_make(to, "-shm") == 0);
}

/* True if the file is a trace by the application id in its head. */
static bool is_trace(const char *path)
{
    unsigned char head[HEAD_SIZE];
    if (!read_head(path, head))
        return false;
    uint32_t id = (uint32_t)head[68] << 24 | (uint32_t)head[69] << 16 | (uint32_t)head[70] << 8 |
                  (uint32_t)head[71];
    return id == RTL_APPLICATION_ID;
}

long rtl_file_recorder(const char *path)
{
    return is_trace(path) ? recorder(path) : 0;
}

bool rtl_file_is_merge(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    bool found = is_trace(path) && rtl_sqlite_open(path, &db, SQLITE_OPEN_READONLY) == SQLITE_OK &&
                 sqlite3_prepare_v2(db, "SELECT 1 FROM meta WHERE key = 'merged'", -1, &statement,
                                    NULL) == SQLITE_OK &&
                 sqlite3_step(statement) == SQLITE_ROW;
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(db);
    return found;
}

bool rtl_file_can_replace(const char *path)
{
    char folder[PATH_MAX];
    struct stat place;
    struct stat file;
    uid_t user = geteuid();
    const char *slash = strrchr(path, '/');
    int length = slash ? (int)(slash - path) + 1 : 1;
    (void)snprintf(folder, sizeof folder, "%.*s", length, slash ? path : ".");
    if (access(folder, W_OK | X_OK) != 0 || stat(folder, &place) != 0)
        return false;
    if (lstat(path, &file) != 0)
        return errno == ENOENT;
    errno = EPERM;
    return !(place.st_mode & S_ISVTX) || user == 0 || user == place.st_uid || user == file.st_uid;
}

/* Whether what is at `path` may be replaced, `there` whether anything is; 0 also if nothing is. */
static int check_existing(const char *path, bool *there, const struct failure *failure)
{
    struct stat status;
    *there = stat(path, &status) == 0;
    if (!*there)
        return errno == ENOENT ? 0 : fail_errno(failure, path);
    if (S_ISDIR(status.st_mode))
        return fail(failure, path, "it is a folder");
    if (!S_ISREG(status.st_mode))
        return fail(failure, path, "it is not a regular file");
    if (!rtl_file_can_replace(path))
        return fail_errno(failure, path);
    if (status.st_size == 0)
        return 0;
    if (access(path, R_OK) != 0) /* whether it is a trace is not known */
        return fail_errno(failure, path);
    if (!is_trace(path))
        return fail(failure, path, "the file exists and is not a trace, so it is not replaced");
    char beside[RTL_BESIDE_WHY];
    if (!rtl_beside_is_own(path, beside, sizeof beside))
        return fail(failure, path, beside);
    long pid = recorder(path);
    if (pid) {
        char why[96];
        (void)snprintf(why, sizeof why, "process %ld is recording into it", pid);
        return fail(failure, path, why);
    }
    char host[256];
    if (may_record_elsewhere(path, host, sizeof host)) {
        char why[512];
        (void)snprintf(why, sizeof why,
                       "host %s has written to it less than ten minutes ago and has not finished "
                       "it: if it does not record any more, remove the trace",
                       host);
        return fail(failure, path, why);
    }
    return 0;
}

/* Makes the empty file a trace that holds nothing yet. */
static int write_empty_db(int fd)
{
    size_t size;
    const char *empty = rtl_empty_db(&size);
    for (size_t done = 0; done < size;) {
        ssize_t written = write(fd, empty + done, size - done);
        if (written < 0 && errno != EINTR)
            return -1;
        done += written > 0 ? (size_t)written : 0;
    }
    return 0;
}

/* Adds what the trace at `path` is to hold from the first, in SQLite's log mode where the file
 * system can have it and no other host sees it. No journal on disk and no sync: the program waits
 * for it, the file gets its name when it is whole, and who fills it syncs what is worth it at the
 * end. */
static int add_first(const char *path, const char *final, const struct rtl_file_filler *filler,
                     const struct failure *failure)
{
    sqlite3 *db = NULL;
    char type[RTL_NETWORK_TYPE];
    bool logs = rtl_network_type(path, type) == NULL;
    int result = rtl_sqlite_open(path, &db, SQLITE_OPEN_READWRITE);
    if (result == SQLITE_OK)
        result = sqlite3_exec(db, "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; BEGIN", NULL,
                              NULL, NULL);
    if (result == SQLITE_OK && filler)
        result = filler->fill(filler->context, db);
    if (result == SQLITE_OK)
        result =
            sqlite3_exec(db, logs ? "COMMIT; PRAGMA journal_mode=WAL" : "COMMIT", NULL, NULL, NULL);
    if (result != SQLITE_OK) {
        char text[RTL_FILE_REASON];
        (void)fail(failure, final, rtl_file_reason(db, result, final, text, sizeof text));
    }
    (void)sqlite3_close(db);
    return result == SQLITE_OK ? 0 : -1;
}

/* They belong to what has the name `to` from now on. */
static void rename_companions(const char *from, const char *to)
{
    char old[PATH_MAX + 32];
    char new[PATH_MAX + 32];
    for (const char *const *suffix = rtl_beside_suffixes; *suffix; suffix++) {
        (void)snprintf(old, sizeof old, "%s%s", from, *suffix);
        (void)snprintf(new, sizeof new, "%s%s", to, *suffix);
        (void)rename(old, new);
    }
}

int rtl_file_rename_new(const char *from, const char *to)
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

/* A name beside `path` that nothing has. */
static char *free_name(const char *path)
{
    char *name = NULL;
    if (asprintf(&name, "%s.old.XXXXXX", path) < 0)
        return NULL;
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0) {
        (void)close(fd);
        return name;
    }
    free(name);
    return NULL;
}

/* Gives what is at `path` another name. It keeps its own beside it until the new file takes that,
 * where the file system has hard links. */
static int keep(struct rtl_file_kept *kept, const char *path)
{
    kept->path = free_name(path);
    if (!kept->path)
        return -1;
    (void)unlink(kept->path);
    if (link(path, kept->path) == 0 || rename(path, kept->path) == 0) {
        rename_companions(path, kept->path);
        return 0;
    }
    free(kept->path);
    kept->path = NULL;
    return -1;
}

void rtl_file_forget(struct rtl_file_kept *kept)
{
    if (kept->path)
        rtl_file_remove(kept->path);
    free(kept->path);
    kept->path = NULL;
}

int rtl_file_restore(struct rtl_file_kept *kept, const char *path)
{
    rtl_beside_remove(path);
    int result = kept->path ? rename(kept->path, path) : unlink(path);
    if (result == 0 && kept->path) {
        (void)unlink(kept->path); /* of two names of one file rename(2) leaves both */
        rename_companions(kept->path, path);
    }
    free(kept->path);
    kept->path = NULL;
    return result;
}

/* Another trace may have got the name meanwhile, and writes to its log. */
static void remove_log(const char *to)
{
    rtl_beside_remove_empty(to, "-wal");
    rtl_beside_remove_empty(to, "-shm");
}

/* Whether the name is still what rtl_file_create found it to be. */
static int check_again(const char *to, bool replace, const struct failure *failure)
{
    bool there;
    int result = check_existing(to, &there, failure);
    return result == 0 && there && !replace ? fail(failure, to, "the file exists already") : result;
}

/* What a killed recorder left beside its trace would be taken for a part of the new file. The log
 * is there before the trace has its name: whoever opens it from then on, as soon as it can be seen,
 * finds the log that is written to, and makes none. */
static int place_locked(const char *from, const char *to, bool replace, struct rtl_file_kept *kept,
                        const struct failure *failure)
{
    char beside[RTL_BESIDE_WHY];
    if (check_again(to, replace, failure) != 0)
        return -1;
    if (!rtl_beside_is_own(to, beside, sizeof beside))
        return fail(failure, to, beside);
    if (kept && replace && keep(kept, to) != 0 && errno != ENOENT)
        return fail_errno(failure, to);
    bool clear = rtl_beside_clear(to, beside, sizeof beside);
    if (clear && make_log(from, to) &&
        (rtl_file_rename_new(from, to) == 0 ||
         (errno == EEXIST && replace && rename(from, to) == 0)))
        return 0;
    int error = errno;
    if (kept && kept->path)
        (void)rtl_file_restore(kept, to);
    else if (clear)
        remove_log(to);
    errno = error;
    if (!clear)
        return fail(failure, to, beside);
    return fail_errno(failure, to);
}

/* Of those who want a name one has it before the next one looks: he would take the log of the other
 * for what was left behind. */
static int place(const char *from, const char *to, bool replace, struct rtl_file_kept *kept,
                 const struct failure *failure)
{
    int lock = rtl_folder_lock(to);
    int result = place_locked(from, to, replace, kept, failure);
    rtl_folder_unlock(lock);
    return result;
}

static int make(const char *name, const char *path, bool replace, struct rtl_file_kept *kept,
                const struct rtl_file_filler *filler, const struct failure *failure)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0)
        return fail_errno(failure, path);
    bool made = fchmod(fd, S_IRUSR | S_IWUSR) == 0 && write_empty_db(fd) == 0;
    int result = made ? 0 : fail_errno(failure, path);
    (void)close(fd);
    if (result == 0)
        result = add_first(name, path, filler, failure);
    if (result == 0)
        result = place(name, path, replace, kept, failure);
    if (result != 0)
        rtl_file_remove(name);
    return result;
}

/* In a folder of its own, where nobody else can put anything beside it. */
static int create(const char *path, bool replace, struct rtl_file_kept *kept,
                  const struct rtl_file_filler *filler, const struct failure *failure)
{
    char folder[PATH_MAX + 16];
    char name[PATH_MAX + 32];
    if ((size_t)snprintf(folder, sizeof folder, "%s.XXXXXX", path) >= sizeof folder - 8)
        return fail(failure, path, "the path is too long");
    if (!mkdtemp(folder))
        return fail_errno(failure, path);
    (void)snprintf(name, sizeof name, "%s/trace", folder);
    int result = chmod(folder, S_IRWXU) == 0 ? make(name, path, replace, kept, filler, failure)
                                             : fail_errno(failure, path);
    (void)rmdir(folder);
    return result;
}

void rtl_file_remove(const char *path)
{
    rtl_beside_remove(path);
    (void)unlink(path);
}

int rtl_file_check(const char *path, bool *there, char *error, size_t error_size)
{
    const struct failure failure = {.text = error, .size = error_size};
    int descriptor;
    char *target = rtl_target(path, &descriptor);
    if (!target)
        return fail_errno(&failure, path);
    int result = check_existing(target, there, &failure);
    free(target);
    return result;
}

char *rtl_file_create(const char *path, bool replace, struct rtl_file_kept *kept,
                      const struct rtl_file_filler *filler, char *error, size_t error_size)
{
    const struct failure failure = {.text = error, .size = error_size};
    int descriptor;
    char *target = rtl_target(path, &descriptor);
    if (!target) {
        (void)fail_errno(&failure, path);
        return NULL;
    }
    bool there;
    int result = check_existing(target, &there, &failure);
    if (result == 0 && there && !replace)
        result = fail(&failure, target, "the file exists already");
    if (result == 0 && create(target, replace, kept, filler, &failure) == 0)
        return target;
    free(target);
    return NULL;
}
