/* rtl bench without runs: planted outcomes and what must be said of them. */
#include "../common/check.h"
#include "bench/bench.h"
#include "made.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct bench_case *bench_case_of(const struct bench *bench, unsigned workload, unsigned tool)
{
    return &bench->cases[workload * bench->tool_count + tool];
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9 * (1 + fabs(b));
}

static double binomial(unsigned n, unsigned k)
{
    double value = 1;
    for (unsigned i = 1; i <= k; ++i)
        value = value * (n - k + i) / i;
    return value;
}

const char *Bench_ConfidenceIsThatOfTheSignTest(void)
{
    /* Textbook values: n values, the interval from the k-th smallest to the k-th largest. */
    CHECK(fabs(bench_confidence(5) - 0.9375) < 1e-9);
    CHECK(fabs(bench_confidence(6) - 0.96875) < 1e-9);
    CHECK(fabs(bench_confidence(9) - (1 - 20.0 / 512)) < 1e-9);
    CHECK(fabs(bench_confidence(20) - (1 - 2 * (1 + 20 + 190 + 1140 + 4845 + 15504) / 1048576.0)) <
          1e-9);
    CHECK(bench_confidence(1) == 0);
    /* Whatever the count: at least 95 % from 6 on, and one value fewer at each end would not do. */
    for (unsigned n = 6; n <= 60; ++n) {
        double values[60];
        for (unsigned i = 0; i < n; ++i)
            values[i] = i;
        struct bench_spread spread = bench_spread_of(values, n);
        double tail = 0;
        for (unsigned k = 0; k <= (unsigned)spread.low; ++k)
            tail += binomial(n, k) / exp2(n);
        CHECK(1 - 2 * tail >= 0.95);
        tail += binomial(n, (unsigned)spread.low + 1) / exp2(n);
        CHECK(1 - 2 * tail < 0.95);
        CHECK(near(spread.high, n - 1 - spread.low));
    }
    return NULL;
}

const char *Bench_IntervalsHoldTheMedian(void)
{
    double odd[] = {9, 1, 5, 7, 3, 2, 8, 6, 4};
    struct bench_spread spread = bench_spread_of(odd, 9);
    CHECK(spread.known && spread.count == 9);
    CHECK(spread.median == 5 && spread.low == 2 && spread.high == 8);
    double even[] = {4, 1, 3, 2};
    spread = bench_spread_of(even, 4);
    CHECK(spread.median == 2.5 && spread.low == 1 && spread.high == 4);
    CHECK(!bench_spread_of(even, 0).known);
    /* Exponential values, whose median is log 2: how often is it outside? */
    unsigned outside = 0;
    unsigned long long state = 88172645463325252u;
    for (unsigned i = 0; i < 4000; ++i) {
        double values[9];
        for (unsigned j = 0; j < 9; ++j) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            values[j] = -log(((double)(state >> 11) + 0.5) * 0x1p-53);
        }
        spread = bench_spread_of(values, 9);
        outside += spread.low > log(2) || spread.high < log(2);
    }
    /* 3.9 % of 4000 are 156, with a deviation of 12. */
    CHECK(outside > 156 - 72 && outside < 156 + 72);
    return NULL;
}

#define ROUNDS 3u

/* A workload under none and one tool that takes a tenth more in each round. */
struct planted {
    struct bench bench;
    struct bench_case cases[2];
    struct bench_run runs[2][ROUNDS];
};

