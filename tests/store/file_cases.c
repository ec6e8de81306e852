/* The file itself: its making, its neighbours, full disks, killed writers, readers beside it. */
#include "fixture.h"

#include "store/digest.h"
#include "store/reader.h"
#include "store/schema.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *with_suffix(const char *path, const char *suffix)
{
    static _Thread_local char name[FIXTURE_PATH + 16];
    (void)snprintf(name, sizeof name, "%s%s", path, suffix);
    return name;
}

static bool there(const char *path, const char *suffix)
{
    return access(with_suffix(path, suffix), F_OK) == 0;
}

static mode_t mode_of(const char *path, const char *suffix)
{
    struct stat status;
    return stat(with_suffix(path, suffix), &status) == 0 ? status.st_mode & 0777 : 0;
}

/* Opening fails, with a sentence that has the path and `why` in it. */
static const char *refused(const char *path, bool replace, const char *why)
{
    char error[512] = "";
    const struct rtl_writer_options options = {.replace = replace};
    struct rtl_writer *writer = rtl_writer_open(path, &options, error, sizeof error);
    CHECK(writer == NULL);
    if (!strstr(error, path) || !strstr(error, why))
        return check_failed(path, 0, error);
    return NULL;
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    return file && fputs(text, file) >= 0 && fclose(file) == 0;
}

/* Runs a test in a process of its own, which may lower its limits or its rights. */
static const char *in_child(const char *(*test)(const char *path), const char *path)
{
    int ends[2];
    static _Thread_local char text[512];
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        const char *failed = test(path);
        if (failed)
            (void)!write(ends[1], failed, strlen(failed));
        _exit(failed != NULL);
    }
    (void)close(ends[1]);
    ssize_t size = read(ends[0], text, sizeof text - 1);
    (void)close(ends[0]);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    if (size > 0) {
        text[size] = '\0';
        return text;
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return NULL;
}

static const char *private_child(const char *path)
{
    static const mode_t umasks[] = {0, 0777, 022};
    char error[512];
    for (size_t i = 0; i < sizeof umasks / sizeof *umasks; i++) {
        (void)umask(umasks[i]);
        struct rtl_writer *writer = fixture_open(path);
        CHECK(writer != NULL);
        CHECK(mode_of(path, "") == 0600);
        fixture_kernels(writer, fixture_define(writer, 1, 2), 0, 0, 10);
        CHECK(rtl_writer_checkpoint(writer) == 0);
        CHECK(mode_of(path, "-wal") == 0600 && mode_of(path, "-shm") == 0600);
        CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
        CHECK(mode_of(path, "") == 0600);
        CHECK(unlink(path) == 0);
    }
    return NULL;
}

const char *File_IsPrivateWhateverTheUmask(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    CHECK_DONE(in_child(private_child, path));
    fixture_remove(path);
    return NULL;
}

const char *File_IsOneFileWhenClosed(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 1000));
    CHECK(!there(path, "-wal") && !there(path, "-shm") && !there(path, "-journal"));
    CHECK(fixture_count(path) == 2000);
    fixture_remove(path);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    CHECK(access(path, F_OK) != 0); /* nothing else was in the folder */
    return NULL;
}

const char *File_ExistingIsRefused(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    CHECK_DONE(refused(path, false, "exists"));
    CHECK(fixture_count(path) == 20);
    fixture_remove(path);
    return NULL;
}

