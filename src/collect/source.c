/*
 * One file, since all of it is the state of one ring: what of a record is checked (texts_size,
 * body_size), what becomes of it (take), and how its ledger is settled when the image has ended
 * (source_settle). A third are three switches over the types of records: a new type has a case in
 * body_size and take_definition, which the compiler misses otherwise, and in texts_size if texts
 * follow it.
 */
#include "collect/source.h"

#include "common/clock.h"
#include "common/private.h"
#include "ring/kinds.h"
#include "ring/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A process whose own description never came (it died first, or is refused) is known by its ring.
 */
static void describe_by_ring(struct source *source, const char *library)
{
    struct rtl_wire_process process = {
        .time_ns = rtl_now(),
        .pid = source->pid,
        .mode = RTL_MODE_LITE,
        .interception = RTL_UNTRACKED,
        .library_length = (uint16_t)strlen(library),
    };
    source->process = rtl_writer_process(source->writer, &process, library);
}

static void note(struct source *source, const char *sentence)
{
    struct rtl_wire_note body = {
        .time_ns = rtl_now(),
        .queue = RTL_NONE,
        .text_length = (uint16_t)strlen(sentence),
    };
    rtl_writer_note(source->writer, source->process, &body, sentence);
}

static void refuse(struct source *source, uint32_t version, const char *library, char *sentence,
                   size_t sentence_size)
{
    (void)snprintf(
        sentence, sentence_size,
        "process %" PRIu32 " uses librtl %s from another build (wire version %" PRIu32
        ", this rtl has %u), its kernels are not in the trace: run it with the librtl.so "
        "that belongs to this rtl",
        source->pid, library[0] ? library : "(unknown version)", version, RTL_WIRE_VERSION);
    source->state = SOURCE_REFUSED;
    describe_by_ring(source, library);
    note(source, sentence);
    rtl_writer_process_end(source->writer, source->process, "refused", rtl_now(), 0);
}

static void learn_maker(struct source *source)
{
    const struct rtl_ring_header *header = source->ring.header;
    int file = rtl_private_open(source->path, O_RDWR);
    source->maker = rtl_ring_find_maker(header, file);
    if (file >= 0)
        (void)close(file);
    source->pid = source->maker.pid;
    source->id = (struct rtl_process_id){header->space, header->inner};
    source->process_start = header->process_start;
    source->made_ns = header->made_ns;
    source->image = header->image;
}

struct source *source_open(const char *path, uint32_t pid, uint32_t ordinal,
                           struct rtl_writer *writer, char *sentence, size_t sentence_size)
{
    struct source *source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    source->path = strdup(path);
    source->pid = pid;
    source->ordinal = ordinal;
    source->writer = writer;

    uint32_t version = 0;
    char library[33] = "";
    int opened = source->path ? rtl_ring_open(&source->ring, path, &version, library) : -1;
    if (opened == -2) {
        library[32] = '\0';
        refuse(source, version, library, sentence, sentence_size);
        return source;
    }
    if (opened) {
        free(source->path);
        free(source);
        return NULL;
    }
    source->was_open = true;
    learn_maker(source);
    return source;
}

/* Row of the ledger that a queue's account stands in; the last row takes all queues beyond it. */
static uint32_t row_of(uint32_t queue)
{
    return queue < RTL_LEDGER_ROWS ? queue : RTL_LEDGER_ROWS - 1;
}