static void plant(struct planted *planted)
{
    static const double steady[ROUNDS] = {1e6, 4e6, 2e6};
    *planted = (struct planted){.bench = {.tools = {{.name = "none"}, {.name = "planted"}},
                                          .tool_count = 2,
                                          .workloads = {"eager"},
                                          .workload_count = 1,
                                          .rounds = ROUNDS,
                                          .gpu = GPU_SOFT}};
    planted->bench.cases = planted->cases;
    for (unsigned tool = 0; tool < 2; ++tool) {
        planted->cases[tool].runs = planted->runs[tool];
        for (unsigned round = 0; round < ROUNDS; ++round)
            planted->runs[tool][round] =
                (struct bench_run){.steady = steady[round] * (tool ? 1.1 : 1),
                                   .startup = tool ? 5e6 : 2e6,
                                   .finish = tool ? 4e6 : 1e6,
                                   .own_count = true,
                                   .submitted = 1000,
                                   .by_truth = true,
                                   .counted = tool > 0,
                                   .expected = 1000,
                                   .recorded = tool ? 1000 : 0,
                                   .bytes = tool ? 8000 : 0,
                                   .own_peak = tool ? 3 << 20 : 1 << 20};
    }
}

static void settle(struct planted *planted)
{
    for (unsigned tool = 0; tool < 2; ++tool)
        bench_settle(&planted->cases[tool], &planted->cases[0], ROUNDS);
}

const char *Bench_DifferencesArePaired(void)
{
    struct planted planted;
    plant(&planted);
    settle(&planted);
    const struct bench_case *is = &planted.cases[1];
    /* The rounds differ fourfold, the pairs do not. */
    CHECK(near(is->overhead.median, 0.1) && near(is->overhead.low, 0.1) &&
          near(is->overhead.high, 0.1));
    CHECK(near(is->steady.median, 2.2e6));
    CHECK(near(is->startup.median, 3e6) && near(is->finish.median, 3e6));
    CHECK(near(is->memory.median, 2 << 20));
    CHECK(near(is->bytes.median, 8));
    CHECK(is->fine == ROUNDS && bench_complete(is));
    return NULL;
}

const char *Bench_TheWorstRunCounts(void)
{
    struct planted planted;
    char text[256];
    plant(&planted);
    planted.runs[1][1].lost = 3;
    planted.runs[1][2].lost = 2;
    settle(&planted);
    CHECK(planted.cases[1].worst.lost == 3 && !bench_complete(&planted.cases[1]));
    CHECK(strcmp(bench_complete_text(&planted.cases[1], text, sizeof text), "LOST 3 of 1 000") ==
          0);
    planted.runs[1][2].outcome = BENCH_DIED;
    planted.runs[1][2].status = 11;
    settle(&planted);
    CHECK(planted.cases[1].worst.outcome == BENCH_DIED && planted.cases[1].fine == 2);
    CHECK(strcmp(bench_outcome_text(&planted.cases[1].worst, text, sizeof text),
                 "died of signal 11") == 0);
    plant(&planted);
    planted.runs[1][0].skipped = 1000;
    planted.runs[1][0].recorded = 0;
    settle(&planted);
    CHECK(!bench_complete(&planted.cases[1]));
    CHECK(strcmp(bench_complete_text(&planted.cases[1], text, sizeof text),
                 "left out 1 000 of 1 000") == 0);
    CHECK(planted.cases[1].bytes.count == 2);
    /* What is left out counts as well, whichever round it was. */
    plant(&planted);
    planted.runs[1][2].skipped = 7;
    settle(&planted);
    CHECK(planted.cases[1].worst.skipped == 7 && planted.cases[1].skipped == 7);
    planted.runs[1][1].lost = 1;
    settle(&planted);
    CHECK(planted.cases[1].worst.lost == 1 && planted.cases[1].skipped == 7);
    /* Copies count like kernels, the worst of both first. */
    plant(&planted);
    for (unsigned round = 0; round < ROUNDS; ++round)
        planted.runs[1][round].copies = (struct bench_copies){.expected = 50, .recorded = 50};
    settle(&planted);
    CHECK(bench_complete(&planted.cases[1]));
    CHECK(strcmp(bench_complete_text(&planted.cases[1], text, sizeof text),
                 "all 1 000 and 50 copies") == 0);
    planted.runs[1][2].copies = (struct bench_copies){.expected = 50, .skipped = 50};
    planted.runs[1][1].copies.lost = 2;
    settle(&planted);
    CHECK(!bench_complete(&planted.cases[1]) && bench_off(&planted.cases[1].worst) == 2);
    CHECK(strcmp(bench_complete_text(&planted.cases[1], text, sizeof text),
                 "LOST 2 of 50 copies") == 0);
    planted.runs[1][1].copies = planted.runs[1][2].copies;
    planted.runs[1][0].copies = planted.runs[1][2].copies;
    settle(&planted);
    CHECK(!bench_complete(&planted.cases[1]));
    CHECK(strcmp(bench_complete_text(&planted.cases[1], text, sizeof text),
                 "left out 50 of 50 copies") == 0);
    plant(&planted);
    for (unsigned round = 0; round < ROUNDS; ++round)
        planted.runs[1][round].expected = planted.runs[1][round].recorded = 0;
    settle(&planted);
    CHECK(strcmp(bench_complete_text(&planted.cases[1], text, sizeof text), "there were none") ==
          0);
    return NULL;
}