const char *File_ExistingTraceIsReplaced(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    const struct rtl_writer_options options = {.replace = true};
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    /* The log of a recording that was killed must not become the new trace's. */
    CHECK(write_text(with_suffix(path, "-wal"), "leftover"));
    struct rtl_writer *writer = rtl_writer_open(path, &options, error, sizeof error);
    CHECK(writer != NULL);
    fixture_kernels(writer, fixture_define(writer, 1, 2), 0, 0, 7);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK(fixture_count(path) == 7);
    /* So is an empty file, as mktemp makes it. */
    CHECK(unlink(path) == 0 && write_text(path, ""));
    writer = rtl_writer_open(path, &options, error, sizeof error);
    CHECK(writer != NULL && rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK(fixture_count(path) == 0);
    fixture_remove(path);
    return NULL;
}

/* Entries of the folder that the file at `path` is in, without . and .. */
static int entries_beside(const char *path)
{
    char folder[FIXTURE_PATH];
    int count = -2;
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    DIR *open = opendir(folder);
    while (open && readdir(open)) // NOLINT(concurrency-mt-unsafe): own stream
        ++count;
    if (open)
        (void)closedir(open);
    return count;
}

const char *File_ReplacedTraceComesBack(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    char text[32] = "";
    const struct rtl_writer_options options = {.replace = true, .keep = true};
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    CHECK(write_text(with_suffix(path, "-journal"), "leftover"));
    struct rtl_writer *writer = rtl_writer_open(path, &options, error, sizeof error);
    CHECK(writer != NULL && !there(path, "-journal"));
    fixture_kernels(writer, fixture_define(writer, 1, 2), 0, 0, 7);
    CHECK(rtl_writer_checkpoint(writer) == 0);
    CHECK(rtl_writer_discard(writer, error, sizeof error) == 0);
    FILE *file = fopen(with_suffix(path, "-journal"), "r");
    CHECK(file && fgets(text, sizeof text, file) && fclose(file) == 0);
    CHECK(strcmp(text, "leftover") == 0 && unlink(with_suffix(path, "-journal")) == 0);
    CHECK(fixture_count(path) == 20 && entries_beside(path) == 1);
    writer = rtl_writer_open(path, &options, error, sizeof error);
    CHECK(writer != NULL);
    rtl_writer_begun(writer);
    fixture_kernels(writer, fixture_define(writer, 1, 2), 0, 0, 7);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK(fixture_count(path) == 7 && entries_beside(path) == 1);
    CHECK(unlink(path) == 0);
    writer = rtl_writer_open(path, &options, error, sizeof error);
    CHECK(writer != NULL && rtl_writer_discard(writer, error, sizeof error) == 0);
    CHECK(entries_beside(path) == 0);
    fixture_remove(path);
    return NULL;
}

const char *File_OtherFilesAreNotReplaced(void)
{
    char path[FIXTURE_PATH];
    char text[32] = "";
    CHECK(fixture_path(path));
    CHECK(write_text(path, "a letter, not a trace"));
    CHECK_DONE(refused(path, true, "not a trace"));
    FILE *file = fopen(path, "r");
    CHECK(file && fgets(text, sizeof text, file) && fclose(file) == 0);
    CHECK(strcmp(text, "a letter, not a trace") == 0);
    fixture_remove(path);
    return NULL;
}

const char *File_TraceBeingRecordedIsNotReplaced(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    char pid[32];
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    CHECK(writer != NULL);
    (void)snprintf(pid, sizeof pid, "process %d is recording", (int)getpid());
    CHECK_DONE(refused(path, true, pid));
    fixture_kernels(writer, fixture_define(writer, 1, 2), 0, 0, 7);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK(fixture_count(path) == 7);
    fixture_remove(path);
    return NULL;
}

/* Root may write anywhere; nobody else may. */
static bool lose_rights(void)
{
    return getuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
}

static const char *closed_folder_child(const char *path)
{
    CHECK(lose_rights());
    return refused(path, false, "Permission denied");
}

const char *File_PlacesThatCannotBeWritten(void)
{
    char path[FIXTURE_PATH];
    char inner[FIXTURE_PATH + 16];
    CHECK(fixture_path(path));
    (void)snprintf(inner, sizeof inner, "%s/trace.db", path);
    CHECK_DONE(refused(inner, false, "No such file or directory"));
    CHECK(mkdir(path, 0555) == 0);
    CHECK_DONE(refused(path, true, "folder"));
    CHECK(chmod(path, 0555) == 0);
    *strrchr(path, '/') = '\0';
    CHECK(chmod(path, 0755) == 0);
    CHECK_DONE(in_child(closed_folder_child, inner));
    CHECK_DONE(refused("/dev/null", true, "not a regular file"));
    (void)snprintf(inner, sizeof inner, "%s/trace.db", path);
    CHECK(rmdir(inner) == 0 && rmdir(path) == 0);
    return NULL;
}

/* A limit on the size of files stands for a disk that is full: writes beyond it fail with EFBIG
 * once the signal is ignored. */
static bool limit_files(rlim_t size)
{
    struct rlimit limit;
    (void)signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        return false;
    limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
    return setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

static const char *full_start_child(const char *path)
{
    CHECK(limit_files(8192));
    return refused(path, false, "File too large");
}

const char *File_FullDiskAtTheStart(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    CHECK_DONE(in_child(full_start_child, path));
    CHECK(!there(path, ""));
    *strrchr(path, '/') = '\0';
    CHECK(rmdir(path) == 0); /* nothing was left behind */
    return NULL;
}

/* Kernels that hardly compress, so that limits are reached soon. */
static void noisy_kernels(struct rtl_writer *writer, uint32_t process, uint64_t from, uint64_t to)
{
    uint64_t seed = from;
    for (uint64_t i = from; i < to; i++) {
        struct rtl_wire_kernel kernel = fixture_kernel(0, i);
        kernel.correlation = fixture_random(&seed);
        rtl_writer_kernel(writer, process, &kernel);
    }
}

static const char *full_then_room_child(const char *path)
{
    char error[512];
    struct rtl_writer *writer = fixture_open(path);
    CHECK(writer != NULL);
    uint32_t process = fixture_define(writer, 1, 2);
    noisy_kernels(writer, process, 0, 100);
    CHECK(rtl_writer_checkpoint(writer) == 0);
    CHECK(rtl_writer_error(writer)[0] == '\0');
    CHECK(limit_files(200000));
    noisy_kernels(writer, process, 100, 20000);
    CHECK(rtl_writer_checkpoint(writer) == -1);
    CHECK(strstr(rtl_writer_error(writer), path) != NULL);
    CHECK(strstr(rtl_writer_error(writer), "File too large") != NULL);
    CHECK(fixture_count(path) == 100);
    CHECK(limit_files(RLIM_INFINITY));
    CHECK(rtl_writer_checkpoint(writer) == 0);
    CHECK(fixture_count(path) == 20000);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK(fixture_count(path) == 20000);
    return NULL;
}

const char *File_FullDiskLaterAndThenRoom(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    CHECK_DONE(in_child(full_then_room_child, path));
    fixture_remove(path);
    return NULL;
}

/* 200 000 kernels, of which a part finds room. */
static bool fill_disk(struct rtl_writer *writer, uint32_t process)
{
    bool limited = limit_files(400000);
    for (uint64_t i = 0; limited && i < 40; i++) {
        noisy_kernels(writer, process, i * 5000, (i + 1) * 5000);
        (void)rtl_writer_checkpoint(writer);
    }
    return limited;
}

static const char *full_to_the_end_child(const char *path)
{
    char error[512] = "";
    struct rtl_writer *writer = fixture_open(path);
    CHECK(writer != NULL);
    uint32_t process = fixture_define(writer, 1, 2);
    CHECK(fill_disk(writer, process));
    CHECK(rtl_writer_kernels(writer) == 200000);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == -1);
    CHECK(strstr(error, path) != NULL && strstr(error, "File too large") != NULL);
    return NULL;
}

const char *File_FullDiskToTheEnd(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    rtl_trace_info_t info;
    CHECK(fixture_path(path));
    CHECK_DONE(in_child(full_to_the_end_child, path));
    int64_t count = fixture_count(path);
    CHECK(count >= 5000 && count < 200000);
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceInfo(trace, &info) == RTL_OK && info.finished == 0);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

/* Of a process that begins when the disk is full an account is all that finds room. */
static const char *begins_too_late_child(const char *path)
{
    char error[512] = "";
    const struct rtl_writer_account account = {.packets = 500, .seen = 500, .recorded = 500};
    struct rtl_writer *writer = fixture_open(path);
    CHECK(writer != NULL);
    uint32_t process = fixture_define(writer, 1, 2);
    CHECK(fill_disk(writer, process));
    uint32_t late = fixture_define(writer, 1, 2);
    fixture_kernels(writer, late, 0, 0, 500);
    rtl_writer_ledger(writer, late, 0, &account);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == -1);
    return NULL;
}

