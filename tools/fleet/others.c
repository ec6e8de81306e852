#include "fleet/others.h"

#include "common/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define A_QUERY 1000u /* processes */
#define NEAR_NS UINT64_C(1000000000)
#define FIELDS  8u

/* A row of the answer. Texts are in hexadecimal: they may hold anything. */
struct row {
    uint64_t run, pid, uptime, start, complete;
    const char *boot, *host, *trace;
    size_t lengths[3]; /* of the texts */
};

static void put_text(struct data *query, const char *text)
{
    data_add(query, text, strlen(text));
}

static void put_number(struct data *query, const char *before, uint64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    put_text(query, before);
    put_text(query, text);
}

/* When the processes began, by the time of day. False: of none that is known. */
static bool find_range(const struct run_process *told, size_t count, uint64_t range[2])
{
    range[0] = UINT64_MAX;
    range[1] = 0;
    for (size_t i = 0; i < count; ++i) {
        uint64_t start = told[i].start;
        range[0] = start && start < range[0] ? start : range[0];
        range[1] = start > range[1] ? start : range[1];
    }
    return range[1] > 0;
}

/* What may be them: more than that is left to is_same. */
static void put_candidates(const struct run *run, size_t first, size_t count, struct data *query)
{
    uint64_t range[2];
    const struct run_process *told = &run->told[first];
    put_number(query,
               "SELECT run, pid, uptime, start, max(complete), hex(toString(boot)), "
               "hex(toString(host)), hex(toString(any(trace))) FROM rtl_runs WHERE run != ",
               run->id);
    for (size_t i = 0; i < count; ++i)
        put_number(query, i ? "," : " AND pid IN (", run->processes[first + i].pid);
    for (size_t i = 0; i < count; ++i)
        put_number(query, i ? "," : ") AND (uptime IN (", told[i].uptime);
    put_text(query, ")");
    if (find_range(told, count, range)) {
        put_number(query, " OR start BETWEEN ", range[0] > NEAR_NS ? range[0] - NEAR_NS : 0);
        put_number(query, " AND ", range[1] < UINT64_MAX - NEAR_NS ? range[1] + NEAR_NS : range[1]);
    }
    put_text(query, ") GROUP BY run, process, pid, uptime, start, boot, host ORDER BY run, process "
                    "FORMAT TabSeparated");
    data_add(query, "", 1);
}

/* The next row; NULL if it is none. */
static const char *read_row(const char *line, struct row *row)
{
    uint64_t *numbers[] = {&row->run, &row->pid, &row->uptime, &row->start, &row->complete};
    const char **texts[] = {&row->boot, &row->host, &row->trace};
    for (size_t i = 0; i < FIELDS; ++i) {
        size_t length = strcspn(line, "\t\n");
        if (line[length] != (i + 1 < FIELDS ? '\t' : '\n'))
            return NULL;
        if (i < 5)
            *numbers[i] = strtoull(line, NULL, 10);
        else {
            *texts[i - 5] = line;
            row->lengths[i - 5] = length;
        }
        line += length + 1;
    }
    return line;
}

static unsigned digit(char letter)
{
    return isdigit((unsigned char)letter) ? (unsigned)(letter - '0')
                                          : (unsigned)(toupper((unsigned char)letter) - 'A' + 10);
}

static bool is_text(const char *hex, size_t length, const char *text)
{
    size_t i = 0;
    for (; text[i] && 2 * i + 1 < length; ++i)
        if (digit(hex[2 * i]) * 16 + digit(hex[2 * i + 1]) != (unsigned char)text[i])
            return false;
    return !text[i] && 2 * i == length;
}

static void take_text(const char *hex, size_t length, char *text, size_t size)
{
    size_t used = 0;
    for (; 2 * used + 1 < length && used + 1 < size; ++used)
        text[used] = (char)(digit(hex[2 * used]) * 16 + digit(hex[2 * used + 1]));
    text[used] = 0;
}

static bool is_same(const struct run *run, size_t place, const struct row *row)
{
    const struct run_process *told = &run->told[place];
    uint32_t pid = run->processes[place].pid;
    if (pid == 0 || pid != row->pid || !is_text(row->host, row->lengths[1], told->host_name))
        return false;
    if (told->boot[0] && row->lengths[0])
        return told->uptime == row->uptime && is_text(row->boot, row->lengths[0], told->boot);
    uint64_t apart = told->start > row->start ? told->start - row->start : row->start - told->start;
    return told->start && row->start && apart < NEAR_NS;
}

/* Whether a process that is asked for is that of the row; the place of it. */
static bool find_place(const struct run *run, size_t first, size_t count, const struct row *row,
                       size_t *place)
{
    for (*place = first; *place < first + count; ++*place)
        if (is_same(run, *place, row))
            return true;
    return false;
}

static bool is_known(const struct others *found, uint64_t run)
{
    for (size_t i = 0; i < found->count; ++i)
        if (found->runs[i] == run)
            return true;
    return false;
}

static void add(struct others *found, const struct row *row, size_t place)
{
    if (found->count == 0) {
        found->whole = row->complete > 0;
        found->place = place;
        take_text(row->trace, row->lengths[2], found->trace, sizeof found->trace);
    }
    found->runs = memory_grown(found->runs, found->count + 1, sizeof *found->runs);
    found->runs[found->count++] = row->run;
}

static bool search(const struct run *run, size_t first, size_t count, const char *answer,
                   struct others *found)
{
    struct row row;
    size_t place;
    while (*answer) {
        answer = read_row(answer, &row);
        if (!answer)
            return false;
        if (!is_known(found, row.run) && find_place(run, first, count, &row, &place))
            add(found, &row, place);
    }
    return true;
}

static bool ask(struct server *server, const struct run *run, size_t first, size_t count,
                struct others *found)
{
    struct data query = {0};
    put_candidates(run, first, count, &query);
    const char *answer = server_ask(server, "", (const char *)query.data);
    free(query.data);
    if (!answer)
        return false;
    if (search(run, first, count, answer, found))
        return true;
    server->failed = SERVER_NEVER;
    (void)snprintf(server->error, sizeof server->error, "%s gave an answer that is none",
                   server->url->shown);
    return false;
}

enum others_outcome others_find(struct server *server, const struct run *run, struct others *found)
{
    *found = (struct others){.runs = NULL};
    for (size_t first = 0; first < run->process_count; first += A_QUERY) {
        size_t rest = run->process_count - first;
        if (!ask(server, run, first, rest < A_QUERY ? rest : A_QUERY, found))
            return OTHERS_FAILED;
    }
    return found->count ? OTHERS_FOUND : OTHERS_NONE;
}
