/* Ranges, with a ring of their own and no runtime. The module is one for the process, so each case
 * leaves no range open. */
#include "intercept/ranges/ranges.h"

#include "../../common/check.h"
#include "common/duration.h"
#include "intercept/base/emit.h"
#include "intercept/base/thread_context.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RING    (64u << 10)
#define SLOTS   UINT64_C(1024)
#define MOST    8192u
#define THREADS 4

/* What came out of the ring, in its order. */
struct out {
    struct {
        enum rtl_wire_type type;
        uint64_t id, parent, start_ns, end_ns;
        uint32_t kind, thread;
        char text[64];
    } records[MOST];
    unsigned count;
};

static struct rtl_ring ring;
static struct out out;

static void take(void *context, enum rtl_wire_type type, const void *body, size_t size)
{
    (void)context;
    (void)size;
    if (out.count == MOST)
        return;
    memset(&out.records[out.count], 0, sizeof out.records[0]);
    out.records[out.count].type = type;
    if (type == RTL_WIRE_RANGE) {
        const struct rtl_wire_range *range = body;
        out.records[out.count].id = range->id;
        out.records[out.count].parent = range->parent;
        out.records[out.count].start_ns = range->start_ns;
        out.records[out.count].kind = range->kind;
        out.records[out.count].thread = range->thread;
        (void)snprintf(out.records[out.count].text, 64, "%.*s", (int)range->text_length,
                       (const char *)(range + 1));
    } else if (type == RTL_WIRE_RANGE_END) {
        const struct rtl_wire_range_end *end = body;
        out.records[out.count].id = end->id;
        out.records[out.count].end_ns = end->end_ns;
    } else if (type == RTL_WIRE_NAME) {
        const struct rtl_wire_name *name = body;
        out.records[out.count].id = name->handle;
        out.records[out.count].kind = name->kind;
        (void)snprintf(out.records[out.count].text, 64, "%.*s", (int)name->text_length,
                       (const char *)(name + 1));
    } else if (type == RTL_WIRE_NOTE) {
        const struct rtl_wire_note *note = body;
        (void)snprintf(out.records[out.count].text, 64, "%.*s", (int)note->text_length,
                       (const char *)(note + 1));
    }
    out.count++;
}

static void drain(void)
{
    uint64_t torn = 0;
    (void)rtl_ring_read(&ring, UINT64_MAX, false, take, NULL, &torn);
}

static const char *set_up(void)
{
    CHECK(rtl_ring_create_private(&ring, RING) == 0);
    out.count = 0;
    rtl_emit_open(NULL);
    rtl_ranges_set(RTL_RANGES_BEFORE);
    return NULL;
}

/* What waits is the module's, and would go into the next ring. */
static void tear_down(void)
{
    for (int i = 0; i < 100000 && !rtl_emit_flush(); i++)
        drain();
    rtl_ranges_set(RTL_RANGES_BEFORE);
    rtl_emit_open(NULL);
    rtl_ring_unmap(&ring);
}

static void record(void)
{
    rtl_emit_open(&ring);
    rtl_ranges_set(RTL_RANGES_ON);
}

/* How many records of a type have this text. */
static unsigned texts(enum rtl_wire_type type, const char *text)
{
    unsigned count = 0;
    for (unsigned i = 0; i < out.count; i++)
        count += out.records[i].type == type && strcmp(out.records[i].text, text) == 0;
    return count;
}

/* The id of the range with this text, 0 if it did not come. */
static uint64_t id_of(const char *text)
{
    for (unsigned i = 0; i < out.count; i++)
        if (out.records[i].type == RTL_WIRE_RANGE && strcmp(out.records[i].text, text) == 0)
            return out.records[i].id;
    return 0;
}

static unsigned ends(uint64_t id)
{
    unsigned count = 0;
    for (unsigned i = 0; i < out.count; i++)
        count += out.records[i].type == RTL_WIRE_RANGE_END && out.records[i].id == id;
    return count;
}