static void tell_damage(void *context, const char *what)
{
    (void)snprintf(context, 256, "%s", what);
}

const char *File_FullDiskBeforeAProcess(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    char damage[256] = "";
    bool known;
    rtl_trace_t *trace = NULL;
    const rtl_process_t *processes;
    const rtl_ledger_t *ledger;
    size_t count;
    CHECK(fixture_path(path));
    CHECK_DONE(in_child(begins_too_late_child, path));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceLedger(trace, &ledger, &count) == RTL_OK);
    CHECK(count > 0 && ledger[count - 1].process == 2 && ledger[count - 1].seen == 500);
    CHECK(rtlTraceProcesses(trace, &processes, &count) == RTL_OK && count == 2);
    CHECK(rtl_digest_check(trace, &known, tell_damage, damage) == RTL_OK);
    if (damage[0])
        return check_failed(path, 0, damage);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

/* Writes until it is killed; tells by the pipe what is stored. */
static void record_until_killed(const char *path, int tell)
{
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        _exit(1);
    uint32_t process = fixture_define(writer, 1, 2);
    for (uint64_t i = 0;; i += 700) {
        fixture_kernels(writer, process, 0, i, i + 700);
        uint64_t stored = i + 700;
        if (rtl_writer_checkpoint(writer) != 0 ||
            write(tell, &stored, sizeof stored) != (ssize_t)sizeof stored)
            _exit(1);
    }
}

