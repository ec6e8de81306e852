/* One run of rtl bench: a workload under a tool, as a process group of its own. */
#include "bench/bench.h"

#include "common/child.h"
#include "common/command.h"
#include "common/memory.h"
#include "common/plain.h"
#include "common/process.h"
#include "common/say.h"
#include "common/softgpu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE          "rtl-bench-work: "
#define MEMORY_FOLDER "/dev/shm"
#define MOST_WORDS    4u

/* The last line of a text that has anything in it, as text. */
static void last_line(const char *text, char *line, size_t size)
{
    const char *end = text + strlen(text);
    while (end > text && (unsigned char)end[-1] <= ' ')
        --end;
    const char *begin = end;
    while (begin > text && begin[-1] != '\n')
        --begin;
    char raw[512];
    (void)snprintf(raw, sizeof raw, "%.*s", (int)(end - begin < 500 ? end - begin : 500), begin);
    (void)plain_text(raw, line, size);
}

static const char *find_line(const char *output)
{
    const char *found = NULL;
    for (const char *at = output; (at = strstr(at, LINE)); ++at)
        if (at == output || at[-1] == '\n')
            found = at;
    return found;
}

bool bench_run_line(const char *output, struct bench_run *run, uint64_t times[2], char *gpu,
                    size_t gpu_size)
{
    const char *line = find_line(output);
    uint64_t copies;
    uint64_t peak_kib;
    char name[64] = "";
    if (!line ||
        sscanf(line,
               LINE "kernels=%" SCNu64 " copies=%" SCNu64 " begin_ns=%" SCNu64 // NOLINT
                    " end_ns=%" SCNu64 " peak_kib=%" SCNu64 " gpu=%63[^\n]",
               &run->submitted, &copies, &times[0], &times[1], &peak_kib, name) < 5 ||
        times[1] <= times[0])
        return false;
    run->own_count = true;
    run->own_peak = peak_kib << 10;
    (void)plain_text(name, gpu, gpu_size);
    return true;
}

static void set_tool(char ***environment, const struct bench_tool *tool, const char *out)
{
    for (unsigned i = 0; i < tool->env_count; ++i) {
        char *filled = bench_tools_fill(tool->env[i], out, NULL, false);
        char *value = strchr(filled, '=');
        *value = '\0';
        process_set(environment, filled, value + 1);
        free(filled);
    }
    if (tool->mode)
        process_set(environment, "RTL_QUEUE", tool->way);
}

/* HIP's compiler writes files of megabytes as a program starts. On a disk they take large pages of
 * memory, and on a virtual machine one that its host has taken back costs 5 ms more: whether a run
 * pays that is a matter of which core it runs on, and of any process beside it. */
static void keep_files_in_memory(const struct bench *bench, char ***environment)
{
    const char *before = secure_getenv("TMPDIR");
    if (!bench->program && !(before && before[0]) && access(MEMORY_FOLDER, W_OK | X_OK) == 0)
        process_set(environment, "TMPDIR", MEMORY_FOLDER);
}

static char **make_environment(const struct bench *bench, const struct bench_tool *tool,
                               const char *out)
{
    char truth[PATH_MAX];
    char **environment = process_environment();
    if (bench->gpu == GPU_SOFT) {
        (void)snprintf(truth, sizeof truth, "%s/truth/%%p", bench->folder);
        process_set(&environment, "SOFTGPU_TRUTH", truth);
        if (bench->plugin[0])
            process_set_first(&environment, "SOFTGPU_PLUGINS", bench->plugin);
    }
    keep_files_in_memory(bench, &environment);
    set_tool(&environment, tool, out);
    if (bench->gpu == GPU_SOFT && !(environment = softgpu_environment(environment, bench->soft)))
        memory_is_short();
    return environment;
}

/* The words of the workload, or the user's own. */
static char **program_of(const struct bench *bench, unsigned workload, char *kernels, size_t size)
{
    if (bench->program)
        return bench->program;
    char **words = memory_new(MOST_WORDS, sizeof *words);
    words[0] = (char *)(uintptr_t)bench->work;
    words[1] = (char *)(uintptr_t)bench->workloads[workload];
    (void)snprintf(kernels, size, "%u", bench->kernels);
    words[2] = bench->kernels ? kernels : NULL;
    return words;
}

/* Adds copies of words to a list that has room for them. */
static size_t append(char **list, size_t count, const char *const *words)
{
    for (; *words; ++words) {
        list[count] = strdup(*words);
        if (!list[count++])
            memory_is_short();
    }
    return count;
}

