#include "collect/openings.h"

#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_CACHE  ((size_t)4 << 20)
#define MOST_PIECES 64u /* of events, at a time */
#define LIBRARY     "/libhsa-runtime64.so"

/* The linker closes a library when it has mapped it. With FAN_REPORT_FID nothing is opened for the
 * one who reads the event, which /dev/kfd would take for a process of the GPU. */
static int watch(struct openings *openings, const char *path)
{
    int number = inotify_add_watch(openings->file, path, IN_OPEN | IN_CLOSE_NOWRITE);
    if (number > openings->last)
        openings->last = number;
    return number;
}

static bool is_watched(const struct openings *openings, int number)
{
    return number >= 0 && number < 64 && (openings->runtimes >> number & 1) != 0;
}

/* Who opens the device has begun the runtime. Where there is no device there is a software GPU, and
 * who opens the library may do so. True if openings of this file, by this or another name, have
 * been counted so far. */
static bool watch_library(struct openings *openings, const char *path)
{
    int number = watch(openings, path);
    bool before = is_watched(openings, number);
    if (number >= 0 && number < 64 && strstr(path, LIBRARY))
        openings->runtimes |= UINT64_C(1) << number;
    if (!openings->device && openings->who >= 0)
        (void)fanotify_mark(openings->who, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, path);
    return before;
}

/* The linker's cache has the paths as strings, whatever its format is. */
static void watch_in(struct openings *openings, const char *cache, size_t size)
{
    const char *end = cache + size;
    const char *found = cache;
    while ((found = memmem(found, (size_t)(end - found), LIBRARY, strlen(LIBRARY))) != NULL) {
        const char *begin = found;
        while (begin > cache && begin[-1] != '\0')
            begin--;
        (void)watch_library(openings, begin);
        found++;
    }
}

static void watch_cached(struct openings *openings)
{
    struct stat status;
    int file = open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC);
    size_t size =
        file >= 0 && fstat(file, &status) == 0 && status.st_size > 0 ? (size_t)status.st_size : 0;
    char *cache = size > 0 && size < MOST_CACHE ? malloc(size + 1) : NULL;
    ssize_t length = cache ? read(file, cache, size) : -1;
    if (length > 0) {
        cache[length] = '\0';
        watch_in(openings, cache, (size_t)length);
    }
    free(cache);
    if (file >= 0)
        (void)close(file);
}

static void watch_installed(struct openings *openings)
{
    static const char *const patterns[] = {"/opt/rocm/lib" LIBRARY "*",
                                           "/opt/rocm-*/lib" LIBRARY "*"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        glob_t found;
        // NOLINTNEXTLINE(concurrency-mt-unsafe): the environment and the locale stay as they are
        if (glob(patterns[i], GLOB_NOSORT, NULL, &found) != 0)
            continue;
        for (size_t k = 0; k < found.gl_pathc; k++)
            (void)watch_library(openings, found.gl_pathv[k]);
        globfree(&found);
    }
}

void openings_begin(struct openings *openings)
{
    *openings = (struct openings){.file = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), .who = -1};
    if (openings->file < 0)
        return;
    openings->who = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | FAN_REPORT_FID |
                                      FAN_UNLIMITED_QUEUE,
                                  O_RDONLY | O_CLOEXEC);
    (void)watch(openings, "/dev/kfd");
    openings->device = openings->who >= 0 && fanotify_mark(openings->who, FAN_MARK_ADD, FAN_OPEN,
                                                           AT_FDCWD, "/dev/kfd") == 0;
    watch_cached(openings);
    watch_installed(openings);
}

bool openings_learn(struct openings *openings, const char *path)
{
    for (unsigned i = 0; i < openings->count; i++)
        if (strcmp(openings->learnt[i], path) == 0)
            return strstr(path, LIBRARY) != NULL;
    char *copy = openings->file >= 0 && openings->count < OPENINGS_LEARNT ? strdup(path) : NULL;
    if (!copy)
        return false;
    openings->learnt[openings->count++] = copy;
    return watch_library(openings, path);
}

/* Watches of files have events without a name. */
static void count(struct openings *openings, const char *events, size_t size)
{
    struct inotify_event event;
    for (size_t at = 0; size - at >= sizeof event; at += sizeof event + event.len) {
        memcpy(&event, events + at, sizeof event);
        if (event.len > size - at - sizeof event)
            return;
        openings->heard += (event.mask & IN_OPEN) != 0 && is_watched(openings, event.wd);
    }
}

bool openings_any(struct openings *openings)
{
    _Alignas(struct inotify_event) char events[4096];
    unsigned pieces = 0;
    ssize_t size = 0;
    while (openings->file >= 0 && pieces < MOST_PIECES &&
           (size = read(openings->file, events, sizeof events)) > 0) {
        count(openings, events, (size_t)size);
        pieces++;
    }
    return pieces > 0;
}

/* Events have lengths of four bytes each: what is behind the first is not aligned. */
static void take_events(struct openings *openings, const char *events, size_t size, openings_by *by,
                        void *context)
{
    struct fanotify_event_metadata event;
    for (size_t at = 0; size - at >= sizeof event; at += event.event_len) {
        memcpy(&event, events + at, sizeof event);
        if (event.event_len < sizeof event || event.event_len > size - at)
            return;
        if (event.mask & FAN_Q_OVERFLOW)
            openings->lost = true;
        if (event.pid > 0 && (event.mask & FAN_OPEN))
            by(context, (uint32_t)event.pid);
    }
}

bool openings_who(struct openings *openings, openings_by *by, void *context)
{
    char events[4096];
    for (unsigned pieces = 0; pieces < MOST_PIECES; pieces++) {
        ssize_t size = openings->who >= 0 ? read(openings->who, events, sizeof events) : 0;
        if (size <= 0)
            return false;
        take_events(openings, events, (size_t)size, by, context);
    }
    return true;
}

void openings_stop(struct openings *openings)
{
    for (int number = 1; number <= openings->last; number++)
        (void)inotify_rm_watch(openings->file, number);
    openings->last = 0;
    if (openings->who >= 0)
        (void)fanotify_mark(openings->who, FAN_MARK_FLUSH, 0, AT_FDCWD, NULL);
}

void openings_end(struct openings *openings)
{
    for (unsigned i = 0; i < openings->count; i++)
        free(openings->learnt[i]);
    if (openings->file >= 0)
        (void)close(openings->file);
    if (openings->who >= 0)
        (void)close(openings->who);
    *openings = (struct openings){.file = -1, .who = -1};
}