const char *Ranges_OpenWhenRecordingBegins(void)
{
    CHECK_DONE(set_up());
    CHECK(rtl_range_push("outer", RTL_RANGE_BY_RTL) == 0);
    CHECK(rtl_range_push("over", RTL_RANGE_BY_RTL) == 1);
    CHECK(rtl_range_pop(NULL) == 1);
    CHECK(rtl_range_push("inner", RTL_RANGE_BY_RTL) == 1);
    uint64_t number = rtl_range_start("started");
    rtl_range_mark("too early");
    rtl_range_name(RTL_NAMED_STREAM, 77, "first");
    rtl_range_name(RTL_NAMED_STREAM, 77, "last");
    uint64_t inside = rtl_thread_context.range;
    record();
    drain();
    CHECK(out.count == 4);
    CHECK(texts(RTL_WIRE_NAME, "last") == 1);
    CHECK(texts(RTL_WIRE_RANGE, "outer") == 1 && texts(RTL_WIRE_RANGE, "inner") == 1);
    CHECK(texts(RTL_WIRE_RANGE, "started") == 1);
    CHECK(id_of("inner") == inside);
    CHECK(rtl_range_pop(NULL) == 1);
    CHECK(rtl_thread_context.range == id_of("outer"));
    rtl_range_stop(number);
    CHECK(rtl_range_pop(NULL) == 0);
    CHECK(rtl_range_pop(NULL) == -1);
    CHECK(rtl_thread_context.range == 0);
    drain();
    CHECK(out.count == 7);
    CHECK(ends(id_of("outer")) == 1 && ends(id_of("inner")) == 1 && ends(id_of("started")) == 1);
    tear_down();
    return NULL;
}

const char *Ranges_WhileRecordingIsStopped(void)
{
    CHECK_DONE(set_up());
    record();
    CHECK(rtl_range_push("on", RTL_RANGE_BY_RTL) == 0);
    rtl_ranges_set(RTL_RANGES_STOPPED);
    CHECK(rtl_range_push("off", RTL_RANGE_BY_RTL) == 1);
    CHECK(rtl_range_pop(NULL) == 1);
    CHECK(rtl_range_push("resumed in it", RTL_RANGE_BY_RTL) == 1);
    rtl_range_mark("off, too");
    rtl_range_name(RTL_NAMED_THREAD, 1, "a name");
    drain();
    CHECK(out.count == 2); /* "on", and names come always */
    rtl_ranges_set(RTL_RANGES_ON);
    rtl_ranges_set(RTL_RANGES_STOPPED);
    CHECK(rtl_range_pop(NULL) == 1);
    CHECK(rtl_range_pop(NULL) == 0);
    drain();
    CHECK(texts(RTL_WIRE_RANGE, "off") == 0 && texts(RTL_WIRE_RANGE, "off, too") == 0);
    CHECK(ends(id_of("on")) == 1 && ends(id_of("resumed in it")) == 1);
    CHECK(out.count == 5);
    tear_down();
    return NULL;
}

static uint64_t waiting(unsigned kind)
{
    return ring.header->kinds[kind].account.waiting;
}

static uint64_t lost(unsigned kind, enum rtl_lost why)
{
    return ring.header->kinds[kind].account.lost[why];
}

static const struct rtl_wire_lane *own_lane(void)
{
    return &ring.header->lanes[rtl_thread_context_thread() % RTL_LANES].lane;
}

static void *begin_and_leave(void *nothing)
{
    (void)rtl_range_push("left by its thread", RTL_RANGE_BY_RTL);
    return nothing;
}