/* Kills a writer after some checkpoints; *stored is the last that it told. */
static const char *kill_writer(const char *path, int checkpoints, unsigned delay_us,
                               uint64_t *stored)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        record_until_killed(path, ends[1]);
    (void)close(ends[1]);
    for (int i = 0; i < checkpoints; i++)
        CHECK(read(ends[0], stored, sizeof *stored) == (ssize_t)sizeof *stored);
    (void)usleep(delay_us);
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    while (read(ends[0], stored, sizeof *stored) == (ssize_t)sizeof *stored)
        continue;
    (void)close(ends[0]);
    return NULL;
}

static const char *check_killed(const char *path, uint64_t stored)
{
    char error[512];
    rtl_trace_t *trace = NULL;
    rtl_trace_info_t info;
    rtl_kernel_filter_t filter = RTL_KERNEL_FILTER_ALL;
    size_t count = 0;
    rtl_status_t status = RTL_OK;
    filter.by_queue = 1;
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceInfo(trace, &info) == RTL_OK);
    CHECK(info.finished == 0 && info.exit_status == -1);
    rtl_kernel_t *kernels = fixture_read(trace, &filter, &count, &status);
    CHECK(kernels && count >= stored && count <= stored + 700);
    for (size_t i = 0; i < count; i++)
        CHECK(kernels[i].packet == i);
    free(kernels);
    rtlTraceClose(trace);
    return NULL;
}

const char *File_KilledWriterLeavesWhatItStored(void)
{
    uint64_t seed = 11;
    for (int round = 0; round < 15; round++) {
        char path[FIXTURE_PATH];
        uint64_t stored = 0;
        CHECK(fixture_path(path));
        CHECK_DONE(
            kill_writer(path, 1 + round, (unsigned)(fixture_random(&seed) % 20000), &stored));
        CHECK_DONE(check_killed(path, stored));
        fixture_remove(path);
    }
    return NULL;
}

static const char *read_only_child(const char *path)
{
    CHECK(lose_rights());
    if (!there(path, "-wal")) {
        CHECK(fixture_count(path) == 20);
        return NULL;
    }
    char error[512] = "";
    rtl_trace_t *trace = NULL;
    rtl_status_t status = rtlTraceOpen(path, &trace, error, sizeof error);
    rtlTraceClose(trace);
    /* SQLite may or may not be able to; if not, we say what to do. */
    CHECK(status == RTL_OK || (status == RTL_E_IO && strstr(error, "copy it") != NULL));
    return NULL;
}

