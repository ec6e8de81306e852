#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define CALLS_MAX (1u << 21)
#define DEPTH     128
#define HELD_MAX  (1u << 18) /* power of two */
#define FILES_MAX 1024

static struct fault_plan plan;
static bool armed, with_stacks, time_stands;
/* libc says of dlsym and its like that they do not call back. */
static _Thread_local volatile bool inside, finding;
static uint64_t calls, failed_stack, stacks[CALLS_MAX];
static void *failed_frames[DEPTH];
static int failed_depth, outer_depth; /* outer: frames of who runs the scenario */
static int64_t passed_ns;
#define CLOCKS 16
static struct timespec stopped[CLOCKS]; /* what the clocks stand at while armed */
static void *held[HELD_MAX];
static size_t held_count;
static bool on_path[FILES_MAX]; /* descriptors of files that the plan's path means */

/* Where dlsym itself asks for memory. */
static char early[4096];
static size_t early_used;

/* `below` is the function of this name that the libraries define. */
#define BELOW(name)                                                                                \
    static __typeof__(&(name)) below;                                                              \
    if (!below)                                                                                    \
    find_below((void **)&below, #name)

static void find_below(void **function, const char *name)
{
    finding = true;
    *function = dlsym(RTLD_NEXT, name);
    finding = false;
    if (!*function) {
        static const char sentence[] = "a function to stand before is missing\n";
        (void)!write(STDERR_FILENO, sentence, sizeof sentence - 1);
        _exit(99);
    }
}

/* The program's own code, from the linker. */
extern const char __executable_start[] __attribute__((weak)),
    etext[] __attribute__((weak)); /* NOLINT(bugprone-reserved-identifier) */

/* A place is a stack of the program's own functions: what goes on within SQLite is its own affair.
 * Frames of the shim, and those around the scenario, do not count. */
static uint64_t stack_hash(void **frames, int *depth)
{
    inside = true;
    *depth = backtrace(frames, DEPTH);
    inside = false;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 2; i < *depth - outer_depth; i++)
        if ((const char *)frames[i] >= __executable_start && (const char *)frames[i] < etext)
            hash = (hash ^ (uint64_t)(uintptr_t)frames[i]) * UINT64_C(0x100000001b3);
    return hash | 1;
}

void fault_begin(const struct fault_plan *wanted, bool remember)
{
    void *frames[DEPTH];
    armed = false;
    (void)backtrace(frames, DEPTH); /* the first one loads a library */
    outer_depth = backtrace(frames, DEPTH) - 1;
    plan = *wanted;
    with_stacks = remember;
    calls = failed_stack = 0;
    failed_depth = 0;
    passed_ns = 0;
    for (clockid_t clock = 0; clock < CLOCKS; clock++)
        (void)clock_gettime(clock, &stopped[clock]);
    if (held_count)
        memset(held, 0, sizeof held);
    held_count = 0;
}

void fault_arm(void)
{
    armed = true;
}

void fault_disarm(void)
{
    armed = false;
}

void fault_stop_time(void)
{
    time_stands = true;
}

uint64_t fault_calls(void)
{
    return calls;
}

const uint64_t *fault_stacks(void)
{
    return stacks;
}

uint64_t fault_failed(void)
{
    return failed_stack;
}

void fault_show(void)
{
    backtrace_symbols_fd(failed_frames, failed_depth, STDERR_FILENO);
}

size_t fault_held(void)
{
    return held_count;
}

void fault_pass(uint64_t ns)
{
    passed_ns += (int64_t)ns;
}

int fault_error(void)
{
    return plan.error;
}

/* The stack is taken in one place, for its own address is in it. */
bool fault_strikes(enum fault_kind kind)
{
    void *frames[DEPTH];
    int depth = 0;
    if (!armed || inside || kind != plan.kind)
        return false;
    uint64_t number = ++calls;
    bool strikes = plan.at != 0 && number >= plan.at && number - plan.at < plan.calls;
    bool first = strikes && !failed_stack;
    bool remember = with_stacks && number <= CALLS_MAX;
    uint64_t stack = first || remember ? stack_hash(frames, &depth) : 0;
    if (remember)
        stacks[number - 1] = stack;
    if (first) {
        failed_stack = stack;
        failed_depth = depth;
        memcpy(failed_frames, frames, sizeof frames);
    }
    return strikes;
}

/* Memory. */