/* What has to follow the body for its texts, or SIZE_MAX if the body itself is cut short. */
static size_t texts_size(enum rtl_wire_type type, const void *body, size_t size)
{
    switch (type) {
    case RTL_WIRE_PROCESS: {
        const struct rtl_wire_process *p = body;
        return size < sizeof *p ? SIZE_MAX
                                : (size_t)p->command_length + p->host_length + p->library_length +
                                      p->rank_length;
    }
    case RTL_WIRE_AGENT: {
        const struct rtl_wire_agent *a = body;
        return size < sizeof *a ? SIZE_MAX
                                : (size_t)a->name_length + a->product_length + a->uuid_length;
    }
    case RTL_WIRE_SYMBOL: {
        const struct rtl_wire_symbol *s = body;
        return size < sizeof *s ? SIZE_MAX : s->name_length;
    }
    case RTL_WIRE_NOTE: {
        const struct rtl_wire_note *n = body;
        return size < sizeof *n ? SIZE_MAX : n->text_length;
    }
    case RTL_WIRE_CALL: {
        const struct rtl_wire_call *c = body;
        return size < sizeof *c ? SIZE_MAX : (size_t)c->name_length + c->arguments_length;
    }
    case RTL_WIRE_API: {
        const struct rtl_wire_api *a = body;
        return size < sizeof *a ? SIZE_MAX : a->words * sizeof(uint64_t);
    }
    case RTL_WIRE_RANGE: {
        const struct rtl_wire_range *r = body;
        return size < sizeof *r ? SIZE_MAX : r->text_length;
    }
    case RTL_WIRE_NAME: {
        const struct rtl_wire_name *n = body;
        return size < sizeof *n ? SIZE_MAX : n->text_length;
    }
    case RTL_WIRE_NODE: {
        const struct rtl_wire_node *n = body;
        return size < sizeof *n ? SIZE_MAX : n->dependencies * sizeof(uint32_t) + n->name_length;
    }
    case RTL_WIRE_COUNTING: {
        const struct rtl_wire_counting *c = body;
        return size < sizeof *c ? SIZE_MAX : c->text_length;
    }
    case RTL_WIRE_COUNTER: {
        const struct rtl_wire_counter *c = body;
        return size < sizeof *c ? SIZE_MAX : c->name_length;
    }
    case RTL_WIRE_SAMPLE: {
        const struct rtl_wire_sample *s = body;
        return size < sizeof *s ? SIZE_MAX : s->values * sizeof(uint64_t);
    }
    case RTL_WIRE_HIP_QUEUE: {
        const struct rtl_wire_hip_queue *h = body;
        return size < sizeof *h ? SIZE_MAX : h->library_length;
    }
    default:
        return 0;
    }
}

static size_t body_size(enum rtl_wire_type type)
{
    switch (type) {
    case RTL_WIRE_PROCESS:
        return sizeof(struct rtl_wire_process);
    case RTL_WIRE_AGENT:
        return sizeof(struct rtl_wire_agent);
    case RTL_WIRE_QUEUE:
        return sizeof(struct rtl_wire_queue);
    case RTL_WIRE_QUEUE_END:
        return sizeof(struct rtl_wire_queue_end);
    case RTL_WIRE_SYMBOL:
        return sizeof(struct rtl_wire_symbol);
    case RTL_WIRE_SHAPE:
        return sizeof(struct rtl_wire_shape);
    case RTL_WIRE_KERNEL:
        return sizeof(struct rtl_wire_kernel);
    case RTL_WIRE_CLOCK:
        return sizeof(struct rtl_wire_clock);
    case RTL_WIRE_CLOCK_SNAPSHOT:
        return sizeof(struct rtl_wire_clock_snapshot);
    case RTL_WIRE_NOTE:
        return sizeof(struct rtl_wire_note);
    case RTL_WIRE_COPY:
        return sizeof(struct rtl_wire_copy);
    case RTL_WIRE_CALL:
        return sizeof(struct rtl_wire_call);
    case RTL_WIRE_API:
        return sizeof(struct rtl_wire_api);
    case RTL_WIRE_RANGE:
        return sizeof(struct rtl_wire_range);
    case RTL_WIRE_RANGE_END:
        return sizeof(struct rtl_wire_range_end);
    case RTL_WIRE_NAME:
        return sizeof(struct rtl_wire_name);
    case RTL_WIRE_STREAM:
        return sizeof(struct rtl_wire_stream);
    case RTL_WIRE_GRAPH:
        return sizeof(struct rtl_wire_graph);
    case RTL_WIRE_NODE:
        return sizeof(struct rtl_wire_node);
    case RTL_WIRE_LAUNCH:
        return sizeof(struct rtl_wire_launch);
    case RTL_WIRE_PAUSE:
        return sizeof(struct rtl_wire_pause);
    case RTL_WIRE_COUNTING:
        return sizeof(struct rtl_wire_counting);
    case RTL_WIRE_COUNTER:
        return sizeof(struct rtl_wire_counter);
    case RTL_WIRE_SAMPLE:
        return sizeof(struct rtl_wire_sample);
    case RTL_WIRE_UNCOUNTED:
        return sizeof(struct rtl_wire_uncounted);
    case RTL_WIRE_DRAFT_KERNEL:
        return sizeof(struct rtl_wire_kernel);
    case RTL_WIRE_DRAFT_COPY:
        return sizeof(struct rtl_wire_copy);
    case RTL_WIRE_DRAFT_LAUNCH:
        return sizeof(struct rtl_wire_launch);
    case RTL_WIRE_HIP_QUEUE:
        return sizeof(struct rtl_wire_hip_queue);
    case RTL_WIRE_KERNELS: /* contradicts itself, or it would have come as single ones */
    case RTL_WIRE_VOID:
        break;
    }
    return SIZE_MAX;
}