const char *Bench_PairsNeedBothRuns(void)
{
    struct planted planted;
    plant(&planted);
    planted.runs[0][1].outcome = BENCH_HUNG;
    planted.runs[1][2].outcome = BENCH_FAILED;
    planted.runs[1][0].steady = 1.5e6;
    settle(&planted);
    CHECK(planted.cases[1].overhead.count == 1 && near(planted.cases[1].overhead.median, 0.5));
    planted.runs[1][0].outcome = BENCH_FAILED;
    settle(&planted);
    CHECK(!planted.cases[1].overhead.known);
    CHECK(planted.cases[1].steady.count == 1);
    return NULL;
}

const char *Bench_Tools(void)
{
    struct bench bench = {.tools = {{.name = "none"}}, .tool_count = 1};
    CHECK(bench_tools_add(&bench, "full/intercept") == 0);
    CHECK(bench_tools_add(&bench, "lite/interpose") == 0);
    CHECK(bench_tools_add(&bench, "name=a,b,env=X=1,2,env=Y={out}/y,command=p -a x,y -- {program},"
                                  "count=wc -l <{out},z") == 0);
    CHECK(bench.tool_count == 4);
    CHECK(strcmp(bench.tools[1].mode, "full") == 0 && strcmp(bench.tools[1].way, "intercept") == 0);
    CHECK(strcmp(bench.tools[2].name, "lite") == 0 && strcmp(bench.tools[2].way, "interpose") == 0);
    const struct bench_tool *other = &bench.tools[3];
    CHECK(!other->mode && strcmp(other->name, "a,b") == 0);
    CHECK(other->env_count == 2 && strcmp(other->env[0], "X=1,2") == 0);
    CHECK(strcmp(other->env[1], "Y={out}/y") == 0);
    CHECK(strcmp(other->command, "p -a x,y -- {program}") == 0);
    CHECK(strcmp(other->count, "wc -l <{out},z") == 0);
    bench_tools_free(&bench);
    bench = (struct bench){.tools = {{.name = "none"}}, .tool_count = 1};
    CHECK(bench_tools_add(&bench, "all") == 0 && bench.tool_count == 9);
    bench = (struct bench){.tools = {{.name = "none"}}, .tool_count = 1};
    CHECK(bench_tools_add(&bench, "hip,full/intercept") == 0 && bench.tool_count == 3);
    CHECK(strcmp(bench.tools[1].name, "hip") == 0 && strcmp(bench.tools[1].way, "interpose") == 0);
    CHECK(strcmp(bench.tools[2].mode, "full") == 0 && strcmp(bench.tools[2].way, "intercept") == 0);
    return NULL;
}