/* What finds no room waits, and comes in its order. */
const char *Ranges_FullRing(void)
{
    CHECK_DONE(set_up());
    record();
    while (rtl_ring_pending(&ring) <= SLOTS - ring.few)
        rtl_range_mark("fill");
    CHECK(rtl_range_push("waits", RTL_RANGE_BY_RTL) == 0);
    CHECK(rtl_range_push("waits too", RTL_RANGE_BY_RTL) == 1);
    CHECK(rtl_range_pop(NULL) == 1);
    rtl_range_mark("waits as well");
    CHECK(waiting(RTL_KIND_RANGES) == 2 && waiting(RTL_KIND_RANGE_ENDS) == 1);
    CHECK(waiting(RTL_KIND_MARKS) == 1);
    CHECK(!rtl_emit_flush());
    drain();
    CHECK(texts(RTL_WIRE_RANGE, "fill") == SLOTS - ring.few + 1);
    CHECK(texts(RTL_WIRE_RANGE, "waits") == 0);
    CHECK(rtl_range_pop(NULL) == 0); /* behind what waits, though there is room */
    CHECK(rtl_emit_flush());
    drain();
    CHECK(ends(id_of("waits")) == 1 && ends(id_of("waits too")) == 1);
    CHECK(texts(RTL_WIRE_RANGE, "waits as well") == 1);
    for (unsigned kind = 0; kind < RTL_KINDS; kind++)
        CHECK(waiting(kind) == 0 && lost(kind, RTL_LOST_RING) == 0);
    tear_down();
    return NULL;
}

/* As much waits as may; beyond that each range, end and mark is counted. */
const char *Ranges_TooMuchWaits(void)
{
    CHECK_DONE(set_up());
    record();
    uint64_t marks = 0;
    for (; lost(RTL_KIND_MARKS, RTL_LOST_RING) == 0; marks++)
        rtl_range_mark("fill");
    CHECK(waiting(RTL_KIND_MARKS) > 100000);
    CHECK(rtl_range_push("held back", RTL_RANGE_BY_RTL) == 0);
    CHECK(rtl_range_push("lost", RTL_RANGE_BY_RTL) == 1);
    CHECK(waiting(RTL_KIND_RANGES) == 2);
    CHECK(rtl_range_pop(NULL) == 1);
    CHECK(waiting(RTL_KIND_RANGES) == 1 && lost(RTL_KIND_RANGES, RTL_LOST_RING) == 1);
    CHECK(lost(RTL_KIND_RANGE_ENDS, RTL_LOST_RING) == 0); /* of what is in the trace alone */
    uint64_t filled = 0;
    bool all;
    do {
        all = rtl_emit_flush();
        out.count = 0;
        drain();
        filled += texts(RTL_WIRE_RANGE, "fill");
    } while (!all);
    CHECK(filled + lost(RTL_KIND_MARKS, RTL_LOST_RING) == marks);
    CHECK(waiting(RTL_KIND_MARKS) == 0);
    CHECK(rtl_range_pop(NULL) == 0);
    drain();
    CHECK(ends(id_of("held back")) == 1 && waiting(RTL_KIND_RANGES) == 0);
    tear_down();
    return NULL;
}

/* A full ring again, and a thread that ends in its range. */
const char *Ranges_WaitingAtTheEnd(void)
{
    CHECK_DONE(set_up());
    record();
    while (lost(RTL_KIND_MARKS, RTL_LOST_RING) == 0)
        rtl_range_mark("fill");
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, begin_and_leave, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(lost(RTL_KIND_RANGES, RTL_LOST_RING) == 1 && waiting(RTL_KIND_RANGES) == 0);
    CHECK(rtl_range_push("open", RTL_RANGE_BY_RTL) == 0);
    CHECK(waiting(RTL_KIND_RANGES) == 1);
    while (!rtl_emit_flush())
        drain();
    drain();
    out.count = 0;
    rtl_ranges_end();
    drain();
    CHECK(texts(RTL_WIRE_RANGE, "open") == 1 && waiting(RTL_KIND_RANGES) == 0);
    CHECK(rtl_range_pop(NULL) == 0);
    tear_down();
    return NULL;
}

/* What is left out, and by whom. */
const char *Ranges_LeftOut(void)
{
    CHECK_DONE(set_up());
    record();
    rtl_ranges_set(RTL_RANGES_STOPPED);
    CHECK(rtl_range_push("stopped", RTL_RANGE_BY_RTL) == 0 && rtl_range_pop(NULL) == 0);
    rtl_range_mark("stopped");
    rtl_range_stop(rtl_range_start("stopped"));
    rtl_ranges_set(RTL_RANGES_ON);
    rtl_range_pause(true);
    CHECK(rtl_range_push("withheld", RTL_RANGE_BY_RTL) == 0 && rtl_range_pop(NULL) == 0);
    rtl_range_mark("withheld");
    rtl_range_pause(false);
    const struct rtl_wire_lane *lane = own_lane();
    CHECK(lane->stopped[RTL_KIND_RANGES] == 2 && lane->withheld[RTL_KIND_RANGES] == 1);
    CHECK(lane->stopped[RTL_KIND_MARKS] == 1 && lane->withheld[RTL_KIND_MARKS] == 1);
    drain();
    CHECK(texts(RTL_WIRE_RANGE, "stopped") == 0 && texts(RTL_WIRE_RANGE, "withheld") == 0);
    tear_down();
    return NULL;
}

