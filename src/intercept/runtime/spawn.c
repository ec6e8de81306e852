#include "intercept/runtime/spawn.h"
#include "ring/process.h"

#include "common/log.h"
#include "common/private.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_SIZE     (64u << 10)
#define MOST_VARIABLES 4096u

struct launch {
    char *const *arguments;
    char *const *environment;
    int error;
};

/* The folder of this library, with no slash at the end, and whose the library is. */
static bool own_folder(char *folder, size_t size, uid_t *owner)
{
    struct stat status;
    Dl_info info;
    if (dladdr((void *)(uintptr_t)rtl_spawn_collector, &info) == 0 || info.dli_fname == NULL)
        return false;
    (void)snprintf(folder, size, "%s", info.dli_fname);
    *owner = stat(folder, &status) == 0 ? status.st_uid : 0;
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    return true;
}

/* lib/librtl.so has bin/rtl beside it; lib/<triplet>/librtl.so has it one folder further up. Where
 * the library lies elsewhere, these folders may be anybody's. */
static bool find_rtl(char *path, size_t size)
{
    char folder[3500];
    uid_t owner;
    if (!own_folder(folder, sizeof folder, &owner))
        return false;
    static const char *const ways[] = {"%s/../bin/rtl", "%s/../../bin/rtl", "%s/rtl"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(path, size, ways[i], folder);
#pragma GCC diagnostic pop
        if (access(path, X_OK) == 0 && rtl_private_may_use(path, owner))
            return true;
    }
    return false;
}

/* The collector must not be profiled itself, nor carry what is preloaded into the program. */
static bool unwanted(const char *variable)
{
    static const char *const names[] = {"HSA_TOOLS_LIB=", "LD_PRELOAD=", "LD_LIBRARY_PATH="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void copy_environment(char **copy, size_t most)
{
    size_t count = 0;
    for (char **at = environ; *at != NULL && count + 1 < most; at++)
        if (!unwanted(*at))
            copy[count++] = *at;
    copy[count] = NULL;
}

/* ThreadSanitizer's own clone takes its locks for the child and the parent to give back, each its
 * copy; where the memory is shared both give back the same ones, and a thread that has one of them
 * meanwhile ends the program. The C library's other names for the two go past it. */
#if defined(__SANITIZE_THREAD__)
int __clone(int (*start)(void *), void *stack, int flags, void *context, ...);
pid_t __vfork(void);
#define clone __clone
#define vfork __vfork
#endif

/* Shares the program's memory, by intent: nothing but system calls here. The child of a child is
 * nobody's. AddressSanitizer would mark frames on this stack and never hear of its end. */
__attribute__((no_sanitize("address"))) static int launch(void *context)
{
    struct launch *launch = context;
    // NOLINTBEGIN(clang-analyzer-*): vfork is what is wanted, and these calls are safe behind it on
    // Linux
    pid_t child = vfork();
    if (child == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL); // NOLINT(concurrency-mt-unsafe): there is one thread
        execve(launch->arguments[0], launch->arguments, launch->environment);
        launch->error = errno;
        _exit(127);
    }
    // NOLINTEND(clang-analyzer-*)
    if (child < 0)
        launch->error = errno;
    return 0;
}

static int run_detached(struct launch *what)
{
    unsigned char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return errno;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    /* No exit signal: the program gets no SIGCHLD for it and its wait() does not see it. */
    pid_t middle = clone(launch, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK, what);
    if (middle < 0)
        what->error = errno;
    else
        (void)waitpid(middle, NULL, __WCLONE);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stack, STACK_SIZE);
    return what->error;
}

bool rtl_spawn_collector(const char *session, const char *output)
{
    char rtl[4096];
    char pid[16];
    if (!find_rtl(rtl, sizeof rtl)) {
        rtl_complain("the rtl command was not found beside librtl.so: nothing is recorded");
        return false;
    }
    (void)snprintf(pid, sizeof pid, "%u", rtl_process_own());
    char **environment = calloc(MOST_VARIABLES, sizeof *environment);
    if (environment == NULL)
        return false;
    copy_environment(environment, MOST_VARIABLES);
    char *arguments[] = {rtl,
                         "collect",
                         "--session",
                         (char *)(uintptr_t)session,
                         "--pid",
                         pid,
                         output != NULL ? "-o" : NULL,
                         (char *)(uintptr_t)output,
                         NULL};
    struct launch what = {arguments, environment, 0};
    int error = run_detached(&what);
    free(environment);
    if (error != 0)
        rtl_complain("%s could not be started (%s): nothing is recorded", rtl,
                     strerrordesc_np(error));
    return error == 0;
}