/* By the pid that it has here. */
static void take_process(struct source *source, const struct rtl_wire_process *body,
                         const char *texts)
{
    struct rtl_wire_process process = *body;
    process.pid = source->pid;
    if (source->process)
        rtl_writer_process_again(source->writer, source->process, &process, texts);
    else
        source->process = rtl_writer_process(source->writer, &process, texts);
}

static void take_definition(struct source *source, enum rtl_wire_type type, const void *body)
{
    struct rtl_writer *writer = source->writer;
    const char *texts = (const char *)body + body_size(type);
    switch (type) {
    case RTL_WIRE_PROCESS:
        take_process(source, body, texts);
        break;
    case RTL_WIRE_AGENT:
        rtl_writer_agent(writer, source->process, body, texts);
        break;
    case RTL_WIRE_QUEUE:
        rtl_writer_queue(writer, source->process, body);
        break;
    case RTL_WIRE_QUEUE_END:
        rtl_writer_queue_end(writer, source->process, body);
        break;
    case RTL_WIRE_SYMBOL:
        rtl_writer_symbol(writer, source->process, body, texts);
        break;
    case RTL_WIRE_SHAPE:
        rtl_writer_shape(writer, source->process, body);
        break;
    case RTL_WIRE_CLOCK:
        ++source->clock_points;
        rtl_writer_clock(writer, source->process, body);
        break;
    case RTL_WIRE_CLOCK_SNAPSHOT:
        rtl_writer_clock_snapshot(writer, source->process, body);
        break;
    case RTL_WIRE_NOTE:
        rtl_writer_note(writer, source->process, body, texts);
        break;
    case RTL_WIRE_CALL:
        rtl_writer_call(writer, source->process, body, texts);
        break;
    case RTL_WIRE_API:
        rtl_writer_api(writer, source->process, body, texts);
        break;
    case RTL_WIRE_RANGE:
        rtl_writer_range(writer, source->process, body, texts);
        break;
    case RTL_WIRE_RANGE_END:
        rtl_writer_range_end(writer, source->process, body);
        break;
    case RTL_WIRE_NAME:
        names_met(&source->names, body, texts);
        rtl_writer_name(writer, source->process, body, texts);
        break;
    case RTL_WIRE_STREAM:
        rtl_writer_stream(writer, source->process, body);
        break;
    case RTL_WIRE_GRAPH:
        rtl_writer_graph(writer, source->process, body);
        break;
    case RTL_WIRE_NODE:
        rtl_writer_node(writer, source->process, body, texts);
        break;
    case RTL_WIRE_LAUNCH:
        rtl_writer_launch(writer, source->process, body);
        break;
    case RTL_WIRE_PAUSE:
        rtl_writer_pause(writer, source->process, body);
        break;
    case RTL_WIRE_COUNTING:
        rtl_writer_counting(writer, source->process, body, texts);
        break;
    case RTL_WIRE_COUNTER:
        rtl_writer_counter(writer, source->process, body, texts);
        break;
    case RTL_WIRE_SAMPLE:
        rtl_writer_sample(writer, source->process, body, texts);
        break;
    case RTL_WIRE_UNCOUNTED:
        rtl_writer_uncounted(writer, source->process, body);
        break;
    case RTL_WIRE_HIP_QUEUE:
        rtl_writer_hip_queue(writer, source->process, body, texts);
        break;
    case RTL_WIRE_KERNEL:
    case RTL_WIRE_KERNELS:
    case RTL_WIRE_COPY:
    case RTL_WIRE_VOID:
    case RTL_WIRE_DRAFT_KERNEL:
    case RTL_WIRE_DRAFT_COPY:
    case RTL_WIRE_DRAFT_LAUNCH:
        break;
    }
}

