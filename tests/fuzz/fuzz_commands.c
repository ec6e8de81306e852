/*
 * The commands that read traces under damaged ones: each ends in time, within its memory, with a
 * status of its own, and gives back what it took. They run in a child each, because they may end
 * their process.
 *
 * Input: a damaged trace (fuzz_trace_golden.c), and which commands read it. With RTL_FUZZ_ALL set
 * all do.
 */
#include "common/command.h"
#include "export/served.h"
#include "fuzz_trace.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WORDS_MOST 12u
#define ASKED      3u /* commands of an input */

/* A sanitizer takes more of both, and reserves a memory of its own. */
#define CPU_SECONDS 60u
#define MEMORY_KIB  (3L << 20) /* at its peak; traces of the fuzzer have less than a megabyte */

struct invocation {
    int (*run)(int argc, char **argv);
    const char *words[WORDS_MOST]; /* TRACE and OUTPUT stand for files */
};

/* Of the sanitizer, where there is one: what _exit leaves out. */
extern int __lsan_do_recoverable_leak_check(void) // NOLINT(bugprone-reserved-identifier)
    __attribute__((weak));

#define LEAKS 77 /* a status that no command has */

#define TRACE  "\001"
#define OUTPUT "\002"
#define END    "18446744073709551615"

/* What rtl view answers to a page that it serves. */

static int all_of_window(int argc, char **argv)
{
    struct export_served all = {.window = true, .to = UINT64_MAX};
    return export_served(argc, argv, &all);
}

static int part_of_window(int argc, char **argv)
{
    struct export_served part = {
        .window = true, .from = 1000000, .to = 2000000, .zero = 1000000000};
    return export_served(argc, argv, &part);
}

static const struct invocation invocations[] = {
    {cmd_summary, {"rtl summary", TRACE}},
    {cmd_summary, {"rtl summary", "--json", TRACE}},
    {cmd_check, {"rtl check", TRACE}},
    {cmd_check, {"rtl check", "--json", TRACE}},
    {cmd_check, {"rtl check", "--deep", TRACE}},
    {cmd_info, {"rtl info", TRACE}},
    {cmd_info, {"rtl info", "--json", TRACE}},
    {cmd_ranges, {"rtl ranges", TRACE}},
    {cmd_ranges, {"rtl ranges", "--each", TRACE}},
    {cmd_ranges, {"rtl ranges", "--json", TRACE}},
    {cmd_idle, {"rtl idle", TRACE}},
    {cmd_memory, {"rtl memory", TRACE}},
    {cmd_memory, {"rtl memory", "--json", TRACE}},
    {cmd_graph, {"rtl graph", "costs", TRACE}},
    {cmd_graph, {"rtl graph", "costs", "--json", TRACE}},
    {cmd_idle, {"rtl idle", "--json", "--from", "0", "--to", END, TRACE}},
    {cmd_steps, {"rtl steps", "--list", TRACE}},
    {cmd_steps, {"rtl steps", "--json", "--by", "kernels", TRACE}},
    {cmd_steps, {"rtl steps", "--json", "--by", "graph:1", TRACE}},
    {cmd_ranks, {"rtl ranks", TRACE}},
    {cmd_timeline, {"rtl timeline", TRACE}},
    {cmd_timeline, {"rtl timeline", "--json", "--width", "4096", TRACE}},
    {cmd_timeline, {"rtl timeline", "--from", "0", "--to", END, TRACE}},
    {cmd_timeline, {"rtl timeline", "--launch", "1:1", TRACE}},
    {cmd_graph, {"rtl graph", "list", TRACE}},
    {cmd_graph, {"rtl graph", "show", TRACE, "1"}},
    {cmd_graph, {"rtl graph", "show", "--json", TRACE, "1"}},
    {cmd_graph, {"rtl graph", "show", "--layers", TRACE, "1"}},
    {cmd_graph, {"rtl graph", "show", "--layers", "--json", TRACE, "1"}},
    {cmd_graph, {"rtl graph", "launches", TRACE, "1"}},
    {cmd_graph, {"rtl graph", "diff", TRACE, "1", TRACE, "1"}},
    {cmd_diff, {"rtl diff", TRACE, TRACE}},
    {cmd_diff, {"rtl diff", TRACE, TRACE, "--", TRACE}},
    {cmd_diff, {"rtl diff", "-f", "kernels > 1%", "-f", "count > 1%", TRACE, TRACE}},
    {cmd_sql, {"rtl sql", "--headings", TRACE, "SELECT count(*), sum(duration) FROM kernels"}},
    {cmd_sql, {"rtl sql", TRACE, ".schema"}},
    {cmd_export, {"rtl export", "-f", "--format", "chrome", "-o", OUTPUT, TRACE}},
    {cmd_export, {"rtl export", "-f", "--format", "perfetto", "-o", OUTPUT, TRACE}},
    {cmd_export, {"rtl export", "-f", "--format", "csv", "--table", "api", "-o", OUTPUT, TRACE}},
    {cmd_export, {"rtl export", "-f", "--format", "rpd", "-o", OUTPUT, TRACE}},
    {cmd_export, {"rtl export", "-f", "--format", "rocpd", "-o", OUTPUT, TRACE}},
    {cmd_export, {"rtl export", "-f", "--format", "rocprofv3", "-o", OUTPUT, TRACE}},
    {cmd_export, {"rtl export", "-f", "--format", "html", "-o", OUTPUT, TRACE}},
    {cmd_export,
     {"rtl export", "-f", "--format", "html", "--from", "1s", "--to", END, "-o", OUTPUT, TRACE}},
    {cmd_view, {"rtl view", "--no-open", "-o", OUTPUT, TRACE}},
    {all_of_window, {"rtl view", "-f", "--format", "html", "-o", OUTPUT, TRACE}},
    {part_of_window, {"rtl view", "-f", "--format", "html", "-o", OUTPUT, TRACE}},
    {cmd_report, {"rtl report", "-o", OUTPUT, TRACE}},
    {cmd_report, {"rtl report", "--json", TRACE}},
    {cmd_merge, {"rtl merge", "-f", OUTPUT, TRACE}},
    {cmd_merge, {"rtl merge", "-f", "--resume", OUTPUT, TRACE}},
    {cmd_index, {"rtl index", TRACE}}, /* what runs after it finds statistics */
};

