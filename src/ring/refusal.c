/* Why a process is not recorded, in the target of a link. */
#include "common/allowance.h"
#include "common/private.h"
#include "ring/files.h"
#include "ring/process.h"
#include "ring/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MOST_OF_A_PROCESS 8u /* an exec puts another program in its place */
#define UNLIMITED         UINT64_MAX
#define TARGET_MOST       (RTL_REFUSAL_TEXT + 32u) /* with the process in front */

/* What has to do with that error: its number, and its value. */
static uint64_t limit_of(int error, int *resource)
{
    struct rlimit limit;
    if (error != EFBIG && error != EMFILE) {
        struct rtl_allowance least = rtl_allowance_least();
        *resource = least.resource;
        return least.limit;
    }
    *resource = error == EFBIG ? RLIMIT_FSIZE : RLIMIT_NOFILE;
    int failed =
        error == EFBIG ? getrlimit(RLIMIT_FSIZE, &limit) : getrlimit(RLIMIT_NOFILE, &limit);
    return failed != 0 || limit.rlim_cur == RLIM_INFINITY ? UNLIMITED : limit.rlim_cur;
}

/* Where space is short, a ring can begin with a small piece; where files must be short, it is as
 * small as that. */
static uint64_t needed_for(int error, size_t ring_bytes)
{
    if (error == ENOSPC || error == EDQUOT)
        return sizeof(struct rtl_ring_header) + RTL_RING_SMALL_PIECE;
    return rtl_ring_file_size(rtl_ring_slots(error == EFBIG ? 0 : ring_bytes));
}

uint64_t rtl_ring_dir_number(const char *session)
{
    uint64_t number = UINT64_C(0xCBF29CE484222325);
    for (const char *at = session; *at != '\0'; at++)
        number = (number ^ (unsigned char)*at) * UINT64_C(0x100000001B3);
    return number;
}

void rtl_refusal_fill(struct rtl_refusal *refusal, const char *session, int error,
                      size_t ring_bytes)
{
    struct statvfs space;
    *refusal = (struct rtl_refusal){
        .pid = rtl_process_own(), .error = error, .needed = needed_for(error, ring_bytes)};
    refusal->limit = limit_of(error, &refusal->resource);
    if (statvfs(session, &space) == 0)
        refusal->free = (uint64_t)space.f_bavail * space.f_frsize;
}

void rtl_refusal_write(const struct rtl_refusal *refusal, char text[RTL_REFUSAL_TEXT])
{
    (void)snprintf(text, RTL_REFUSAL_TEXT,
                   "%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %" PRIu64 " %d", refusal->error,
                   refusal->needed, refusal->free, refusal->limit, (unsigned)refusal->why,
                   (unsigned)refusal->tool, refusal->named, refusal->resource);
}

bool rtl_refusal_parse(const char *text, struct rtl_refusal *refusal)
{
    unsigned why = 0;
    unsigned tool = 0;
    if (sscanf(text, "%d %" SCNu64 " %" SCNu64 " %" SCNu64 " %u %u %" SCNu64 " %d", &refusal->error,
               &refusal->needed, &refusal->free, &refusal->limit, &why, &tool, &refusal->named,
               &refusal->resource) < 4 ||
        why >= RTL_REFUSED_REASONS || tool > RTL_TOOL_NAMED)
        return false;
    refusal->why = (enum rtl_refused)why;
    refusal->tool = (enum rtl_tool)tool;
    return true;
}

bool rtl_refusal_leave(const char *session, const struct rtl_refusal *refusal)
{
    int saved = errno;
    char why[RTL_REFUSAL_TEXT];
    char target[TARGET_MOST];
    struct rtl_process_id id = rtl_process_id_own();
    rtl_refusal_write(refusal, why);
    (void)snprintf(target, sizeof target, "%" PRIu64 ".%" PRIu32 " %s", id.space, id.inner, why);
    bool left = false;
    for (unsigned number = 0; number < MOST_OF_A_PROCESS && !left; number++) {
        char name[512];
        (void)snprintf(name, sizeof name, "%s/refused.%" PRIu32 ".%u", session, refusal->pid,
                       number);
        left = symlink(target, name) == 0;
        if (!left && errno != EEXIST)
            break;
    }
    errno = saved;
    return left;
}