static void take_kernel(struct source *source, const struct rtl_wire_kernel *kernel)
{
    ++source->received[row_of(kernel->queue)];
    ++source->timed;
    rtl_writer_kernel(source->writer, source->process, kernel);
}

static void take_copy(struct source *source, const struct rtl_wire_copy *copy)
{
    ++source->received[row_of(copy->queue)];
    source->timed += copy->start != 0;
    rtl_writer_copy(source->writer, source->process, copy);
}

/* A list with room for one more, and that item in it; NULL without memory: then the list is as it
 * was, the draft is left out, and what it is of counted as lost. */
static void *append(void *list, size_t count, const void *item, size_t size)
{
    unsigned char *more = realloc(list, (count + 1) * size);
    if (more != NULL)
        memcpy(more + count * size, item, size);
    return more;
}

static void keep_kernel(struct source *source, const struct rtl_wire_kernel *kernel)
{
    struct rtl_wire_kernel *more =
        append(source->kernel_drafts, source->kernel_draft_count, kernel, sizeof *kernel);
    if (more == NULL)
        return;
    source->kernel_drafts = more;
    source->kernel_draft_count++;
}

static void keep_copy(struct source *source, const struct rtl_wire_copy *copy)
{
    struct rtl_wire_copy *more =
        append(source->copy_drafts, source->copy_draft_count, copy, sizeof *copy);
    if (more == NULL)
        return;
    source->copy_drafts = more;
    source->copy_draft_count++;
}

static void take_other(struct source *source, enum rtl_wire_type type, const void *body)
{
    rtl_writer_recorded(source->writer, source->process, rtl_kind_of(type, body));
    take_definition(source, type, body);
}

/* What was drafted by several threads was committed by one of them. */
static void take_launch(struct source *source, const struct rtl_wire_launch *launch)
{
    size_t kept = 0;
    source->launches[launch->launch % SOURCE_LAUNCHES] = launch->launch;
    for (size_t i = 0; i < source->launch_draft_count; ++i)
        if (source->launch_drafts[i].launch != launch->launch)
            source->launch_drafts[kept++] = source->launch_drafts[i];
    source->launch_draft_count = kept;
    take_other(source, RTL_WIRE_LAUNCH, launch);
}

static bool is_known_launch(const struct source *source, uint32_t launch)
{
    bool is_known = source->launches[launch % SOURCE_LAUNCHES] == launch;
    for (size_t i = 0; i < source->launch_draft_count; ++i)
        is_known = is_known || source->launch_drafts[i].launch == launch;
    return is_known;
}

static void keep_launch(struct source *source, const struct rtl_wire_launch *launch)
{
    if (is_known_launch(source, launch->launch))
        return;
    struct rtl_wire_launch *more =
        append(source->launch_drafts, source->launch_draft_count, launch, sizeof *launch);
    if (more == NULL)
        return;
    source->launch_drafts = more;
    source->launch_draft_count++;
}

/* A kernel, copy or launch that its process had claimed by a draft, and did not come to commit. */
static void take_drafts(struct source *source)
{
    for (size_t i = 0; i < source->kernel_draft_count; ++i) {
        const struct rtl_wire_kernel *kernel = &source->kernel_drafts[i];
        if (!rtl_writer_has_kernel(source->writer, source->process, kernel->queue, kernel->packet))
            take_kernel(source, kernel);
    }
    for (size_t i = 0; i < source->copy_draft_count; ++i) {
        const struct rtl_wire_copy *copy = &source->copy_drafts[i];
        if (!rtl_writer_has_copy(source->writer, source->process, copy->queue, copy->ordinal))
            take_copy(source, copy);
    }
    for (size_t i = 0; i < source->launch_draft_count; ++i)
        take_other(source, RTL_WIRE_LAUNCH, &source->launch_drafts[i]);
    source->kernel_draft_count = source->copy_draft_count = source->launch_draft_count = 0;
}

/* Of kernels and copies the ledger tells how many there should be. */
static void reject(struct source *source, enum rtl_wire_type type, bool broken)
{
    static const uint64_t nothing[32];
    enum rtl_kind kind = rtl_kind_of(type, nothing);
    source->malformed += broken;
    if (kind < RTL_KINDS)
        ++*(broken ? &source->broken[kind] : &source->unread[kind]);
}

