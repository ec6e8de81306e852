/* What a user sees. */
#include "selftest/selftest.h"

#include "common/plain.h"
#include "common/show.h"
#include "common/table.h"

#include <inttypes.h>
#include <string.h>

#define MOST_RED 20u

static size_t sum(const struct selftest *selftest, bool red)
{
    size_t count = red ? selftest->first.red : selftest->first.check_count;
    for (unsigned i = 0; i < SELFTEST_ALONE; ++i)
        count += red ? selftest->alone[i].red : selftest->alone[i].check_count;
    for (unsigned i = 0; i < SELFTEST_WAYS * SELFTEST_MODES; ++i) {
        const struct recording *is = &selftest->recordings[i / SELFTEST_MODES][i % SELFTEST_MODES];
        count += red ? is->red : is->check_count;
    }
    return count;
}

size_t selftest_red(const struct selftest *selftest)
{
    return sum(selftest, true);
}

size_t selftest_checks(const struct selftest *selftest)
{
    return sum(selftest, false);
}

double selftest_time(const struct recording *is, const char *part)
{
    double least = 0;
    for (const struct known_line *line = NULL; (line = known_next(&is->known, "time", line));) {
        double kernels = (double)known_number(line, 2);
        double time = kernels > 0 ? (double)known_number(line, 1) / kernels : 0;
        if (strcmp(line->word[0], part) == 0 && time > 0 && (least == 0 || time < least))
            least = time;
    }
    return least;
}

double selftest_alone(const struct selftest *selftest, const char *part)
{
    double least = 0;
    for (unsigned i = 0; i < SELFTEST_ALONE; ++i) {
        double time = selftest_time(&selftest->alone[i], part);
        if (time > 0 && (least == 0 || time < least))
            least = time;
    }
    return least;
}

static const char *state_of(const struct recording *is, enum aspect aspect)
{
    int state = check_aspect(is, aspect);
    if (state == 0)
        return "RED";
    if (is->refused[0] && aspect > ASPECT_RESULTS)
        return "refused";
    if (state < 0)
        return check_aspect(is, ASPECT_RAN) == 0 ? "?" : "-";
    return "ok";
}

static void show_way(const struct selftest *selftest, unsigned way, FILE *out)
{
    struct table *table = table_new("lllll");
    table_cell(table, "");
    for (unsigned mode = 0; mode < SELFTEST_MODES; ++mode)
        table_cell(table, selftest_modes[mode]);
    for (unsigned aspect = 0; aspect < ASPECTS; ++aspect) {
        table_cell(table, selftest_aspects[aspect]);
        for (unsigned mode = 0; mode < SELFTEST_MODES; ++mode)
            table_cell(table, state_of(&selftest->recordings[way][mode], (enum aspect)aspect));
    }
    (void)fprintf(out, "\nRTL_QUEUE=%s%s:\n", selftest_ways[way],
                  way == 0 ? ", which is the default" : "");
    table_print(table, out);
}

static void show_refusals(const struct selftest *selftest, FILE *out)
{
    for (unsigned i = 0; i < SELFTEST_WAYS * SELFTEST_MODES; ++i) {
        const struct recording *is = &selftest->recordings[i / SELFTEST_MODES][i % SELFTEST_MODES];
        if (is->refused[0])
            (void)fprintf(out, "\nrefused in mode %s: %s\n", is->mode, plain(is->refused));
    }
}

/* "+0.4 us" */
static void show_more(struct table *table, double with, double alone)
{
    char text[96];
    if (with == 0 || alone == 0) {
        table_cell(table, "-");
        return;
    }
    (void)snprintf(text, sizeof text, "%s%s", with < alone ? "-" : "+",
                   show_duration(with < alone ? alone - with : with - alone).text);
    table_cell(table, text);
}

