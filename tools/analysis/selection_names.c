#include "analysis/selection_names.h"

#include "common/command.h"
#include "common/memory.h"
#include "common/open.h"
#include "common/say.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_SHOWN 6u

void selection_names_add(struct selection_names *names, const char *text)
{
    ++names->count;
    if (names->shown + 1 < names->count || names->shown == NAMES_SHOWN ||
        names->used + strlen(text) + 3 > sizeof names->text)
        return;
    names->used += (size_t)snprintf(names->text + names->used, sizeof names->text - names->used,
                                    "%s%s", names->shown ? ", " : "", text);
    ++names->shown;
}

const char *selection_names_text(struct selection_names *names)
{
    if (names->shown == names->count)
        return names->text;
    (void)snprintf(names->whole, sizeof names->whole, "%s and %zu more", names->text,
                   names->count - names->shown);
    return names->whole;
}

/* True and the number, if the text is one. */
static bool is_number(const char *text, uint32_t *number)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    return isdigit((unsigned char)text[0]) && !*end && !errno && value < RTL_TRACE_NONE;
}

/* Processes. */

/* The file that the first word of a command line names. */
static bool runs(const char *command, const char *name)
{
    size_t length = strcspn(command, " ");
    size_t begin = length;
    while (begin > 0 && command[begin - 1] != '/')
        --begin;
    return length - begin == strlen(name) && strncmp(command + begin, name, length - begin) == 0;
}

static bool is_called(const rtl_process_t *process, const char *name)
{
    return strcmp(process->comm, name) == 0 || strcmp(process->title, name) == 0 ||
           strcmp(process->command, name) == 0 || runs(process->command, name) ||
           runs(process->title, name);
}

static bool is_meant(const rtl_process_t *process, const char *text)
{
    uint32_t number;
    if (is_number(text, &number))
        return process->process == number || process->pid == number;
    return is_called(process, text);
}

static void add_process(struct selection_names *names, const rtl_process_t *process)
{
    char text[96];
    const char *name = process->comm[0] ? process->comm : process->command;
    (void)snprintf(text, sizeof text, "%" PRIu32 " (pid %" PRIu32 "%s%.40s)", process->process,
                   process->pid, name[0] ? ", " : "", name);
    selection_names_add(names, text);
}

static int choose_process(const char *path, struct selection *selection, const char *text,
                          bool *chosen)
{
    struct selection_names all = {0};
    struct selection_names meant = {0};
    for (size_t i = 0; i < selection->process_count; ++i) {
        const rtl_process_t *process = &selection->process_list[i];
        add_process(&all, process);
        if (!is_meant(process, text))
            continue;
        add_process(&meant, process);
        chosen[i] = true;
    }
    if (meant.count == 1)
        return EXIT_FINE;
    if (meant.count == 0)
        return say_fail(EXIT_USAGE, "%s has no process %s: it has %s", path, text,
                        all.count ? selection_names_text(&all) : "none");
    return say_fail(EXIT_USAGE, "%s has several processes %s: %s", path, text,
                    selection_names_text(&meant));
}

static int choose_rank(const char *path, struct selection *selection, const char *text,
                       bool *chosen)
{
    struct selection_names all = {0};
    bool found = false;
    for (size_t i = 0; i < selection->process_count; ++i) {
        const char *rank = selection->process_list[i].rank;
        if (strcmp(rank, text) == 0)
            found = chosen[i] = true;
        else if (rank[0])
            selection_names_add(&all, rank);
    }
    if (found)
        return EXIT_FINE;
    if (all.count == 0)
        return say_fail(EXIT_USAGE, "%s has no process of rank %s, nor of any other", path, text);
    return say_fail(EXIT_USAGE, "%s has no process of rank %s: it has %s", path, text,
                    selection_names_text(&all));
}

/* Those of `ranks` that are of `processes`, too; an option that was not given restricts nothing. */
static int take_processes(const char *path, struct selection *selection, const bool *numbers,
                          const bool *ranks)
{
    size_t left = 0;
    bool by_number = filter_given(selection->filter, FILTER_PROCESS);
    bool by_rank = filter_given(selection->filter, FILTER_RANK);
    selection->processes = memory_new(selection->process_count + 1, sizeof(bool));
    for (size_t i = 0; i < selection->process_count; ++i) {
        selection->processes[i] = (!by_number || numbers[i]) && (!by_rank || ranks[i]);
        left += selection->processes[i];
    }
    return left ? EXIT_FINE
                : say_fail(EXIT_USAGE, "%s has no process of both --process and --rank", path);
}

