/* rtl doctor --selftest: the runs one after the other, and the report. */
#include "selftest/selftest.h"

#include "common/command.h"
#include "common/open.h"
#include "common/output.h"
#include "common/paths.h"
#include "common/plain.h"
#include "common/process.h"
#include "common/say.h"
#include "common/show.h"
#include "common/softgpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPORT "rtl-selftest.json"
/* Stands in the head of each report. */
#define OWN "\"made_by\": \"rtl doctor --selftest\""

static int choose_gpu(struct selftest *selftest)
{
    bool led = softgpu_is_led();
    if (selftest->gpu == GPU_AUTO)
        selftest->gpu = led ? GPU_SOFT : GPU_REAL;
    if (selftest->gpu == GPU_REAL && led)
        return say_fail(EXIT_USAGE,
                        "LD_PRELOAD leads to the software GPU: unset it for --gpu real");
    if (selftest->gpu == GPU_SOFT && !paths_softgpu(selftest->soft, sizeof selftest->soft))
        return say_fail(EXIT_USAGE,
                        "the software GPU (softgpu/libsoftgpu.so) is not in the library folder "
                        "that belongs to this rtl: build or install it");
    probe_run(selftest->gpu == GPU_SOFT ? selftest->soft : NULL, &selftest->probe);
    if (selftest->probe.gpus > 0)
        return 0;
    char trouble[PATH_MAX];
    probe_trouble(&selftest->probe, trouble, sizeof trouble);
    return say_fail(EXIT_USAGE, "there is no GPU to test with: %s%s", trouble,
                    selftest->gpu == GPU_SOFT
                        ? ""
                        : "; rtl doctor tells more, and --gpu soft tests with the software GPU");
}

static int find_parts(struct selftest *selftest)
{
    if (!paths_self(selftest->self, sizeof selftest->self) ||
        !paths_beside("rtl-selftest-work", selftest->work, sizeof selftest->work))
        return say_fail(EXIT_USAGE, "rtl-selftest-work is not beside this rtl: build or install "
                                    "it");
    if (selftest->gpu == GPU_SOFT &&
        !paths_library("softgpu/selftest_plugin.so", selftest->plugin, sizeof selftest->plugin))
        return say_fail(EXIT_USAGE, "softgpu/selftest_plugin.so is not in the library folder that "
                                    "belongs to this rtl: build or install it");
    /* Where it is not there hipRTC must be. */
    if (!paths_library("rtl-selftest.co", selftest->spare, sizeof selftest->spare))
        (void)snprintf(selftest->spare, sizeof selftest->spare, "rtl-selftest.co");
    return 0;
}

/* What the library refuses on a runtime of this generation (docs/librtl.md). */
static bool is_refused(const struct selftest *selftest, const char *mode, const char *way)
{
    const char *generation = selftest->probe.generation;
    if (strcmp(way, "intercept") != 0)
        return false;
    return strcmp(generation, "unknown") == 0 ||
           (strcmp(mode, "full") == 0 &&
            (strcmp(generation, "G2") == 0 || strcmp(generation, "unstaged") == 0));
}

static void progress(const char *text)
{
    if (!show_terminal(stderr))
        return;
    (void)fprintf(stderr, "\033[K%s\r", text);
    (void)fflush(stderr);
}

static int record_all(struct selftest *selftest)
{
    char text[96];
    for (unsigned way = 0; way < SELFTEST_WAYS; ++way)
        for (unsigned mode = 0; mode < SELFTEST_MODES; ++mode) {
            struct recording *is = &selftest->recordings[way][mode];
            is->mode = selftest_modes[mode];
            is->way = selftest_ways[way];
            is->refusal = is_refused(selftest, is->mode, is->way);
            (void)snprintf(text, sizeof text, "recording in mode %s, RTL_QUEUE=%s", is->mode,
                           is->way);
            progress(text);
            if (record(selftest, is) != 0)
                return EXIT_USAGE;
        }
    return 0;
}

/* A program that does not do without RTL says nothing about RTL. */
static int try_alone(struct selftest *selftest)
{
    progress("running without RTL");
    if (record(selftest, &selftest->first) != 0)
        return EXIT_USAGE;
    if (check_aspect(&selftest->first, ASPECT_RAN) == 1)
        return 0;
    progress("");
    return say_fail(EXIT_USAGE, "rtl-selftest-work does not do without RTL: %s",
                    plain(selftest->first.checks[0].seen));
}

static int run_all(struct selftest *selftest)
{
    int status = try_alone(selftest);
    for (unsigned i = 0; status == 0 && i < SELFTEST_ALONE; ++i)
        status = record(selftest, &selftest->alone[i]);
    if (status == 0)
        status = record_all(selftest);
    if (status == 0) {
        progress("running under rocprofv3");
        status = record_rocprofv3(selftest);
    }
    progress("");
    return status;
}

static int write_report(struct output *report, const json_t *json)
{
    FILE *file = fdopen(dup(report->fd), "w");
    bool fine = file && open_write_object(file, json) == 0;
    int error = errno;
    if (file && fclose(file) != 0) {
        error = fine ? errno : error;
        fine = false;
    }
    if (fine)
        return output_commit(report);
    return say_fail(EXIT_USAGE, "'%s' could not be written: %s", plain(report->name),
                    say_errno(error));
}

static int tell(const struct selftest *selftest, struct output *report, const char *name, bool json,
                json_t *machine)
{
    json_t *object = selftest_json(selftest, machine);
    int status = selftest_red(selftest) > 0 ? EXIT_DIFFERENT : EXIT_FINE;
    int written = write_report(report, object);
    if (json) {
        status = open_print_json(object, written ? written : status);
    } else {
        json_decref(object);
        selftest_text(selftest, stdout);
        if (!written && strcmp(name, "-") != 0)
            (void)printf("\nthe report is in %s: put it into a bug report\n", plain(name));
    }
    return written ? written : status;
}

static void clean(struct selftest *selftest)
{
    checks_free(&selftest->first);
    for (unsigned i = 0; i < SELFTEST_ALONE; ++i)
        checks_free(&selftest->alone[i]);
    for (unsigned i = 0; i < SELFTEST_WAYS * SELFTEST_MODES; ++i)
        checks_free(&selftest->recordings[i / SELFTEST_MODES][i % SELFTEST_MODES]);
    known_free(&selftest->profiled);
    free(selftest->counted);
}

int selftest_show(const struct selftest_request *request, json_t *machine)
{
    static struct selftest selftest;
    const char *name = request->output ? request->output : REPORT;
    const struct output_rules rules = {.kind = OUTPUT_STREAM, .force = request->force, .own = OWN};
    struct output report = {0};
    int signal;
    selftest.gpu = request->gpu;
    int status = choose_gpu(&selftest);
    if (!status)
        status = find_parts(&selftest);
    if (!status)
        status = output_begin(&report, name, &rules);
    if (!status)
        status = folder_make("rtl-selftest", selftest.folder, sizeof selftest.folder);
    if (!status) {
        process_begin();
        status = run_all(&selftest);
        folder_remove(selftest.folder);
        if (process_stopped(&signal))
            status = 128 + signal;
    }
    if (status)
        json_decref(machine);
    else
        status = tell(&selftest, &report, name, request->json, machine);
    output_drop(&report);
    clean(&selftest);
    return status;
}
