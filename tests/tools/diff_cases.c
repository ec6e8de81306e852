/* rtl diff of made-up runs, of which the time of each step, and the number of calls of each kernel,
 * are known: what --fail-if passes, fails and refuses to judge. */
#include "made.h"

#include <stdio.h>
#include <stdlib.h>

#define STEPS 40u

/* What the next run does: a step in ticks; calls of kernels, and those that are not in the trace.
 */
static uint64_t step_ticks, add_calls, mul_calls, lost_calls, skipped_calls;

/* Steps of two kernels of 20 and 50 ticks; a step has up to 4 ticks more. */
static void work(struct rtl_ring *ring)
{
    uint64_t at = MADE_BEGIN + 1000;
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    for (uint64_t i = 0; i < STEPS; ++i) {
        made_kernel(ring, 0, 2 * i, 0, at, at + 20);
        made_kernel(ring, 0, 2 * i + 1, 1, at + 30, at + 80);
        at += step_ticks + i * 7 % 5;
    }
    made_ledger(ring, 0, UINT64_C(2) * STEPS, UINT64_C(2) * STEPS, 0);
    rtl_ring_close(ring);
}

/* Calls of 20 ticks of one kernel, then calls of 50 ticks of the other. */
static void call(struct rtl_ring *ring)
{
    uint64_t calls = add_calls + mul_calls;
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    for (uint64_t i = 0; i < calls; ++i) {
        uint64_t at = MADE_BEGIN + 1000 * (i + 1);
        made_kernel(ring, 0, i, i >= add_calls, at, at + (i < add_calls ? 20 : 50));
    }
    made_ledger(ring, 0, calls + lost_calls + skipped_calls, calls, skipped_calls);
    atomic_store(&ring->header->ledger[0].lost[RTL_LOSS_POOL], lost_calls);
    rtl_ring_close(ring);
}

/* A run, as `name` in the folder. */
static const char *make(const char *folder, const char *name, made_work work_of)
{
    struct made made;
    char command[1024];
    CHECK_DONE(made_begin(&made));
    (void)made_process(&made, work_of);
    CHECK_DONE(made_end(&made));
    (void)snprintf(command, sizeof command, "mv %s %s/%s", made.trace, folder, name);
    CHECK(made_shell(command) == 0);
    made_clean(&made);
    return NULL;
}

static const char *make_steps(const char *folder, const char *name, uint64_t step)
{
    step_ticks = step;
    return make(folder, name, work);
}

static const char *make_calls(const char *folder, const char *name, uint64_t adds, uint64_t muls)
{
    add_calls = adds;
    mul_calls = muls;
    return make(folder, name, call);
}

/* The exit status of a comparison. */
static int ask(const char *folder, const char *limit, const char *files)
{
    char command[2048];
    (void)snprintf(command, sizeof command, "cd %s && %s diff --fail-if '%s' %s >out 2>&1", folder,
                   RTL_COMMAND, limit, files);
    return made_shell(command);
}

/* Whether the last comparison said this. */
static bool said(const char *folder, const char *words)
{
    char command[1024];
    (void)snprintf(command, sizeof command, "grep -qF -- \"%s\" %s/out", words, folder);
    return made_shell(command) == 0;
}

static const char *check_steps(const char *folder)
{
    static const char slower[] = "a1 a2 a3 -- b1 b2 b3";
    static const char alike[] = "a1 a2 a3 -- c1 c2 c3";
    CHECK_DONE(make_steps(folder, "a1", 1000));
    CHECK_DONE(make_steps(folder, "a2", 1004));
    CHECK_DONE(make_steps(folder, "a3", 1002));
    CHECK_DONE(make_steps(folder, "b1", 1103));
    CHECK_DONE(make_steps(folder, "b2", 1101));
    CHECK_DONE(make_steps(folder, "b3", 1105));
    CHECK_DONE(make_steps(folder, "c1", 1003));
    CHECK_DONE(make_steps(folder, "c2", 1001));
    CHECK_DONE(make_steps(folder, "c3", 1005));

    /* Medians 1002, 1006, 1004 ticks, and 1105, 1103, 1107: 10.06 % more. */
    CHECK(ask(folder, "block of 2 eager kernels > 10%", slower) == 1);
    CHECK(ask(folder, "1 > 10%", slower) == 1);
    CHECK(ask(folder, "steps > 10%", slower) == 1);
    CHECK(ask(folder, "steps > 10.1%", slower) == 0);
    CHECK(ask(folder, "kernels > 0%", slower) == 0);
    CHECK(ask(folder, "steps > 10%", "b1 b2 b3 -- a1 a2 a3") == 0);
    /* One more tick is less than the runs of a side differ by. */
    CHECK(ask(folder, "steps > 0%", alike) == 0);
    /* Several against one: the several have the spread. */
    CHECK(ask(folder, "steps > 10%", "a1 a2 a3 -- b1") == 1);
    CHECK(ask(folder, "steps > 0%", "a1 a2 a3 -- c1") == 0);
    return NULL;
}

/* One run a side: steps that are as steady within each run as these, and further apart by far, may
 * be of one program, and nothing is passed, either. */
