#include "common/output.h"

#include "common/command.h"
#include "common/say.h"
#include "store/beside.h"
#include "store/file.h"
#include "store/target.h"

#include <rtl/rtl_trace.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_READ   4096u /* of a file, to tell whose it is */
#define MOST_SUFFIX 16u   /* of a companion's name */

/* Signals that end a command take what is not whole along. */

static const int deadly[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM};

enum { DEADLY = sizeof deadly / sizeof deadly[0] };

static struct output *volatile begun;

/* Also in a signal handler. */
static void remove_file(const char *path)
{
    char name[PATH_MAX + 3 * MOST_SUFFIX];
    size_t length = path ? strlen(path) : 0;
    if (length == 0 || length >= PATH_MAX + MOST_SUFFIX)
        return;
    (void)unlink(path);
    memcpy(name, path, length + 1);
    for (const char *const *suffix = rtl_beside_suffixes; *suffix; ++suffix) {
        memcpy(name + length, *suffix, strlen(*suffix) + 1);
        (void)unlink(name);
    }
}

static void end_by_signal(int number)
{
    for (const struct output *output = begun; output; output = output->next) {
        if (!output->stays)
            remove_file(output->path);
        else if (output->farewell)
            (void)!write(STDERR_FILENO, output->farewell, strlen(output->farewell));
    }
    (void)raise(number); /* the action is the default again */
}

/* Past a limit of the size of files, write tells. */
static void go_on(int number)
{
    (void)number;
}

/* What is ignored stays so (nohup), and what a command has caught for itself. */
static void catch_one(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    struct sigaction old;
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        (void)sigaction(number, &action, NULL);
}

void output_signals(void)
{
    catch_one(SIGXFSZ, go_on, SA_RESTART);
    for (size_t i = 0; i < DEADLY; ++i)
        catch_one(deadly[i], end_by_signal, (int)SA_RESETHAND);
}

/* While the list changes, the signals wait. */
static void hold_signals(sigset_t *before)
{
    sigset_t all;
    (void)sigemptyset(&all);
    for (size_t i = 0; i < DEADLY; ++i)
        (void)sigaddset(&all, deadly[i]);
    (void)pthread_sigmask(SIG_BLOCK, &all, before);
}