#define INVOCATIONS (sizeof invocations / sizeof *invocations)

static char folder[PATH_MAX], trace[PATH_MAX + 16], output[PATH_MAX + 16], partial[PATH_MAX + 32];

static void remove_files(void)
{
    (void)unlink(trace);
    (void)unlink(output);
    (void)unlink(partial);
    (void)rmdir(folder);
}

static void make_folder(void)
{
    const char *temporary = getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe): one thread
    (void)snprintf(folder, sizeof folder, "%s/rtl-fuzz.XXXXXX", temporary ? temporary : "/tmp");
    fuzz_must(mkdtemp(folder) != NULL, "there is a place for files");
    (void)snprintf(trace, sizeof trace, "%s/trace.db", folder);
    (void)snprintf(output, sizeof output, "%s/output", folder);
    (void)snprintf(partial, sizeof partial, "%s.partial", output);
    (void)atexit(remove_files);
}

static void write_trace(struct fuzz_input *input)
{
    sqlite3_int64 size = 0;
    sqlite3 *db = fuzz_damaged(input);
    unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
    FILE *file = fopen(trace, "we");
    fuzz_must(file && (size == 0 || bytes), "a trace can be written");
    fuzz_must(fwrite(bytes, 1, (size_t)size, file) == (size_t)size, "all of it");
    fuzz_must(fclose(file) == 0, "to its end");
    sqlite3_free(bytes);
    (void)sqlite3_close(db);
}

static _Noreturn void run_in_child(const struct invocation *invocation)
{
    char words[WORDS_MOST][PATH_MAX + 16];
    char *argv[WORDS_MOST + 1] = {NULL};
    int argc = 0;
    for (; argc < (int)WORDS_MOST && invocation->words[argc]; argc++) {
        const char *word = invocation->words[argc];
        word = strcmp(word, TRACE) == 0 ? trace : strcmp(word, OUTPUT) == 0 ? output : word;
        (void)snprintf(words[argc], sizeof words[argc], "%s", word);
        argv[argc] = words[argc];
    }
    const struct rlimit limit = {CPU_SECONDS, CPU_SECONDS};
    (void)setrlimit(RLIMIT_CPU, &limit);
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
    int status = invocation->run(argc, argv);
    bool leaks = __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check() != 0;
    _exit(leaks ? LEAKS : status);
}

static void tell(const struct invocation *invocation, int status, long kib)
{
    (void)fprintf(stderr, "fuzz:");
    for (unsigned i = 0; i < WORDS_MOST && invocation->words[i]; i++)
        (void)fprintf(stderr, " %s", invocation->words[i][0] > 2 ? invocation->words[i] : "FILE");
    (void)fprintf(stderr, ": wait status %#x, %ld KiB\n", (unsigned)status, kib);
}

static void run(const struct invocation *invocation)
{
    struct rusage usage;
    int status = 0;
    pid_t child = fork();
    fuzz_must(child >= 0, "a process can be made");
    if (child == 0)
        run_in_child(invocation);
    fuzz_must(wait4(child, &status, 0, &usage) == child, "it ends");
    bool fine =
        WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_USAGE && usage.ru_maxrss <= MEMORY_KIB;
    if (!fine)
        tell(invocation, status, usage.ru_maxrss);
    fuzz_must(fine, "a command ends in time and memory, with a status of its own");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    if (!folder[0])
        make_folder();
    write_trace(&input);
    size_t first = fuzz_byte(&input);
    bool all = getenv("RTL_FUZZ_ALL") != NULL; // NOLINT(concurrency-mt-unsafe): one thread
    for (size_t i = 0; i < (all ? INVOCATIONS : ASKED); i++)
        run(&invocations[(first + i * 7) % INVOCATIONS]);
    return 0;
}
