#include "collect/maps.h"

#include "ring/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_ENVIRONMENT ((size_t)256 << 10)

static int open_of(uint32_t pid, const char *name)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%u/%s", pid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static ssize_t read_all(int file, char *text, size_t size)
{
    size_t used = 0;
    ssize_t length = 1;
    while (length > 0 && used < size) {
        length = read(file, text + used, size - used);
        if (length < 0 && errno == EINTR)
            length = 1;
        else
            used += length > 0 ? (size_t)length : 0;
    }
    return length < 0 ? -1 : (ssize_t)used;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* A fork has the rings mapped of the process that it came from. A process may have another pid for
 * itself than here. */
static bool is_ring_of(const char *path, uint32_t pid, const char *session)
{
    char name[300];
    const char *last = strrchr(session, '/');
    int length = snprintf(name, sizeof name, "%s/ring.", last ? last : session);
    const char *found = length < (int)sizeof name ? strstr(path, name) : NULL;
    unsigned long of = found != NULL ? strtoul(found + length, NULL, 10) : 0;
    return of != 0 && (of == pid || of == rtl_process_id(pid).inner);
}

/* A ring of this process in a folder that is named as those of sessions are. */
static void take_other_session(struct maps *maps, const char *path, uint32_t pid)
{
    const char *ring = strstr(path, "/ring.");
    size_t length = ring != NULL ? (size_t)(ring - path) : 0;
    char folder[sizeof maps->elsewhere];
    if (length == 0 || length >= sizeof folder)
        return;
    (void)snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    const char *last = strrchr(folder, '/');
    if (last != NULL && begins(last, "/rtl.") && is_ring_of(path, pid, folder))
        memcpy(maps->elsewhere, folder, sizeof folder);
}

static void take_path(struct maps *maps, const char *path, uint32_t pid, const char *session)
{
    static const char mark[] = "/memfd:" RTL_REFUSAL_MARK;
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (begins(name, "libhsa-runtime64.so") || begins(name, "libamdhip64.so")) {
        bool first = !maps->library[0] || begins(name, "libhsa");
        maps->runtime = true;
        if (first && strlen(path) < sizeof maps->library)
            strcpy(maps->library, path); // NOLINT(clang-analyzer-security.insecureAPI.strcpy)
    } else if (begins(name, "librtl.so")) {
        maps->librtl = true;
    } else if (strcmp(path, "/dev/kfd") == 0) {
        maps->device = true;
    } else if (begins(path, mark)) {
        size_t length = strcspn(path + sizeof mark - 1, "(");
        if (length < sizeof maps->refusal)
            (void)snprintf(maps->refusal, sizeof maps->refusal, "%.*s", (int)length,
                           path + sizeof mark - 1);
    } else if (is_ring_of(path, pid, session)) {
        maps->ring = true;
    } else if (!maps->elsewhere[0]) {
        take_other_session(maps, path, pid);
    }
}

/* Lines without a file have no slash. */
static void take_lines(struct maps *maps, char *text, uint32_t pid, const char *session)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *path = strchr(line, '/');
        if (path)
            take_path(maps, path, pid, session);
    }
}

enum maps_read maps_read(uint32_t pid, const char *session, struct maps *maps)
{
    char text[(16 << 10) + 1];
    size_t kept = 0;
    memset(maps, 0, sizeof *maps);
    int file = open_of(pid, "maps");
    if (file < 0)
        return errno == EACCES || errno == EPERM ? MAPS_HIDDEN : MAPS_GONE;
    bool any = false;
    for (ssize_t length; (length = read(file, text + kept, sizeof text - 1 - kept)) != 0;) {
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            break;
        size_t size = kept + (size_t)length;
        char *end = memrchr(text, '\n', size);
        size_t whole = end ? (size_t)(end - text) + 1 : size;
        any = true;
        char next = text[whole];
        text[whole - (end != NULL)] = '\0';
        take_lines(maps, text, pid, session);
        text[whole] = next;
        kept = size - whole;
        memmove(text, text + whole, kept);
    }
    (void)close(file);
    return any ? MAPS_READ : MAPS_GONE;
}

static const char *find(const char *text, size_t size, const char *variable)
{
    size_t length = strlen(variable);
    for (const char *at = text; at < text + size; at += strlen(at) + 1)
        if (strncmp(at, variable, length) == 0)
            return at + length;
    return NULL;
}

/* A process may have written a title over its environment (setproctitle). */
static enum maps_told judge(const char *text, size_t size, bool *preloaded)
{
    const char *tools = find(text, size, "HSA_TOOLS_LIB=");
    const char *preload = find(text, size, "LD_PRELOAD=");
    *preloaded = preload && strstr(preload, "librtl.so");
    if (size == 0)
        return MAPS_TOLD_NOTHING;
    if (!memchr(text, '=', size))
        return MAPS_TOLD_UNKNOWN;
    if (!tools || !tools[0])
        return MAPS_TOLD_NO_TOOL;
    return strstr(tools, "librtl.so") ? MAPS_TOLD : MAPS_TOLD_OTHERS;
}

enum maps_told maps_told(uint32_t pid, bool *preloaded)
{
    enum maps_told told = MAPS_TOLD_UNKNOWN;
    char *text = malloc(MOST_ENVIRONMENT + 1);
    int file = text ? open_of(pid, "environ") : -1;
    ssize_t size = file < 0 ? -1 : read_all(file, text, MOST_ENVIRONMENT);
    *preloaded = false;
    if (size >= 0) {
        text[size] = '\0';
        told = judge(text, (size_t)size, preloaded);
    }
    if (file >= 0)
        (void)close(file);
    free(text);
    return told;
}

void maps_command(uint32_t pid, char *text, size_t size)
{
    int file = open_of(pid, "cmdline");
    ssize_t length = file < 0 ? -1 : read_all(file, text, size - 1);
    if (file >= 0)
        (void)close(file);
    if (length < 0)
        length = 0;
    while (length > 0 && text[length - 1] == '\0')
        length--;
    for (ssize_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            text[i] = text[i] == '\0' ? ' ' : '?';
    text[length] = '\0';
}