static void count_record(void *context, enum rtl_wire_type type, const void *body, size_t size)
{
    (void)type;
    (void)body;
    (void)size;
    ++*(unsigned *)context;
}

/* A ring beside the first one gets the same, and what finds no room in it alone is counted;
 * definitions wait for room. */
const char *Ranges_ARingBeside(void)
{
    const struct rtl_wire_kernel kernels[2] = {{.packet = 1}, {.packet = 2}};
    struct rtl_ring other;
    unsigned records = 0;
    uint64_t torn = 0;
    uint64_t missed = rtl_emit_missed();
    CHECK_DONE(set_up());
    CHECK(rtl_ring_create_private(&other, RING) == 0);
    rtl_emit_tee(&other);
    record();
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < SLOTS / 4; i++)
            rtl_range_mark("both");
        drain();
    }
    CHECK(texts(RTL_WIRE_RANGE, "both") == SLOTS && rtl_emit_missed() == missed);
    CHECK(rtl_emit_room(1) == false);
    rtl_range_mark("one alone");
    rtl_emit_note(RTL_NONE, "a definition");
    CHECK(rtl_emit_kernels(kernels, 2) == 2);
    CHECK(rtl_emit_missed() == missed + 3 && !rtl_emit_flush());
    CHECK(rtl_ring_read(&other, UINT64_MAX, false, count_record, &records, &torn) == SLOTS);
    CHECK(records == SLOTS && rtl_emit_flush() && rtl_emit_room(1));
    CHECK(rtl_ring_read(&other, UINT64_MAX, false, count_record, &records, &torn) > 0);
    CHECK(records == SLOTS + 1);
    drain();
    CHECK(texts(RTL_WIRE_NOTE, "a definition") == 1 && texts(RTL_WIRE_RANGE, "one alone") == 1);
    rtl_emit_tee(NULL);
    rtl_ring_unmap(&other);
    tear_down();
    return NULL;
}

#define DRAFTED 8u /* kernels: enough to be packed */

/* What a ring has to read now. */
static unsigned readable(struct rtl_ring *from)
{
    unsigned records = 0;
    uint64_t torn = 0;
    (void)rtl_ring_read(from, UINT64_MAX, false, count_record, &records, &torn);
    return records;
}

/* Who has claimed a kernel, a copy or a launch holds up the reader of either ring until it is sent,
 * or given up. */
static const char *draft_in_both(struct rtl_ring *other)
{
    const struct rtl_wire_launch launch = {.kernels = 1};
    const struct rtl_piece piece = {&launch, sizeof launch};
    struct rtl_wire_kernel kernels[DRAFTED] = {{0}};
    struct rtl_emit_draft draft;
    for (unsigned i = 0; i < DRAFTED; i++)
        kernels[i] = (struct rtl_wire_kernel){.packet = i, .start = 10 * i + 1, .end = 10 * i + 2};
    CHECK(rtl_emit_draft_kernels(kernels, DRAFTED, &draft) == DRAFTED);
    rtl_range_mark("behind the kernels");
    CHECK(readable(other) == 0 && readable(&ring) == 0);
    rtl_emit_commit_kernels(&draft, kernels, DRAFTED);
    CHECK(readable(other) == DRAFTED + 1 && readable(&ring) == DRAFTED + 1);
    CHECK(rtl_emit_draft(RTL_WIRE_LAUNCH, &piece, 1, 0, &draft));
    rtl_range_mark("behind the launch");
    CHECK(readable(other) == 0 && readable(&ring) == 0);
    rtl_emit_commit(&draft, RTL_WIRE_LAUNCH, &piece, 1);
    CHECK(readable(other) == 2 && readable(&ring) == 2);
    CHECK(rtl_emit_draft_kernels(kernels, 1, &draft) == 1);
    rtl_range_mark("behind what is given up");
    CHECK(readable(other) == 0 && readable(&ring) == 0);
    rtl_emit_give_up(&draft);
    CHECK(readable(other) == 1 && readable(&ring) == 1);
    return NULL;
}

