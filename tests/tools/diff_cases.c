/* rtl diff of made-up runs, of which the time of each step is known: several runs a side, one, and
 * one whose steps wander. */
#include "made.h"

#include <stdio.h>
#include <stdlib.h>

#define STEPS 40u
#define BLOCK 5u /* steps: an eighth of a run */

/* What the next run does, in ticks. */
static uint64_t step_ticks, wander_ticks;

/* Steps of two kernels of 20 and 50 ticks; a step has up to 4 ticks more. Where the run wanders,
 * steps are longer in every other eighth of it. */
static void work(struct rtl_ring *ring)
{
    uint64_t at = MADE_BEGIN + 1000;
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    for (uint64_t i = 0; i < STEPS; ++i) {
        made_kernel(ring, 0, 2 * i, 0, at, at + 20);
        made_kernel(ring, 0, 2 * i + 1, 1, at + 30, at + 80);
        at += step_ticks + i * 7 % 5 + (i / BLOCK % 2 ? wander_ticks : 0);
    }
    made_ledger(ring, 0, UINT64_C(2) * STEPS, UINT64_C(2) * STEPS, 0);
    rtl_ring_close(ring);
}

/* A run, as `name` in the folder. */
static const char *make(const char *folder, const char *name, uint64_t step, uint64_t wander)
{
    struct made made;
    char command[1024];
    step_ticks = step;
    wander_ticks = wander;
    CHECK_DONE(made_begin(&made));
    (void)made_process(&made, work);
    CHECK_DONE(made_end(&made));
    (void)snprintf(command, sizeof command, "mv %s %s/%s", made.trace, folder, name);
    CHECK(made_shell(command) == 0);
    made_clean(&made);
    return NULL;
}

/* The exit status of a comparison. */
static int ask(const char *folder, const char *limit, const char *files)
{
    char command[2048];
    (void)snprintf(command, sizeof command, "cd %s && %s diff --fail-if '%s' %s >out 2>&1", folder,
                   RTL_COMMAND, limit, files);
    return made_shell(command);
}

static const char *check_all(const char *folder)
{
    static const char slower[] = "a1 a2 a3 -- b1 b2 b3";
    static const char alike[] = "a1 a2 a3 -- c1 c2 c3";
    CHECK_DONE(make(folder, "a1", 1000, 0));
    CHECK_DONE(make(folder, "a2", 1004, 0));
    CHECK_DONE(make(folder, "a3", 1002, 0));
    CHECK_DONE(make(folder, "b1", 1103, 0));
    CHECK_DONE(make(folder, "b2", 1101, 0));
    CHECK_DONE(make(folder, "b3", 1105, 0));
    CHECK_DONE(make(folder, "c1", 1003, 0));
    CHECK_DONE(make(folder, "c2", 1001, 0));
    CHECK_DONE(make(folder, "c3", 1005, 0));
    CHECK_DONE(make(folder, "wander1", 1000, 100));
    CHECK_DONE(make(folder, "wander2", 1100, 100));

    /* Medians 1002, 1006, 1004 ticks, and 1105, 1103, 1107: 10.06 % more. */
    CHECK(ask(folder, "block of 2 eager kernels > 10%", slower) == 1);
    CHECK(ask(folder, "1 > 10%", slower) == 1);
    CHECK(ask(folder, "steps > 10%", slower) == 1);
    CHECK(ask(folder, "steps > 10.1%", slower) == 0);
    CHECK(ask(folder, "kernels > 0%", slower) == 0);
    CHECK(ask(folder, "steps > 10%", "b1 b2 b3 -- a1 a2 a3") == 0);
    /* One more tick is less than the runs of a side differ by; of one run a side it would be told.
     */
    CHECK(ask(folder, "steps > 0%", alike) == 0);
    /* Several against one: the several have the spread. */
    CHECK(ask(folder, "steps > 10%", "a1 a2 a3 -- b1") == 1);
    CHECK(ask(folder, "steps > 0%", "a1 a2 a3 -- c1") == 0);
    /* One run a side: steady steps tell it, wandering ones do not. */
    CHECK(ask(folder, "steps > 10%", "a1 b1") == 1);
    CHECK(ask(folder, "steps > 0%", "wander1 wander2") == 0);
    return NULL;
}

const char *Diff_Runs(void)
{
    char folder[] = "/tmp/rtl-diff-XXXXXX";
    char command[64];
    CHECK(mkdtemp(folder));
    const char *failed = check_all(folder);
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(made_shell(command) == 0);
    return failed;
}