/* A trace in log mode without a log (its last reader moved it into the file), and one with. */
const char *File_KilledTraceInAClosedFolder(void)
{
    char path[FIXTURE_PATH];
    char folder[FIXTURE_PATH];
    uint64_t stored = 0;
    CHECK(fixture_path(path));
    (void)snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    CHECK(fixture_trace(path, 10));
    CHECK(fixture_sql(path, "PRAGMA journal_mode=WAL"));
    CHECK(!there(path, "-wal") && !there(path, "-shm"));
    CHECK(chmod(path, 0444) == 0 && chmod(folder, 0555) == 0);
    CHECK_DONE(in_child(read_only_child, path));
    CHECK(chmod(folder, 0755) == 0 && unlink(path) == 0);

    CHECK_DONE(kill_writer(path, 3, 0, &stored));
    CHECK(there(path, "-wal"));
    CHECK(chmod(path, 0444) == 0 && chmod(with_suffix(path, "-wal"), 0444) == 0);
    CHECK(unlink(with_suffix(path, "-shm")) == 0 && chmod(folder, 0555) == 0);
    CHECK_DONE(in_child(read_only_child, path));
    CHECK(chmod(folder, 0755) == 0);
    fixture_remove(path);
    return NULL;
}

const char *File_ReaderWhileWriting(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t process = fixture_define(writer, 1, 2);
    CHECK(fixture_count(path) == 0);
    for (uint64_t i = 0; i < 20; i++) {
        fixture_kernels(writer, process, 0, i * 3000, (i + 1) * 3000);
        CHECK(rtl_writer_checkpoint(writer) == 0);
        CHECK(fixture_count(path) == (int64_t)(i + 1) * 3000);
    }
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK(fixture_count(path) == 60000);
    fixture_remove(path);
    return NULL;
}

/* A full chunk is stored between checkpoints, the account at one: it must not seem to have more
 * than was seen. */
const char *File_AccountOfARunningProcessKeepsUp(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    CHECK(writer != NULL);
    uint32_t process = fixture_define(writer, 1, 1);
    struct rtl_writer_account account = {.packets = 5, .seen = 5, .recorded = 3, .lost = {2}};
    fixture_kernels(writer, process, 0, 0, 3);
    rtl_writer_ledger(writer, process, 0, &account);
    CHECK(rtl_writer_checkpoint(writer) == 0);
    fixture_kernels(writer, process, 0, 3, 100000);
    rtl_trace_t *trace = NULL;
    const rtl_ledger_t *ledger = NULL;
    size_t count = 0;
    CHECK(rtlTraceOpen(path, &trace, NULL, 0) == RTL_OK);
    CHECK(rtlTraceLedger(trace, &ledger, &count) == RTL_OK && count == 1);
    CHECK(ledger->stored > 3 && ledger->recorded == ledger->stored);
    CHECK(ledger->seen == ledger->stored + 2 && ledger->lost[RTL_LOSS_POOL] == 2);
    rtlTraceClose(trace);
    CHECK(rtl_writer_close(writer, 0, NULL, 0) == 0);
    fixture_remove(path);
    return NULL;
}

const char *File_ReaderThatStaysHoldsNothingUp(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    rtl_trace_info_t info;
    const rtl_kernel_filter_t all = RTL_KERNEL_FILTER_ALL;
    size_t count = 0;
    rtl_status_t status = RTL_OK;
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t process = fixture_define(writer, 1, 2);
    fixture_kernels(writer, process, 0, 0, 500);
    CHECK(rtl_writer_checkpoint(writer) == 0);
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    for (uint64_t i = 1; i < 100; i++) {
        fixture_kernels(writer, process, 0, i * 500, (i + 1) * 500);
        CHECK(rtl_writer_checkpoint(writer) == 0);
    }
    CHECK(rtl_writer_close(writer, 3, error, sizeof error) == 0);
    /* It still sees the moment at which it was opened… */
    rtl_kernel_t *kernels = fixture_read(trace, &all, &count, &status);
    CHECK(kernels && count == 500);
    free(kernels);
    /* …and another the end. */
    CHECK(fixture_count(path) == 50000);
    rtlTraceClose(trace);
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceInfo(trace, &info) == RTL_OK && info.finished == 1 && info.exit_status == 3);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

/* Puts pages of another trace into a log beside a finished one, as somebody who may write to the
 * folder can. */
static bool plant_log(const char *path)
{
    char other[FIXTURE_PATH + 16];
    char command[4 * FIXTURE_PATH];
    (void)snprintf(other, sizeof other, "%s.other", path);
    struct rtl_writer *writer = fixture_open(other);
    fixture_kernels(writer, fixture_define(writer, 1, 2), 0, 0, 7);
    (void)snprintf(command, sizeof command, "cp %s-wal %s-wal", other, path);
    bool planted = rtl_writer_checkpoint(writer) == 0 && system(command) == 0; // NOLINT
    bool closed = rtl_writer_close(writer, 0, NULL, 0) == 0;
    return planted && closed && unlink(other) == 0;
}

