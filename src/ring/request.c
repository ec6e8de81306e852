/*
 * What rtl ctl wants of processes that begin later: a link in the session's folder, `wish` for all
 * of them and `wish.PID.SPACE` for the next images of one (process.h). Its target tells what and
 * when, and of which process: "stop.NS.START". A link takes no descriptor, and is replaced at once.
 * Only the folder's owner and root can have made it.
 */
#include "common/clock.h"
#include "ring/files.h"
#include "ring/process.h"
#include "ring/ring.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TARGET_MOST 96u
#define NAME_MOST   48u

static const char *const names[] = {
    [RTL_RING_REQUEST_START] = "start", [RTL_RING_REQUEST_STOP] = "stop"};

int rtl_ring_request_leave(int folder, enum rtl_ring_request request, uint32_t pid, uint64_t space,
                           uint64_t start)
{
    char target[TARGET_MOST];
    char name[NAME_MOST] = "wish";
    char hidden[NAME_MOST];
    uint64_t now = rtl_now();
    if (pid != 0)
        (void)snprintf(name, sizeof name, "wish.%" PRIu32 ".%" PRIu64, pid, space);
    (void)snprintf(hidden, sizeof hidden, ".wish.%d.%" PRIu64, (int)getpid(), now);
    (void)snprintf(target, sizeof target, "%s.%" PRIu64 ".%" PRIu64, names[request], now, start);
    if (symlinkat(target, folder, hidden) != 0)
        return -1;
    if (renameat(folder, hidden, folder, name) == 0)
        return 0;
    int saved = errno;
    (void)unlinkat(folder, hidden, 0);
    errno = saved;
    return -1;
}

/* Reads one; `*when` 0: there is none for a process with that start, which may have got into
 * another time namespace since. */
static enum rtl_ring_request read_request(const char *path, uint64_t start, uint64_t *when)
{
    char target[TARGET_MOST] = "";
    char word[8];
    uint64_t of;
    *when = 0;
    if (readlink(path, target, sizeof target - 1) <= 0 ||
        sscanf(target, "%7[a-z].%" SCNu64 ".%" SCNu64, word, when, &of) != 3 ||
        !rtl_process_same_start(of, start)) {
        *when = 0;
        return RTL_RING_REQUEST_NONE;
    }
    return strcmp(word, names[RTL_RING_REQUEST_STOP]) == 0 ? RTL_RING_REQUEST_STOP
                                                           : RTL_RING_REQUEST_START;
}

/* As the ring has it (dir.c). */
static uint64_t own_start(uint32_t pid)
{
    uint64_t start = rtl_process_facts(pid).start;
    return start != 0 ? start : RTL_START_UNKNOWN;
}

enum rtl_ring_request rtl_ring_request_read(const char *session)
{
    char path[RTL_RING_PATH];
    uint64_t of_all;
    uint64_t of_one;
    int saved = errno;
    uint32_t pid = rtl_process_own();
    (void)snprintf(path, sizeof path, "%s/wish", session);
    enum rtl_ring_request all = read_request(path, 0, &of_all);
    (void)snprintf(path, sizeof path, "%s/wish.%" PRIu32 ".%" PRIu64, session, pid,
                   rtl_process_id_own().space);
    enum rtl_ring_request one = read_request(path, own_start(pid), &of_one);
    errno = saved;
    return of_one > of_all ? one : all;
}
