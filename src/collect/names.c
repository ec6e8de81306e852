#include "collect/names.h"

#include "common/clock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define FIRST_WAIT_NS UINT64_C(20000000)
#define MOST_WAIT_NS  UINT64_C(1000000000)

/* Threads of a process: that are looked at at once, and in all. */
#define AT_ONCE 128u
#define MOST    4096u

#define TITLE_MOST 4096u
#define COMM       16u /* with its NUL */

struct named_thread {
    uint32_t thread; /* as rtl_thread_id has it */
    uint64_t start;  /* field 22 of its stat, 0: not known yet */
    char comm[COMM];
    bool gone, changed;
};

void names_free(struct names *names)
{
    free(names->threads);
    free(names->title);
    *names = (struct names){0};
}

static struct named_thread *find(struct names *names, uint32_t thread)
{
    for (uint32_t i = names->count; i-- > 0;)
        if (names->threads[i].thread == thread)
            return &names->threads[i];
    return NULL;
}

static void drop_gone(struct names *names)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < names->count; i++)
        if (!names->threads[i].gone)
            names->threads[kept++] = names->threads[i];
    names->count = kept;
}

static struct named_thread *add(struct names *names, uint32_t thread)
{
    if (names->count == names->capacity)
        drop_gone(names);
    if (names->count == MOST)
        return NULL;
    if (names->count == names->capacity) {
        uint32_t capacity = names->capacity ? 2 * names->capacity : 16;
        struct named_thread *threads = realloc(names->threads, capacity * sizeof *threads);
        if (!threads)
            return NULL;
        names->threads = threads;
        names->capacity = capacity;
    }
    names->threads[names->count] = (struct named_thread){.thread = thread};
    return &names->threads[names->count++];
}

/* The one before has ended. */
static void forget_before(struct names *names, uint32_t thread)
{
    for (uint32_t i = 0; i < names->count && rtl_thread_generation(thread) > 1; i++)
        if (rtl_thread_tid(names->threads[i].thread) == rtl_thread_tid(thread))
            names->threads[i].gone = true;
}

void names_met(struct names *names, const struct rtl_wire_name *name, const char *text)
{
    if (name->kind == RTL_NAMED_START)
        names->image = name->handle;
    if (name->kind != RTL_NAMED_COMM)
        return;
    uint32_t id = (uint32_t)name->handle;
    struct named_thread *thread = find(names, id);
    if (!thread) {
        forget_before(names, id);
        thread = add(names, id);
        names->wait_ns = FIRST_WAIT_NS;
        names->look_at = 0;
    }
    if (thread)
        (void)snprintf(thread->comm, sizeof thread->comm, "%.*s", (int)name->text_length, text);
}

static size_t read_file(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, size - 1) : -1;
    if (file >= 0)
        (void)close(file);
    text[length > 0 ? length : 0] = '\0';
    return length > 0 ? (size_t)length : 0;
}

static void tell(struct rtl_writer *writer, uint32_t process, enum rtl_named kind, uint64_t handle,
                 const char *text)
{
    const struct rtl_wire_name name = {
        .handle = handle, .kind = (uint32_t)kind, .text_length = (uint16_t)strlen(text)};
    rtl_writer_name(writer, process, &name, text);
}

/* Takes name and start time out of a thread's stat (proc(5)): the name stands in parentheses, and
 * may have some itself. False if it is none. */
static bool parse_stat(char *text, const char **comm, uint64_t *start)
{
    char *begin = strchr(text, '(');
    char *end = strrchr(text, ')');
    if (!begin || !end || end < begin)
        return false;
    *end = '\0';
    *comm = begin + 1;
    char *at = end + 1;
    for (unsigned field = 2; field < 21 && at; field++) /* to the blank before field 22 */
        at = strchr(at + 1, ' ');
    *start = at ? strtoull(at, NULL, 10) : 0;
    return *start != 0;
}

static void look_at_thread(struct named_thread *thread, uint32_t pid)
{
    char path[64];
    char text[1024];
    const char *comm = "";
    uint64_t start = 0;
    if (thread->gone)
        return;
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", pid,
                   rtl_thread_tid(thread->thread));
    (void)read_file(path, text, sizeof text);
    if (!parse_stat(text, &comm, &start) || (thread->start && thread->start != start)) {
        thread->gone = true; /* its tid may be another's from now on */
        return;
    }
    thread->start = start;
    if (!comm[0] || strncmp(thread->comm, comm, COMM - 1) == 0)
        return;
    (void)snprintf(thread->comm, sizeof thread->comm, "%s", comm);
    thread->changed = true;
}

/* True if the title is another than it was. */
static bool look_at_title(struct names *names, uint32_t pid)
{
    char path[64];
    char text[TITLE_MOST + 1];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/cmdline", pid);
    size_t length = read_file(path, text, sizeof text);
    while (length > 0 && (text[length - 1] == '\0' || text[length - 1] == ' '))
        text[--length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    if (length == 0 || (names->title && strcmp(names->title, text) == 0))
        return false;
    free(names->title);
    names->title = strdup(text);
    return names->title != NULL;
}

/* Whether the process still runs the image that wrote the ring: after an exec it is another, with
 * the same pid and start. Each has its random bytes at an address of its own (proc(5), auxv). */
static bool is_same_image(const struct names *names, uint32_t pid)
{
    char path[64];
    uint64_t words[128];
    char text[sizeof words + 1];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/auxv", pid);
    size_t count = read_file(path, text, sizeof text) / sizeof *words;
    memcpy(words, text, sizeof words);
    for (size_t i = 0; i + 1 < count; i += 2)
        if (words[i] == AT_RANDOM)
            return words[i + 1] == names->image;
    return false;
}

/* What was read is told only if it was that image's. */
static void look(struct names *names, uint32_t pid, struct rtl_writer *writer, uint32_t process)
{
    uint32_t most = names->count < AT_ONCE ? names->count : AT_ONCE;
    for (uint32_t i = 0; i < most; i++, names->next++) {
        names->next = names->next < names->count ? names->next : 0;
        look_at_thread(&names->threads[names->next], pid);
    }
    bool titled = look_at_title(names, pid);
    if (!is_same_image(names, pid)) {
        names->over = true;
        return;
    }
    if (titled)
        tell(writer, process, RTL_NAMED_TITLE, 0, names->title);
    for (uint32_t i = 0; i < names->count; i++) {
        if (names->threads[i].changed)
            tell(writer, process, RTL_NAMED_COMM, names->threads[i].thread, names->threads[i].comm);
        names->threads[i].changed = false;
    }
}

void names_look(struct names *names, uint32_t pid, struct rtl_writer *writer, uint32_t process)
{
    uint64_t now = rtl_now();
    if (names->over || now < names->look_at || names->count == 0)
        return;
    if (names->look_at != 0) /* the first time is when the thread has just told its name */
        look(names, pid, writer, process);
    names->look_at = now + names->wait_ns;
    names->wait_ns = names->wait_ns < MOST_WAIT_NS / 2 ? 2 * names->wait_ns : MOST_WAIT_NS;
}
