#include "ring/process.h"

#include "common/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_NAME 255u

/* Fields of /proc/PID/stat, as proc(5) counts. */
enum {
    PARENT = 4,
    GROUP = 5,
    SESSION = 6,
    THREADS = 20,
    START_TIME = 22,
    START_CODE = 26,
    END_CODE = 27,
    START_STACK = 28
};

/* A field from the fourth on; `name_end` is the parenthesis that ends the second. */
static uint64_t stat_field(const char *name_end, int number)
{
    for (int field = 2; field < number && name_end != NULL; field++)
        name_end = strchr(name_end + 1, ' ');
    return name_end != NULL ? strtoull(name_end, NULL, 10) : 0;
}

/* What a failure to read about a process says of its start time. */
static uint64_t start_by_errno(void)
{
    return errno == ENOENT || errno == ESRCH ? 0 : RTL_START_UNKNOWN;
}

/* Reads /proc/PID/stat; 0, or -1 with errno. */
static int read_stat(uint32_t pid, char *text, size_t size)
{
    (void)snprintf(text, size, "/proc/%u/stat", pid);
    int file = open(text, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    errno = ESRCH;
    ssize_t length = read(file, text, size - 1);
    int failed = errno;
    close(file);
    errno = failed;
    if (length <= 0)
        return -1;
    text[length] = '\0';
    return 0;
}

/* A stack at 0 is one that may not be told. */
static uint64_t image_of(const char *name_end)
{
    uint64_t stack = stat_field(name_end, START_STACK);
    uint64_t image = stack * UINT64_C(0x9E3779B97F4A7C15);
    image = (image ^ stat_field(name_end, START_CODE)) * UINT64_C(0x9E3779B97F4A7C15);
    image = (image ^ stat_field(name_end, END_CODE)) * UINT64_C(0x9E3779B97F4A7C15);
    return stack == 0 ? 0 : image | 1;
}

/* Where only the main thread has ended the process looks like a zombie too, but has other threads.
 */
static bool has_ended(const char *name_end)
{
    return name_end == NULL || name_end[1] == '\0' || name_end[2] == 'X' ||
           (name_end[2] == 'Z' && stat_field(name_end, THREADS) <= 1);
}

/* True if the process has not ended, or cannot be asked. */
static bool look(uint32_t pid, struct rtl_process_facts *facts)
{
    char text[1024];
    *facts = (struct rtl_process_facts){0};
    if (read_stat(pid, text, sizeof text) != 0) {
        facts->start = start_by_errno();
        return facts->start != 0;
    }
    const char *name_end = strrchr(text, ')'); /* the name may hold anything */
    if (has_ended(name_end))
        return false;
    facts->parent = (uint32_t)stat_field(name_end, PARENT);
    facts->group = (int32_t)stat_field(name_end, GROUP);
    facts->session = (int32_t)stat_field(name_end, SESSION);
    facts->start = rtl_clock_start_ticks(stat_field(name_end, START_TIME));
    facts->image = image_of(name_end);
    return true;
}

uint32_t rtl_process_own(void)
{
    char text[16];
    int saved = errno;
    ssize_t length = readlink("/proc/self", text, sizeof text - 1);
    errno = saved;
    text[length > 0 ? length : 0] = '\0';
    uint32_t pid = (uint32_t)strtoul(text, NULL, 10);
    return pid != 0 ? pid : (uint32_t)getpid();
}

static uint64_t space_at(const char *link)
{
    struct stat status;
    return stat(link, &status) == 0 ? status.st_ino : 0;
}

/* The last number of the line NSpid of a status (proc(5)), 0 if there is none. */
static uint32_t innermost(const char *text)
{
    static const char key[] = "\nNSpid:";
    const char *at = strstr(text, key);
    char *end = NULL;
    unsigned long pid = 0;
    for (at = at != NULL ? at + sizeof key - 1 : ""; *at == '\t'; at = end)
        pid = strtoul(at, &end, 10);
    return (uint32_t)pid;
}

static uint32_t inner_pid(uint32_t pid)
{
    char text[4096]; /* the line is among the first twenty; what is before it is short */
    (void)snprintf(text, sizeof text, "/proc/%u/status", pid);
    int file = open(text, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = '\0';
    return innermost(text);
}

struct rtl_process_id rtl_process_id_own(void)
{
    int saved = errno;
    struct rtl_process_id id = {space_at("/proc/self/ns/pid"), (uint32_t)getpid()};
    errno = saved;
    return id;
}

struct rtl_process_id rtl_process_id(uint32_t pid)
{
    char link[32];
    int saved = errno;
    (void)snprintf(link, sizeof link, "/proc/%u/ns/pid", pid);
    struct rtl_process_id id = {space_at(link), inner_pid(pid)};
    errno = saved;
    return id;
}

static bool is_process(uint32_t pid, const struct rtl_process_id *id, uint64_t start,
                       bool *is_space_seen)
{
    char link[32];
    (void)snprintf(link, sizeof link, "/proc/%u/ns/pid", pid);
    if (space_at(link) != id->space)
        return false;
    *is_space_seen = true;
    if (inner_pid(pid) != id->inner)
        return false;
    uint64_t now = rtl_process_facts(pid).start;
    return now != 0 && rtl_process_same_start(now, start);
}

uint32_t rtl_process_find(const struct rtl_process_id *id, uint64_t start, bool *is_space_seen)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    uint32_t found = 0;
    while (folder != NULL && found == 0 &&
           (entry = readdir(folder)) != NULL) { // NOLINT(concurrency-mt-unsafe): own stream
        uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (pid != 0 && is_process(pid, id, start, is_space_seen))
            found = pid;
    }
    if (folder != NULL)
        (void)closedir(folder);
    return found;
}

bool rtl_process_same_start(uint64_t start, uint64_t other)
{
    uint64_t apart = start > other ? start - other : other - start;
    return start == RTL_START_UNKNOWN || other == RTL_START_UNKNOWN || apart <= 1;
}

/* A thread that executes a program takes the place of the main thread, which looks for a moment as
 * if all had ended: hence the second look. */
struct rtl_process_facts rtl_process_facts(uint32_t pid)
{
    struct rtl_process_facts facts;
    if (!look(pid, &facts))
        (void)look(pid, &facts);
    return facts;
}

bool rtl_process_is(const struct rtl_process_facts *facts, uint64_t start)
{
    uint64_t now = facts->start;
    return now != 0 && (now == start || now == RTL_START_UNKNOWN || start == RTL_START_UNKNOWN);
}

bool rtl_process_alive(uint32_t pid, uint64_t start)
{
    struct rtl_process_facts facts = rtl_process_facts(pid);
    return rtl_process_is(&facts, start);
}

/* True if a line of the text ends with the name, but for what the system says of a file that was
 * removed. */
static bool has_name(const char *text, size_t length, const char *name)
{
    size_t size = strlen(name);
    const char *end = text + length;
    for (const char *at = text; (at = memmem(at, (size_t)(end - at), name, size)) != NULL; at++)
        if (at + size < end && (at[size] == '\n' || at[size] == ' '))
            return true;
    return false;
}

/* The end of each piece is looked at again with the next one, since a name may lie across them.
 * Nothing at all is what a process that is about to end has mapped. */
static enum rtl_mapped find_in(int file, const char *name)
{
    char text[8192];
    size_t kept = 0;
    enum rtl_mapped found = RTL_MAPPED_UNKNOWN;
    for (;;) {
        ssize_t length = read(file, text + kept, sizeof text - kept);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return length < 0 ? RTL_MAPPED_UNKNOWN : found;
        found = RTL_MAPPED_NO;
        size_t end = kept + (size_t)length;
        if (has_name(text, end, name))
            return RTL_MAPPED_YES;
        kept = end < MOST_NAME + 1 ? end : MOST_NAME + 1;
        memmove(text, text + end - kept, kept);
    }
}

enum rtl_mapped rtl_process_maps(uint32_t pid, const char *end)
{
    char path[32];
    size_t length = strlen(end);
    const char *name = length > MOST_NAME ? end + length - MOST_NAME : end;
    (void)snprintf(path, sizeof path, "/proc/%u/maps", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return RTL_MAPPED_UNKNOWN;
    enum rtl_mapped found = find_in(file, name);
    close(file);
    return found;
}
