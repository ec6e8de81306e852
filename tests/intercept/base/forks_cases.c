#include "../../common/check.h"
#include "intercept/base/forks.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#define A_WHILE_US 5000
#define TRIES      3

static struct {
    _Atomic bool entered, may_leave, left; /* by the other thread */
    _Atomic bool told;                     /* the child */
    void (*meanwhile)(void);               /* in the middle of a fork, behind RTL's own handler */
} now;

static void meanwhile(void)
{
    if (now.meanwhile != NULL)
        now.meanwhile();
}

static void tell(void)
{
    atomic_store(&now.told, true);
}

/* Handlers before a fork are called in the order opposite to that in which they are registered. */
static void set_up(void)
{
    static bool watched;
    if (!watched) {
        (void)pthread_atfork(meanwhile, NULL, NULL);
        rtl_forks_watch(tell);
    }
    watched = true;
    atomic_store(&now.entered, false);
    atomic_store(&now.may_leave, false);
    atomic_store(&now.left, false);
    now.meanwhile = NULL;
}

static void wait_for(_Atomic bool *what)
{
    while (!atomic_load(what))
        (void)usleep(1000);
}

/* The thread itself stays until it is told: ThreadSanitizer complains in a child of one that has
 * ended and that nobody has joined. */
static void *stay_a_while(void *unused)
{
    (void)unused;
    rtl_forks_enter();
    atomic_store(&now.entered, true);
    (void)usleep(A_WHILE_US);
    atomic_store(&now.left, true);
    rtl_forks_leave();
    wait_for(&now.may_leave);
    return NULL;
}

static void *stay(void *unused)
{
    (void)unused;
    rtl_forks_enter();
    atomic_store(&now.entered, true);
    wait_for(&now.may_leave);
    rtl_forks_leave();
    return NULL;
}

/* In the child: whether what is asked holds there. */
static int fork_and_ask(bool (*holds)(void))
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(holds() ? 0 : 1);
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status))
        return WEXITSTATUS(status);
    return -1;
}

static bool has_left(void)
{
    return atomic_load(&now.left);
}

static bool was_told(void)
{
    rtl_forks_enter(); /* nobody forks there */
    rtl_forks_leave();
    return atomic_load(&now.told);
}

static const char *fork_beside_one(bool *waited)
{
    pthread_t thread;
    set_up();
    CHECK(pthread_create(&thread, NULL, stay_a_while, NULL) == 0);
    wait_for(&now.entered);
    errno = EDOM;
    int answer = fork_and_ask(has_left);
    CHECK(answer >= 0 && errno == EDOM);
    *waited = answer == 0;
    atomic_store(&now.may_leave, true);
    CHECK(pthread_join(thread, NULL) == 0);
    return NULL;
}

/* A machine may be so busy that the other thread does not leave as long as a fork waits. */
const char *Forks_WaitForWhoIsInside(void)
{
    bool waited = false;
    for (int i = 0; i < TRIES && !waited; i++)
        CHECK_DONE(fork_beside_one(&waited));
    CHECK(waited);
    return NULL;
}

static pthread_t newcomer;

static void let_one_come(void)
{
    now.meanwhile = NULL;
    (void)pthread_create(&newcomer, NULL, stay_a_while, NULL);
    (void)usleep(A_WHILE_US);
    if (atomic_load(&now.entered))
        _exit(9);
    rtl_forks_enter(); /* who forks passes */
    rtl_forks_leave();
}

static bool has_not_come(void)
{
    return !atomic_load(&now.entered);
}

const char *Forks_NobodyComesInMeanwhile(void)
{
    set_up();
    now.meanwhile = let_one_come;
    CHECK(fork_and_ask(has_not_come) == 0);
    atomic_store(&now.may_leave, true);
    CHECK(pthread_join(newcomer, NULL) == 0);
    CHECK(atomic_load(&now.entered));
    return NULL;
}

const char *Forks_WhoStaysHoldsNobodyUpForEver(void)
{
    pthread_t thread;
    set_up();
    CHECK(pthread_create(&thread, NULL, stay, NULL) == 0);
    wait_for(&now.entered);
    CHECK(fork_and_ask(was_told) == 0);
    CHECK(!atomic_load(&now.told));
    atomic_store(&now.may_leave, true);
    CHECK(pthread_join(thread, NULL) == 0);
    return NULL;
}