static const char *check_one_run(const char *folder)
{
    static const char *const unsure[] = {"steps", "1", "block of 2 eager kernels", "total"};
    for (size_t i = 0; i < sizeof unsure / sizeof *unsure; ++i) {
        char limit[64];
        char words[128];
        (void)snprintf(limit, sizeof limit, "%s > 10%%", unsure[i]);
        (void)snprintf(words, sizeof words, "--fail-if %s needs several runs a side", unsure[i]);
        CHECK(ask(folder, limit, "a1 b1") == 2 && said(folder, words));
        CHECK(ask(folder, limit, "b1 a1") == 2 && said(folder, words));
        CHECK(ask(folder, limit, "a1 a2 -- b1") != 2);
    }
    CHECK(ask(folder, "kernels > 0%", "a1 b1") == 0);
    CHECK(!said(folder, "slower  ") && said(folder, "too few"));
    return NULL;
}

/* 40 calls of 20 ticks and 40 of 50; then 60 and 40: of the first 50 % more, of all 25 %, and 3200
 * ticks after 2800: 14.29 %. No call takes longer. */
static const char *check_counts(const char *folder)
{
    CHECK_DONE(make_calls(folder, "few1", 40, 40));
    CHECK_DONE(make_calls(folder, "few2", 40, 40));
    CHECK_DONE(make_calls(folder, "more1", 60, 40));
    CHECK_DONE(make_calls(folder, "more2", 60, 40));
    CHECK_DONE(make_calls(folder, "new1", 0, 90));

    CHECK(ask(folder, "kernels > 0%", "few1 more1") == 0);
    CHECK(ask(folder, "count > 49.9%", "few1 more1") == 1);
    CHECK(said(folder, "rtl: count: calls of add(int*) grew by 50.0 %, more than 49.9 %"));
    CHECK(!said(folder, "rtl: count: calls of mul") && !said(folder, "rtl: count: calls of all"));
    CHECK(ask(folder, "count > 24.9%", "few1 more1") == 1);
    CHECK(said(folder, "rtl: count: calls of all kernels together grew by 25.0 %"));
    CHECK(ask(folder, "count > 50%", "few1 more1") == 0);
    CHECK(ask(folder, "count > 0%", "few1 few2") == 0);
    CHECK(ask(folder, "count > 0%", "more1 few1") == 0);

    CHECK(ask(folder, "count > 49.9%", "few1 few2 -- more1 more2") == 1);
    CHECK(ask(folder, "count > 50%", "few1 few2 -- more1 more2") == 0);
    CHECK(ask(folder, "total > 14.2%", "few1 few2 -- more1 more2") == 1);
    CHECK(said(folder, "rtl: total: all kernels together got slower by 14.3 %, more than 14.2 %"));
    CHECK(ask(folder, "total > 14.3%", "few1 few2 -- more1 more2") == 0);
    CHECK(ask(folder, "total > 0%", "more1 more2 -- few1 few2") == 0);
    /* Runs of a side differ by 20 calls, as the sides do. */
    CHECK(ask(folder, "count > 0%", "few1 more1 -- few2 more2") == 0);
    CHECK(ask(folder, "total > 0%", "few1 more1 -- few2 more2") == 0);
    /* A kernel that is gone is no growth; that there are more of all is. */
    CHECK(ask(folder, "count > 12%", "few1 new1") == 1);
    CHECK(said(folder, "rtl: count: calls of all kernels together grew by 12.5 %"));
    return NULL;
}

/* Nothing of it has 8 durations on each side: that is no pass. */
static const char *check_few(const char *folder)
{
    CHECK_DONE(make_calls(folder, "seven", 7, 0));
    CHECK(ask(folder, "kernels > 0%", "seven few1") == 2);
    CHECK(said(folder, "--fail-if kernels cannot be judged"));
    CHECK(ask(folder, "count > 0%", "seven few1") == 1);
    return NULL;
}

/* What was lost may be what got slower: no limit passes over it. What was left out is not lost. */
static const char *check_lost(const char *folder)
{
    static const char line[] = "lost: INCOMPLETE: 80 of 92 kernels, 12 lost";
    static const char *const limits[] = {"kernels > 90%", "count > 90%"};
    char command[1024];
    lost_calls = 12;
    CHECK_DONE(make_calls(folder, "lost", 40, 40));
    CHECK_DONE(make_calls(folder, "lost2", 40, 40));
    lost_calls = 0;
    skipped_calls = 12;
    CHECK_DONE(make_calls(folder, "skipped", 40, 40));
    skipped_calls = 0;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
        CHECK(ask(folder, limits[i], "few1 lost") == 2);
        CHECK(said(folder, "--fail-if wants complete traces, and lost is not: INCOMPLETE: 80 of 92 "
                           "kernels, 12 lost"));
        CHECK(ask(folder, limits[i], "lost few1") == 2);
        CHECK(ask(folder, limits[i], "few1 skipped") == 0);
    }
    CHECK(ask(folder, "total > 90%", "few1 lost2 -- few2 lost") == 2);
    CHECK(said(folder, "and lost2 is not (nor is 1 other): INCOMPLETE"));
    /* Without a limit it is told. */
    (void)snprintf(command, sizeof command, "cd %s && %s diff few1 lost >out 2>&1", folder,
                   RTL_COMMAND);
    CHECK(made_shell(command) == 0 && said(folder, line) && !said(folder, "few1: "));
    (void)snprintf(command, sizeof command,
                   "cd %s && %s diff --json few1 lost | jq -ce '.complete, .completeness[1]' >out",
                   folder, RTL_COMMAND);
    CHECK(made_shell(command) == 0 && said(folder, "[true,false]") && said(folder, line + 6));
    return NULL;
}

static const char *check_all(const char *folder)
{
    CHECK_DONE(check_steps(folder));
    CHECK_DONE(check_one_run(folder));
    CHECK_DONE(check_counts(folder));
    CHECK_DONE(check_few(folder));
    return check_lost(folder);
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
