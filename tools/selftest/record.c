/* The runs. */
#include "selftest/selftest.h"

#include "common/child.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/paths.h"
#include "common/plain.h"
#include "common/process.h"
#include "common/say.h"
#include "common/softgpu.h"
#include "selftest/kernels.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define LIMIT_NS   UINT64_C(60000000000)
#define MOST_WORDS 20u
#define REFUSAL    "RTL_QUEUE=intercept: "

/* Names of files in the folder of the runs. */
#define TRACE    "trace.db"
#define PROFILED "rocprofv3"

static void name_file(const struct selftest *selftest, const char *name, char path[PATH_MAX])
{
    (void)snprintf(path, PATH_MAX, "%s/%s", selftest->folder, name);
}

/* What a user has set for programs of his own is not what is tested. */
static const char *const of_user[] = {"RTL_BUFFER",  "RTL_COUNTING", "RTL_METRICS_KERNEL",
                                      "RTL_DELAY",   "RTL_DURATION", "RTL_METRICS",
                                      "RTL_MODE",    "RTL_PENDING",  "RTL_POOL",
                                      "RTL_PRELOAD", "RTL_RANGES",   "RTL_START"};

static char **make_environment(const struct selftest *selftest, const char *way)
{
    char **environment = process_environment();
    for (size_t i = 0; i < sizeof of_user / sizeof of_user[0]; ++i)
        process_set(&environment, of_user[i], NULL);
    if (way)
        process_set(&environment, "RTL_QUEUE", way);
    if (selftest->gpu != GPU_SOFT)
        return environment;
    process_set_first(&environment, "SOFTGPU_PLUGINS", selftest->plugin);
    environment = softgpu_environment(environment, selftest->soft);
    if (!environment)
        memory_is_short();
    return environment;
}

/* What of it a user can do something with. */
static void last_line(const char *text, char *line, size_t size)
{
    const char *end = text + strlen(text);
    while (end > text && (unsigned char)end[-1] <= ' ')
        --end;
    const char *begin = end;
    while (begin > text && begin[-1] != '\n')
        --begin;
    (void)snprintf(line, size, "%.*s", (int)(end - begin), begin);
}

static void check_end(struct recording *is, const struct process *process, const char *errors)
{
    char seen[400];
    char said[300] = "";
    if (errors)
        last_line(errors, said, sizeof said);
    if (process->hung)
        (void)snprintf(seen, sizeof seen, "ended after %u s",
                       (unsigned)(LIMIT_NS / UINT64_C(1000000000)));
    else if (WIFSIGNALED(process->status))
        (void)snprintf(seen, sizeof seen, "signal %d: %s", WTERMSIG(process->status), said);
    else if (WEXITSTATUS(process->status) != 0)
        (void)snprintf(seen, sizeof seen, "status %d: %s", WEXITSTATUS(process->status), said);
    else
        (void)snprintf(seen, sizeof seen, "status 0");
    check_text(is, ASPECT_RAN, "end of the program", "status 0", seen,
               !process->hung && process->status == 0);
}

static void check_results(struct recording *is)
{
    for (const struct known_line *line = NULL; (line = known_next(&is->known, "result", line));)
        check_text(is, ASPECT_RESULTS, line->word[0], line->word[1], line->word[2],
                   strcmp(line->word[1], line->word[2]) == 0);
}

/* The sentence of the library, if it refuses the way. */
static void find_refusal(struct recording *is, const char *errors)
{
    const char *found = errors ? strstr(errors, REFUSAL) : NULL;
    if (found)
        (void)snprintf(is->refused, sizeof is->refused, "%.*s", (int)strcspn(found, "\n"), found);
}

static void check_refusal(struct recording *is)
{
    if (is->refusal || is->refused[0])
        check_text(is, ASPECT_ACCOUNT, "refused", is->refusal ? "a sentence that says so" : "no",
                   is->refused[0] ? is->refused : "no", is->refusal && is->refused[0]);
}