const char *Bench_ToolsThatAreNone(void)
{
    static const char *const wrong[] = {"fast",
                                        "none",
                                        "full/sideways",
                                        "full/",
                                        "",
                                        ",",
                                        "fast,lite",
                                        "full,lite",
                                        "lite,name=x,command={program}",
                                        "name=x",
                                        "name=x,command=prof",
                                        "command={program}",
                                        "name=,command={program}",
                                        "name=x,name=y,command={program}",
                                        "name=none,command={program}",
                                        "name=x,env=Y,command={program}",
                                        "name=x,env==Y,command={program}",
                                        "form=x,command={program}",
                                        "full"};
    struct bench bench = {.tools = {{.name = "none"}}, .tool_count = 1};
    CHECK(bench_tools_add(&bench, "full") == 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i)
        CHECK(bench_tools_add(&bench, wrong[i]) != 0);
    CHECK(bench.tool_count == 2);
    return NULL;
}

const char *Bench_FilledTemplates(void)
{
    char a[] = "a b";
    char b[] = "it's; $(c)";
    char *program[] = {a, b, NULL};
    char *text = bench_tools_fill("p {out} -- {program} {other}", "/t/o u", program, true);
    bool right = strcmp(text, "p '/t/o u' -- 'a b' 'it'\\''s; $(c)' {other}") == 0;
    free(text);
    CHECK(right);
    text = bench_tools_fill("X={out}{program}", "/t", NULL, false);
    right = strcmp(text, "X=/t{program}") == 0;
    free(text);
    CHECK(right);
    return NULL;
}

const char *Bench_LinesOfWorkloads(void)
{
    static const char *const wrong[] = {
        "",
        "rtl-bench-work: ",
        "rtl-bench-work: kernels=x copies=0 begin_ns=1 end_ns=2 peak_kib=3 gpu=g\n",
        "rtl-bench-work: kernels=1 copies=0 begin_ns=2 end_ns=2 peak_kib=3 gpu=g\n",
        "rtl-bench-work: kernels=1 copies=0 begin_ns=9 end_ns=2 peak_kib=3 gpu=g\n",
        "it says rtl-bench-work: kernels=1 copies=0 begin_ns=1 end_ns=2 peak_kib=3 gpu=g\n",
    };
    struct bench_run run = {0};
    unsigned long long scratch = 0;
    uint64_t times[2] = {scratch, scratch};
    char gpu[64] = "";
    CHECK(bench_run_line("noise\nrtl-bench-work: kernels=7 copies=2 begin_ns=100 end_ns=350 "
                         "peak_kib=2 gpu=G \x1b[31m(x)\nmore",
                         &run, times, gpu, sizeof gpu));
    CHECK(run.own_count && run.submitted == 7 && run.own_peak == 2048);
    CHECK(times[0] == 100 && times[1] == 350);
    CHECK(strcmp(gpu, "G \\x1b[31m(x)") == 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
        run = (struct bench_run){0};
        CHECK(!bench_run_line(wrong[i], &run, times, gpu, sizeof gpu));
        CHECK(!run.own_count);
    }
    return NULL;
}

const char *Bench_NumbersOfCountCommands(void)
{
    uint64_t number = 0;
    CHECK(bench_count_read(" 1234\n", &number) && number == 1234);
    CHECK(bench_count_read("0", &number) && number == 0);
    CHECK(!bench_count_read("", &number) && !bench_count_read("-1\n", &number));
    CHECK(!bench_count_read("12 kernels\n", &number) && !bench_count_read("1\n2\n", &number));
    CHECK(!bench_count_read("99999999999999999999999\n", &number));
    return NULL;
}

const char *Bench_MoreOrLessThanThereWere(void)
{
    struct bench_run run = {0};
    bench_count_compare(&run, 100, 97);
    CHECK(run.counted && run.lost == 3 && run.wrong == 0 && run.recorded == 97);
    bench_count_compare(&run, 100, 101);
    CHECK(run.lost == 0 && run.wrong == 1);
    bench_count_compare(&run, 100, 100);
    CHECK(run.lost == 0 && run.wrong == 0);
    return NULL;
}

/* Six kernels of a workload's, two others, three left out and one lost: 12 on one queue. And five
 * copies: two are there, two left out, one lost. */