/* Where the ring beside has no room for the draft, and has none when it is sent. */
static const char *draft_in_one(struct rtl_ring *other)
{
    const struct rtl_wire_kernel kernels[2] = {{.packet = 1}, {.packet = 2}};
    struct rtl_emit_draft draft;
    uint64_t missed = rtl_emit_missed();
    while (rtl_emit_room(1)) {
        rtl_range_mark("fill");
        (void)readable(&ring);
    }
    CHECK(rtl_emit_draft_kernels(kernels, 2, &draft) == 2);
    rtl_emit_commit_kernels(&draft, kernels, 2);
    CHECK(readable(&ring) == 2 && rtl_emit_missed() == missed + 2);
    CHECK(rtl_emit_draft_kernels(kernels, 2, &draft) == 2);
    (void)readable(other);
    rtl_emit_commit_kernels(&draft, kernels, 2);
    CHECK(readable(&ring) == 2 && readable(other) == 2 && rtl_emit_missed() == missed + 2);
    return NULL;
}

const char *Ranges_ADraftBeside(void)
{
    struct rtl_ring other;
    CHECK_DONE(set_up());
    CHECK(rtl_ring_create_private(&other, RING) == 0);
    rtl_emit_tee(&other);
    record();
    (void)readable(&ring);
    (void)readable(&other);
    CHECK_DONE(draft_in_both(&other));
    CHECK_DONE(draft_in_one(&other));
    rtl_emit_tee(NULL);
    rtl_ring_unmap(&other);
    tear_down();
    return NULL;
}

const char *Ranges_WithoutEnd(void)
{
    CHECK_DONE(set_up());
    rtl_range_mark("nothing is recorded");
    CHECK(rtl_range_push(NULL, RTL_RANGE_BY_RTL) == 0);
    CHECK(rtl_range_pop(NULL) == 0);
    rtl_range_stop(0);
    rtl_range_stop(UINT64_MAX);
    rtl_ranges_set(RTL_RANGES_NEVER);
    CHECK(rtl_range_push("a", RTL_RANGE_BY_RTL) == 0);
    uint64_t number = rtl_range_start("b");
    CHECK(rtl_range_start("c") == number + 1);
    rtl_range_stop(number);
    CHECK(rtl_range_pop(NULL) == 0);
    CHECK(rtl_range_pop(NULL) == -1);
    tear_down();
    return NULL;
}

/* What the child sees, for its exit status: 0, or the number of what is wrong. */
static int look_in_child(uint64_t number)
{
    int wrong = 0;
    record();
    drain();
    wrong |= texts(RTL_WIRE_RANGE, "inherited") == 1 ? 0 : 1;
    wrong |= out.count == 1 && out.records[0].thread == (uint32_t)gettid() ? 0 : 2;
    rtl_range_stop(number);
    wrong |= rtl_range_push("of the child", RTL_RANGE_BY_RTL) == 1 ? 0 : 4;
    for (int level = 1; level >= -1; level--)
        wrong |= rtl_range_pop(NULL) == level ? 0 : 8;
    drain();
    wrong |= ends(id_of("inherited")) == 1 && ends(id_of("of the child")) == 1 ? 0 : 16;
    rtl_ranges_forked();
    rtl_range_mark("of nobody");
    drain();
    wrong |= out.count == 4 ? 0 : 32;
    return wrong;
}

