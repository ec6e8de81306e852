/* The files of an export: under temporary names first, beside their places. */
#include "export/export.h"

#include "command.h"
#include "common/say.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Parts `path` into stem and ending. */
static int part_name(struct export_files *files, const char *path)
{
    const char *name = base_name(path);
    const char *dot = strrchr(name, '.');
    size_t stem = dot && dot > name ? (size_t)(dot - path) : strlen(path);
    if (stem >= sizeof files->stem || strlen(path) - stem >= sizeof files->ending)
        return say_fail(EXIT_USAGE, "'%s' is too long a name", path);
    memcpy(files->stem, path, stem);
    files->stem[stem] = '\0';
    (void)snprintf(files->ending, sizeof files->ending, "%s", path + stem);
    return EXIT_FINE;
}

/* Signals that end an export take what is not whole along. */

static const int deadly[] = {SIGHUP, SIGINT, SIGTERM};

enum { DEADLY = sizeof deadly / sizeof deadly[0] };

static const struct export_files *volatile in_danger;

static void remove_all(int number)
{
    const struct export_files *files = in_danger;
    for (size_t i = 0; files && i < files->count; ++i)
        (void)unlink(files->paths[i][0]);
    (void)raise(number); /* the action is the default again */
}

static void catch_signals(const struct export_files *files)
{
    in_danger = files;
    for (size_t i = 0; i < DEADLY; ++i) {
        struct sigaction action = {.sa_handler = remove_all, .sa_flags = (int)SA_RESETHAND};
        struct sigaction old;
        bool ignored =
            sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN; /* nohup */
        if (!ignored)
            (void)sigaction(deadly[i], &action, NULL);
    }
}

/* While the list of files changes, the signals wait. */
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

int export_files_begin(struct export *export, const char *output)
{
    struct export_files *files = &export->files;
    catch_signals(files);
    files->to_stdout = output && strcmp(output, "-") == 0;
    if (files->to_stdout)
        return EXIT_FINE;
    int status = part_name(files, output ? output : base_name(export->path));
    if (!output)
        (void)snprintf(files->ending, sizeof files->ending, "%s", export->exporter->ending);
    return status;
}

/* The name of the file that is begun: stem[-rankR][-PART].ending */
static bool make_name(const struct export *export, char *name, size_t size)
{
    const struct export_files *files = &export->files;
    const rtl_process_t *only = export->only;
    char rank[80] = "";
    char part[24] = "";
    if (only && only->rank[0])
        (void)snprintf(rank, sizeof rank, "-rank%.64s", only->rank);
    else if (only)
        (void)snprintf(rank, sizeof rank, "-process%u", only->process);
    for (char *c = rank; *c; ++c)
        if (*c == '/')
            *c = '_';
    if (export->split_size)
        (void)snprintf(part, sizeof part, "-%u", files->part);
    int length = snprintf(name, size, "%s%s%s%s", files->stem, rank, part, files->ending);
    return length > 0 && (size_t)length < size;
}

static bool make_room(struct export_files *files)
{
    if (files->count < files->capacity)
        return true;
    size_t capacity = files->capacity ? 2 * files->capacity : 4;
    void *paths = realloc(files->paths, capacity * sizeof *files->paths);
    if (!paths)
        return false;
    files->paths = paths;
    files->capacity = capacity;
    return true;
}

static bool taken(const struct export *export, const char *name)
{
    const struct export_files *files = &export->files;
    for (size_t i = 0; i < files->count; ++i)
        if (strcmp(files->paths[i][1], name) == 0)
            return true;
    return false;
}

/* Processes may have the same rank, in several jobs. */
static int choose_name(struct export *export, char *name, size_t size)
{
    if (!make_name(export, name, size))
        return say_fail(EXIT_USAGE, "'%s' is too long a name", export->files.stem);
    if (taken(export, name))
        return say_fail(EXIT_USAGE,
                        "several processes are of rank %s: choose some with --process and export "
                        "them one by one",
                        export->only ? export->only->rank : "");
    if (!export->force && access(name, F_OK) == 0)
        return say_fail(EXIT_USAGE, "'%s' exists; -f replaces it", name);
    return EXIT_FINE;
}

static const char *add_file(struct export *export)
{
    struct export_files *files = &export->files;
    ++files->part;
    if (!make_room(files)) {
        say("there is not enough memory");
        return NULL;
    }
    char *temporary = files->paths[files->count][0];
    char *name = files->paths[files->count][1];
    if (choose_name(export, name, EXPORT_PATH) != EXIT_FINE)
        return NULL;
    int length = snprintf(temporary, EXPORT_PATH, "%s.XXXXXX", name);
    int fd = length > 0 && (size_t)length < EXPORT_PATH ? mkstemp(temporary) : -1;
    if (fd < 0) {
        say("'%s' could not be made: %s", name, say_errno(errno));
        return NULL;
    }
    (void)close(fd);
    ++files->count;
    return temporary;
}

const char *export_file(struct export *export)
{
    sigset_t before;
    hold_signals(&before);
    const char *path = add_file(export);
    release_signals(&before);
    return path;
}

int export_file_failed(const struct export *export, int error)
{
    const struct export_files *files = &export->files;
    const char *name = files->count ? files->paths[files->count - 1][1] : "the standard output";
    return say_fail(EXIT_USAGE, "%s could not be written: %s", name, say_errno(error));
}

/* Without -f a file that came meanwhile stays; where there are no hard links, this is looked at
 * once more only. */
static int move(const struct export *export, const char *temporary, const char *name)
{
    if (!export->force) {
        if (link(temporary, name) == 0)
            return unlink(temporary);
        if (errno == EEXIST || access(name, F_OK) == 0) {
            errno = EEXIST;
            return -1;
        }
    }
    return rename(temporary, name);
}

int export_files_commit(struct export *export)
{
    struct export_files *files = &export->files;
    size_t done = 0;
    int status = EXIT_FINE;
    sigset_t before;
    hold_signals(&before);
    while (done < files->count && status == EXIT_FINE) {
        if (move(export, files->paths[done][0], files->paths[done][1]) == 0)
            ++done;
        else
            status = say_fail(EXIT_USAGE, "'%s' could not be written: %s", files->paths[done][1],
                              say_errno(errno));
    }
    for (size_t i = done; i < files->count; ++i)
        (void)unlink(files->paths[i][0]);
    files->count = 0;
    release_signals(&before);
    return status;
}

void export_files_end(struct export *export)
{
    struct export_files *files = &export->files;
    sigset_t before;
    hold_signals(&before);
    for (size_t i = 0; i < files->count; ++i)
        (void)unlink(files->paths[i][0]);
    free(files->paths);
    *files = (struct export_files){0};
    release_signals(&before);
}