static size_t place_of(const void *block)
{
    return ((uintptr_t)block >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 46;
}

_Static_assert(HELD_MAX == 1u << (64 - 46), "places are as many as there are blocks");

static void *hold(void *block)
{
    if (!armed || inside || !time_stands || !block || held_count >= HELD_MAX / 2)
        return block;
    size_t place = place_of(block);
    while (held[place])
        place = (place + 1) & (HELD_MAX - 1);
    held[place] = block;
    held_count++;
    return block;
}

/* Closes the gap that a removed block leaves, so that those behind it are found. */
static void fill_gap(size_t gap)
{
    for (size_t place = (gap + 1) & (HELD_MAX - 1); held[place];
         place = (place + 1) & (HELD_MAX - 1)) {
        size_t home = place_of(held[place]);
        if (((place - home) & (HELD_MAX - 1)) >= ((place - gap) & (HELD_MAX - 1))) {
            held[gap] = held[place];
            held[place] = NULL;
            gap = place;
        }
    }
}

static void let_go(const void *block)
{
    if (held_count == 0 || !block)
        return;
    size_t place = place_of(block);
    while (held[place] && held[place] != block)
        place = (place + 1) & (HELD_MAX - 1);
    if (!held[place])
        return;
    held[place] = NULL;
    held_count--;
    fill_gap(place);
}

static bool memory_fails(void)
{
    if (!fault_strikes(FAULT_MEMORY))
        return false;
    errno = ENOMEM;
    return true;
}

static void *early_block(size_t size)
{
    size_t used = early_used;
    early_used += (size + 15) & ~(size_t)15;
    return early_used <= sizeof early ? early + used : NULL;
}

static bool is_early(const void *block)
{
    return (const char *)block >= early && (const char *)block < early + sizeof early;
}

EXPORT void *malloc(size_t size)
{
    if (finding)
        return early_block(size);
    BELOW(malloc);
    return memory_fails() ? NULL : hold(below(size));
}

EXPORT void *calloc(size_t count, size_t size)
{
    if (finding)
        return early_block(count * size);
    BELOW(calloc);
    return memory_fails() ? NULL : hold(below(count, size));
}

EXPORT void *realloc(void *block, size_t size)
{
    if (finding)
        return NULL;
    BELOW(realloc);
    if (memory_fails())
        return NULL;
    void *moved = below(block, size);
    if (moved) {
        let_go(block);
        (void)hold(moved);
    }
    return moved;
}

EXPORT void free(void *block)
{
    if (finding) /* what dlsym gives back is not much */
        return;
    BELOW(free);
    let_go(block);
    if (!is_early(block))
        below(block);
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
    BELOW(posix_memalign);
    if (memory_fails())
        return ENOMEM;
    int result = below(block, alignment, size);
    if (result == 0)
        (void)hold(*block);
    return result;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    BELOW(aligned_alloc);
    return memory_fails() ? NULL : hold(below(alignment, size));
}

/* Sanitizers have their own, which does not come by malloc. */
EXPORT char *strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* Files. */

static bool means(const char *path)
{
    return !plan.path || strncmp(path, plan.path, strlen(plan.path)) == 0;
}

/* Takes note of a descriptor, if it could be opened. */
static int opened(const char *path, int file)
{
    if (file >= 0 && file < FILES_MAX)
        on_path[file] = means(path);
    return file;
}

/* True if a call that takes room on the disk has to fail, with errno set. */
static bool room_fails(bool meant)
{
    if (!meant || !fault_strikes(FAULT_FILE))
        return false;
    errno = plan.error == FAULT_SHORT ? EIO : plan.error;
    return true;
}

/* The same of any other call. */
static bool file_fails(bool meant)
{
    return !plan.room_only && room_fails(meant);
}

static bool meant(int file)
{
    return !plan.path || (file >= 0 && file < FILES_MAX && on_path[file]);
}

/* The same of a read or write: `*size` may become less. */
static bool transfer_fails(int file, size_t *size)
{
    if (!meant(file) || !fault_strikes(FAULT_FILE))
        return false;
    if (plan.error == FAULT_SHORT && *size > 1) {
        *size /= 2;
        return false;
    }
    errno = plan.error == FAULT_SHORT ? EIO : plan.error;
    return true;
}

/* NOLINTBEGIN(bugprone-macro-parentheses,clang-analyzer-valist.Uninitialized): a declaration; and
 * clang-tidy 14 misses va_start here */
#define MODE_OF(flags, mode)                                                                       \
    mode_t mode = 0;                                                                               \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                         \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode = (mode_t)va_arg(more, int);                                                          \
        va_end(more);                                                                              \
    }

EXPORT int open(const char *path, int flags, ...)
{
    BELOW(open);
    MODE_OF(flags, mode)
    bool fails = flags & O_CREAT ? room_fails(means(path)) : file_fails(means(path));
    return fails ? -1 : opened(path, below(path, flags, mode));
}

EXPORT int open64(const char *path, int flags, ...)
{
    BELOW(open64);
    MODE_OF(flags, mode)
    bool fails = flags & O_CREAT ? room_fails(means(path)) : file_fails(means(path));
    return fails ? -1 : opened(path, below(path, flags, mode));
}

/* NOLINTEND(bugprone-macro-parentheses,clang-analyzer-valist.Uninitialized) */

EXPORT int mkostemp(char *path, int flags)
{
    BELOW(mkostemp);
    return room_fails(means(path)) ? -1 : opened(path, below(path, flags));
}

EXPORT int close(int file)
{
    BELOW(close);
    if (file >= 0 && file < FILES_MAX)
        on_path[file] = false;
    return below(file);
}