const char *Ranges_ForkBeforeRecording(void)
{
    int status = 0;
    CHECK_DONE(set_up());
    CHECK(rtl_range_push("inherited", RTL_RANGE_BY_RTL) == 0);
    uint64_t number = rtl_range_start("of the parent");
    rtl_range_name(RTL_NAMED_DEVICE, 0, "of the parent");
    pid_t child = fork();
    if (child == 0)
        _exit(look_in_child(number));
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    record(); /* the name goes, too */
    CHECK(rtl_range_pop(NULL) == 0);
    rtl_range_stop(number);
    drain();
    CHECK(texts(RTL_WIRE_NAME, "of the parent") == 1 && ends(id_of("inherited")) == 1);
    tear_down();
    return NULL;
}

/* ---- memory is short ---- */

static _Atomic bool is_short;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size)
{
    return is_short ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_short ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return is_short ? NULL : __real_realloc(memory, size);
}

/* Levels are right without any memory. */
static void *nest_without_memory(void *unused)
{
    (void)unused;
    intptr_t wrong = 0;
    for (int i = 0; i < 3; i++)
        wrong += rtl_range_push("no memory", RTL_RANGE_BY_RTL) != i;
    for (int i = 2; i >= -1; i--)
        wrong += rtl_range_pop(NULL) != i;
    return (void *)wrong;
}

const char *Ranges_MemoryIsShort(void)
{
    pthread_t thread;
    void *wrong;
    CHECK_DONE(set_up());
    CHECK(rtl_range_push("the thread has a stack now", RTL_RANGE_BY_RTL) == 0 &&
          rtl_range_pop(NULL) == 0);
    is_short = true;
    CHECK(rtl_range_push("text is not kept", RTL_RANGE_BY_RTL) == 0);
    rtl_range_name(RTL_NAMED_DEVICE, 1, "is not kept");
    is_short = false;
    record();
    is_short = true;
    CHECK(pthread_create(&thread, NULL, nest_without_memory, NULL) == 0);
    CHECK(pthread_join(thread, &wrong) == 0 && wrong == NULL);
    uint64_t number = rtl_range_start("no memory");
    int level = 1;
    while (level < 64)
        CHECK(rtl_range_push("level", RTL_RANGE_BY_RTL) == level++);
    while (level > 40)
        CHECK(rtl_range_pop(NULL) == --level);
    is_short = false;
    CHECK(rtl_range_start("memory again") == number + 1);
    CHECK(rtl_range_push("still beyond", RTL_RANGE_BY_RTL) == level++);
    while (level > 0)
        CHECK(rtl_range_pop(NULL) == --level);
    rtl_range_stop(number);
    rtl_range_stop(number + 1);
    CHECK(rtl_range_push("again", RTL_RANGE_BY_RTL) == 0);
    CHECK(rtl_range_pop(NULL) == 0);
    drain();
    CHECK(texts(RTL_WIRE_NAME, "is not kept") == 0 && id_of("text is not kept") == 0);
    CHECK(id_of("no memory") == 0 && ends(id_of("memory again")) == 1);
    CHECK(ends(id_of("again")) == 1);
    /* Every range that has come has its end. */
    unsigned levels = texts(RTL_WIRE_RANGE, "level");
    unsigned all_ends = 0;
    for (unsigned i = 0; i < out.count; i++)
        all_ends += out.records[i].type == RTL_WIRE_RANGE_END;
    CHECK(levels > 0 && levels < 63 && all_ends == levels + 2);
    tear_down();
    return NULL;
}

/* ---- many threads, while recording stops and starts ---- */

static _Atomic bool over;

static void *nest(void *unused)
{
    (void)unused;
    intptr_t wrong = 0;
    while (!atomic_load(&over)) {
        for (int i = 0; i < 20; i++)
            wrong += rtl_range_push("nested", RTL_RANGE_BY_RTL) != i;
        uint64_t number = rtl_range_start("started");
        for (int i = 19; i >= 0; i--)
            wrong += rtl_range_pop(NULL) != i;
        rtl_range_stop(number);
    }
    (void)rtl_range_push("left open", RTL_RANGE_BY_RTL);
    return (void *)wrong;
}

