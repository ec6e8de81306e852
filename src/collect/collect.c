#include "collect/collect.h"

#include "collect/absent.h"
#include "collect/left.h"
#include "collect/source.h"
#include "collect/watch.h"
#include "common/clock.h"
#include "common/private.h"
#include "common/why.h"
#include "ring/files.h"
#include "ring/process.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A round reads at most this many slots of a ring, so that many rings and the caller's signals are
 * all looked after: 65536 slots are 4 MiB and some 20 ms of writing. */
#define ROUND_SLOTS 65536u
/* How long a process may live on after it closed its ring. */
#define CLOSED_NS UINT64_C(2000000000)

/* A ring that gave this many slots in a round is read again at once. */
#define BUSY_SLOTS 4096u

/* From begin to begin; what a round and the checkpoint take stays within the second. */
#define CHECKPOINT_NS 900000000u
#define SCAN_NS       20000000u
#define LIVENESS_NS   20000000u
#define WAIT_MOST_MS  10u

struct rtl_collector {
    char *session;
    struct rtl_writer *writer;
    struct told told; /* who records */
    struct source **sources;
    unsigned count, capacity;
    uint64_t checkpoint_at, scan_at, liveness_at; /* CLOCK_BOOTTIME, ns */
    unsigned wait_ms;
    int store_failed;
    struct absent absent; /* processes without a ring */
    struct watch watch;
    uint32_t spare_slots; /* of rings that are kept ready, 0: none are */
    unsigned unread;      /* rings that the last look found and could not read */
    int unread_errno;
};

static bool account_of(void *context, uint32_t process, uint32_t queue,
                       struct rtl_writer_account *account)
{
    const struct rtl_collector *collector = context;
    for (unsigned i = collector->count; i-- > 0;)
        if (collector->sources[i]->process == process)
            return source_account(collector->sources[i], queue, account);
    return false;
}

struct rtl_collector *rtl_collector_new(const char *session, struct rtl_writer *writer,
                                        rtl_collector_say say, void *context)
{
    struct rtl_collector *collector = calloc(1, sizeof *collector);
    if (!collector)
        return NULL;
    collector->session = strdup(session);
    if (!collector->session) {
        free(collector);
        return NULL;
    }
    collector->writer = writer;
    collector->told = (struct told){.say = say, .context = context};
    collector->checkpoint_at = rtl_now() + CHECKPOINT_NS;
    collector->absent =
        (struct absent){.session = collector->session, .writer = writer, .told = &collector->told};
    rtl_writer_ask_for_accounts(writer, account_of, collector);
    return collector;
}

/* Reads `ring.PID.N`; a ring in the making has another name. */
static bool parse_ring_name(const char *name, uint32_t *pid, uint32_t *ordinal)
{
    if (strncmp(name, "ring.", 5) != 0)
        return false;
    char *end;
    unsigned long first = strtoul(name + 5, &end, 10);
    if (end == name + 5 || *end != '.')
        return false;
    const char *second = end + 1;
    unsigned long last = strtoul(second, &end, 10);
    if (end == second || *end != '\0')
        return false;
    *pid = (uint32_t)first;
    *ordinal = (uint32_t)last;
    return true;
}

/* Ended rings are unlinked, so their name may come again; only rings whose file stays are known by
 * it. */
static bool known(const struct rtl_collector *collector, const char *name)
{
    for (unsigned i = collector->count; i-- > 0;) {
        const struct source *source = collector->sources[i];
        bool there = source->state != SOURCE_ENDED || source->file_stays;
        if (there && strcmp(strrchr(source->path, '/') + 1, name) == 0)
            return true;
    }
    return false;
}

static bool make_room(struct rtl_collector *collector)
{
    if (collector->count < collector->capacity)
        return true;
    unsigned capacity = collector->capacity ? 2 * collector->capacity : 16;
    struct source **sources = realloc(collector->sources, capacity * sizeof(struct source *));
    if (!sources)
        return false;
    collector->sources = sources;
    collector->capacity = capacity;
    return true;
}

/* False with errno if the ring cannot be read now. */
static bool add_ring(struct rtl_collector *collector, const char *name, uint32_t pid,
                     uint32_t ordinal)
{
    char path[4096];
    char sentence[512] = "";
    errno = ENAMETOOLONG;
    if (snprintf(path, sizeof path, "%s/%s", collector->session, name) >= (int)sizeof path ||
        !make_room(collector))
        return false;
    struct source *source =
        source_open(path, pid, ordinal, collector->writer, sentence, sizeof sentence);
    if (!source)
        return false;
    collector->sources[collector->count++] = source;
    if (sentence[0])
        told_process(&collector->told, pid, sentence);
    return true;
}

