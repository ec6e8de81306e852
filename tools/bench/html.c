/* What rtl bench found, as a page of its own: a picture for each workload, every name as text. */
#include "bench/bench.h"

#include "common/plain.h"
#include "common/show.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define ROW    26.0 /* pixels */
#define LETTER 7.5  /* about */
#define NAME   40   /* letters of a name that are shown */
#define SCALE  330.0
#define KNOWN  (SCALE + 20)  /* from the begin of the scale on */
#define BYTES  (KNOWN + 270) /* right ends of columns of numbers */
#define START  (BYTES + 90)
#define END    (START + 90)
#define MEMORY (END + 90)
#define WIDTH  (MEMORY + 10)
#define LEAST  0.05 /* share at the end of the scale, at least */

static void put_text(FILE *out, const char *text)
{
    char plain[512];
    for (const char *at = plain_text(text, plain, sizeof plain); *at; ++at)
        switch (*at) {
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '>':
            (void)fputs("&gt;", out);
            break;
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '"':
            (void)fputs("&quot;", out);
            break;
        default:
            (void)fputc(*at, out);
        }
}

/* Where the scale of a workload begins, and the shares at its ends. */
struct scale {
    double x, low, high;
};

/* Room for the longest name and the overhead as a number. */
static double begin_of_scale(const struct bench *bench)
{
    size_t longest = 0;
    for (unsigned tool = 1; tool < bench->tool_count; ++tool) {
        size_t length = strlen(bench->tools[tool].name);
        longest = length > longest ? length : longest;
    }
    return LETTER * (double)(longest < NAME ? longest : NAME) + 100;
}

static struct scale scale_of(const struct bench *bench, unsigned workload)
{
    struct scale scale = {begin_of_scale(bench), 0, LEAST};
    for (unsigned tool = 1; tool < bench->tool_count; ++tool) {
        const struct bench_spread *spread = &bench_case_of(bench, workload, tool)->overhead;
        if (!spread->known)
            continue;
        scale.low = fmin(scale.low, spread->low);
        scale.high = fmax(scale.high, spread->high);
    }
    return scale;
}

static double place(const struct scale *scale, double share)
{
    return scale->x + SCALE * (share - scale->low) / (scale->high - scale->low);
}

static void put_label(FILE *out, double x, double y, const char *class, const char *text)
{
    (void)fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    put_text(out, text);
    (void)fputs("</text>\n", out);
}

static void put_bar(FILE *out, const struct scale *scale, const struct bench_spread *spread,
                    double y)
{
    char text[128];
    double zero = place(scale, 0);
    double median = place(scale, spread->median);
    double low = place(scale, spread->low);
    double high = place(scale, spread->high);
    (void)fprintf(out,
                  "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"12\" class=\"bar\"/>\n"
                  "<path d=\"M%.1f %.1fH%.1fM%.1f %.1fv8M%.1f %.1fv8\" class=\"between\"/>\n",
                  fmin(zero, median), y - 10, fabs(median - zero), low, y - 4, high, low, y - 8,
                  high, y - 8);
    (void)snprintf(text, sizeof text, "%+.1f %%", 100 * spread->median);
    put_label(out, scale->x - 10, y, "end", text);
}

static void put_case(const struct bench *bench, unsigned workload, unsigned tool,
                     const struct scale *scale, double y, FILE *out)
{
    const struct bench_case *is = bench_case_of(bench, workload, tool);
    char text[256];
    (void)snprintf(text, sizeof text, "%.*s", NAME, bench->tools[tool].name);
    put_label(out, 0, y, "name", text);
    if (is->overhead.known)
        put_bar(out, scale, &is->overhead, y);
    if (is->worst.outcome != BENCH_FINE) {
        put_label(out, scale->x + KNOWN, y, "bad",
                  bench_outcome_text(&is->worst, text, sizeof text));
        return;
    }
    put_label(out, scale->x + KNOWN, y,
              bench_off(&is->worst) ? "bad"
              : bench_complete(is)  ? "good"
                                    : "name",
              bench_complete_text(is, text, sizeof text));
    (void)snprintf(text, sizeof text, "-");
    if (is->bytes.known)
        (void)snprintf(text, sizeof text, "%.2f", is->bytes.median);
    put_label(out, scale->x + BYTES, y, "end", text);
    put_label(out, scale->x + START, y, "end", bench_time_text(&is->startup, text, sizeof text));
    put_label(out, scale->x + END, y, "end", bench_time_text(&is->finish, text, sizeof text));
    put_label(out, scale->x + MEMORY, y, "end", bench_memory_text(&is->memory, text, sizeof text));
}