static void show_costs(const struct selftest *selftest, FILE *out)
{
    static const char *const parts[] = {"eager", "graph"};
    struct table *table = table_new("lrrrr");
    table_cell(table, "");
    table_cell(table, "interpose: alone");
    table_cell(table, "in a graph");
    table_cell(table, "intercept: alone");
    table_cell(table, "in a graph");
    for (unsigned mode = 0; mode < SELFTEST_MODES; ++mode) {
        table_cell(table, selftest_modes[mode]);
        for (unsigned i = 0; i < SELFTEST_WAYS * 2; ++i)
            show_more(table, selftest_time(&selftest->recordings[i / 2][mode], parts[i % 2]),
                      selftest_alone(selftest, parts[i % 2]));
    }
    (void)fprintf(
        out,
        "\nhost's time for a kernel, more than without RTL (%s alone, %s in a graph), without a "
        "verdict:\n",
        show_duration(selftest_alone(selftest, "eager")).text,
        show_duration(selftest_alone(selftest, "graph")).text);
    table_print(table, out);
}

/* What other profilers lose is not RTL's: no verdict. */
static void show_rocprofv3(const struct selftest *selftest, FILE *out)
{
    uint64_t counted = 0;
    uint64_t launched = 0;
    size_t index = 0;
    if (!selftest->compared) {
        (void)fprintf(out, "\nrocprofv3: %s\n", plain(selftest->rocprofv3));
        return;
    }
    for (const struct known_line *line = NULL;
         (line = known_next(&selftest->profiled, "kernel", line)); ++index) {
        counted += selftest->counted[index];
        launched += known_number(line, 1) + known_number(line, 2);
    }
    (void)fprintf(out, "\nrocprofv3: %s of %s kernels\n", show_count(counted).text,
                  show_count(launched).text);
}

static void show_reds(const struct recording *is, unsigned *shown, FILE *out)
{
    char expected[44];
    char seen[120];
    for (size_t i = 0; i < is->check_count; ++i) {
        const struct check *check = &is->checks[i];
        if (check->right || ++*shown > MOST_RED)
            continue;
        (void)fprintf(out, "  %s%s%s: %s: %s: expected %s, seen %s\n",
                      is->mode ? is->mode : "without RTL", is->mode ? ", " : "",
                      is->mode ? is->way : "", selftest_aspects[check->aspect], plain(check->what),
                      plain_fit(check->expected, 40, expected, sizeof expected),
                      plain_fit(check->seen, 100, seen, sizeof seen));
    }
}

static void show_verdict(const struct selftest *selftest, FILE *out)
{
    size_t red = selftest_red(selftest);
    unsigned shown = 0;
    (void)fputc('\n', out);
    if (red == 0) {
        show_styled(out, SHOW_GOOD, "right");
        (void)fprintf(out, ": all %s\n", show_things(selftest_checks(selftest), "check").text);
        return;
    }
    show_styled(out, SHOW_BAD, "RED");
    (void)fprintf(out, ": %s of %s\n", show_count(red).text,
                  show_things(selftest_checks(selftest), "check").text);
    show_reds(&selftest->first, &shown, out);
    for (unsigned i = 0; i < SELFTEST_ALONE; ++i)
        show_reds(&selftest->alone[i], &shown, out);
    for (unsigned i = 0; i < SELFTEST_WAYS * SELFTEST_MODES; ++i)
        show_reds(&selftest->recordings[i / SELFTEST_MODES][i % SELFTEST_MODES], &shown, out);
    if (shown > MOST_RED)
        (void)fprintf(out, "  and %u more, which are in the report\n", shown - MOST_RED);
}

void selftest_text(const struct selftest *selftest, FILE *out)
{
    const struct known_line *gpu = known_next(&selftest->first.known, "gpu", NULL);
    const struct known_line *code = known_next(&selftest->first.known, "code", NULL);
    (void)fprintf(out, "rtl %s on %s\n", RTL_VERSION, plain(gpu ? gpu->word[0] : "a GPU"));
    (void)fprintf(out, "  %s\n  %s\n", plain(selftest->probe.hip), plain(selftest->probe.runtime));
    (void)fprintf(out, "  kernels %s\n",
                  code && strcmp(code->word[0], "hiprtc") == 0 ? "compiled here, by hipRTC"
                                                               : "as they were compiled with RTL");
    for (unsigned way = 0; way < SELFTEST_WAYS; ++way)
        show_way(selftest, way, out);
    (void)fprintf(out, "\n-: the mode leaves it out   ?: the program has not come that far\n");
    show_refusals(selftest, out);
    show_costs(selftest, out);
    show_rocprofv3(selftest, out);
    show_verdict(selftest, out);
}
