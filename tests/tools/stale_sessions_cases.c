/* What a killed collector left behind is removed, and nothing else. Other tests may sweep at the
 * same time: whether a folder is there counts, not who removed it; and a session becomes old when
 * it is as it is to be found. */
#include "collect/session_lock.h"
#include "collect/stale_sessions.h"
#include "made.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A session whose maker has ended, and which is new. */
static bool left_behind(char *path, size_t size)
{
    int pipes[2];
    if (pipe(pipes) != 0)
        return false;
    pid_t maker = fork();
    if (maker == 0)
        _exit(rtl_ring_dir_create(path, size) != 0 || write(pipes[1], path, size) != (ssize_t)size);
    bool done = read(pipes[0], path, size) == (ssize_t)size;
    (void)close(pipes[0]);
    (void)close(pipes[1]);
    (void)waitpid(maker, NULL, 0);
    return done;
}

static bool grow_old(const char *session)
{
    char file[MADE_PATH];
    (void)snprintf(file, sizeof file, "%s/session", session);
    const struct timespec times[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    return utimensat(AT_FDCWD, file, times, 0) == 0;
}

static bool there(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* What another test's sweep looks at this moment is left to that one, which may have seen somebody
 * who is gone by now: then it is for the next. */
static bool is_swept(const char *session)
{
    for (unsigned ms = 0; ms < 60000 && there(session); ++ms) {
        (void)rtl_stale_sessions_remove();
        (void)usleep(1000);
    }
    return !there(session);
}

static void end(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

/* A process that does something with the session, says so, and stays; -1 if it could not. */
static pid_t stay(const char *session, bool (*work)(const char *session))
{
    int pipes[2];
    char word = 'n';
    if (pipe(pipes) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        word = work(session) ? 'y' : 'n';
        if (write(pipes[1], &word, 1) != 1)
            _exit(1);
        for (;;)
            (void)pause();
    }
    bool told = read(pipes[0], &word, 1) == 1 && word == 'y';
    (void)close(pipes[0]);
    (void)close(pipes[1]);
    if (!told && pid > 0)
        end(pid);
    return told ? pid : -1;
}

static bool hold(const char *session)
{
    return rtl_ring_dir_lock(session) >= 0;
}

static bool make_ring(const char *session)
{
    static struct rtl_ring ring;
    return rtl_ring_create(&ring, session, 1u << 16) == 0;
}

const char *StaleSessions_WhatNobodyNeeds(void)
{
    char session[64];
    CHECK(left_behind(session, sizeof session));
    pid_t writer = stay(session, make_ring);
    CHECK(writer > 0);
    end(writer); /* its ring stays */
    CHECK(grow_old(session));
    CHECK(is_swept(session));
    return NULL;
}

/* Its maker died, or found the place full. */
const char *StaleSessions_WhatItsMakerDidNotWrite(void)
{
    char session[64];
    char file[MADE_PATH];
    CHECK(left_behind(session, sizeof session));
    (void)snprintf(file, sizeof file, "%s/session", session);
    CHECK(truncate(file, 0) == 0);
    (void)rtl_stale_sessions_remove();
    CHECK(there(session)); /* somebody may be about to write it */
    CHECK(grow_old(session));
    CHECK(is_swept(session));
    return NULL;
}

/* Who removed it was killed meanwhile, or knew of less. */
const char *StaleSessions_WhatIsHalfRemoved(void)
{
    char session[64];
    char command[MADE_PATH];
    CHECK(left_behind(session, sizeof session));
    (void)snprintf(command, sizeof command, "rm %s/session && touch %s/spare.0", session, session);
    CHECK(made_shell(command) == 0);
    (void)rtl_stale_sessions_remove();
    CHECK(there(session)); /* it is new */
    (void)snprintf(command, sizeof command, "touch -d 2001-01-01 %s", session);
    CHECK(made_shell(command) == 0);
    CHECK(is_swept(session));
    return NULL;
}

const char *StaleSessions_NotWhileSomebodyCollects(void)
{
    char session[64];
    CHECK(left_behind(session, sizeof session));
    pid_t collector = stay(session, hold);
    CHECK(collector > 0);
    CHECK(grow_old(session));
    CHECK(rtl_ring_dir_lock(session) == -1);
    (void)rtl_stale_sessions_remove();
    CHECK(there(session));
    end(collector);
    CHECK(is_swept(session));
    return NULL;
}

const char *StaleSessions_NotWhileSomebodyWrites(void)
{
    char session[64];
    CHECK(left_behind(session, sizeof session));
    pid_t writer = stay(session, make_ring);
    CHECK(writer > 0);
    CHECK(grow_old(session));
    (void)rtl_stale_sessions_remove();
    CHECK(there(session));
    end(writer);
    CHECK(is_swept(session));
    return NULL;
}

const char *StaleSessions_NotWhatIsNew(void)
{
    char own[64];
    char young[64];
    CHECK(rtl_ring_dir_create(own, sizeof own) == 0);
    CHECK(left_behind(young, sizeof young));
    (void)rtl_stale_sessions_remove();
    CHECK(there(own) && there(young));
    rtl_ring_dir_remove(own);
    rtl_ring_dir_remove(young);
    return NULL;
}

/* Sessions of older versions, links, folders that are no sessions, and what is another user's. */
const char *StaleSessions_NotWhatIsNoSession(void)
{
    char session[64];
    char command[MADE_PATH];
    char folder[] = "/tmp/rtl.XXXXXX";
    char link[] = "/tmp/rtl.XXXXXX";
    CHECK(left_behind(session, sizeof session));
    (void)snprintf(command, sizeof command,
                   "sed -i /maker/d %s/session && touch -d 2001-01-01 %s/session", session,
                   session);
    CHECK(made_shell(command) == 0);
    CHECK(mkdtemp(folder) != NULL && mkdtemp(link) != NULL);
    (void)snprintf(command, sizeof command, "touch -d 2001-01-01 %s/kept && rmdir %s", folder,
                   link);
    CHECK(made_shell(command) == 0);
    CHECK(symlink(session, link) == 0);
    (void)rtl_stale_sessions_remove();
    CHECK(there(session) && there(folder) && there(link));
    CHECK(unlink(link) == 0);
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(made_shell(command) == 0);
    rtl_ring_dir_remove(session);
    return NULL;
}

const char *StaleSessions_NotAnotherUsers(void)
{
    char session[64];
    if (geteuid() != 0)
        return NULL; /* nobody else can give a folder away */
    CHECK(left_behind(session, sizeof session));
    CHECK(chown(session, 12345, 12345) == 0);
    CHECK(grow_old(session));
    (void)rtl_stale_sessions_remove();
    CHECK(there(session));
    CHECK(chown(session, 0, 0) == 0);
    CHECK(is_swept(session));
    return NULL;
}

static bool is_collected(const char *session)
{
    int file = rtl_ring_dir_open(session, O_RDONLY);
    bool collected = file < 0 || rtl_ring_dir_is_collected(file);
    (void)close(file);
    return collected;
}

/* What was seen of a session that was fresh, old, held and left again. */
struct seen {
    bool fresh, old, held, left;
    bool swept; /* by another test's rtl, to which an old one that nobody holds is open */
};

static bool see(struct seen *seen)
{
    char session[64];
    if (!left_behind(session, sizeof session))
        return false;
    seen->fresh = is_collected(session);
    (void)grow_old(session);
    seen->old = is_collected(session);
    pid_t collector = stay(session, hold);
    seen->held = collector > 0 && is_collected(session);
    if (collector > 0)
        end(collector);
    seen->left = is_collected(session);
    seen->swept = !there(session);
    rtl_ring_dir_remove(session);
    return true;
}

/* A session that is new may still get its collector; one that had it may not. */
const char *StaleSessions_WhoCollectsIsSeen(void)
{
    struct seen seen = {.swept = true};
    for (unsigned tries = 0; tries < 100 && seen.swept; ++tries)
        CHECK(see(&seen));
    CHECK(!seen.swept);
    CHECK(seen.fresh && !seen.old && seen.held && !seen.left);
    return NULL;
}