static void work_of_twelve(struct rtl_ring *ring)
{
    static const char name[] = "rtl_bench_short";
    struct rtl_wire_symbol symbol = {
        .kernel_object = 99, .symbol = 2, .name_length = sizeof name - 1};
    struct rtl_wire_shape shape = {
        .shape = 2, .symbol = 2, .grid = {64, 1, 1}, .block = {64, 1, 1}, .kernel_object = 99};
    const struct rtl_piece pieces[] = {{&symbol, sizeof symbol}, {name, sizeof name - 1}};
    const struct rtl_piece only = {&shape, sizeof shape};
    made_definitions(ring);
    if (!rtl_ring_push(ring, RTL_WIRE_SYMBOL, pieces, 2) ||
        !rtl_ring_push(ring, RTL_WIRE_SHAPE, &only, 1))
        _exit(2);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    for (uint64_t i = 0; i < 8; ++i)
        made_kernel(ring, 0, i, i < 6 ? 2 : 0, MADE_BEGIN + 100 * i, MADE_BEGIN + 100 * i + 50);
    made_ledger(ring, 0, 12, 8, 3);
    made_copies(ring, 1);
    for (uint64_t i = 0; i < 2; ++i)
        made_copy(ring, 1, 4096, RTL_COPY_HOST_TO_DEVICE, RTL_ENGINE_SDMA, MADE_BEGIN + 100 * i,
                  MADE_BEGIN + 100 * i + 50);
    made_ledger(ring, 1, 5, 2, 2);
}

/* A folder as a run leaves it. */
static const char *make_run(struct made *made)
{
    char path[MADE_PATH + 32];
    CHECK_DONE(made_begin(made));
    (void)made_process(made, work_of_twelve);
    CHECK_DONE(made_end(made));
    (void)snprintf(path, sizeof path, "%s/out", made->folder);
    CHECK(mkdir(path, 0700) == 0);
    (void)snprintf(path, sizeof path, "%s/out/more", made->folder);
    CHECK(mkdir(path, 0700) == 0);
    (void)snprintf(path, sizeof path, "printf 12345 >%s/out/more/file", made->folder);
    CHECK(made_shell(path) == 0);
    return NULL;
}

const char *Bench_CountsWithoutATruth(void)
{
    const struct bench_tool tool = {.name = "full", .mode = "full", .way = "interpose"};
    const struct bench real = {.gpu = GPU_REAL};
    struct made made;
    struct stat status;
    char path[MADE_PATH + 32];
    CHECK_DONE(make_run(&made));
    struct bench_run run = {.own_count = true, .submitted = 10};
    bench_count(&real, &tool, made.folder, &run);
    CHECK(run.outcome == BENCH_SPOILED && strstr(run.said, "trace.db") && run.bytes == 5);
    CHECK(stat(made.trace, &status) == 0);
    (void)snprintf(path, sizeof path, "%s/" BENCH_TRACE, made.folder);
    CHECK(rename(made.trace, path) == 0);
    /* By the workload's own count, others' kernels do not make up for what is lost. */
    run = (struct bench_run){.own_count = true, .submitted = 10};
    bench_count(&real, &tool, made.folder, &run);
    CHECK(run.outcome == BENCH_FINE && run.counted && !run.by_truth);
    CHECK(run.expected == 10 && run.recorded == 6 && run.skipped == 3 && run.lost == 1);
    CHECK(run.copies.expected == 5 && run.copies.recorded == 2);
    CHECK(run.copies.skipped == 2 && run.copies.lost == 1 && run.copies.wrong == 0);
    CHECK(run.bytes == (uint64_t)status.st_size + 5);
    /* By the ledger. */
    run = (struct bench_run){0};
    bench_count(&real, &tool, made.folder, &run);
    CHECK(run.counted && run.expected == 12 && run.recorded == 8);
    CHECK(run.skipped == 3 && run.lost == 1 && run.wrong == 0);
    made_clean(&made);
    return NULL;
}