static int is_ring(const struct dirent *entry)
{
    uint32_t pid;
    uint32_t ordinal;
    return parse_ring_name(entry->d_name, &pid, &ordinal) ||
           strncmp(entry->d_name, "refused.", strlen("refused.")) == 0;
}

static void take_ring(struct rtl_collector *collector, const char *name, uint32_t pid,
                      uint32_t ordinal)
{
    if (add_ring(collector, name, pid, ordinal))
        return;
    collector->unread++;
    collector->unread_errno = errno;
}

static void scan(struct rtl_collector *collector)
{
    struct dirent **names = NULL;
    int folder = rtl_private_folder(collector->session);
    int count = folder < 0 ? -1 : scandirat(folder, ".", &names, is_ring, versionsort);
    collector->unread = count < 0;
    collector->unread_errno = errno;
    if (folder >= 0)
        (void)close(folder);
    for (int i = 0; i < count; ++i) {
        uint32_t pid = 0;
        uint32_t ordinal = 0;
        if (parse_ring_name(names[i]->d_name, &pid, &ordinal) &&
            !known(collector, names[i]->d_name))
            take_ring(collector, names[i]->d_name, pid, ordinal);
        else if (pid == 0)
            absent_take(&collector->absent, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    absent_receive(&collector->absent);
    if (collector->spare_slots != 0) /* what fails now is tried again */
        (void)rtl_spares_make(collector->session, collector->spare_slots, RTL_SPARES);
}

void rtl_collector_provide(struct rtl_collector *collector, size_t ring_bytes)
{
    collector->spare_slots = rtl_ring_slots_that_fit(collector->session, ring_bytes);
}

void rtl_collector_listen(struct rtl_collector *collector, const struct rtl_report_end *end)
{
    collector->absent.end = end;
}

/* By all that is known of its image. */
static bool may_be_of(const struct source *source, uint64_t start, uint64_t image)
{
    bool certain = start != 0 && source->process_start != RTL_START_UNKNOWN;
    return source->was_open && (image == 0 || source->image == 0 || source->image == image) &&
           (!certain || rtl_process_same_start(source->process_start, start));
}

static bool is_maker_known(const struct source *source)
{
    return source->maker.seen && source->maker.start != 0;
}

static bool is_named(const struct source *source, uint32_t pid, uint64_t start, uint64_t image)
{
    bool certain = start != 0 && source->process_start != RTL_START_UNKNOWN;
    return source->pid == pid && may_be_of(source, start, image) &&
           (!is_maker_known(source) || !certain || source->maker.start == start);
}

/* A process that was over before its ring was looked at, and had another pid for itself, is known
 * by when it began; if that is not known either, each such ring is one such process's. */
static bool is_out_of_sight(const struct source *source, uint32_t pid, uint64_t start,
                            uint64_t image)
{
    return source->id.space != rtl_process_id_own().space && !is_maker_known(source) &&
           may_be_of(source, start, image) && (source->taken_for == 0 || source->taken_for == pid);
}

/* A ring that names the process comes first: the others may be somebody else's. */
static bool has_ring(void *context, uint32_t pid, uint64_t start, uint64_t image)
{
    const struct rtl_collector *collector = context;
    for (unsigned i = collector->count; i-- > 0;)
        if (is_named(collector->sources[i], pid, start, image))
            return true;
    for (unsigned i = collector->count; i-- > 0;) {
        if (!is_out_of_sight(collector->sources[i], pid, start, image))
            continue;
        collector->sources[i]->taken_for = pid;
        return true;
    }
    return false;
}

static void meet(void *context, uint32_t pid, uint64_t start, uint64_t image)
{
    const struct rtl_collector *collector = context;
    for (unsigned i = collector->count; i-- > 0;)
        if (is_named(collector->sources[i], pid, start, image))
            collector->sources[i]->met = true;
}

static bool had_ring(void *context, uint32_t pid)
{
    const struct rtl_collector *collector = context;
    for (unsigned i = collector->count; i-- > 0;)
        if (collector->sources[i]->pid == pid)
            return true;
    return false;
}

static unsigned unmet(void *context)
{
    const struct rtl_collector *collector = context;
    unsigned count = 0;
    for (unsigned i = 0; i < collector->count; i++)
        count += !collector->sources[i]->met;
    return count;
}

static bool has_any_ring(void *context, uint32_t pid)
{
    return has_ring(context, pid, 0, 0);
}

void rtl_collector_watch(struct rtl_collector *collector)
{
    collector->watch.absent = &collector->absent;
    collector->watch.has_ring = has_ring;
    collector->watch.meet = meet;
    collector->watch.had_ring = had_ring;
    collector->watch.unmet = unmet;
    collector->watch.context = collector;
    watch_begin(&collector->watch);
    collector->absent.watch = &collector->watch;
}

void rtl_collector_program(struct rtl_collector *collector, uint32_t pid)
{
    watch_program(&collector->watch, pid);
}

int rtl_collector_descriptor(const struct rtl_collector *collector)
{
    return watch_descriptor(&collector->watch);
}

static bool is_of_program(void *context, uint32_t pid)
{
    return watch_has(context, pid);
}

unsigned rtl_collector_left(struct rtl_collector *collector, uint32_t *first)
{
    watch_refresh(&collector->watch);
    return rtl_left_count(collector->session, is_of_program, &collector->watch, first);
}

/* A start that has not come to its end belongs to a process that may have been judged by then. */
void rtl_collector_conclude(struct rtl_collector *collector)
{
    scan(collector);
    watch_finish(&collector->watch);
    absent_take_starts(&collector->absent, has_any_ring, collector);
    watch_reckon(&collector->watch);
}

/* Rings that could not be read are tried at each look; there is none after the last. */
static void tell_unread(struct rtl_collector *collector)
{
    char sentence[320];
    char why[RTL_WHY_SIZE];
    if (collector->unread == 0)
        return;
    (void)snprintf(sentence, sizeof sentence,
                   "rings of processes could not be read (%u at the least), their records are not "
                   "in the trace: %s",
                   collector->unread, rtl_why(collector->unread_errno, why));
    rtl_collector_note(collector, sentence);
    rtl_writer_miss_processes(collector->writer, collector->unread);
    told_process(&collector->told, 0, sentence);
}

static bool has_later(const struct rtl_collector *collector, const struct source *source)
{
    for (unsigned i = collector->count; i-- > 0;)
        if (source_is_later(source, collector->sources[i]))
            return true;
    return false;
}

/* Its ring, or that of an image to come: a program that took the place of one with a GPU may make
 * room for the next one with it. */
static bool may_write(const struct rtl_collector *collector, struct source *source)
{
    return source->state == SOURCE_OPEN ||
           (source->replaced && !has_later(collector, source) && source_alive(source));
}

/* A closed ring is not at its end yet: until the process is gone, its worker may hand in what
 * completes during the exit. A process that stays on regardless is not waited for. */
static bool closed_for_long(struct source *source)
{
    uint64_t now = rtl_now();
    if (source->closed_since == 0)
        source->closed_since = now;
    return now - source->closed_since > CLOSED_NS && rtl_ring_pending(&source->ring) == 0;
}

static void checkpoint(struct rtl_collector *collector)
{
    for (unsigned i = 0; i < collector->count; ++i)
        if (collector->sources[i]->state == SOURCE_OPEN)
            source_ledger(collector->sources[i]);
    collector->store_failed = rtl_writer_checkpoint(collector->writer) != 0;
}

static void checkpoint_if_due(struct rtl_collector *collector)
{
    uint64_t now = rtl_now();
    if (now < collector->checkpoint_at)
        return;
    collector->checkpoint_at = now + CHECKPOINT_NS;
    checkpoint(collector);
}

/* What a ring still holds is read in pieces: it may be a gigabyte. */
static void empty(struct rtl_collector *collector, struct source *source, bool gone)
{
    while ((gone ? source_empty(source, ROUND_SLOTS) : source_drain(source, ROUND_SLOTS)) > 0)
        checkpoint_if_due(collector);
}

static void settle_if_over(struct rtl_collector *collector, struct source *source)
{
    /* Liveness is asked before the closed mark is read: a process that closes and then goes is
     * closed, not dead. */
    enum source_image image = source_image(source);
    bool gone = image != SOURCE_IMAGE_LIVES;
    if (!gone)
        source_look(source);
    bool closed = rtl_ring_closed(&source->ring);
    if (!gone && !closed)
        return;
    empty(collector, source, gone);
    if (closed && (gone || closed_for_long(source)))
        source_settle(source, SOURCE_CLOSED);
    else if (image == SOURCE_IMAGE_REPLACED)
        source_settle(source, SOURCE_REPLACED);
    else if (gone)
        source_settle(source, source_how_gone(source));
}

static void settle_all(struct rtl_collector *collector)
{
    for (unsigned i = 0; i < collector->count; ++i)
        if (collector->sources[i]->state == SOURCE_OPEN)
            settle_if_over(collector, collector->sources[i]);
}

void rtl_collector_look(struct rtl_collector *collector)
{
    scan(collector);
    settle_all(collector);
}

/* A ring that a process has made before it was over is known before the process is judged. */
static void judge_others(struct rtl_collector *collector)
{
    if (!watch_look(&collector->watch))
        return;
    scan(collector);
    watch_judge(&collector->watch);
}

static uint64_t drain_all(struct rtl_collector *collector)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < collector->count; ++i) {
        if (collector->sources[i]->state != SOURCE_OPEN)
            continue;
        uint64_t slots = source_drain(collector->sources[i], ROUND_SLOTS);
        if (slots > most)
            most = slots;
        if (slots < BUSY_SLOTS)
            continue;
        (void)watch_look(&collector->watch);
        checkpoint_if_due(collector);
    }
    return most;
}