void rtl_refusal_show(const struct rtl_refusal *refusal)
{
    int saved = errno;
    char text[RTL_REFUSAL_TEXT];
    char name[sizeof RTL_REFUSAL_MARK + sizeof text];
    const size_t size = 1; /* of a page */
    rtl_refusal_write(refusal, text);
    (void)snprintf(name, sizeof name, RTL_REFUSAL_MARK "%s", text);
    int file = memfd_create(name, MFD_CLOEXEC);
    void *memory = file >= 0 ? mmap(NULL, size, PROT_NONE, MAP_PRIVATE, file, 0) : MAP_FAILED;
    if (memory != MAP_FAILED)
        (void)madvise(memory, size, MADV_DONTFORK);
    if (file >= 0)
        close(file);
    errno = saved;
}

/* The target of a link, "" if it is none. */
static void read_target(const char *session, const char *name, char *target, size_t size)
{
    char path[512];
    ssize_t length = -1;
    if (snprintf(path, sizeof path, "%s/%s", session, name) < (int)sizeof path)
        length = readlink(path, target, size - 1);
    target[length > 0 ? length : 0] = '\0';
}

/* A process that is over, or out of sight, keeps the pid that it had for itself. */
static uint32_t pid_here(const struct rtl_process_id *id, uint32_t pid)
{
    uint32_t found = 0;
    bool is_space_seen = false;
    if (id->space != 0 && id->space != rtl_process_id_own().space)
        found = rtl_process_find(id, RTL_START_UNKNOWN, &is_space_seen);
    return found != 0 ? found : pid;
}

bool rtl_refusal_read(const char *session, const char *name, struct rtl_refusal *refusal)
{
    char target[TARGET_MOST];
    struct rtl_process_id id;
    unsigned number;
    int why = 0;
    if (sscanf(name, "refused.%" SCNu32 ".%u", &refusal->pid, &number) != 2)
        return false;
    read_target(session, name, target, sizeof target);
    if (sscanf(target, "%" SCNu64 ".%" SCNu32 " %n", &id.space, &id.inner, &why) != 2 || why == 0)
        return false;
    refusal->pid = pid_here(&id, refusal->pid);
    return rtl_refusal_parse(target + why, refusal);
}

/* A session of this user: what RTL_SESSION names may be any folder. -1: it is none. */
static int open_session(const char *session)
{
    int folder = rtl_private_folder(session);
    if (folder >= 0 && faccessat(folder, "session", F_OK, AT_SYMLINK_NOFOLLOW) != 0) {
        close(folder);
        return -1;
    }
    return folder;
}

/* `text` NULL: only takes back what is there. */
static void put_start(const char *session, const char *text)
{
    int saved = errno;
    char name[48];
    int folder = open_session(session);
    (void)snprintf(name, sizeof name, "starting.%" PRIu32 ".%" PRIu64, rtl_process_own(),
                   rtl_process_id_own().space);
    if (folder >= 0) {
        (void)unlinkat(folder, name, 0);
        if (text != NULL)
            (void)!symlinkat(text, folder, name);
        close(folder);
    }
    errno = saved;
}

void rtl_start_leave(const char *session, uint32_t status)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%" PRIu32, status);
    put_start(session, text);
}

void rtl_start_take_back(const char *session)
{
    put_start(session, NULL);
}

bool rtl_start_read(const char *session, const char *name, uint32_t *pid, uint32_t *status)
{
    char text[16];
    if (sscanf(name, "starting.%" SCNu32, pid) != 1)
        return false;
    read_target(session, name, text, sizeof text);
    return sscanf(text, "%" SCNu32, status) == 1;
}

static uint64_t kib(uint64_t bytes)
{
    return bytes / 1024 + (bytes % 1024 != 0);
}

static const char *describe(int error)
{
    const char *description = strerrordesc_np(error);
    return description ? description : "unknown error";
}