const char *Bench_GatesThatAreNone(void)
{
    static const char *const wrong[] = {
        "",        "overhead",     "overhead=", "overhead=x", "overhead=-1", "overhead=3%%",
        "speed=1", "lost=0,bytes", "lost=1%",   "startup=x",  "memory=9X",   "bytes=nan"};
    struct bench_gates gates = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i)
        CHECK(bench_gate_read(&gates, wrong[i]) != 0);
    return NULL;
}

/* How many gates a planted outcome is beyond. */
static unsigned beyond(struct planted *planted, const char *limits, char *sentence, size_t size)
{
    struct bench_gates gates = {0};
    settle(planted);
    if (bench_gate_read(&gates, limits) != 0)
        return UINT_MAX;
    return bench_gate_judge(&planted->bench, &gates, sentence, size);
}

const char *Bench_GatesAreKept(void)
{
    struct planted planted;
    char sentence[512];
    plant(&planted);
    CHECK(beyond(&planted,
                 "overhead=10.1%,lost=0,bytes=8,skipped=0,startup=3ms,finish=3ms,memory=2M",
                 sentence, sizeof sentence) == 0);
    CHECK(sentence[0] == '\0');
    return NULL;
}

/* The sentence names the tool, the workload, and what it is about. */
static bool told(const char *sentence, const char *what)
{
    return strncmp(sentence, "planted on eager: ", strlen("planted on eager: ")) == 0 &&
           strstr(sentence, what) != NULL;
}

const char *Bench_GatesAreNotKept(void)
{
    static const struct {
        const char *limits, *what;
    } tight[] = {{"overhead=9.9%", "overhead is 10.0 %"},
                 {"bytes=7.9", "8.0 bytes"},
                 {"startup=2ms", "start-up"},
                 {"finish=2ms", "end"},
                 {"memory=1M", "memory"}};
    struct planted planted;
    char sentence[512];
    plant(&planted);
    for (size_t i = 0; i < sizeof tight / sizeof tight[0]; ++i) {
        CHECK(beyond(&planted, tight[i].limits, sentence, sizeof sentence) == 1);
        CHECK(told(sentence, tight[i].what));
    }
    CHECK(beyond(&planted, "overhead=0%,bytes=0", sentence, sizeof sentence) == 2);
    planted.runs[1][1].lost = 1;
    CHECK(beyond(&planted, "lost=0", sentence, sizeof sentence) == 1 &&
          told(sentence, "1 of 1 000"));
    CHECK(beyond(&planted, "lost=1", sentence, sizeof sentence) == 0);
    planted.runs[1][1].copies = (struct bench_copies){.expected = 9, .recorded = 8, .wrong = 1};
    CHECK(beyond(&planted, "lost=1", sentence, sizeof sentence) == 1 &&
          told(sentence, "2 of 1 009 kernels and copies"));
    plant(&planted);
    planted.runs[1][0].wrong = 1;
    CHECK(beyond(&planted, "lost=0", sentence, sizeof sentence) == 1 && told(sentence, "wrong"));
    plant(&planted);
    planted.runs[1][1].skipped = 5;
    CHECK(beyond(&planted, "lost=0", sentence, sizeof sentence) == 0);
    CHECK(beyond(&planted, "skipped=0", sentence, sizeof sentence) == 1 && told(sentence, "mode"));
    plant(&planted);
    for (unsigned round = 0; round < ROUNDS; ++round)
        planted.runs[1][round].counted = false;
    CHECK(beyond(&planted, "lost=0,bytes=10,skipped=0", sentence, sizeof sentence) == 3);
    CHECK(told(sentence, "not known"));
    plant(&planted);
    for (unsigned round = 0; round < ROUNDS; ++round)
        planted.runs[0][round].outcome = BENCH_HUNG;
    CHECK(beyond(&planted, "memory=1G", sentence, sizeof sentence) == 1);
    CHECK(told(sentence, "memory") && told(sentence, "not known"));
    plant(&planted);
    planted.runs[1][2].outcome = BENCH_NO_LINE;
    CHECK(beyond(&planted, "lost=0", sentence, sizeof sentence) == 1);
    CHECK(told(sentence, "result is not in its output"));
    return NULL;
}

