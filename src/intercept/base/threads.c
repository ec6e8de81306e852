#include "intercept/base/threads.h"

#include "common/pages.h"
#include "intercept/base/emit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Threads at once whose end is looked at; the collector looks at all. */
#define MOST 1024u

/* Of a name in the kernel, with its NUL; TASK_COMM_LEN of Linux. */
#define COMM 16u

#define TITLE_MOST 4096u

/* How many threads of each tid have been met is counted in pieces of memory for so many tids. */
#define PIECE_BITS 14u
#define PIECE      (1u << PIECE_BITS)
#define PIECES     (1u << (RTL_TID_BITS - PIECE_BITS))

/* A thread that has been met and has not ended. */
struct met {
    _Atomic uint32_t thread; /* 0: free */
    _Atomic uint32_t state;
    char comm[COMM]; /* when it was met */
};

enum state { IN_THE_MAKING, UNREPORTED, REPORTED };

static struct met *_Atomic places;  /* MOST; NULL: nobody was met, or there was no memory */
static _Atomic uint32_t unreported; /* places that nobody has looked at yet */

/* Whoever reports: what is reported last counts. Not on the packet path. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef _Atomic uint8_t *piece;
static _Atomic(piece) seen[PIECES]; /* NULL: nobody was met there, or there was no memory */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key;

static void tell(enum rtl_named kind, uint64_t handle, const char *text, size_t length)
{
    struct rtl_wire_name wire = {
        .handle = handle, .kind = (uint32_t)kind, .text_length = (uint16_t)length};
    struct rtl_piece pieces[] = {{&wire, sizeof wire}, {text, length}};
    if (length > 0)
        rtl_emit_definition(RTL_WIRE_NAME, pieces, 2);
}

static void tell_thread(uint32_t thread, const char text[COMM])
{
    tell(RTL_NAMED_COMM, thread, text, strnlen(text, COMM));
}

/* Under the lock. */
static void free_place(struct met *place)
{
    atomic_store(&place->state, IN_THE_MAKING);
    atomic_store(&place->thread, 0);
}

/* The calling thread ends. */
static void at_end(void *value)
{
    struct met *place = value;
    char now[COMM] = "";
    int saved = errno;
    uint32_t thread = atomic_load(&place->thread);
    if (rtl_thread_tid(thread) != (uint32_t)gettid()) /* the parent's, of a forked child */
        return;
    pthread_mutex_lock(&lock);
    bool reported = atomic_load(&place->state) == REPORTED;
    if (prctl(PR_GET_NAME, now) == 0 && !(reported && strncmp(place->comm, now, COMM) == 0))
        tell_thread(thread, now);
    free_place(place);
    pthread_mutex_unlock(&lock);
    errno = saved;
}

static void set_up(void)
{
    has_key = pthread_key_create(&key, at_end) == 0;
    atomic_store(&places, rtl_pages(MOST * sizeof *places));
}

static unsigned place_count(void)
{
    return atomic_load(&places) != NULL ? MOST : 0;
}

/* A place for the calling thread, NULL if all are taken. */
static struct met *take_place(uint32_t thread)
{
    struct met *all = atomic_load(&places);
    for (unsigned i = 0; i < place_count(); i++) {
        uint32_t none = 0;
        if (atomic_load_explicit(&all[i].thread, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong(&all[i].thread, &none, thread))
            return &all[i];
    }
    return NULL;
}

/* NULL if there is no memory. */
static piece piece_of(uint32_t tid)
{
    _Atomic(piece) *place = &seen[tid >> PIECE_BITS];
    piece known = atomic_load(place);
    piece made = known == NULL ? rtl_pages(PIECE * sizeof *made) : NULL;
    if (made != NULL && !atomic_compare_exchange_strong(place, &known, made)) {
        rtl_pages_give((void *)made, PIECE * sizeof *made);
        return known; /* another thread's */
    }
    return made != NULL ? made : known;
}

static uint32_t count_tid(uint32_t tid)
{
    piece counts = tid <= RTL_TID_MOST ? piece_of(tid) : NULL;
    if (counts == NULL)
        return 0;
    uint8_t before = atomic_load_explicit(&counts[tid % PIECE], memory_order_relaxed);
    if (before < RTL_TID_BEFORE)
        atomic_store_explicit(&counts[tid % PIECE], before + 1, memory_order_relaxed);
    return before;
}

uint32_t rtl_threads_meet(uint32_t tid)
{
    int saved = errno;
    pthread_once(&once, set_up);
    uint32_t thread = rtl_thread_id(tid, count_tid(tid));
    struct met *place = has_key ? take_place(thread) : NULL;
    if (place != NULL && (prctl(PR_GET_NAME, place->comm) != 0 || pthread_setspecific(key, place)))
        atomic_store(&place->thread, 0);
    else if (place != NULL) {
        atomic_store(&place->state, UNREPORTED);
        atomic_fetch_add(&unreported, 1);
    }
    errno = saved;
    return thread;
}

void rtl_threads_look(void)
{
    if (atomic_load_explicit(&unreported, memory_order_relaxed) == 0)
        return;
    struct met *all = atomic_load(&places);
    pthread_mutex_lock(&lock);
    atomic_store(&unreported, 0);
    for (unsigned i = 0; i < place_count(); i++) {
        if (atomic_load(&all[i].state) != UNREPORTED)
            continue;
        tell_thread(atomic_load(&all[i].thread), all[i].comm);
        atomic_store(&all[i].state, REPORTED);
    }
    pthread_mutex_unlock(&lock);
}

void rtl_threads_begin(void)
{
    // The pointer is an unsigned long there: NOLINTNEXTLINE(performance-no-int-to-ptr)
    const char *path = (const char *)getauxval(AT_EXECFN);
    const char *name = path != NULL ? strrchr(path, '/') : NULL;
    name = name != NULL ? name + 1 : path;
    if (name != NULL)
        tell(RTL_NAMED_START, getauxval(AT_RANDOM), name, strnlen(name, COMM - 1));
}

static size_t read_file(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, size) : -1;
    if (file >= 0)
        close(file);
    return length > 0 ? (size_t)length : 0;
}

size_t rtl_threads_title(char *text, size_t size)
{
    size_t length = read_file("/proc/self/cmdline", text, size);
    while (length > 0 && (text[length - 1] == '\0' || text[length - 1] == ' '))
        length--;
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    return length;
}

/* Under the lock. */
static void tell_again(const struct met *place)
{
    char path[64];
    char comm[COMM + 1]; /* a newline follows */
    uint32_t thread = atomic_load(&place->thread);
    (void)snprintf(path, sizeof path, "/proc/self/task/%u/comm", rtl_thread_tid(thread));
    size_t length = read_file(path, comm, sizeof comm);
    length -= length > 0 && comm[length - 1] == '\n';
    tell(RTL_NAMED_COMM, thread, comm, length);
}

void rtl_threads_end(void)
{
    int saved = errno;
    char title[TITLE_MOST];
    const struct met *all = atomic_load(&places);
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < place_count(); i++)
        if (atomic_load(&all[i].state) != IN_THE_MAKING)
            tell_again(&all[i]);
    pthread_mutex_unlock(&lock);
    tell(RTL_NAMED_TITLE, 0, title, rtl_threads_title(title, sizeof title));
    errno = saved;
}

void rtl_threads_forked(void)
{
    struct met *all = atomic_load(&places);
    pthread_mutex_init(&lock, NULL);
    for (unsigned i = 0; i < place_count(); i++)
        if (atomic_load_explicit(&all[i].thread, memory_order_relaxed) != 0)
            free_place(&all[i]);
}
