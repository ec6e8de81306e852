#include "collect/absent.h"

#include "collect/watch.h"

#include "common/clock.h"
#include "common/private.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT_A_TIME 256u  /* datagrams */
#define MOST_SENT 1024u /* processes: who sends takes no space of its own */
#define MOST_ROWS 64u   /* of runtimes that did not come up: a job may try it again and again */

/* A process with no ring: its row, and a note. */
static void add_row(struct absent *absent, uint32_t pid, const char *command, const char *state,
                    const char *sentence)
{
    const struct rtl_wire_process body = {.time_ns = rtl_now(),
                                          .pid = pid,
                                          .mode = RTL_MODE_LITE,
                                          .interception = RTL_UNTRACKED,
                                          .command_length = (uint16_t)strlen(command)};
    const struct rtl_wire_note note = {
        .time_ns = rtl_now(), .queue = RTL_NONE, .text_length = (uint16_t)strlen(sentence)};
    uint32_t process = rtl_writer_process(absent->writer, &body, command);
    rtl_writer_note(absent->writer, process, &note, sentence);
    rtl_writer_process_end(absent->writer, process, state, rtl_now(), 0);
    uint32_t *known = realloc(absent->known, (absent->known_count + 1) * sizeof *known);
    if (!known)
        return;
    known[absent->known_count++] = pid;
    absent->known = known;
}

bool absent_knows(const struct absent *absent, uint32_t pid)
{
    for (unsigned i = 0; i < absent->known_count; i++)
        if (absent->known[i] == pid)
            return true;
    return false;
}

void absent_end(struct absent *absent)
{
    free(absent->known);
    absent->known = NULL;
    absent->known_count = 0;
}

void absent_add(struct absent *absent, uint32_t pid, const char *command, const char *sentence)
{
    add_row(absent, pid, command, "unrecorded", sentence);
    absent->unrecorded++;
    told_process(absent->told, pid, sentence);
}

void absent_note(struct absent *absent, const char *sentence)
{
    const struct rtl_wire_note note = {
        .time_ns = rtl_now(), .queue = RTL_NONE, .text_length = (uint16_t)strlen(sentence)};
    rtl_writer_note(absent->writer, 0, &note, sentence);
}

void absent_refused(struct absent *absent, const struct rtl_refusal *refusal)
{
    char why[512];
    char sentence[640];
    char who[48] = "a process of another pid namespace";
    if (refusal->pid != 0)
        (void)snprintf(who, sizeof who, "process %" PRIu32, refusal->pid);
    rtl_refusal_text(refusal, absent->session, why, sizeof why);
    (void)snprintf(sentence, sizeof sentence,
                   refusal->why == RTL_REFUSED_NESTED ? "%s and its children are not recorded: %s"
                                                      : "%s loaded librtl and is not recorded: %s",
                   who, why);
    absent_add(absent, refusal->pid, "", sentence);
    if (absent->watch && refusal->why == RTL_REFUSED_NESTED)
        watch_disown(absent->watch, refusal->pid);
}

/* False if it is not there, or stays: then it would be taken again. */
static bool remove_link(const struct absent *absent, const char *name)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", absent->session, name) < (int)sizeof path &&
           unlink(path) == 0;
}

void absent_take(struct absent *absent, const char *name)
{
    struct rtl_refusal refusal;
    if (rtl_refusal_read(absent->session, name, &refusal) && remove_link(absent, name))
        absent_refused(absent, &refusal);
}

void absent_receive(struct absent *absent)
{
    struct rtl_refusal refusal;
    char text[RTL_REPORT_TEXT];
    unsigned budget = AT_A_TIME;
    while (absent->end && rtl_report_take(absent->end, &budget, text, &refusal.pid))
        if (rtl_refusal_parse(text, &refusal) && absent->unrecorded < MOST_SENT)
            absent_refused(absent, &refusal);
}

static void add_unstarted(struct absent *absent, uint32_t pid, uint32_t status, bool has_row)
{
    char sentence[256];
    if (absent_knows(absent, pid)) /* it is not at its end */
        return;
    if (absent->unstarted++ >= MOST_ROWS)
        return;
    if (status == RTL_START_UNDER_WAY)
        (void)snprintf(sentence, sizeof sentence,
                       "process %" PRIu32
                       " loaded a GPU runtime that did not come up: hsa_init had not returned",
                       pid);
    else
        (void)snprintf(sentence, sizeof sentence,
                       "process %" PRIu32
                       " loaded a GPU runtime that did not come up: hsa_init returned 0x%" PRIx32,
                       pid, status);
    if (has_row)
        absent_note(absent, sentence);
    else
        add_row(absent, pid, "", "not_started", sentence);
}

static int is_start(const struct dirent *entry)
{
    return strncmp(entry->d_name, "starting.", strlen("starting.")) == 0;
}

void absent_take_starts(struct absent *absent, bool (*has_ring)(void *context, uint32_t pid),
                        void *context)
{
    struct dirent **names = NULL;
    int folder = rtl_private_folder(absent->session);
    int count = folder < 0 ? -1 : scandirat(folder, ".", &names, is_start, versionsort);
    if (folder >= 0)
        (void)close(folder);
    for (int i = 0; i < count; ++i) {
        uint32_t pid;
        uint32_t status;
        if (rtl_start_read(absent->session, names[i]->d_name, &pid, &status) &&
            remove_link(absent, names[i]->d_name))
            add_unstarted(absent, pid, status, has_ring(context, pid));
        free(names[i]);
    }
    free(names);
}