/* What a page says, which the caller frees. */
static char *page_of(const struct planted *planted)
{
    char *page = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&page, &size);
    if (!file)
        return NULL;
    int status = bench_html(&planted->bench, file);
    if (fclose(file) == 0 && status == 0)
        return page;
    free(page);
    return NULL;
}

const char *Bench_ThePageHasAllVerdicts(void)
{
    static const char *const said[] = {"+10.0 %",     "all 1 000",  ">8.00<",
                                       ">+3.000 ms<", ">+2.0 MiB<", " cores"};
    struct planted planted;
    plant(&planted);
    planted.runs[1][0].steady = 0.75e6; /* a quarter less than without it */
    settle(&planted);
    char *page = page_of(&planted);
    bool right = page && strstr(page, ">-25.0 %<");
    for (size_t i = 0; right && i < sizeof said / sizeof said[0]; ++i)
        right = strstr(page, said[i]);
    free(page);
    CHECK(right);
    return NULL;
}

const char *Bench_NamesAreText(void)
{
    struct planted planted;
    size_t size = 0;
    plant(&planted);
    planted.bench.tools[1].name = "<script>alert(\"1\")</script>&\x1b[2J";
    planted.runs[1][1].outcome = BENCH_DIED;
    (void)snprintf(planted.runs[1][1].said, sizeof planted.runs[1][1].said, "<img src=x>");
    settle(&planted);
    char *page = page_of(&planted);
    bool right = page && !strstr(page, "<script") && !strstr(page, "<img") && !strchr(page, 0x1b) &&
                 strstr(page, "&lt;script&gt;alert(&quot;1&quot;)") &&
                 strstr(page, "&lt;img src=x&gt;") && strstr(page, "eager") &&
                 !strstr(page, "http:") && !strstr(page, "https:");
    free(page);
    CHECK(right);
    page = NULL;
    FILE *file = open_memstream(&page, &size);
    CHECK(file);
    bench_show(&planted.bench, file);
    bool closed = fclose(file) == 0;
    right = closed && !strchr(page, 0x1b) && strstr(page, "died of signal");
    free(page);
    CHECK(right);
    return NULL;
}

static double number_at(const json_t *object, const char *outer, const char *inner)
{
    return json_number_value(json_object_get(json_object_get(object, outer), inner));
}

const char *Bench_Json(void)
{
    struct planted planted;
    plant(&planted);
    planted.runs[1][1].lost = 4;
    settle(&planted);
    json_t *object = bench_json(&planted.bench, 1, "a reason");
    const json_t *workload = json_array_get(json_object_get(object, "workloads"), 0);
    const json_t *tools = json_object_get(workload, "tools");
    const json_t *tool = json_array_get(tools, 1);
    bool right = strcmp(json_string_value(json_object_get(object, "gpu")), "software") == 0 &&
                 strcmp(json_string_value(json_object_get(object, "reason")), "a reason") == 0 &&
                 json_integer_value(json_object_get(object, "gates_failed")) == 1 &&
                 json_integer_value(json_object_get(workload, "kernels")) == 1000 &&
                 json_array_size(tools) == 2 &&
                 strcmp(json_string_value(json_object_get(tool, "tool")), "planted") == 0 &&
                 near(number_at(tool, "overhead", "median"), 0.1) &&
                 near(number_at(tool, "completeness", "lost"), 4) &&
                 near(number_at(tool, "completeness", "expected"), 1000) &&
                 near(number_at(tool, "bytes_per_kernel", "median"), 8) &&
                 near(number_at(tool, "startup_ns", "median"), 3e6) &&
                 near(number_at(tool, "finish_ns", "high"), 3e6) &&
                 json_array_size(json_object_get(tool, "runs")) == ROUNDS &&
                 json_is_null(json_object_get(json_array_get(tools, 0), "overhead"));
    json_decref(object);
    CHECK(right);
    return NULL;
}
