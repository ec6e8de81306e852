#include "intercept/runtime/exits.h"

#include "intercept/hip/libc.h"
#include "intercept/queue/lifecycle.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef void exit_function(int status);

static struct rtl_ring_header *_Atomic watched;
static pid_t owner;         /* of that ring */
static exit_function *next; /* _exit of whoever comes after us: libc, or another library */

__attribute__((constructor)) static void find_next(void)
{
    next = (exit_function *)rtl_hip_as_function(rtl_dlsym(RTLD_NEXT, "_exit"));
}

/* In a signal handler, and in the child of a vfork, which has our memory and another pid, too. */
static void mark(void)
{
    struct rtl_ring_header *header = atomic_load_explicit(&watched, memory_order_acquire);
    if (header == NULL || getpid() != owner)
        return;
    rtl_queues_account();
    atomic_store_explicit(&header->exited, 1, memory_order_release);
}

static _Noreturn void end(int status)
{
    mark();
    if (next != NULL)
        next(status);
    for (;;)
        (void)syscall(SYS_exit_group, status);
}

EXPORT _Noreturn void _exit(int status)
{
    end(status);
}

EXPORT _Noreturn void _Exit(int status)
{
    end(status);
}

void rtl_exits_watch(struct rtl_ring *ring)
{
    owner = getpid();
    atomic_store_explicit(&watched, ring->header, memory_order_release);
    (void)at_quick_exit(mark); /* without memory it is not known */
}