static void release_signals(const sigset_t *before)
{
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

static int fail(const struct output *output, int error)
{
    return say_fail(EXIT_USAGE, "'%s' could not be written: %s", output->name, say_errno(error));
}

/* What is there already. */

static bool same_file(const char *a, const char *b)
{
    struct stat x;
    struct stat y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The file with an ending, which may be "". */
static const char *companion(const char *path, const char *suffix, char *name, size_t size)
{
    (void)snprintf(name, size, "%s%s", path, suffix);
    return name;
}

/* Whether to write `target` would change `input`: itself, what SQLite has beside it, or that it is
 * such a thing of what is replaced. */
static bool touches(const char *target, const char *input)
{
    char name[PATH_MAX + MOST_SUFFIX];
    if (same_file(target, input))
        return true;
    for (const char *const *suffix = rtl_beside_suffixes; *suffix; ++suffix)
        if (same_file(target, companion(input, *suffix, name, sizeof name)) ||
            same_file(input, companion(target, *suffix, name, sizeof name)))
            return true;
    return false;
}

static size_t read_head(const char *path, char *head)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t size = fd >= 0 ? read(fd, head, HEAD_READ) : 0;
    if (fd >= 0)
        (void)close(fd);
    return size > 0 ? (size_t)size : 0;
}

bool output_is_own(const char *name, const char *mark)
{
    char head[HEAD_READ];
    struct stat status;
    if (stat(name, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    size_t size = read_head(name, head);
    return status.st_size == 0 || memmem(head, size, mark, strlen(mark));
}

static bool is_database(const char *path)
{
    char head[HEAD_READ];
    return read_head(path, head) >= 16 && memcmp(head, "SQLite format 3", 16) == 0;
}

/* As everywhere, a trace takes the place of nothing else. */
static int check_trace(const struct output *output)
{
    rtl_trace_t *trace = NULL;
    rtl_trace_info_t info = {.finished = 0};
    char error[512] = "";
    rtl_status_t opened = rtlTraceOpen(output->target, &trace, error, sizeof error);
    if (opened == RTL_OK)
        (void)rtlTraceInfo(trace, &info);
    rtlTraceClose(trace);
    if (opened == RTL_E_NOT_TRACE)
        return say_fail(EXIT_USAGE, "'%s' is not a trace, so it is not replaced", output->name);
    if (opened != RTL_OK)
        return say_fail(EXIT_USAGE, "%s, so it is not replaced", error);
    /* A merge of recordings that were killed is as unfinished as they are; it is made again of
     * them. */
    if (!info.finished && !rtl_file_is_merge(output->target))
        return say_fail(EXIT_USAGE,
                        "'%s' is being recorded, or its recorder was killed, so it is not replaced",
                        output->name);
    return EXIT_FINE;
}

/* Whether the file could be replaced at all. */
static int check_replaceable(const struct output *output, enum output_kind kind,
                             const struct stat *status)
{
    if (!rtl_file_can_replace(output->target))
        return fail(output, errno);
    if (status->st_size == 0)
        return EXIT_FINE;
    if (kind == OUTPUT_TRACE)
        return check_trace(output);
    long pid = rtl_file_recorder(output->target);
    if (pid)
        return say_fail(EXIT_USAGE, "process %ld is recording into '%s', so it is not replaced",
                        pid, output->name);
    return EXIT_FINE;
}

static int check_file(struct output *output, const struct output_rules *rules,
                      const struct stat *status)
{
    int result = check_replaceable(output, rules->kind, status);
    if (result != EXIT_FINE)
        return result;
    if (!rules->force && !(rules->own && output_is_own(output->target, rules->own)))
        return say_fail(EXIT_USAGE, "'%s' exists; -f replaces it", output->name);
    output->replaces = true;
    return EXIT_FINE;
}

/* What SQLite has beside a database, or will have there, is part of it. */
static int check_beside(const struct output *output)
{
    size_t length = strlen(output->target);
    for (const char *const *suffix = rtl_beside_suffixes; *suffix; ++suffix) {
        size_t end = strlen(*suffix);
        char base[PATH_MAX];
        if (length <= end || strcmp(output->target + length - end, *suffix) != 0)
            continue;
        (void)snprintf(base, sizeof base, "%.*s", (int)(length - end), output->target);
        if (is_database(base))
            return say_fail(EXIT_USAGE,
                            "'%s' is where SQLite keeps what is new in the database '%s': choose "
                            "another name",
                            output->name, base);
    }
    return EXIT_FINE;
}

static int check_inputs(const struct output *output, const struct output_rules *rules)
{
    for (size_t i = 0; i < rules->input_count; ++i)
        if (touches(output->target, rules->inputs[i]))
            return say_fail(EXIT_USAGE,
                            "'%s' is to be read, so it is not to be written: choose "
                            "another name",
                            output->name);
    return EXIT_FINE;
}

/* Beginning. */

/* `descriptor` is open, and so it is here. Another that a name like /dev/fd/9 happens to mean, such
 * as one of rtl's own, is for reading. */
static int begin_descriptor(struct output *output, int descriptor)
{
    int flags = fcntl(descriptor, F_GETFL);
    if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY)
        errno = EBADF;
    else if (flags >= 0)
        output->device = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    return output->device >= 0 ? EXIT_FINE : fail(output, errno);
}

static int begin_device(struct output *output)
{
    output->device = open(output->target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return output->device >= 0 ? EXIT_FINE : fail(output, errno);
}

/* Puts six letters that nobody can guess at the end of a name. */
static void choose_letters(char *end)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    unsigned char random[6];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        memset(random, 0, sizeof random); /* taken, most likely: then there is no file */
    for (size_t i = 0; i < sizeof random; ++i)
        end[i] = letters[random[i] % (sizeof letters - 1)];
    end[sizeof random] = '\0';
}

/* An empty file that nobody else has, `place` with an ending. Its descriptor, or -1 with errno. */
static int make_file(struct output *output, const char *place, mode_t mode)
{
    size_t length = strlen(place) + 1;
    char *name = malloc(length + 7);
    int fd = -1;
    if (!name)
        return -1;
    (void)companion(place, ".", name, length + 1);
    sigset_t before;
    hold_signals(&before);
    for (unsigned tries = 0; tries < 100 && fd < 0; ++tries) {
        choose_letters(name + length);
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    int error = errno;
    free(output->path);
    if (fd < 0)
        name[0] = '\0';
    output->path = name;
    release_signals(&before);
    errno = error;
    return fd;
}

static int name_partial(struct output *output)
{
    size_t size = strlen(output->target) + sizeof ".partial";
    char *name = malloc(size);
    if (!name)
        return say_fail(EXIT_USAGE, "there is not enough memory");
    (void)companion(output->target, ".partial", name, size);
    sigset_t before;
    hold_signals(&before);
    free(output->path);
    output->path = name;
    output->stays = true; /* until it is known whose it is */
    release_signals(&before);
    return EXIT_FINE;
}

/* Where a file is replaced, nobody may look into the new one who might not into the old. */
static int begin_file(struct output *output, const struct output_rules *rules, const char *place)
{
    bool closed = rules->kind == OUTPUT_TRACE || output->replaces || output->device >= 0;
    mode_t mode = S_IRUSR | S_IWUSR;
    if (!closed)
        mode |= S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH; /* and the umask */
    output->fd = make_file(output, place, mode);
    if (output->fd < 0)
        return say_fail(EXIT_USAGE, "'%s' could not be made: %s", output->name, say_errno(errno));
    if (rules->kind == OUTPUT_STREAM)
        return EXIT_FINE;
    (void)close(output->fd);
    output->fd = -1;
    return EXIT_FINE;
}

/* To a device goes what is written at once, or what SQLite has made elsewhere. */
static int begin_through(struct output *output, const struct output_rules *rules)
{
    char place[PATH_MAX];
    const char *folder = secure_getenv("TMPDIR");
    (void)snprintf(place, sizeof place, "%.4000s/rtl", folder && folder[0] ? folder : "/tmp");
    if (rules->kind != OUTPUT_STREAM)
        return begin_file(output, rules, place);
    output->fd = output->device;
    output->device = -1;
    return EXIT_FINE;
}

/* `status` is of the file that is there, NULL if none is. */
static int begin_beside(struct output *output, const struct output_rules *rules,
                        const struct stat *status)
{
    int result = status ? check_file(output, rules, status) : EXIT_FINE;
    output->database = rules->kind != OUTPUT_STREAM || (status && is_database(output->target));
    output->keeps = status && rules->kind != OUTPUT_TRACE;
    if (output->keeps) {
        output->mode = status->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
        output->owner = status->st_uid;
        output->group = status->st_gid;
    }
    if (result != EXIT_FINE)
        return result;
    return rules->partial ? name_partial(output) : begin_file(output, rules, output->target);
}

/* Something of another user's in a folder where everybody may put things: a FIFO of theirs would
 * get all of it, and a file of theirs would give its owner and mode. */
static bool is_planted(const struct output *output, const struct stat *status)
{
    struct stat place;
    char folder[PATH_MAX];
    (void)snprintf(folder, sizeof folder, "%s", output->target);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    if (stat(slash ? folder : ".", &place) != 0 || !(place.st_mode & S_IWOTH))
        return false;
    return status->st_uid != geteuid() && status->st_uid != 0 && status->st_uid != place.st_uid;
}

static int begin(struct output *output, const struct output_rules *rules, int descriptor)
{
    struct stat status;
    int result = check_inputs(output, rules);
    if (result == EXIT_FINE)
        result = check_beside(output);
    bool there = stat(output->target, &status) == 0;
    int error = there ? 0 : errno;
    if (result != EXIT_FINE)
        return result;
    if (descriptor >= 0)
        result = begin_descriptor(output, descriptor);
    else if (!there && error != ENOENT)
        result = fail(output, error);
    else if (there && is_planted(output, &status))
        result = say_fail(EXIT_USAGE,
                          "'%s' is another user's, in a folder where everybody may put things: "
                          "choose another name or folder",
                          output->name);
    else if (there && S_ISDIR(status.st_mode))
        result = say_fail(EXIT_USAGE, "'%s' could not be written: it is a folder", output->name);
    else if (!there || S_ISREG(status.st_mode))
        return begin_beside(output, rules, there ? &status : NULL);
    else
        result = begin_device(output);
    return result == EXIT_FINE ? begin_through(output, rules) : result;
}

static void add(struct output *output)
{
    sigset_t before;
    hold_signals(&before);
    output->next = begun;
    begun = output;
    release_signals(&before);
}

/* What it has made is removed, unless it has its name. */
static void end(struct output *output)
{
    sigset_t before;
    hold_signals(&before);
    struct output *last = begun;
    if (last == output)
        begun = output->next;
    for (; last; last = last->next)
        if (last->next == output)
            last->next = output->next;
    if (output->fd >= 0)
        (void)close(output->fd);
    if (output->device >= 0)
        (void)close(output->device);
    if (!output->stays)
        remove_file(output->path);
    release_signals(&before);
    free(output->name);
    free(output->path);
    free(output->target);
    *output = (struct output){0};
}

static int check_name(const char *name, bool dash)
{
    if (!name[0])
        return say_fail(EXIT_USAGE, "the output's name is empty");
    return dash ? EXIT_FINE : output_check_dash(name);
}

int output_check_dash(const char *name)
{
    if (strcmp(name, "-") != 0)
        return EXIT_FINE;
    return say_fail(EXIT_USAGE,
                    "this cannot be written to the standard output; ./- is a file of the name '-'");
}

int output_begin(struct output *output, const char *name, const struct output_rules *rules)
{
    bool dash = rules->dash && strcmp(name, "-") == 0;
    int descriptor = -1;
    char *target = rtl_target(dash ? "/dev/stdout" : name, &descriptor);
    int error = errno;
    output_signals();
    *output = (struct output){.name = strdup(dash ? "the standard output" : name),
                              .path = strdup(""),
                              .target = target,
                              .fd = -1,
                              .device = -1};
    add(output);
    int result = check_name(name, rules->dash);
    if (!output->name || !output->path)
        result = say_fail(EXIT_USAGE, "there is not enough memory");
    else if (result == EXIT_FINE && !target)
        result = fail(output, error);
    if (result == EXIT_FINE)
        result = begin(output, rules, dash ? STDOUT_FILENO : descriptor);
    if (result != EXIT_FINE)
        end(output);
    return result;
}

int output_close(struct output *output)
{
    int fd = output->fd;
    output->fd = -1;
    return fd >= 0 && close(fd) != 0 ? errno : 0;
}

/* The end. */

static bool write_all(int fd, const char *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = write(fd, bytes + done, size - done);
        if (count < 0 && errno != EINTR)
            return false;
        done += count > 0 ? (size_t)count : 0;
    }
    return true;
}

static bool copy_through(const struct output *output)
{
    static char piece[65536];
    int fd = open(output->path, O_RDONLY | O_CLOEXEC);
    ssize_t size = -1;
    while (fd >= 0 && (size = read(fd, piece, sizeof piece)) > 0)
        if (!write_all(output->device, piece, (size_t)size))
            break;
    int error = errno;
    if (fd >= 0)
        (void)close(fd);
    errno = error;
    return size == 0;
}

/* As the old file was. Where it cannot be its group's, another group gets nothing. */
static void keep_mode(const struct output *output)
{
    struct stat status;
    mode_t mode = output->mode;
    if (stat(output->path, &status) != 0)
        return;
    bool same = status.st_uid == output->owner && status.st_gid == output->group;
    if (!same && chown(output->path, output->owner, output->group) != 0 &&
        chown(output->path, (uid_t)-1, output->group) != 0)
        mode &= ~(mode_t)S_IRWXG;
    (void)chmod(output->path, mode);
}

static bool move(const struct output *output)
{
    if (output->keeps)
        keep_mode(output);
    if (!output->replaces && rtl_file_rename_new(output->path, output->target) != 0)
        return false;
    if (output->database)
        rtl_beside_remove(output->target);
    return !output->replaces || rename(output->path, output->target) == 0;
}

int output_commit(struct output *output)
{
    int result = EXIT_FINE;
    int error = output_close(output);
    sigset_t before;
    if (!error && output->device >= 0 && !copy_through(output))
        error = errno;
    hold_signals(&before);
    if (!error && output->device < 0 && output->path[0]) {
        if (move(output))
            output->path[0] = '\0';
        else
            error = errno;
    }
    release_signals(&before);
    if (!error && output->device >= 0 && close(output->device) != 0)
        error = errno;
    output->device = error ? output->device : -1;
    if (error)
        result = fail(output, error);
    end(output);
    return result;
}

void output_drop(struct output *output)
{
    if (output->path)
        end(output);
}

bool output_is_file(const struct output *output)
{
    return output->path && output->path[0] && output->device < 0;
}

bool output_is_device(const char *name)
{
    struct stat status;
    int descriptor = -1;
    char *target = rtl_target(name, &descriptor);
    bool device = descriptor >= 0 || (target && stat(target, &status) == 0 &&
                                      !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
    free(target);
    return device;
}