EXPORT ssize_t read(int file, void *to, size_t size)
{
    BELOW(read);
    bool fails = !plan.room_only && transfer_fails(file, &size);
    return fails ? -1 : below(file, to, size);
}

EXPORT ssize_t write(int file, const void *from, size_t size)
{
    BELOW(write);
    return transfer_fails(file, &size) ? -1 : below(file, from, size);
}

EXPORT ssize_t pread(int file, void *to, size_t size, off_t at)
{
    BELOW(pread);
    bool fails = !plan.room_only && transfer_fails(file, &size);
    return fails ? -1 : below(file, to, size, at);
}

EXPORT ssize_t pread64(int file, void *to, size_t size, off64_t at)
{
    BELOW(pread64);
    bool fails = !plan.room_only && transfer_fails(file, &size);
    return fails ? -1 : below(file, to, size, at);
}

EXPORT ssize_t pwrite64(int file, const void *from, size_t size, off64_t at)
{
    BELOW(pwrite64);
    return transfer_fails(file, &size) ? -1 : below(file, from, size, at);
}

/* What is on the disk after a fall of the power is not what these tests are about. */
EXPORT int fsync(int file)
{
    BELOW(fsync);
    if (room_fails(meant(file)))
        return -1;
    return armed && time_stands ? 0 : below(file);
}

EXPORT int fdatasync(int file)
{
    BELOW(fdatasync);
    if (room_fails(meant(file)))
        return -1;
    return armed && time_stands ? 0 : below(file);
}

EXPORT int ftruncate(int file, off_t size)
{
    BELOW(ftruncate);
    return room_fails(meant(file)) ? -1 : below(file, size);
}

EXPORT int ftruncate64(int file, off64_t size)
{
    BELOW(ftruncate64);
    return room_fails(meant(file)) ? -1 : below(file, size);
}

EXPORT int fchmod(int file, mode_t mode)
{
    BELOW(fchmod);
    return file_fails(meant(file)) ? -1 : below(file, mode);
}

EXPORT int fstat(int file, struct stat *status)
{
    BELOW(fstat);
    return file_fails(meant(file)) ? -1 : below(file, status);
}

EXPORT int fstat64(int file, struct stat64 *status)
{
    BELOW(fstat64);
    return file_fails(meant(file)) ? -1 : below(file, status);
}

EXPORT int stat(const char *path, struct stat *status)
{
    BELOW(stat);
    return file_fails(means(path)) ? -1 : below(path, status);
}

EXPORT int stat64(const char *path, struct stat64 *status)
{
    BELOW(stat64);
    return file_fails(means(path)) ? -1 : below(path, status);
}

/* Locks that are asked for. */
EXPORT int fcntl64(int file, int command, ...)
{
    BELOW(fcntl64);
    va_list more;
    va_start(more, command);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): as above */
    void *argument = va_arg(more, void *);
    va_end(more);
    bool lock =
        command == F_GETLK || (command == F_SETLK && ((struct flock *)argument)->l_type != F_UNLCK);
    return lock && file_fails(meant(file)) ? -1 : below(file, command, argument);
}

EXPORT int rename(const char *from, const char *to)
{
    BELOW(rename);
    return file_fails(means(from)) ? -1 : below(from, to);
}

EXPORT int renameat2(int from_folder, const char *from, int to_folder, const char *to,
                     unsigned flags)
{
    BELOW(renameat2);
    return file_fails(means(from)) ? -1 : below(from_folder, from, to_folder, to, flags);
}

EXPORT int link(const char *from, const char *to)
{
    BELOW(link);
    return file_fails(means(from)) ? -1 : below(from, to);
}

EXPORT int unlink(const char *path)
{
    BELOW(unlink);
    return file_fails(means(path)) ? -1 : below(path);
}

EXPORT void *mmap(void *address, size_t size, int protection, int flags, int file, off_t at)
{
    BELOW(mmap);
    bool fails = file >= 0 && file_fails(meant(file));
    return fails ? MAP_FAILED : below(address, size, protection, flags, file, at);
}

EXPORT void *mmap64(void *address, size_t size, int protection, int flags, int file, off64_t at)
{
    BELOW(mmap64);
    bool fails = file >= 0 && file_fails(meant(file));
    return fails ? MAP_FAILED : below(address, size, protection, flags, file, at);
}

/* Time. So that a scenario is the same each time, it stands while it is not put forward. */

EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
    BELOW(clock_gettime);
    if (!armed || !time_stands || clock < 0 || clock >= CLOCKS)
        return below(clock, time);
    int64_t ns = stopped[clock].tv_nsec + passed_ns;
    time->tv_sec = stopped[clock].tv_sec + (time_t)(ns / 1000000000);
    time->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

/* A wait of SQLite for a lock: 3.40 by the first, 3.46 by the second. */
EXPORT int usleep(useconds_t us)
{
    BELOW(usleep);
    return armed && time_stands ? 0 : below(us);
}

EXPORT int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    BELOW(nanosleep);
    return armed && time_stands ? 0 : below(wanted, left);
}