/* Runs words, which end with the program's, with the program's knowledge in `known`. */
static int run(struct selftest *selftest, const char *way, const char *const *before,
               struct known *known, struct process *process, char **errors)
{
    char known_path[PATH_MAX];
    char code[PATH_MAX];
    char output[PATH_MAX];
    char said[PATH_MAX];
    const char *words[MOST_WORDS] = {NULL};
    size_t count = 0;
    int signal;
    name_file(selftest, "known", known_path);
    name_file(selftest, "code", code);
    name_file(selftest, "output", output);
    name_file(selftest, "errors", said);
    (void)remove(known_path);
    for (; before && *before; ++before)
        words[count++] = *before;
    words[count++] = selftest->work;
    words[count++] = known_path;
    words[count++] = code;
    words[count++] = selftest->spare;
    char **environment = make_environment(selftest, way);
    int status = process_run((char *const *)words, environment, output, said, LIMIT_NS, process);
    child_environment_free(environment);
    if (status != 0)
        return say_fail(EXIT_USAGE, "no process could be made: %s", say_errno(errno));
    if (process_stopped(&signal))
        return EXIT_USAGE;
    known_read(known_path, known);
    *errors = process_read(said);
    return 0;
}

int record(struct selftest *selftest, struct recording *is)
{
    char trace[PATH_MAX];
    const char *const words[] = {
        selftest->self, "trace",  "-q",    "-f",
        "-m",           is->mode, "--gpu", selftest->gpu == GPU_SOFT ? "soft" : "real",
        "-o",           trace,    "--",    NULL};
    struct process process;
    char *errors = NULL;
    name_file(selftest, TRACE, trace);
    (void)remove(trace);
    int status = run(selftest, is->way, is->mode ? words : NULL, &is->known, &process, &errors);
    if (status == 0) {
        check_end(is, &process, errors);
        check_results(is);
        check_text(is, ASPECT_RAN, "the program's account of itself", "whole",
                   known_is_whole(&is->known) ? "whole" : "not whole", known_is_whole(&is->known));
        if (is->mode) {
            find_refusal(is, errors);
            check_refusal(is);
            compare_trace(is, trace);
        }
    }
    free(errors);
    return status;
}

/* rocprofv3 puts its files below folders of its own. nftw has no context. */
static char found_csv[PATH_MAX];

static int look_at_file(const char *path, const struct stat *status, int type, struct FTW *where)
{
    static const char end[] = "kernel_trace.csv";
    size_t length = strlen(path);
    (void)status, (void)where;
    if (type == FTW_F && length > strlen(end) && strcmp(path + length - strlen(end), end) == 0)
        (void)snprintf(found_csv, sizeof found_csv, "%s", path);
    return 0;
}

/* A row has its kernel's name once. */
static void count_names(struct selftest *selftest, FILE *csv)
{
    char *row = NULL;
    size_t room = 0;
    while (getline(&row, &room, csv) >= 0) {
        char *name = strstr(row, SELFTEST_PREFIX);
        size_t index = 0;
        if (!name)
            continue;
        name[strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789")] = '\0';
        for (const struct known_line *line = NULL;
             (line = known_next(&selftest->profiled, "kernel", line)); ++index)
            selftest->counted[index] += strcmp(line->word[0], name) == 0;
    }
    free(row);
}

static void read_csv(struct selftest *selftest, const char *folder)
{
    found_csv[0] = '\0';
    // NOLINTNEXTLINE(concurrency-mt-unsafe): rtl has one thread
    (void)nftw(folder, look_at_file, 16, FTW_PHYS);
    FILE *csv = found_csv[0] ? fopen(found_csv, "r") : NULL;
    if (!csv)
        return;
    selftest->counted = memory_new(selftest->profiled.count, sizeof *selftest->counted);
    count_names(selftest, csv);
    selftest->compared = true;
    (void)fclose(csv);
}

int record_rocprofv3(struct selftest *selftest)
{
    char program[PATH_MAX];
    char folder[PATH_MAX];
    const char *const words[] = {
        program, "--kernel-trace", "--output-format", "csv", "-d", folder, "--", NULL};
    struct process process;
    char *errors = NULL;
    if (paths_program("rocprofv3", program, sizeof program) != 0 &&
        paths_program("/opt/rocm/bin/rocprofv3", program, sizeof program) != 0) {
        (void)snprintf(selftest->rocprofv3, sizeof selftest->rocprofv3, "not installed");
        return 0;
    }
    name_file(selftest, PROFILED, folder);
    int status = run(selftest, NULL, words, &selftest->profiled, &process, &errors);
    if (status == 0)
        read_csv(selftest, folder);
    if (!selftest->compared) {
        char said[160] = "";
        last_line(errors ? errors : "", said, sizeof said);
        (void)snprintf(selftest->rocprofv3, sizeof selftest->rocprofv3,
                       "has written no kernel trace: %s", said);
    }
    free(errors);
    return status;
}