static const char *not_read(const char *path, const char *suffix)
{
    char error[768] = "";
    rtl_trace_t *trace = NULL;
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_E_IO && trace == NULL);
    CHECK(strstr(error, with_suffix(path, suffix)) && strstr(error, "not the trace's own"));
    return refused(path, true, "not the trace's own");
}

const char *File_WhatLiesBesideIsItsOwn(void)
{
    static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        CHECK(symlink("/dev/null", with_suffix(path, suffixes[i])) == 0);
        CHECK_DONE(not_read(path, suffixes[i]));
        CHECK(unlink(with_suffix(path, suffixes[i])) == 0);
        CHECK(mkfifo(with_suffix(path, suffixes[i]), 0600) == 0);
        CHECK_DONE(not_read(path, suffixes[i]));
        CHECK(unlink(with_suffix(path, suffixes[i])) == 0);
        CHECK(write_text(with_suffix(path, suffixes[i]), "x"));
        CHECK(chmod(with_suffix(path, suffixes[i]), 0666) == 0);
        CHECK_DONE(not_read(path, suffixes[i]));
        CHECK(unlink(with_suffix(path, suffixes[i])) == 0);
    }
    CHECK(fixture_count(path) == 20);
    fixture_remove(path);
    return NULL;
}

static int chunks_in(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    int count = -1;
    if (sqlite3_prepare_v2(db, "SELECT count(*) FROM kernel_chunks", -1, &statement, NULL) ==
            SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        count = sqlite3_column_int(statement, 0);
    (void)sqlite3_finalize(statement);
    return count;
}

/* A finished trace in a folder of all is read as the one file that it is, also if a log comes
 * between two statements. */
const char *File_NoLogComesToAFinishedTrace(void)
{
    char path[FIXTURE_PATH];
    char folder[FIXTURE_PATH];
    char error[512];
    sqlite3 *db = NULL;
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    (void)snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
    CHECK(chmod(folder, 01777) == 0);
    CHECK(rtl_trace_connect(path, &db, error, sizeof error) == RTL_OK);
    int chunks = chunks_in(db);
    CHECK(chunks > 1);
    CHECK(plant_log(path));
    CHECK(chunks_in(db) == chunks);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    CHECK(unlink(with_suffix(path, "-wal")) == 0);
    (void)unlink(with_suffix(path, "-shm"));
    fixture_remove(path);
    return NULL;
}

/* Also where the file is there before SQLite is: nobody else's is written to. */
const char *File_NothingOfOthersIsWrittenTo(void)
{
    static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
    char path[FIXTURE_PATH];
    struct stat status;
    if (geteuid() != 0)
        return NULL; /* nobody else can give files away */
    CHECK(fixture_path(path));
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        CHECK(write_text(with_suffix(path, suffixes[i]), ""));
        CHECK(chown(with_suffix(path, suffixes[i]), 12345, 12345) == 0);
        CHECK_DONE(refused(path, false, "it is another user's"));
        CHECK(stat(with_suffix(path, suffixes[i]), &status) == 0 && status.st_uid == 12345 &&
              status.st_size == 0);
        CHECK(!there(path, ""));
        CHECK(unlink(with_suffix(path, suffixes[i])) == 0);
    }
    CHECK(fixture_trace(path, 10));
    fixture_remove(path);
    return NULL;
}

