#include "view/first.h"

#include "common/command.h"
#include "common/folder.h"
#include "common/memory.h"
#include "common/page.h"
#include "common/written.h"
#include "store/stats_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAME "rtl-first.html"

/* Of fewer the page is there within a second. */
#define MANY UINT64_C(4000000)

#define MOST_ARGUMENTS (FILTER_MOST + 6)

typedef int command_of(int argc, char **argv);

bool first_is_wanted(const struct first *first)
{
    rtl_trace_t *trace = NULL;
    rtl_trace_info_t info;
    char error[512];
    if (filter_given(first->filter, FILTER_ALL & ~FILTER_TIMES) ||
        rtlTraceOpen(first->trace, &trace, error, sizeof error) != RTL_OK)
        return false; /* who makes the page says why */
    bool wanted = rtlTraceInfo(trace, &info) == RTL_OK && info.kernels >= MANY &&
                  rtl_stats_usable(trace, true);
    rtlTraceClose(trace);
    return wanted;
}

/* In a process of its own: what the command prints, and nothing that it says. */
static _Noreturn void run(const struct first *first, command_of *command, int output)
{
    char *arguments[MOST_ARGUMENTS];
    char words[4][9] = {"rtl view", "--json", "--top=30", "--"};
    int count = 0;
    int none = open("/dev/null", O_WRONLY | O_CLOEXEC);
    arguments[count++] = words[0];
    arguments[count++] = words[1];
    if (command == cmd_summary)
        arguments[count++] = words[2];
    for (size_t i = 0; i < first->filter->count; ++i) {
        const struct filter_word *word = &first->filter->words[i];
        if (asprintf(&arguments[count++], "--%s=%s", filter_name(word->option), word->text) < 0)
            memory_is_short();
    }
    arguments[count++] = words[3];
    arguments[count++] = (char *)(uintptr_t)first->trace;
    arguments[count] = NULL;
    if (none < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(none, STDERR_FILENO) < 0)
        _exit(EXIT_USAGE);
    _exit(written(command(count, arguments)));
}

/* What a command says of the trace; NULL if it does not. */
static json_t *answer(const struct first *first, command_of *command)
{
    json_t *value = NULL;
    int status = -1;
    FILE *file = folder_file();
    pid_t pid = file ? fork() : -1;
    if (pid == 0)
        run(first, command, fileno(file));
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    /* A trace that is not complete has answers, too. */
    if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) != EXIT_USAGE) {
        rewind(file);
        value = json_loadf(file, 0, NULL);
    }
    if (file)
        (void)fclose(file);
    return value;
}

int first_write(const struct first *first)
{
    struct page_frame frame = {0};
    int status = page_frame_read(FRAME, &frame);
    json_t *value = json_pack("{s:o*,s:o*}", "summary", answer(first, cmd_summary), "timeline",
                              answer(first, cmd_timeline));
    if (status == EXIT_FINE && json_object_size(value) == 2)
        status = page_write(STDOUT_FILENO, &frame, value, "rtlFirst.start()") == 0 ? EXIT_FINE
                                                                                   : EXIT_USAGE;
    else
        status = EXIT_USAGE;
    json_decref(value);
    page_frame_free(&frame);
    return status;
}