int selection_name_processes(const char *path, struct selection *selection)
{
    const struct filter *filter = selection->filter;
    if (filter_given(filter, FILTER_PROCESSES) == 0)
        return EXIT_FINE;
    bool *numbers = memory_new(selection->process_count + 1, sizeof *numbers);
    bool *ranks = memory_new(selection->process_count + 1, sizeof *ranks);
    int status = EXIT_FINE;
    for (size_t i = 0; i < filter->count && status == EXIT_FINE; ++i) {
        const struct filter_word *word = &filter->words[i];
        if (word->option == FILTER_PROCESS)
            status = choose_process(path, selection, word->text, numbers);
        else if (word->option == FILTER_RANK)
            status = choose_rank(path, selection, word->text, ranks);
    }
    if (status == EXIT_FINE)
        status = take_processes(path, selection, numbers, ranks);
    free(numbers);
    free(ranks);
    return status;
}

/* Streams. */

static void add_stream(struct selection_names *names, const rtl_stream_t *stream)
{
    char text[96];
    if (stream->name[0])
        (void)snprintf(text, sizeof text, "%" PRIu32 " (%.60s)", stream->stream, stream->name);
    else
        (void)snprintf(text, sizeof text, "%" PRIu32, stream->stream);
    selection_names_add(names, text);
}

/* Marks those that fit. False: two of one process do. */
static bool mark_streams(struct selection *selection, const char *text, bool by_number,
                         struct selection_names *meant)
{
    uint32_t number = 0;
    bool clear = true;
    uint32_t last = 0; /* process of the one that fitted last */
    if (by_number && !is_number(text, &number))
        return true;
    for (size_t i = 0; i < selection->stream_count; ++i) {
        const rtl_stream_t *stream = &selection->stream_list[i];
        bool fits = by_number ? stream->stream == number : strcmp(stream->name, text) == 0;
        if (!fits || !selection_has_process(selection, stream->process))
            continue;
        clear = clear && last != stream->process;
        last = stream->process;
        add_stream(meant, stream);
        selection->streams[i] = true;
    }
    return clear;
}

static int choose_stream(const char *path, struct selection *selection, const char *text)
{
    struct selection_names all = {0};
    struct selection_names meant = {0};
    bool clear = mark_streams(selection, text, true, &meant);
    if (meant.count == 0)
        clear = mark_streams(selection, text, false, &meant);
    if (!clear)
        return say_fail(EXIT_USAGE, "%s has several streams %s: %s", path, text,
                        selection_names_text(&meant));
    if (meant.count)
        return EXIT_FINE;
    for (size_t i = 0; i < selection->stream_count; ++i)
        if (selection_has_process(selection, selection->stream_list[i].process))
            add_stream(&all, &selection->stream_list[i]);
    if (all.count == 0)
        return say_fail(EXIT_USAGE, "%s has no stream %s: no host call that it has names one", path,
                        text);
    return say_fail(EXIT_USAGE, "%s has no stream %s: it has %s", path, text,
                    selection_names_text(&all));
}

int selection_name_streams(const char *path, struct selection *selection)
{
    const struct filter *filter = selection->filter;
    int status = EXIT_FINE;
    if (filter_given(filter, FILTER_STREAM) == 0)
        return EXIT_FINE;
    selection->streams = memory_new(selection->stream_count + 1, sizeof(bool));
    for (size_t i = 0; i < filter->count && status == EXIT_FINE; ++i)
        if (filter->words[i].option == FILTER_STREAM)
            status = choose_stream(path, selection, filter->words[i].text);
    return status;
}

/* GPUs. */

static int choose_gpu(const char *path, struct selection *selection, const bool *there,
                      uint32_t number)
{
    struct selection_names all = {0};
    char text[32];
    if (number < selection->gpu_count && there[number]) {
        selection->gpus[number] = true;
        return EXIT_FINE;
    }
    for (size_t i = 0; i < selection->gpu_count; ++i) {
        (void)snprintf(text, sizeof text, "%zu", i);
        if (there[i])
            selection_names_add(&all, text);
    }
    return say_fail(EXIT_USAGE, "%s has no GPU %" PRIu32 ": it has %s", path, number,
                    all.count ? selection_names_text(&all) : "none");
}

int selection_name_gpus(rtl_trace_t *trace, const char *path, struct selection *selection)
{
    const struct filter *filter = selection->filter;
    const rtl_agent_t *agents;
    size_t count;
    int status = EXIT_FINE;
    if (filter_given(filter, FILTER_GPU) == 0)
        return EXIT_FINE;
    if (rtlTraceAgents(trace, &agents, &count) != RTL_OK)
        return open_failed(trace, path);
    selection->gpu_count = count; /* ordinals are below */
    selection->gpus = memory_new(count + 1, sizeof(bool));
    bool *there = memory_new(count + 1, sizeof *there);
    for (size_t i = 0; i < count; ++i)
        if (agents[i].gpu < count && selection_has_process(selection, agents[i].process))
            there[agents[i].gpu] = true;
    for (size_t i = 0; i < filter->count && status == EXIT_FINE; ++i)
        if (filter->words[i].option == FILTER_GPU)
            status = choose_gpu(path, selection, there, filter->words[i].number);
    free(there);
    return status;
}