static void put_scale(const struct scale *scale, double height, FILE *out)
{
    static const struct {
        double x;
        const char *class, *text;
    } heads[] = {{-10, "head end", "overhead"},
                 {KNOWN, "head", "kernels"},
                 {BYTES, "head end", "bytes/kernel"},
                 {START, "head end", "start-up"},
                 {END, "head end", "end"},
                 {MEMORY, "head end", "memory"}};
    char text[64];
    (void)fprintf(out, "<path d=\"M%.1f 24V%.1f\" class=\"zero\"/>\n", place(scale, 0), height);
    (void)snprintf(text, sizeof text, "%+.1f %%", 100 * scale->high);
    put_label(out, scale->x + SCALE, 16, "end", text);
    if (scale->low < 0) {
        (void)snprintf(text, sizeof text, "%+.1f %%", 100 * scale->low);
        put_label(out, scale->x, 16, "", text);
    }
    put_label(out, 0, 16, "head", "tool");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; ++i)
        put_label(out, scale->x + heads[i].x, 16, heads[i].class, heads[i].text);
}

static void put_workload(const struct bench *bench, unsigned workload, FILE *out)
{
    const struct bench_case *none = bench_case_of(bench, workload, 0);
    struct scale scale = scale_of(bench, workload);
    double height = ROW * bench->tool_count + 8;
    (void)fputs("<h2>", out);
    put_text(out, bench->workloads[workload]);
    (void)fprintf(out, "</h2>\n<p>%s without a tool, %s</p>\n",
                  show_duration(none->steady.median).text,
                  none->worst.expected ? show_things(none->worst.expected, "kernel").text
                                       : "no known number of kernels");
    (void)fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" role=\"img\">\n",
                  scale.x + WIDTH, height, scale.x + WIDTH);
    put_scale(&scale, height, out);
    for (unsigned tool = 1; tool < bench->tool_count; ++tool)
        put_case(bench, workload, tool, &scale, 16 + ROW * tool, out);
    (void)fputs("</svg>\n", out);
}

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'\">\n" BENCH_PAGE "\n<style>\n"
    "body{font:14px sans-serif;margin:2em;color:#222;background:#fff}\n"
    "svg{max-width:100%;font:13px sans-serif}\n.end{text-anchor:end}.head{fill:#666}\n"
    ".bar{fill:#7aa6d8}.between{stroke:#123;fill:none}.zero{stroke:#888}\n"
    ".good{fill:#17692b}.bad{fill:#b3261e;font-weight:bold}\n"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}text{fill:#ddd}"
    ".head{fill:#999}.between{stroke:#eee}.good{fill:#6fcf87}.bad{fill:#ff8a80}}\n"
    "</style>\n</head>\n<body>\n<h1>rtl bench</h1>\n";

int bench_html(const struct bench *bench, FILE *out)
{
    struct bench_machine machine;
    bench_machine_of(&machine);
    (void)fputs(head, out);
    (void)fprintf(out, "<p>%s GPU%s", bench->gpu == GPU_SOFT ? "Software" : "Real",
                  bench->gpu_name[0] ? ": " : "");
    put_text(out, bench->gpu_name);
    (void)fprintf(out, ", interleaved rounds: %u, RTL %s, on ", bench->rounds, RTL_VERSION);
    put_text(out, machine.processor[0] ? machine.processor : machine.host);
    (void)fprintf(
        out,
        " with %ld cores. Bars are medians of paired differences; lines hold the true "
        "median with %.1f %% (sign test). Start-up, end and memory are medians of what is "
        "more than without the tool.</p>\n",
        machine.cores, 100 * bench_confidence(bench->rounds));
    for (unsigned workload = 0; workload < bench->workload_count; ++workload)
        put_workload(bench, workload, out);
    (void)fputs("</body>\n</html>\n", out);
    return ferror(out) ? -1 : 0;
}