/* Each end has one begin before it in the ring. */
static const char *check_order(void)
{
    for (unsigned i = 0; i < out.count; i++) {
        if (out.records[i].type != RTL_WIRE_RANGE_END)
            continue;
        unsigned begins = 0;
        for (unsigned k = i; k-- > 0 && begins == 0;)
            begins +=
                out.records[k].type == RTL_WIRE_RANGE && out.records[k].id == out.records[i].id;
        CHECK(begins == 1);
    }
    return NULL;
}

const char *Ranges_ThreadsWhileRecordingFlickers(void)
{
    pthread_t threads[THREADS];
    CHECK_DONE(set_up());
    record();
    atomic_store(&over, false);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, nest, NULL) == 0);
    while (out.count < MOST) {
        rtl_ranges_set(RTL_RANGES_STOPPED);
        drain();
        rtl_ranges_set(RTL_RANGES_ON);
        (void)rtl_emit_flush();
        drain();
    }
    atomic_store(&over, true);
    for (unsigned i = 0; i < THREADS; i++) {
        void *wrong;
        CHECK(pthread_join(threads[i], &wrong) == 0 && wrong == NULL);
    }
    CHECK_DONE(check_order());
    tear_down();
    return NULL;
}

/* ---- lengths of time ---- */

static bool is_time(const char *text, uint64_t wanted)
{
    uint64_t ns = 7;
    return rtl_duration_read(text, &ns) && ns == wanted;
}

const char *Duration_Words(void)
{
    CHECK(is_time("2", UINT64_C(2000000000)));
    CHECK(is_time("2.5", UINT64_C(2500000000)));
    CHECK(is_time(".5s", UINT64_C(500000000)));
    CHECK(is_time("0", 0));
    CHECK(is_time("500ms", UINT64_C(500000000)));
    CHECK(is_time("1.25us", 1250));
    CHECK(is_time("3m", UINT64_C(180000000000)));
    CHECK(is_time("1.5h", UINT64_C(5400000000000)));
    CHECK(is_time("0.123456789", UINT64_C(123456000)));
    static const char *const bad[] = {"",
                                      "s",
                                      ".",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 s",
                                      "1,5",
                                      "1x",
                                      "1e3",
                                      "inf",
                                      "1.2.3",
                                      "99999999999999999999",
                                      "18446744073709551616",
                                      "18446744073709551617us",
                                      "878401h"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t ns = 7;
        CHECK(!rtl_duration_read(bad[i], &ns));
        CHECK(ns == 7);
    }
    return NULL;
}

const char *Ranges_WhichAreMeasured(void)
{
    const unsigned both = RTL_RANGE_BY_ALL;
    unsigned by = 0;
    CHECK(rtl_config_ranges(NULL, &by) && by == both);
    CHECK(rtl_config_ranges("", &by) && by == both);
    CHECK(rtl_config_ranges("rtl", &by) && by == RTL_RANGE_BY_RTL);
    CHECK(rtl_config_ranges("both", &by) && by == both);
    CHECK(rtl_config_ranges("roctx", &by) && by == RTL_RANGE_BY_ROCTX);
    CHECK(!rtl_config_ranges("rocTX", &by) && by == both);
    return NULL;
}

const char *Ranges_ByTheirLevel(void)
{
    uint64_t id = 0;
    bool joined = true;
    uint64_t ids[3];
    CHECK_DONE(set_up());
    record();
    CHECK(!rtl_range_at(0, &id, &joined));
    CHECK(rtl_range_push("outer", RTL_RANGE_BY_RTL) == 0);
    ids[0] = rtl_thread_context.range;
    ids[1] = rtl_range_open("entered");
    CHECK(rtl_range_enter(ids[1]) == 1);
    CHECK(rtl_range_push("inner", RTL_RANGE_BY_ROCTX) == 2);
    ids[2] = rtl_thread_context.range;
    for (uint32_t level = 0; level < 3; level++) {
        CHECK(rtl_range_at(level, &id, &joined));
        CHECK(id == ids[level] && joined == (level == 1));
    }
    CHECK(!rtl_range_at(3, &id, &joined));
    for (int level = 2; level >= 0; level--)
        CHECK(rtl_range_pop(NULL) == level);
    CHECK(rtl_range_close(ids[1]) == 0);
    tear_down();
    return NULL;
}
