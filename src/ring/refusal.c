/* Why a process has no ring, in the target of a link. */
#include "ring/files.h"
#include "ring/ring.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MOST_OF_A_PROCESS 8u /* an exec puts another program in its place */
#define UNLIMITED         UINT64_MAX

static uint64_t limit_of(int error)
{
    int resource = error == EFBIG ? RLIMIT_FSIZE : error == EMFILE ? RLIMIT_NOFILE : RLIMIT_AS;
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UNLIMITED;
    return limit.rlim_cur;
}

/* Where space is short, a ring can begin with a small piece. */
static uint64_t needed_for(int error, size_t ring_bytes)
{
    bool least = error == ENOSPC || error == EDQUOT;
    return least ? sizeof(struct rtl_ring_header) + RTL_RING_SMALL_PIECE
                 : rtl_ring_file_size(rtl_ring_slots(ring_bytes));
}

void rtl_refusal_fill(struct rtl_refusal *refusal, const char *session, int error,
                      size_t ring_bytes)
{
    struct statvfs space;
    *refusal = (struct rtl_refusal){.pid = (uint32_t)getpid(),
                                    .error = error,
                                    .needed = needed_for(error, ring_bytes),
                                    .limit = limit_of(error)};
    if (statvfs(session, &space) == 0)
        refusal->free = (uint64_t)space.f_bavail * space.f_frsize;
}

bool rtl_refusal_leave(const char *session, int error, size_t ring_bytes)
{
    int saved = errno;
    struct rtl_refusal refusal;
    rtl_refusal_fill(&refusal, session, error, ring_bytes);
    char why[96];
    (void)snprintf(why, sizeof why, "%d %" PRIu64 " %" PRIu64 " %" PRIu64, error, refusal.needed,
                   refusal.free, refusal.limit);
    bool left = false;
    for (unsigned number = 0; number < MOST_OF_A_PROCESS && !left; number++) {
        char name[512];
        (void)snprintf(name, sizeof name, "%s/refused.%" PRIu32 ".%u", session, refusal.pid,
                       number);
        left = symlink(why, name) == 0;
        if (!left && errno != EEXIST)
            break;
    }
    errno = saved;
    return left;
}

bool rtl_refusal_read(const char *session, const char *name, struct rtl_refusal *refusal)
{
    char path[512];
    char why[128];
    unsigned number;
    if (sscanf(name, "refused.%" SCNu32 ".%u", &refusal->pid, &number) != 2 ||
        snprintf(path, sizeof path, "%s/%s", session, name) >= (int)sizeof path)
        return false;
    ssize_t length = readlink(path, why, sizeof why - 1);
    why[length > 0 ? length : 0] = '\0';
    return sscanf(why, "%d %" SCNu64 " %" SCNu64 " %" SCNu64, &refusal->error, &refusal->needed,
                  &refusal->free, &refusal->limit) == 4;
}

static uint64_t kib(uint64_t bytes)
{
    return bytes / 1024 + (bytes % 1024 != 0);
}

void rtl_refusal_text(const struct rtl_refusal *refusal, const char *session, char *text,
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
                       " KiB, and a ring takes %" PRIu64 " KiB",
                       refusal->limit / 1024, needed);
    else if (refusal->error == EMFILE)
        (void)snprintf(text, size,
                       "no descriptor was left for a ring (RLIMIT_NOFILE, ulimit -n, is %" PRIu64
                       ")",
                       refusal->limit);
    else if (refusal->error == ENOMEM && refusal->limit != UNLIMITED)
        (void)snprintf(text, size,
                       "the limit of address space (RLIMIT_AS, ulimit -v) is %" PRIu64
                       " KiB, which leaves too little beside the program for a ring of %" PRIu64
                       " KiB and what goes with it",
                       refusal->limit / 1024, needed);
    else
        (void)snprintf(text, size, "no ring could be made in %s: %s", session,
                       strerrordesc_np(refusal->error) ? strerrordesc_np(refusal->error)
                                                       : "unknown error");
}