static unsigned next_wait(unsigned wait_ms, uint64_t slots)
{
    if (slots >= BUSY_SLOTS)
        return 0;
    if (slots > 0 || wait_ms == 0)
        return 1;
    return wait_ms < WAIT_MOST_MS / 2 ? 2 * wait_ms : WAIT_MOST_MS;
}

unsigned rtl_collector_round(struct rtl_collector *collector)
{
    uint64_t now = rtl_now();
    if (now >= collector->scan_at) {
        scan(collector);
        collector->scan_at = now + SCAN_NS;
    }
    uint64_t slots = drain_all(collector);
    rtl_writer_relieve(collector->writer);
    judge_others(collector); /* behind the records: a process that ends waits for these alone */
    if (now >= collector->liveness_at) {
        settle_all(collector);
        collector->liveness_at = now + LIVENESS_NS;
    }
    checkpoint_if_due(collector);
    collector->wait_ms = next_wait(collector->wait_ms, slots);
    return watch_wait(&collector->watch, collector->wait_ms);
}

void rtl_collector_status(const struct rtl_collector *collector,
                          struct rtl_collector_status *status)
{
    *status = (struct rtl_collector_status){
        .kernels = rtl_writer_kernels(collector->writer),
        .processes = collector->count,
        .unrecorded = collector->absent.unrecorded,
        .unstarted = collector->absent.unstarted,
        .store_failed = collector->store_failed,
    };
    for (unsigned i = 0; i < collector->count; ++i) {
        struct source *source = collector->sources[i];
        status->lost += source->lost;
        status->open += may_write(collector, source);
        status->refused += source->state == SOURCE_REFUSED;
        status->alive += source_alive(source);
    }
}

