#include "stepping.h"

#ifdef STEPPING

#include <signal.h>
#include <ucontext.h>
#include <x86intrin.h>

#define TRAP 0x100u /* in the flags register: trap behind each instruction */

static bool (*acts)(void *context, uint32_t step);
static void *acts_on;
static volatile uint32_t steps;

static void on_step(int number, siginfo_t *info, void *interrupted)
{
    ucontext_t *frame = interrupted;
    (void)number;
    (void)info;
    steps = steps + 1;
    if (!acts(acts_on, steps))
        frame->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP;
}

uint32_t stepping_run(void (*function)(void *), void *context,
                      bool (*between)(void *context, uint32_t step))
{
    struct sigaction before;
    struct sigaction stepping = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    if (sigaction(SIGTRAP, &stepping, &before) != 0)
        return 0;
    acts = between;
    acts_on = context;
    steps = 0;
    __writeeflags(__readeflags() | TRAP);
    function(context);
    __writeeflags(__readeflags() & ~(unsigned long long)TRAP);
    (void)sigaction(SIGTRAP, &before, NULL);
    return steps;
}

#endif