/* The memory is shared with a process that may be broken: a record whose lengths do not fit is
 * counted, not followed. */
static void take(void *context, enum rtl_wire_type type, const void *body, size_t size)
{
    struct source *source = context;
    size_t fixed = body_size(type);
    if (!body || fixed > size || texts_size(type, body, size) > size - fixed) {
        reject(source, type, body != NULL);
        return;
    }
    if (!source->process && type != RTL_WIRE_PROCESS)
        describe_by_ring(source, "");
    if (type == RTL_WIRE_KERNEL)
        take_kernel(source, body);
    else if (type == RTL_WIRE_COPY)
        take_copy(source, body);
    else if (type == RTL_WIRE_LAUNCH)
        take_launch(source, body);
    else if (type == RTL_WIRE_DRAFT_KERNEL)
        keep_kernel(source, body);
    else if (type == RTL_WIRE_DRAFT_COPY)
        keep_copy(source, body);
    else if (type == RTL_WIRE_DRAFT_LAUNCH)
        keep_launch(source, body);
    else
        take_other(source, type, body);
}

uint64_t source_drain(struct source *source, uint64_t most)
{
    return rtl_ring_read(&source->ring, most, false, take, source, &source->torn);
}

void source_look(struct source *source)
{
    const struct rtl_ring_maker *maker = &source->maker;
    if (source->process && maker->seen && rtl_process_alive(maker->pid, maker->start))
        names_look(&source->names, source->pid, source->writer, source->process);
}

static uint64_t load(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_acquire);
}

static uint64_t lost_in(const struct rtl_writer_account *account)
{
    uint64_t lost = 0;
    for (unsigned reason = 0; reason < RTL_LOST_REASONS; ++reason)
        lost += account->lost[reason];
    return lost;
}

/* `seen` is read last: a row that moves meanwhile shows kernels as pending, never as negative. What
 * was handed over and `received` may not have been counted yet. */
static void read_row(const struct rtl_wire_ledger *row, uint64_t received,
                     struct rtl_writer_account *account)
{
    account->recorded = load(&row->recorded);
    if (account->recorded < received)
        account->recorded = received;
    account->stopped = load(&row->stopped);
    account->withheld = load(&row->withheld);
    account->skipped = load(&row->skipped);
    account->forwarded = load(&row->forwarded);
    account->borrowed = load(&row->borrowed);
    account->helped = load(&row->helped);
    for (unsigned reason = 0; reason < RTL_LOST_REASONS; ++reason)
        account->lost[reason] = load(&row->lost[reason]);
    for (unsigned kind = 0; kind < RTL_OPAQUE_KINDS; ++kind) {
        account->opaque_of_graphs[kind] = load(&row->opaque_of_graphs[kind]);
        account->opaque[kind] = load(&row->opaque[kind]);
    }
    account->packets = load(&row->packets);
    account->seen = load(&row->seen);
}

/* What of a row is known to have completed in a dead process, and waited for room in the ring. */
static uint64_t held_in(const struct rtl_wire_ledger *row, const struct rtl_writer_account *account)
{
    uint64_t settled = account->recorded + account->lost[RTL_LOST_RING] +
                       account->lost[RTL_LOST_SPACE] + account->lost[RTL_LOST_SHUTDOWN] +
                       account->lost[RTL_LOST_REARMED] + account->lost[RTL_LOST_NO_TIME] +
                       account->lost[RTL_LOST_MEMORY];
    uint64_t done = load(&row->done);
    return done > settled ? done - settled : 0;
}

/* A ring that runs full before it has all its memory has got no more. */
static enum rtl_lost why_full(const struct source *source)
{
    uint64_t usable = load(&source->ring.header->usable);
    return usable <= source->ring.mask ? RTL_LOST_SPACE : RTL_LOST_RING;
}

/* An ended process cannot account for what it still held: what was seen, and is neither recorded
 * nor explained, ended with it, for `reason`, but for what is known to have waited for room. A
 * process that died may have handed over more than it had counted. Sums that do not fit otherwise
 * stay as they are, for the reader's verdict. */
