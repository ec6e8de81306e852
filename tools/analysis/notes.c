#include "analysis/notes.h"

#include "common/memory.h"
#include "common/plain.h"
#include "common/sentence.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A note, and where it is in the trace. */
struct entry {
    const rtl_note_t *note;
    const char *rest; /* without the pid at its beginning */
    size_t at;
};

static int by_rest(const void *a, const void *b)
{
    const struct entry *one = a;
    const struct entry *other = b;
    int order = rtl_compare_but_numbers(one->rest, other->rest);
    if (order == 0)
        order = one->at < other->at ? -1 : one->at > other->at;
    return order;
}

static int by_id(const void *key, const void *element)
{
    const uint32_t *process = key;
    const rtl_process_t *other = element;
    return *process < other->process ? -1 : *process > other->process;
}

static uint32_t pid_of(const rtl_process_t *processes, size_t count, uint32_t process)
{
    const rtl_process_t *found =
        count > 0 ? bsearch(&process, processes, count, sizeof *processes, by_id) : NULL;
    return found != NULL ? found->pid : 0;
}

/* True if it is said of another process than the line's own. */
static bool is_of_another(const struct notes_line *line, const rtl_note_t *note)
{
    return line->note->process != 0 && note->process != 0 && line->note->process != note->process;
}

/* Lines in the places of their first notes; the places of others stay empty. */
static void fold(struct notes_line *lines, const struct entry *entries, size_t count,
                 const rtl_process_t *processes, size_t process_count)
{
    struct notes_line *line = NULL;
    const char *rest = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct entry *entry = &entries[i];
        if (line == NULL || rtl_compare_but_numbers(rest, entry->rest) != 0 ||
            !is_of_another(line, entry->note)) {
            line = &lines[entry->at];
            line->note = entry->note;
            rest = entry->rest;
            continue;
        }
        line->differ |= strcmp(rest, entry->rest) != 0;
        if (line->others < NOTES_PIDS)
            line->pids[line->others] = pid_of(processes, process_count, entry->note->process);
        line->others++;
    }
}

rtl_status_t notes_read(rtl_trace_t *trace, struct notes *notes)
{
    const rtl_note_t *all;
    const rtl_process_t *processes;
    size_t count;
    size_t process_count;
    *notes = (struct notes){0};
    rtl_status_t status = rtlTraceNotes(trace, &all, &count);
    if (status == RTL_OK)
        status = rtlTraceProcesses(trace, &processes, &process_count);
    if (status != RTL_OK)
        return status;
    struct entry *entries = memory_new(count, sizeof *entries);
    notes->lines = memory_new(count, sizeof *notes->lines);
    for (size_t i = 0; i < count; i++)
        entries[i] = (struct entry){&all[i], rtl_behind_pid(all[i].text), i};
    qsort(entries, count, sizeof *entries, by_rest);
    fold(notes->lines, entries, count, processes, process_count);
    for (size_t i = 0; i < count; i++)
        if (notes->lines[i].note != NULL)
            notes->lines[notes->count++] = notes->lines[i];
    free(entries);
    return RTL_OK;
}

void notes_end(struct notes *notes)
{
    free(notes->lines);
    *notes = (struct notes){0};
}

void notes_show(FILE *file, const struct notes_line *line)
{
    (void)fputs(plain(line->note->text), file);
    if (line->others == 0)
        return;
    (void)fprintf(
        file, " (the same holds%s for %zu more %s: ", line->differ ? ", with other numbers," : "",
        line->others, line->others == 1 ? "process" : "processes");
    for (size_t i = 0; i < line->others && i < NOTES_PIDS; i++)
        (void)fprintf(file, "%s%" PRIu32, i > 0 ? ", " : "", line->pids[i]);
    (void)fputs(line->others > NOTES_PIDS ? ", ...)" : ")", file);
}