unsigned rtl_collector_open_pids(const struct rtl_collector *collector, uint32_t *pids,
                                 unsigned most)
{
    unsigned open = 0;
    for (unsigned i = 0; i < collector->count; ++i) {
        if (!may_write(collector, collector->sources[i]))
            continue;
        if (open < most)
            pids[open] = collector->sources[i]->pid;
        ++open;
    }
    return open;
}

void rtl_collector_note(struct rtl_collector *collector, const char *sentence)
{
    struct rtl_wire_note note = {
        .time_ns = rtl_now(),
        .queue = RTL_NONE,
        .text_length = (uint16_t)strlen(sentence),
    };
    uint32_t process = 0;
    for (unsigned i = 0; i < collector->count && !process; ++i)
        process = collector->sources[i]->process;
    rtl_writer_note(collector->writer, process, &note, sentence);
}

/* What rings hold now; their processes go on and may fill them for ever. */
static void drain_last(struct rtl_collector *collector)
{
    for (unsigned i = 0; i < collector->count; ++i) {
        struct source *source = collector->sources[i];
        if (source->state == SOURCE_OPEN)
            (void)source_drain(source, rtl_ring_pending(&source->ring));
    }
}

void rtl_collector_end(struct rtl_collector *collector)
{
    if (!collector)
        return;
    rtl_collector_look(collector);
    if (collector->unread > 0)
        rtl_collector_look(collector);
    drain_last(collector);
    rtl_collector_conclude(collector);
    tell_unread(collector);
    checkpoint(collector);
    rtl_collector_drop(collector);
}

void rtl_collector_drop(struct rtl_collector *collector)
{
    if (!collector)
        return;
    rtl_writer_ask_for_accounts(collector->writer, NULL, NULL);
    for (unsigned i = 0; i < collector->count; ++i)
        source_free(collector->sources[i]);
    watch_end(&collector->watch);
    absent_end(&collector->absent);
    told_end(&collector->told);
    free(collector->sources);
    free(collector->session);
    free(collector);
}