static void settle_row(const struct source *source, uint32_t number,
                       struct rtl_writer_account *account, enum rtl_lost reason)
{
    if (reason == RTL_LOST_KILLED)
        account->recorded = source->received[number];
    uint64_t explained = account->recorded + account->skipped + lost_in(account);
    uint64_t left = account->seen > explained ? account->seen - explained : 0;
    uint64_t held = 0;
    if (reason == RTL_LOST_KILLED)
        held = held_in(&source->ring.header->ledger[number], account);
    if (held > left)
        held = left;
    account->lost[why_full(source)] += held;
    account->lost[reason] += left - held;
}

/* `reason` is that of what is left over, RTL_LOST_REASONS while the process may still hand it in.
 */
static void copy_ledger(struct source *source, enum rtl_lost reason)
{
    struct rtl_ring_header *header = source->ring.header;
    uint32_t rows = atomic_load_explicit(&header->queues, memory_order_acquire);
    if (rows > RTL_LEDGER_ROWS)
        rows = RTL_LEDGER_ROWS;
    source->lost = 0;
    for (uint32_t row = 0; row < rows && source->process; ++row) {
        struct rtl_writer_account account;
        read_row(&header->ledger[row], source->received[row], &account);
        if (reason != RTL_LOST_REASONS)
            settle_row(source, row, &account, reason);
        source->lost += lost_in(&account);
        rtl_writer_ledger(source->writer, source->process, row, &account);
    }
}

static void read_kind(const struct source *source, enum rtl_kind kind,
                      struct rtl_writer_kind *account)
{
    const struct rtl_ring_header *header = source->ring.header;
    const struct rtl_wire_kind *counts = &header->kinds[kind].account;
    uint64_t begun = 0;
    uint64_t over = rtl_writer_recorded_so_far(source->writer, source->process, kind);
    account->waiting = load(&counts->waiting);
    for (unsigned i = 0; i < RTL_LANES; ++i) {
        account->stopped += load(&header->lanes[i].lane.stopped[kind]);
        account->withheld += load(&header->lanes[i].lane.withheld[kind]);
        begun += load(&header->lanes[i].lane.begun[kind]);
    }
    for (unsigned reason = 0; reason < RTL_LOST_REASONS; ++reason)
        account->lost[reason] = load(&counts->lost[reason]);
    account->lost[RTL_LOST_MALFORMED] += source->broken[kind];
    account->lost[RTL_LOST_MEMORY] += source->unread[kind];
    for (unsigned reason = 0; reason < RTL_LOST_REASONS; ++reason)
        over += account->lost[reason];
    if (begun > over)
        account->waiting += begun - over;
}

/* As copy_ledger: what still waited is lost for `reason`. */
static void copy_kinds(struct source *source, enum rtl_lost reason)
{
    struct rtl_writer_kind kinds[RTL_KINDS] = {{0}};
    if (!source->process)
        return;
    for (unsigned kind = 0; kind < RTL_KINDS; ++kind) {
        read_kind(source, (enum rtl_kind)kind, &kinds[kind]);
        if (reason == RTL_LOST_REASONS)
            continue;
        kinds[kind].lost[reason] += kinds[kind].waiting;
        kinds[kind].waiting = 0;
    }
    rtl_writer_kinds(source->writer, source->process, kinds);
}

void source_ledger(struct source *source)
{
    copy_ledger(source, RTL_LOST_REASONS);
    copy_kinds(source, RTL_LOST_REASONS);
}

bool source_account(const struct source *source, uint32_t queue, struct rtl_writer_account *account)
{
    if (source->state != SOURCE_OPEN || queue >= RTL_LEDGER_ROWS)
        return false;
    read_row(&source->ring.header->ledger[queue], source->received[queue], account);
    return true;
}

static void note_malformed(struct source *source)
{
    if (!source->malformed)
        return;
    char sentence[160];
    (void)snprintf(sentence, sizeof sentence,
                   "%" PRIu64 " %s of process %" PRIu32 " contradicted %s left out",
                   source->malformed, source->malformed == 1 ? "record" : "records", source->pid,
                   source->malformed == 1 ? "itself and was" : "themselves and were");
    note(source, sentence);
}

/* A kernel comes before the first of the clock, which has to be asked for with a tick of it. One
 * point is a first look of the runtime's, unless a process in order never had a second to tell. */