/* What SQLite says of a file's tables, in the order in which they were made. */
static char *tables_of(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    char *text = NULL;
    if (sqlite3_prepare_v2(db,
                           "SELECT group_concat(type || name || ifnull(sql, ''), char(10))"
                           " FROM (SELECT * FROM sqlite_schema ORDER BY rowid)",
                           -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        text = strdup((const char *)sqlite3_column_text(statement, 0));
    (void)sqlite3_finalize(statement);
    return text;
}

/* The build has made them: no statement may be left out, and none of another day's. */
const char *File_HasTheTablesOfTheSchema(void)
{
    char path[FIXTURE_PATH];
    sqlite3 *made = NULL;
    sqlite3 *wanted = NULL;
    const char *const parts[] = {rtl_schema,          rtl_schema_ledger, rtl_schema_graphs,
                                 rtl_schema_counters, rtl_schema_hip,    rtl_schema_clocks,
                                 rtl_schema_stats,    rtl_schema_digests};
    CHECK(fixture_path(path));
    CHECK(rtl_writer_close(fixture_open(path), 0, NULL, 0) == 0);
    CHECK(sqlite3_open(path, &made) == SQLITE_OK);
    CHECK(sqlite3_open(":memory:", &wanted) == SQLITE_OK);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        CHECK(sqlite3_exec(wanted, parts[i], NULL, NULL, NULL) == SQLITE_OK);
    char *is = tables_of(made);
    char *should = tables_of(wanted);
    CHECK(is && should && strlen(is) > 1000 && strcmp(is, should) == 0);
    CHECK(sqlite3_exec(made, "PRAGMA integrity_check", NULL, NULL, NULL) == SQLITE_OK);
    free(is);
    free(should);
    (void)sqlite3_close(made);
    (void)sqlite3_close(wanted);
    fixture_remove(path);
    return NULL;
}

/* Called as soon as a file has its name, by which others can open it. */
static void (*on_named)(const char *path);

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    int result = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
    if (result == 0 && on_named)
        on_named(to);
    return result;
}

static sqlite3 *early;

static int64_t seen_early(const char *query)
{
    sqlite3_stmt *statement = NULL;
    int64_t number = -1;
    if (sqlite3_prepare_v2(early, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return number;
}

static void read_early(const char *path)
{
    if (sqlite3_open_v2(path, &early, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK)
        (void)seen_early("SELECT count(*) FROM meta");
}

/* Somebody who has waited for the trace opens it in the moment in which it has its name. What
 * SQLite makes for him beside it must not be in the recorder's way, nor the recorder's own be
 * another one. */
const char *File_MayBeOpenedAsSoonAsItHasItsName(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    on_named = read_early;
    struct rtl_writer *writer = fixture_open(path);
    on_named = NULL;
    CHECK(writer != NULL && early != NULL);
    CHECK(seen_early("SELECT count(*) FROM processes") == 0);
    fixture_kernels(writer, fixture_define(writer, 1, 2), 0, 0, 10);
    CHECK(rtl_writer_checkpoint(writer) == 0);
    CHECK(seen_early("SELECT count(*) FROM processes") == 1);
    CHECK(rtl_writer_close(writer, 0, NULL, 0) == 0);
    (void)sqlite3_close(early);
    CHECK(fixture_count(path) == 10);
    fixture_remove(path);
    return NULL;
}

/* Called when the folder of a new trace is made: the name was found free before that. */
static void (*on_folder)(void);

char *mkdtemp(char *template)
{
    static unsigned made;
    void (*called)(void) = on_folder;
    on_folder = NULL;
    if (called)
        called();
    int result;
    do {
        (void)snprintf(template + strlen(template) - 6, 7, "%06u", made++ % 1000000);
        result = mkdir(template, S_IRWXU);
    } while (result != 0 && errno == EEXIST);
    return result == 0 ? template : NULL;
}

static const char *wanted_name;
static struct rtl_writer *faster;

static void take_the_name(void)
{
    faster = fixture_open(wanted_name);
    if (faster)
        fixture_kernels(faster, fixture_define(faster, 1, 2), 0, 0, 10);
}

/* Two that found the name free: who comes second leaves the first one's log where it is. */
static const char *second_comes(bool replace)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    wanted_name = path;
    on_folder = take_the_name;
    const char *failed = refused(path, replace, "is recording into it");
    if (failed)
        return failed;
    CHECK(faster != NULL && there(path, "-wal") && there(path, "-shm"));
    CHECK(entries_beside(path) == 3);
    CHECK(rtl_writer_close(faster, 0, NULL, 0) == 0);
    CHECK(fixture_count(path) == 10);
    fixture_remove(path);
    return NULL;
}

const char *File_HasItsNameFromOneOfTwoThatWantIt(void)
{
    return second_comes(false);
}

const char *File_IsNotReplacedIfSomebodyHasBegunToRecordIntoIt(void)
{
    return second_comes(true);
}
