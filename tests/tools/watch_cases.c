/* What /proc tells of processes that RTL is not in, and which of them are of the program. */
#include "../common/check.h"
#include "collect/maps.h"
#include "collect/openings.h"
#include "collect/tree.h"
#include "common/clock.h"
#include "ring/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/wait.h>
#include <unistd.h>

#define SESSION "/dev/shm/rtl.none"

static bool tells(uint32_t pid, struct rtl_refusal *refusal)
{
    struct maps maps;
    *refusal = (struct rtl_refusal){.pid = 0};
    return maps_read(pid, SESSION, &maps) == MAPS_READ && maps.refusal[0] &&
           rtl_refusal_parse(maps.refusal, refusal);
}

/* What librtl.so shows is read as it was meant, in its process and in no fork of that. */
const char *Watch_ReadsWhatIsShown(void)
{
    const struct rtl_refusal shown = {.why = RTL_REFUSED_SESSION,
                                      .error = EACCES,
                                      .needed = UINT64_MAX,
                                      .free = UINT64_MAX,
                                      .limit = UINT64_MAX,
                                      .resource = 9,
                                      .tool = RTL_TOOL_NAMED,
                                      .named = UINT64_MAX};
    struct rtl_refusal read;
    pid_t child = fork(); /* so that it is not shown by other tests */
    if (child == 0) {
        bool before = tells((uint32_t)getpid(), &read);
        rtl_refusal_show(&shown);
        bool after = tells((uint32_t)getpid(), &read);
        bool same = read.why == shown.why && read.error == shown.error && read.tool == shown.tool &&
                    read.named == shown.named;
        pid_t fork_of_it = fork();
        if (fork_of_it == 0)
            _exit(tells((uint32_t)getpid(), &read));
        int status = 1;
        (void)waitpid(fork_of_it, &status, 0);
        _exit(before || !after || !same || status != 0);
    }
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    return NULL;
}

/* A process that does nothing until it is ended, and has had children made that do the same: its
 * own pid, and theirs. */
static pid_t start(int pipes[2], bool in_session)
{
    pid_t child = pipe(pipes) == 0 ? fork() : -1;
    if (child == 0) {
        if (in_session)
            (void)setsid();
        pid_t own = fork();
        if (own == 0) {
            pid_t orphan = fork();
            if (orphan > 0 && write(pipes[1], &orphan, sizeof orphan) == sizeof orphan)
                _exit(0);
        } else {
            (void)waitpid(own, NULL, 0);
        }
        (void)pause();
        _exit(0);
    }
    return child;
}

/* The program, its orphan if the kernel tells of forks, and nobody else. */
const char *Watch_KnowsTheProgram(void)
{
    struct tree tree;
    int pipes[2];
    int others[2];
    pid_t orphan = 0;
    pid_t stranger_orphan = 0;
    CHECK(tree_begin(&tree, SESSION));
    pid_t program = start(pipes, false);
    pid_t stranger = start(others, false);
    CHECK(program > 0 && stranger > 0);
    CHECK(read(pipes[0], &orphan, sizeof orphan) == sizeof orphan);
    CHECK(read(others[0], &stranger_orphan, sizeof stranger_orphan) == sizeof stranger_orphan);
    tree_root(&tree, (uint32_t)program);
    while (!tree_update(&tree, rtl_now() + 1000000))
        ;
    bool heard = tree.forks >= 0 && !tree.broken;
    const struct member *found = tree_find(&tree, (uint32_t)orphan);
    CHECK(tree_find(&tree, (uint32_t)program) && (found != NULL || !heard));
    CHECK(!tree_find(&tree, (uint32_t)stranger) && !tree_find(&tree, (uint32_t)stranger_orphan));
    CHECK(!tree_find(&tree, (uint32_t)getpid()));
    tree_disown(&tree, (uint32_t)program);
    CHECK(found == NULL || found->foreign);
    tree_end(&tree);
    const pid_t all[] = {orphan, stranger_orphan, program, stranger};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        (void)kill(all[i], SIGKILL);
    CHECK(waitpid(program, NULL, 0) == program && waitpid(stranger, NULL, 0) == stranger);
    for (unsigned i = 0; i < 2; i++) {
        (void)close(pipes[i]);
        (void)close(others[i]);
    }
    return NULL;
}

/* A session that the program has made before anybody asked for it is the program's, where the
 * kernel does not tell of forks. */
const char *Watch_KnowsASessionOfTheProgram(void)
{
    struct tree tree;
    int pipes[2];
    pid_t orphan = 0;
    CHECK(tree_begin(&tree, SESSION));
    tree.broken = true;
    pid_t program = start(pipes, true);
    CHECK(program > 0 && read(pipes[0], &orphan, sizeof orphan) == sizeof orphan);
    tree_root(&tree, (uint32_t)program);
    struct member *root = tree_find(&tree, (uint32_t)program);
    if (root) /* as a look does */
        root->session = root->group = program;
    while (!tree_update(&tree, rtl_now() + 1000000))
        ;
    bool found = tree_find(&tree, (uint32_t)orphan) != NULL;
    bool strange = tree_find(&tree, (uint32_t)getppid()) != NULL;
    tree_end(&tree);
    CHECK(kill(orphan, SIGKILL) == 0 && kill(program, SIGKILL) == 0);
    CHECK(waitpid(program, NULL, 0) == program);
    CHECK(root && found && !strange);
    (void)close(pipes[0]);
    (void)close(pipes[1]);
    return NULL;
}

static void count_opener(void *context, uint32_t pid)
{
    (void)pid;
    ++*(unsigned *)context;
}

/* A file from which so many openings are read, whole ones at a time. */
static int openings_of(unsigned count, uint64_t last_mask)
{
    enum { PIECE = 100 };
    int pipes[2];
    struct fanotify_event_metadata events[PIECE];
    if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK | O_DIRECT) != 0)
        return -1;
    bool whole = fcntl(pipes[1], F_SETPIPE_SZ, 1 << 20) >= 0;
    for (unsigned i = 0; i < PIECE; i++)
        events[i] = (struct fanotify_event_metadata){.event_len = sizeof events[i],
                                                     .vers = FANOTIFY_METADATA_VERSION,
                                                     .metadata_len = sizeof events[i],
                                                     .mask = FAN_OPEN,
                                                     .fd = FAN_NOFD,
                                                     .pid = 7};
    for (unsigned i = 0; i < count; i += PIECE) {
        size_t size = (count - i < PIECE ? count - i : PIECE) * sizeof events[0];
        if (i + PIECE >= count)
            events[count - i - 1].mask = last_mask;
        whole = whole && write(pipes[1], events, size) == (ssize_t)size;
    }
    (void)close(pipes[1]);
    if (whole)
        return pipes[0];
    (void)close(pipes[0]);
    return -1;
}

/* However many there are, all are read; and that Linux has lost some is known. */
const char *Watch_ReadsAllOpenings(void)
{
    const unsigned many = 25000;
    unsigned count = 0;
    struct openings openings = {.file = -1, .who = openings_of(many, FAN_OPEN)};
    CHECK(openings.who >= 0);
    CHECK(openings_who(&openings, count_opener, &count));
    while (openings_who(&openings, count_opener, &count))
        ;
    CHECK(count == many && !openings.lost);
    (void)close(openings.who);
    openings.who = openings_of(3, FAN_Q_OVERFLOW);
    CHECK(openings.who >= 0);
    CHECK(!openings_who(&openings, count_opener, &count));
    CHECK(count == many + 2 && openings.lost);
    (void)close(openings.who);
    return NULL;
}