static char **rtl_words(const struct bench *bench, const struct bench_tool *tool,
                        char *const *program)
{
    char trace[2 * PATH_MAX];
    (void)snprintf(trace, sizeof trace, "%s/" BENCH_TRACE, bench->folder);
    const char *const words[] = {bench->self,
                                 "trace",
                                 "-q",
                                 "-m",
                                 tool->mode,
                                 "--gpu",
                                 bench->gpu == GPU_SOFT ? "soft" : "real",
                                 "-o",
                                 trace,
                                 "--",
                                 NULL};
    size_t count = 0;
    while (program[count])
        ++count;
    char **list = memory_new(count + sizeof words / sizeof words[0], sizeof *list);
    count = append(list, 0, words);
    (void)append(list, count, (const char *const *)program);
    return list;
}

static char **shell_words(const struct bench_tool *tool, const char *out, char *const *program)
{
    char *command = bench_tools_fill(tool->command, out, program, true);
    const char *const words[] = {"/bin/sh", "-c", command, NULL};
    char **list = memory_new(sizeof words / sizeof words[0], sizeof *list);
    (void)append(list, 0, words);
    free(command);
    return list;
}

static char **words_of(const struct bench *bench, const struct bench_tool *tool, const char *out,
                       char *const *program)
{
    if (tool->mode)
        return rtl_words(bench, tool, program);
    if (tool->command)
        return shell_words(tool, out, program);
    size_t count = 0;
    while (program[count])
        ++count;
    char **list = memory_new(count + 1, sizeof *list);
    (void)append(list, 0, (const char *const *)program);
    return list;
}

static int make_folders(const struct bench *bench)
{
    static const char *const parts[] = {"out", "truth"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; ++i) {
        (void)snprintf(path, sizeof path, "%s/%s", bench->folder, parts[i]);
        folder_remove(path);
        if (mkdir(path, 0700) != 0) {
            say("no folder could be made as %s: %s", path, say_errno(errno));
            return -1;
        }
    }
    return 0;
}

static void judge_end(const struct process *process, struct bench_run *run)
{
    if (process->hung) {
        run->outcome = BENCH_HUNG;
    } else if (WIFSIGNALED(process->status)) {
        run->outcome = BENCH_DIED;
        run->status = WTERMSIG(process->status);
    } else if (WEXITSTATUS(process->status) != 0) {
        run->outcome = BENCH_FAILED;
        run->status = WEXITSTATUS(process->status);
    }
}

/* Into start-up, steady state and end. */
static void divide(struct bench *bench, const struct process *process, const char *output,
                   struct bench_run *run)
{
    uint64_t times[2] = {process->spawned, process->ended};
    if (!bench->program &&
        (!bench_run_line(output, run, times, bench->gpu_name, sizeof bench->gpu_name) ||
         times[0] < process->spawned || times[1] > process->ended)) {
        run->outcome = BENCH_NO_LINE;
        return;
    }
    run->startup = (double)(times[0] - process->spawned);
    run->steady = (double)(times[1] - times[0]);
    run->finish = (double)(process->ended - times[1]);
}

static void judge(struct bench *bench, const struct bench_tool *tool, const struct process *process,
                  struct bench_run *run)
{
    char path[PATH_MAX];
    run->peak = process->peak;
    judge_end(process, run);
    (void)snprintf(path, sizeof path, "%s/output", bench->folder);
    char *output = process_read(path);
    if (run->outcome == BENCH_FINE)
        divide(bench, process, output ? output : "", run);
    if (run->outcome == BENCH_FINE)
        bench_count(bench, tool, bench->folder, run);
    free(output);
    (void)snprintf(path, sizeof path, "%s/errors", bench->folder);
    char *errors = process_read(path);
    if (run->outcome != BENCH_FINE && !run->said[0] && errors)
        last_line(errors, run->said, sizeof run->said);
    free(errors);
}

int bench_run(struct bench *bench, unsigned workload, const struct bench_tool *tool,
              struct bench_run *run)
{
    char out[PATH_MAX];
    char output[PATH_MAX];
    char errors[PATH_MAX];
    char kernels[16];
    struct process process;
    int signal;
    *run = (struct bench_run){.outcome = BENCH_FINE};
    if (make_folders(bench) != 0)
        return -1;
    (void)snprintf(out, sizeof out, "%s/" BENCH_OUT, bench->folder);
    (void)snprintf(output, sizeof output, "%s/output", bench->folder);
    (void)snprintf(errors, sizeof errors, "%s/errors", bench->folder);
    char **program = program_of(bench, workload, kernels, sizeof kernels);
    char **environment = make_environment(bench, tool, out);
    char **words = words_of(bench, tool, out, program);
    int status = process_run(words, environment, output, errors, bench->limit_ns, &process);
    if (status != 0)
        say("no process could be made: %s", say_errno(errno));
    else if (!process_stopped(&signal))
        judge(bench, tool, &process, run);
    child_environment_free(words);
    child_environment_free(environment);
    if (program != bench->program)
        free(program);
    return status;
}
