#include "kineto/host.h"

#include "kineto/chrome.h"
#include "kineto/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEEPEST 64u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pu1_session_t *session; /* under the lock, as the rest; NULL: none runs */
static uint64_t base_ns;
static pu1_annotation_t *annotations;
static size_t annotation_count, annotation_capacity;

static _Atomic bool running;
static _Atomic uint64_t next_id = 1;

/* What the thread is in. */
static _Thread_local struct {
    struct {
        char *name;
        uint64_t start, id;
    } open[DEEPEST];
    unsigned depth;
} own;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void complain(void *context, const char *sentence)
{
    (void)context;
    (void)fprintf(stderr, "pu1host: %s\n", sentence);
}

static void complain_of_plugin(void *context, pu1_severity_t severity, const char *sentence)
{
    if (severity != PU1_INFO)
        complain(context, sentence);
}

/* ---- sessions ---- */

/* Under the lock. */
static size_t begin(const pu1_vendors_t *vendors)
{
    session = pu1_session_new(vendors);
    if (session == NULL)
        return 0;
    base_ns = now();
    size_t count = pu1_session_start(session, PU1_ALL_KINDS, complain, NULL);
    if (count == 0) {
        pu1_session_free(session);
        session = NULL;
    }
    return count;
}

int pu1HostBegin(void)
{
    const pu1_vendors_t *vendors = pu1_load(complain_of_plugin, NULL);
    size_t count = 0;
    pthread_mutex_lock(&lock);
    if (vendors->count == 0)
        complain(NULL, "there is no vendor to trace: KINETO_PLUGIN_PATH names none");
    else if (session != NULL)
        complain(NULL, "a session is running");
    else
        count = begin(vendors);
    atomic_store(&running, session != NULL);
    pthread_mutex_unlock(&lock);
    return (int)count;
}

/* Under the lock. A program that starts another one has nothing to tell. */
static bool has_anything(void)
{
    size_t count = 0;
    (void)pu1_session_items(session, &count);
    return count > 0 || annotation_count > 0;
}

/* A link that another user has put there is not followed; links of the system's (/dev/stdout) are.
 */
static bool is_strange_link(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode) && status.st_uid != 0 &&
           status.st_uid != geteuid();
}

/* Opens a new file, or empties one of this user's; another's is not written to. */
static FILE *open_output(const char *path)
{
    struct stat status;
    FILE *stream = NULL;
    int file = is_strange_link(path) ? -1
                                     : open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK,
                                            S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
    if (file < 0)
        return NULL;
    bool mine =
        fstat(file, &status) == 0 && (S_ISCHR(status.st_mode) || status.st_uid == geteuid());
    if (!mine)
        errno = EPERM;
    else if ((!S_ISREG(status.st_mode) || ftruncate(file, 0) == 0) && fcntl(file, F_SETFL, 0) == 0)
        stream = fdopen(file, "w");
    if (stream == NULL)
        (void)close(file);
    return stream;
}

/* Under the lock. */
static bool write_trace(const char *path)
{
    pu1_trace_t trace = {
        .vendors = pu1_load(NULL, NULL),
        .annotations = annotations,
        .annotation_count = annotation_count,
        .base_ns = base_ns,
        .dropped = pu1_session_dropped(session),
    };
    trace.items = pu1_session_items(session, &trace.item_count);
    errno = 0;
    FILE *file = open_output(path);
    bool fine = file != NULL && pu1_write_chrome(&trace, file) && !ferror(file);
    fine = (file == NULL || fclose(file) == 0) && fine;
    if (!fine)
        (void)fprintf(stderr, "pu1host: %s could not be written: %s\n", path,
                      strerrordesc_np(errno != 0 ? errno : ENOMEM));
    return fine;
}

static void forget_annotations(void)
{
    for (size_t i = 0; i < annotation_count; i++)
        free((void *)(uintptr_t)annotations[i].name);
    free(annotations);
    annotations = NULL;
    annotation_count = annotation_capacity = 0;
}

/* `always`: also a trace with nothing in it. */
static int end(const char *path, bool always)
{
    bool fine = false;
    pthread_mutex_lock(&lock);
    atomic_store(&running, false);
    if (session == NULL) {
        complain(NULL, "no session is running");
    } else {
        pu1_session_finish(session, complain, NULL);
        pu1_session_tell(session, complain, NULL);
        fine = (!always && !has_anything()) || write_trace(path);
        pu1_session_free(session);
        session = NULL;
        forget_annotations();
    }
    pthread_mutex_unlock(&lock);
    return fine ? 0 : -1;
}

int pu1HostEnd(const char *path)
{
    return end(path, true);
}

/* ---- annotations ---- */

void pu1HostPush(const char *name)
{
    unsigned depth = own.depth++;
    uint64_t id = atomic_fetch_add(&next_id, 1);
    pu1_session_push(id);
    if (depth >= DEEPEST)
        return;
    own.open[depth].name = atomic_load(&running) && name != NULL ? strdup(name) : NULL;
    own.open[depth].id = id;
    own.open[depth].start = now();
}

/* Under the lock. Takes the name. */
static void keep(char *name, uint64_t start, uint64_t id)
{
    if (annotation_count == annotation_capacity) {
        size_t capacity = annotation_capacity > 0 ? 2 * annotation_capacity : 64;
        pu1_annotation_t *more = realloc(annotations, capacity * sizeof *more);
        if (more == NULL) {
            free(name);
            return;
        }
        annotations = more;
        annotation_capacity = capacity;
    }
    annotations[annotation_count++] =
        (pu1_annotation_t){name, start, now(), id, (uint32_t)gettid()};
}

void pu1HostPop(void)
{
    if (own.depth == 0)
        return;
    unsigned depth = --own.depth;
    pu1_session_pop();
    if (depth >= DEEPEST || own.open[depth].name == NULL)
        return;
    pthread_mutex_lock(&lock);
    if (session != NULL)
        keep(own.open[depth].name, own.open[depth].start, own.open[depth].id);
    else
        free(own.open[depth].name);
    pthread_mutex_unlock(&lock);
}

/* ---- a whole program ---- */

static pid_t owner;

/* The file, with the process in the place of %p. */
static void name_file(char *path, size_t size, const char *pattern)
{
    const char *mark = strstr(pattern, "%p");
    if (mark == NULL)
        (void)snprintf(path, size, "%s", pattern);
    else
        (void)snprintf(path, size, "%.*s%d%s", (int)(mark - pattern), pattern, getpid(), mark + 2);
}

/* By a destructor: vendors hand over what they have at exit() before that. */
__attribute__((destructor)) static void at_end(void)
{
    char path[PATH_MAX];
    const char *pattern = secure_getenv("PU1_TRACE");
    if (owner != getpid() || pattern == NULL || !atomic_load(&running))
        return;
    name_file(path, sizeof path, pattern);
    (void)end(path, false);
}

__attribute__((constructor)) static void at_load(void)
{
    const char *pattern = secure_getenv("PU1_TRACE");
    if (pattern == NULL || *pattern == '\0')
        return;
    owner = getpid();
    (void)pu1HostBegin();
}