static void note_untimed(struct source *source, enum source_end end)
{
    static const char *const ends[] = {[SOURCE_CLOSED] = "ended",
                                       [SOURCE_REPLACED] = "was replaced by an exec",
                                       [SOURCE_EXITED] = "ended by _exit",
                                       [SOURCE_DIED] = "ended without telling"};
    if (source->timed == 0 || source->clock_points > (end != SOURCE_CLOSED))
        return;
    char sentence[160];
    (void)snprintf(sentence, sizeof sentence,
                   "process %" PRIu32 " %s before the clock of its GPU was known: the times "
                   "of its kernels and copies are ticks of the GPU",
                   source->pid, ends[end]);
    note(source, sentence);
}

uint64_t source_empty(struct source *source, uint64_t most)
{
    return rtl_ring_read(&source->ring, most, true, take, source, &source->torn);
}

enum source_end source_how_gone(const struct source *source)
{
    bool exited = atomic_load_explicit(&source->ring.header->exited, memory_order_acquire) != 0;
    return exited ? SOURCE_EXITED : SOURCE_DIED;
}

void source_settle(struct source *source, enum source_end end)
{
    static const char *const states[] = {
        [SOURCE_CLOSED] = "closed",
        [SOURCE_REPLACED] = "replaced",
        [SOURCE_EXITED] = "exited",
        [SOURCE_DIED] = "died",
    };
    if (!source->process)
        describe_by_ring(source, source->ring.header->library_version);
    take_drafts(source);
    source->state = SOURCE_ENDED; /* from here on the account is not asked for */
    source->replaced = end == SOURCE_REPLACED;
    names_free(&source->names);
    copy_ledger(source, end == SOURCE_CLOSED ? RTL_LOST_SHUTDOWN : RTL_LOST_KILLED);
    copy_kinds(source, end == SOURCE_CLOSED ? RTL_LOST_SHUTDOWN : RTL_LOST_KILLED);
    note_malformed(source);
    note_untimed(source, end);
    rtl_writer_process_end(source->writer, source->process, states[end], rtl_now(), source->torn);
    source->file_stays = rtl_private_unlink(source->path) != 0 && errno != ENOENT;
    rtl_ring_unmap(&source->ring);
}

/* The facts differ, and the ring is not mapped any more. Where it still is, somebody has moved the
 * marks that the facts are made of. */
static bool has_other_image(struct source *source, uint64_t image)
{
    uint64_t made = source->ring.header->image;
    if (made == 0 || image == 0 || image == made || image == source->same_image)
        return false;
    const char *name = strrchr(source->path, '/');
    while (name > source->path && *--name != '/')
        ;
    enum rtl_mapped mapped = rtl_process_maps(source->pid, name);
    if (mapped == RTL_MAPPED_YES)
        source->same_image = image;
    return mapped == RTL_MAPPED_NO;
}

/* What the next image tells is read last: it told before the process went. */
enum source_image source_image(struct source *source)
{
    const struct rtl_ring_maker *maker = &source->maker;
    struct rtl_process_facts facts = {0};
    bool alive;
    if (maker->seen) {
        facts = rtl_process_facts(maker->pid);
        alive = rtl_process_is(&facts, maker->start);
    } else {
        alive = rtl_ring_maker_lives_at(source->ring.header, maker, source->path);
    }
    if (rtl_ring_replaced(&source->ring) || (alive && has_other_image(source, facts.image)))
        return SOURCE_IMAGE_REPLACED;
    return alive ? SOURCE_IMAGE_LIVES : SOURCE_IMAGE_GONE;
}

bool source_is_later(const struct source *source, const struct source *later)
{
    return later != source && later->was_open && later->id.space == source->id.space &&
           later->id.inner == source->id.inner &&
           rtl_process_same_start(later->process_start, source->process_start) &&
           source->process_start != RTL_START_UNKNOWN && later->made_ns > source->made_ns;
}

bool source_alive(struct source *source)
{
    const struct rtl_ring_maker *maker = &source->maker;
    if (source->was_open && !source->gone)
        source->gone = maker->seen
                           ? !rtl_process_alive(maker->pid, maker->start)
                           : source->state != SOURCE_OPEN ||
                                 !rtl_ring_maker_lives_at(source->ring.header, maker, source->path);
    return source->was_open && !source->gone;
}

void source_free(struct source *source)
{
    if (!source)
        return;
    rtl_ring_unmap(&source->ring);
    names_free(&source->names);
    free(source->kernel_drafts);
    free(source->copy_drafts);
    free(source->launch_drafts);
    free(source->path);
    free(source);
}