/* A ring is addresses, and no data (RLIMIT_DATA): it is shared. */
static void say_no_memory(const struct rtl_refusal *refusal, char *text, size_t size)
{
    const char *name = rtl_allowance_name(refusal->resource);
    if (refusal->resource == RLIMIT_DATA)
        (void)snprintf(text, size,
                       "the limit of data (%s) is %" PRIu64 " KiB, which leaves too little beside "
                       "the program for RTL's completion signals and what it notes of kernels",
                       name, refusal->limit / 1024);
    else
        (void)snprintf(text, size,
                       "the limit of address space (%s) is %" PRIu64 " KiB, which leaves too "
                       "little beside the program for a ring of %" PRIu64
                       " KiB and what goes with it",
                       name, refusal->limit / 1024, kib(refusal->needed));
}

static void say_no_ring(const struct rtl_refusal *refusal, const char *session, char *text,
                        size_t size)
{
    uint64_t needed = kib(refusal->needed);
    if (refusal->error == ENOSPC || refusal->error == EDQUOT)
        (void)snprintf(text, size,
                       "%s has no room for a ring: %" PRIu64 " KiB are needed, %" PRIu64
                       " KiB are free",
                       session, needed, refusal->free / 1024);
    else if (refusal->error == EFBIG)
        (void)snprintf(text, size,
                       "the limit of the size of files (RLIMIT_FSIZE, ulimit -f) is %" PRIu64
                       " KiB, and the smallest ring takes %" PRIu64 " KiB",
                       refusal->limit / 1024, needed);
    else if (refusal->error == EMFILE)
        (void)snprintf(text, size,
                       "no descriptor was left for a ring (RLIMIT_NOFILE, ulimit -n, is %" PRIu64
                       ")",
                       refusal->limit);
    else if (refusal->error == ENOMEM && refusal->limit != UNLIMITED)
        say_no_memory(refusal, text, size);
    else
        (void)snprintf(text, size, "no ring could be made in %s: %s", session,
                       describe(refusal->error));
}

static void say_no_session(const struct rtl_refusal *refusal, const char *session, char *text,
                           size_t size)
{
    if (refusal->named == rtl_ring_dir_number(session))
        (void)snprintf(text, size, "it cannot reach %s (%s)", session, describe(refusal->error));
    else
        (void)snprintf(text, size,
                       "its RTL_SESSION is not %s any more, and what it names is no session (%s)",
                       session, describe(refusal->error));
}

static const char *say_no_tool(enum rtl_tool tool)
{
    static const char *const texts[] = {
        [RTL_TOOL_UNSET] = "its GPU runtime has not loaded librtl.so, because HSA_TOOLS_LIB was "
                           "taken from its environment",
        [RTL_TOOL_OTHER] = "its GPU runtime has not loaded librtl.so, because HSA_TOOLS_LIB names "
                           "others only",
        [RTL_TOOL_NAMED] = "its GPU runtime has not loaded librtl.so, though HSA_TOOLS_LIB names "
                           "it",
    };
    return texts[tool];
}

void rtl_refusal_text(const struct rtl_refusal *refusal, const char *session, char *text,
                      size_t size)
{
    switch (refusal->why) {
    case RTL_REFUSED_SESSION:
        say_no_session(refusal, session, text, size);
        break;
    case RTL_REFUSED_NO_SESSION:
        (void)snprintf(text, size,
                       "RTL_SESSION was taken from its environment, so that it makes a trace of "
                       "its own");
        break;
    case RTL_REFUSED_BUILD:
        (void)snprintf(text, size, "its librtl.so is of another build than this rtl");
        break;
    case RTL_REFUSED_NESTED:
        (void)snprintf(text, size, "it is another rtl trace, which records what it starts");
        break;
    case RTL_REFUSED_TOOL:
        (void)snprintf(text, size, "%s", say_no_tool(refusal->tool));
        break;
    case RTL_REFUSED_PRIVILEGED:
        (void)snprintf(text, size, "it runs with raised privileges");
        break;
    case RTL_REFUSED_RUNTIME:
        (void)snprintf(text, size, "its GPU runtime has not what librtl.so needs");
        break;
    default:
        say_no_ring(refusal, session, text, size);
    }
}
