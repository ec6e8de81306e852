#include "../common/check.h"
#include "common/pages.h"
#include "ring/files.h"
#include "ring/maker.h"
#include "ring/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITERS       4
#define EACH          20000u
#define SMALLEST_RING (64u << 10) /* 1024 slots */
#define LARGE_RING    ((size_t)16 << 20)

struct fixture {
    char session[256];
    struct rtl_ring writer, reader;
};

static int find_ring(const char *session, int pid, unsigned ordinal, struct rtl_ring *ring)
{
    char path[512];
    uint32_t version;
    char library[32];
    (void)snprintf(path, sizeof path, "%s/ring.%d.%u", session, pid, ordinal);
    return rtl_ring_open(ring, path, &version, library);
}

static const char *set_up(struct fixture *f)
{
    CHECK(rtl_ring_dir_create(f->session, sizeof f->session) == 0);
    CHECK(rtl_ring_create(&f->writer, f->session, SMALLEST_RING) == 0);
    (void)rtl_ring_reserve_piece(&f->writer, SIZE_MAX);
    CHECK(find_ring(f->session, getpid(), 0, &f->reader) == 0);
    return NULL;
}

static void tear_down(struct fixture *f)
{
    rtl_ring_unmap(&f->writer);
    rtl_ring_unmap(&f->reader);
    rtl_ring_dir_remove(f->session);
}

/* What a reader got. */
struct got {
    unsigned count;
    unsigned bad;
    enum rtl_wire_type type;
    unsigned char body[70000];
    size_t size;
};

static void keep_last(void *context, enum rtl_wire_type type, const void *body, size_t size)
{
    struct got *got = context;
    got->count++;
    got->type = type;
    got->size = size;
    memcpy(got->body, body, size < sizeof got->body ? size : sizeof got->body);
}

static bool push_text(struct rtl_ring *ring, const char *text)
{
    struct rtl_wire_note note = {.time_ns = 7, .queue = 3, .text_length = (uint16_t)strlen(text)};
    struct rtl_piece pieces[] = {{&note, sizeof note}, {text, strlen(text)}};
    return rtl_ring_push(ring, RTL_WIRE_NOTE, pieces, 2);
}

const char *Ring_RecordsComeOutAsTheyWentIn(void)
{
    struct fixture f;
    static struct got got;
    uint64_t torn = 0;
    CHECK_DONE(set_up(&f));
    memset(&got, 0, sizeof got);
    CHECK(rtl_ring_read(&f.reader, 10, false, keep_last, &got, &torn) == 0);
    CHECK(push_text(&f.writer, "hello"));
    CHECK(rtl_ring_read(&f.reader, 10, false, keep_last, &got, &torn) == 1);
    struct rtl_wire_note note;
    memcpy(&note, got.body, sizeof note);
    CHECK(got.count == 1 && got.type == RTL_WIRE_NOTE);
    CHECK(note.time_ns == 7 && note.queue == 3 && note.text_length == 5);
    CHECK(memcmp(got.body + sizeof note, "hello", 5) == 0);
    CHECK(torn == 0 && rtl_ring_pending(&f.reader) == 0);
    CHECK(!rtl_ring_closed(&f.reader));
    rtl_ring_close(&f.writer);
    CHECK(rtl_ring_closed(&f.reader));
    tear_down(&f);
    return NULL;
}

/* Lengths that are prime to the ring's size, so that records begin and wrap at every place in it.
 */
const char *Ring_LongRecordsRunOverTheEnd(void)
{
    struct fixture f;
    static struct got got;
    static char text[3000];
    uint64_t torn = 0;
    CHECK_DONE(set_up(&f));
    for (unsigned round = 0; round < 2000; round++) {
        size_t length = 1 + (size_t)round * 37 % (sizeof text - 1);
        for (size_t i = 0; i < length; i++)
            text[i] = (char)('a' + (i * 7 + round) % 26);
        text[length] = '\0';
        got.count = 0;
        CHECK(push_text(&f.writer, text));
        CHECK(rtl_ring_read(&f.reader, 1, false, keep_last, &got, &torn) > 0);
        CHECK(got.count == 1);
        CHECK(memcmp(got.body + sizeof(struct rtl_wire_note), text, length) == 0);
    }
    CHECK(torn == 0);
    tear_down(&f);
    return NULL;
}

/* A note that is written in place, or, where that is refused, the other way. */
static bool place_text(struct rtl_ring *ring, const char *text, size_t length, unsigned *in_place)
{
    struct rtl_wire_note note = {.time_ns = 7, .queue = 3, .text_length = (uint16_t)length};
    struct rtl_ring_place place;
    unsigned char *body = rtl_ring_begin(ring, sizeof note + length, 0, &place);
    if (body == NULL)
        return push_text(ring, text);
    memcpy(body, &note, sizeof note);
    memcpy(body + sizeof note, text, length);
    rtl_ring_end(ring, RTL_WIRE_NOTE, &place);
    ++*in_place;
    return true;
}

/* The same lengths: what would run over the end is refused, and nothing is reserved for it. */
const char *Ring_RecordsAreWrittenInPlace(void)
{
    struct fixture f;
    static struct got got;
    static char text[3000];
    uint64_t torn = 0;
    unsigned in_place = 0;
    CHECK_DONE(set_up(&f));
    for (unsigned round = 0; round < 2000; round++) {
        size_t length = 1 + (size_t)round * 37 % (sizeof text - 1);
        for (size_t i = 0; i < length; i++)
            text[i] = (char)('a' + (i * 7 + round) % 26);
        text[length] = '\0';
        got.count = 0;
        CHECK(place_text(&f.writer, text, length, &in_place));
        CHECK(rtl_ring_read(&f.reader, 1, false, keep_last, &got, &torn) > 0);
        CHECK(got.count == 1 && got.type == RTL_WIRE_NOTE);
        CHECK(memcmp(got.body + sizeof(struct rtl_wire_note), text, length) == 0);
        CHECK(rtl_ring_pending(&f.writer) == 0);
    }
    CHECK(torn == 0 && in_place > 1800 && in_place < 2000);
    tear_down(&f);
    return NULL;
}

/* Nothing is refused that finds room beyond what must stay free; a long one is. */
const char *Ring_RoomInPlaceIsSparing(void)
{
    struct fixture f;
    static struct got got;
    struct rtl_ring_place place;
    uint64_t torn = 0;
    CHECK_DONE(set_up(&f));
    uint64_t slots = f.writer.mask + 1;
    CHECK(rtl_ring_begin(&f.writer, slots / 2 * RTL_SLOT_SIZE, 0, &place) == NULL);
    CHECK(push_text(&f.writer, "the room is known from here on"));
    while (rtl_ring_begin(&f.writer, RTL_SLOT_SIZE / 2, slots / 8, &place) != NULL)
        rtl_ring_end(&f.writer, RTL_WIRE_CLOCK, &place);
    CHECK(rtl_ring_pending(&f.writer) == slots - slots / 8);
    CHECK(rtl_ring_read(&f.reader, slots, false, keep_last, &got, &torn) == slots - slots / 8);
    CHECK(torn == 0 && rtl_ring_pending(&f.writer) == 0);
    tear_down(&f);
    return NULL;
}

/* What must stay free needs no memory yet. */
const char *Ring_RoomInPlaceNeedsNoMoreMemoryThanItsOwn(void)
{
    struct fixture f;
    struct rtl_ring_place place;
    CHECK(rtl_ring_dir_create(f.session, sizeof f.session) == 0);
    CHECK(rtl_ring_create(&f.writer, f.session, LARGE_RING) == 0);
    uint64_t slots = f.writer.mask + 1;
    uint64_t usable = atomic_load(&f.writer.header->usable);
    CHECK(usable < slots / 8);
    CHECK(push_text(&f.writer, "the room is known from here on"));
    for (uint64_t i = 1; i < usable; i++) {
        CHECK(rtl_ring_begin(&f.writer, RTL_SLOT_SIZE / 2, slots / 8, &place) != NULL);
        rtl_ring_end(&f.writer, RTL_WIRE_CLOCK, &place);
    }
    CHECK(rtl_ring_begin(&f.writer, RTL_SLOT_SIZE / 2, slots / 8, &place) == NULL);
    CHECK(atomic_load(&f.writer.header->usable) == usable);
    rtl_ring_unmap(&f.writer);
    rtl_ring_dir_remove(f.session);
    return NULL;
}

/* Who has begun a record holds the reader, which gets it as soon as it is ended. */
const char *Ring_ReaderWaitsForWhatIsBegun(void)
{
    struct fixture f;
    static struct got got;
    struct rtl_ring_place place;
    uint64_t torn = 0;
    CHECK_DONE(set_up(&f));
    CHECK(push_text(&f.writer, "a"));
    struct rtl_wire_clock *clock = rtl_ring_begin(&f.writer, sizeof *clock, 0, &place);
    CHECK(clock != NULL && push_text(&f.writer, "b"));
    got.count = 0;
    CHECK(rtl_ring_read(&f.reader, 10, false, keep_last, &got, &torn) == 1);
    *clock = (struct rtl_wire_clock){.ticks = 5};
    CHECK(rtl_ring_read(&f.reader, 10, false, keep_last, &got, &torn) == 0);
    rtl_ring_end(&f.writer, RTL_WIRE_CLOCK, &place);
    CHECK(rtl_ring_read(&f.reader, 1, false, keep_last, &got, &torn) == 1);
    CHECK(got.type == RTL_WIRE_CLOCK && memcmp(got.body, &(uint64_t){5}, 8) == 0);
    CHECK(rtl_ring_read(&f.reader, 10, false, keep_last, &got, &torn) == 1);
    CHECK(got.count == 3 && torn == 0);
    tear_down(&f);
    return NULL;
}

const char *Ring_FullRingRefusesAndKeeps(void)
{
    struct fixture f;
    static struct got got;
    uint64_t torn = 0;
    uint64_t pushed = 0;
    CHECK_DONE(set_up(&f));
    while (push_text(&f.writer, "x"))
        pushed++;
    CHECK(pushed == f.writer.mask + 1);
    CHECK(rtl_ring_read(&f.reader, 1, false, keep_last, &got, &torn) == 1);
    CHECK(push_text(&f.writer, "y"));
    CHECK(!push_text(&f.writer, "z"));
    got.count = 0;
    CHECK(rtl_ring_read(&f.reader, UINT64_MAX, false, keep_last, &got, &torn) == pushed);
    CHECK(got.count == pushed && got.body[sizeof(struct rtl_wire_note)] == 'y');
    tear_down(&f);
    return NULL;
}

static bool push_sparing(struct rtl_ring *ring, uint64_t spare)
{
    struct rtl_wire_clock clock = {.agent = 1};
    struct rtl_piece piece = {&clock, sizeof clock};
    return rtl_ring_push_sparing(ring, RTL_WIRE_CLOCK, &piece, 1, spare);
}

/* Lap after lap: what the reader has given back is found again. */
const char *Ring_SparingRecordsLeaveRoom(void)
{
    struct fixture f;
    static struct got got;
    uint64_t torn = 0;
    CHECK_DONE(set_up(&f));
    for (unsigned lap = 0; lap < 10; lap++) {
        uint64_t slots = f.writer.mask + 1;
        while (push_sparing(&f.writer, slots / 8))
            continue;
        uint64_t taken = rtl_ring_pending(&f.writer);
        CHECK(taken > slots - slots / 8 && taken <= slots - slots / 8 + 2);
        CHECK(!push_sparing(&f.writer, slots / 4) && push_sparing(&f.writer, slots / 16));
        while (push_sparing(&f.writer, 0))
            continue;
        CHECK(rtl_ring_pending(&f.writer) == slots);
        CHECK(rtl_ring_read(&f.reader, slots, false, keep_last, &got, &torn) == slots);
    }
    CHECK(torn == 0);
    tear_down(&f);
    return NULL;
}

const char *Ring_TooLongRecordIsRefused(void)
{
    struct fixture f;
    CHECK_DONE(set_up(&f));
    static char text[SMALLEST_RING];
    memset(text, 'a', SMALLEST_RING / 2);
    CHECK(!push_text(&f.writer, text));
    CHECK(rtl_ring_pending(&f.writer) == 0);
    tear_down(&f);
    return NULL;
}

struct writing {
    struct rtl_ring *ring;
    uint32_t id;
    uint64_t refused;
};

/* Every third record is two slots long, and every other one is written in place. */
static void *write_many(void *context)
{
    struct writing *w = context;
    char tail[64] = {0};
    for (uint64_t i = 0; i < EACH;) {
        struct rtl_wire_clock clock = {.ticks = i, .system_ns = ~i, .agent = w->id};
        struct rtl_piece pieces[] = {{&clock, sizeof clock}, {tail, i % 3 == 0 ? sizeof tail : 0}};
        struct rtl_ring_place place;
        size_t size = pieces[0].size + pieces[1].size;
        void *body = i % 2 == 0 ? rtl_ring_begin(w->ring, size, 0, &place) : NULL;
        if (body != NULL) {
            memcpy(body, &clock, sizeof clock);
            rtl_ring_end(w->ring, RTL_WIRE_CLOCK, &place);
            i++;
        } else if (rtl_ring_push(w->ring, RTL_WIRE_CLOCK, pieces, 2))
            i++;
        else
            w->refused++;
    }
    return NULL;
}

struct order {
    uint64_t next[WRITERS];
    unsigned wrong;
};

static void check_order(void *context, enum rtl_wire_type type, const void *body, size_t size)
{
    struct order *order = context;
    const struct rtl_wire_clock *clock = body;
    size_t slots = clock->ticks % 3 == 0 ? 2 : 1;
    if (type != RTL_WIRE_CLOCK || clock->agent >= WRITERS ||
        clock->ticks != order->next[clock->agent] || clock->system_ns != ~clock->ticks ||
        size != slots * RTL_SLOT_SIZE - sizeof(struct rtl_wire_header)) {
        order->wrong++;
        return;
    }
    order->next[clock->agent]++;
}

/* As if /dev/shm were full beyond so many slots. */
static void make_short(struct rtl_ring *ring, uint64_t usable)
{
    atomic_store(&ring->header->usable, usable);
    atomic_store(&ring->retry_ns, UINT64_MAX);
}

/* As if there were room again for so many more. */
static void lengthen(struct rtl_ring *ring, uint64_t more)
{
    uint64_t usable = atomic_load(&ring->header->usable) + more;
    atomic_store(&ring->header->usable, usable > ring->mask ? ring->mask + 1 : usable);
}

static void *lengthen_slowly(void *context)
{
    for (int i = 0; i < 100; i++) {
        usleep(1000);
        lengthen(context, 8);
    }
    return NULL;
}

/* Through one mapping, because ThreadSanitizer takes two mappings for different memory. With
 * `beside` a thread does that to the ring meanwhile. */
static const char *write_and_read(uint64_t usable, void *(*beside)(void *))
{
    struct fixture f;
    pthread_t other;
    struct order order = {0};
    struct writing w[WRITERS];
    pthread_t threads[WRITERS];
    uint64_t torn = 0;
    CHECK_DONE(set_up(&f));
    if (beside != NULL) {
        make_short(&f.writer, usable);
        CHECK(pthread_create(&other, NULL, beside, &f.writer) == 0);
    }
    for (uint32_t i = 0; i < WRITERS; i++) {
        w[i] = (struct writing){&f.writer, i, 0};
        CHECK(pthread_create(&threads[i], NULL, write_many, &w[i]) == 0);
    }
    uint64_t total = 0;
    uint64_t expected = 0;
    for (uint64_t i = 0; i < EACH; i++)
        expected += (uint64_t)WRITERS * (i % 3 == 0 ? 2 : 1);
    while (total < expected)
        total += rtl_ring_read(&f.writer, 100, false, check_order, &order, &torn);
    for (uint32_t i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(order.next[i] == EACH);
    }
    if (beside != NULL)
        pthread_join(other, NULL);
    CHECK(order.wrong == 0 && torn == 0 && total == expected);
    tear_down(&f);
    return NULL;
}

const char *Ring_ManyWritersOneReader(void)
{
    return write_and_read(0, NULL);
}

const char *Ring_ManyWritersOfAShortRing(void)
{
    return write_and_read(37, lengthen_slowly);
}

static void sum_packets(void *context, enum rtl_wire_type type, const void *body, size_t size)
{
    (void)size;
    uint64_t *next = context;
    const struct rtl_wire_kernel *kernel = body;
    if (type == RTL_WIRE_KERNEL && kernel->packet == *next && kernel->end == *next * 3)
        ++*next;
}

const char *Ring_KernelsInBatches(void)
{
    struct fixture f;
    struct rtl_wire_kernel kernels[300];
    uint64_t torn = 0;
    uint64_t next = 0;
    CHECK_DONE(set_up(&f));
    for (uint64_t i = 0; i < 300; i++)
        kernels[i] = (struct rtl_wire_kernel){.packet = i, .end = i * 3};
    CHECK(rtl_ring_push_kernels(&f.writer, kernels, 300) == 300);
    uint64_t slots = rtl_ring_pending(&f.reader);
    CHECK(slots < 300);
    CHECK(rtl_ring_read(&f.reader, UINT64_MAX, false, sum_packets, &next, &torn) == slots);
    CHECK(next == 300);
    unsigned pushed = 300;
    while (pushed == 300)
        pushed = rtl_ring_push_kernels(&f.writer, kernels, 300);
    CHECK(pushed > 0 && rtl_ring_pending(&f.reader) == f.writer.mask + 1);
    CHECK(rtl_ring_push_kernels(&f.writer, kernels, 300) == 0);
    tear_down(&f);
    return NULL;
}

/* Runs `child` in a process of its own, which makes a ring in the session, and waits for its end.
 */
static int run_child(const char *session, void (*child)(struct rtl_ring *ring))
{
    pid_t pid = fork();
    if (pid == 0) {
        struct rtl_ring ring;
        if (rtl_ring_create(&ring, session, SMALLEST_RING) != 0)
            _exit(1);
        child(&ring);
        _exit(0);
    }
    int status;
    return waitpid(pid, &status, 0) == pid ? pid : -1;
}

static void write_and_die(struct rtl_ring *ring)
{
    for (int i = 0; i < 10; i++)
        (void)push_text(ring, "before");
    raise(SIGKILL);
}

/* Without a look at the ring's lock: the process is of this pid namespace. */
static bool maker_lives(const struct rtl_ring *ring)
{
    struct rtl_ring_maker maker = rtl_ring_find_maker(ring->header, -1);
    return rtl_ring_maker_lives(ring->header, &maker, -1);
}

const char *Ring_KilledWriterLeavesWhatItCommitted(void)
{
    struct fixture f;
    struct rtl_ring orphan;
    static struct got got;
    uint64_t torn = 0;
    CHECK_DONE(set_up(&f));
    int pid = run_child(f.session, write_and_die);
    CHECK(pid > 0 && find_ring(f.session, pid, 0, &orphan) == 0);
    CHECK(!maker_lives(&orphan) && maker_lives(&f.reader));
    CHECK(!rtl_ring_closed(&orphan));
    got.count = 0;
    CHECK(rtl_ring_read(&orphan, UINT64_MAX, true, keep_last, &got, &torn) == 10);
    CHECK(got.count == 10 && torn == 0);
    rtl_ring_unmap(&orphan);
    tear_down(&f);
    return NULL;
}

/* Reserves like a writer that dies before it commits. */
static void leave_hole(struct rtl_ring *ring)
{
    (void)push_text(ring, "before");
    atomic_fetch_add(&ring->header->head, 2);
    (void)push_text(ring, "behind");
}

const char *Ring_HoleOfADeadWriterIsSkipped(void)
{
    struct fixture f;
    struct rtl_ring orphan;
    static struct got got;
    uint64_t torn = 0;
    CHECK_DONE(set_up(&f));
    int pid = run_child(f.session, leave_hole);
    CHECK(pid > 0 && find_ring(f.session, pid, 0, &orphan) == 0);
    got.count = 0;
    CHECK(rtl_ring_read(&orphan, UINT64_MAX, true, keep_last, &got, &torn) == 4);
    CHECK(got.count == 2 && torn == 2);
    CHECK(memcmp(got.body + sizeof(struct rtl_wire_note), "behind", 6) == 0);
    rtl_ring_unmap(&orphan);
    tear_down(&f);
    return NULL;
}

const char *Ring_HoleOfALivingWriterHoldsTheReader(void)
{
    struct fixture f;
    static struct got got;
    uint64_t torn = 0;
    CHECK_DONE(set_up(&f));
    leave_hole(&f.writer);
    got.count = 0;
    CHECK(rtl_ring_read(&f.reader, UINT64_MAX, false, keep_last, &got, &torn) == 1);
    CHECK(got.count == 1 && torn == 0);
    CHECK(rtl_ring_read(&f.reader, UINT64_MAX, false, keep_last, &got, &torn) == 0);
    tear_down(&f);
    return NULL;
}

/* ---- drafts ---- */

/* Kernels, copies and launches by number, which is their packet, ordinal or time, as they came. */
struct told {
    unsigned kernels, copies, draft_kernels, draft_copies, draft_launches, others;
    uint64_t sum;  /* of the numbers */
    uint64_t last; /* number */
};

static void tell(void *context, enum rtl_wire_type type, const void *body, size_t size)
{
    struct told *told = context;
    (void)size;
    memcpy(&told->last, body, sizeof told->last); /* all begin with it */
    told->sum += told->last;
    told->kernels += type == RTL_WIRE_KERNEL;
    told->copies += type == RTL_WIRE_COPY;
    told->draft_kernels += type == RTL_WIRE_DRAFT_KERNEL;
    told->draft_copies += type == RTL_WIRE_DRAFT_COPY;
    told->draft_launches += type == RTL_WIRE_DRAFT_LAUNCH;
    told->others += type != RTL_WIRE_KERNEL && type != RTL_WIRE_COPY &&
                    type != RTL_WIRE_DRAFT_KERNEL && type != RTL_WIRE_DRAFT_COPY &&
                    type != RTL_WIRE_DRAFT_LAUNCH;
}

_Static_assert(offsetof(struct rtl_wire_kernel, packet) == 0 &&
                   offsetof(struct rtl_wire_copy, ordinal) == 0 &&
                   offsetof(struct rtl_wire_launch, time_ns) == 0,
               "as tell takes it");

static struct rtl_wire_kernel numbered(uint64_t number)
{
    return (struct rtl_wire_kernel){.packet = number,
                                    .start = number * 10,
                                    .end = number * 10 + 5,
                                    .launch = RTL_NONE,
                                    .ordinal = RTL_NONE};
}

static unsigned draft_kernels(struct rtl_ring *ring, uint64_t first, unsigned count,
                              struct rtl_ring_draft *draft)
{
    struct rtl_wire_kernel kernels[64];
    for (unsigned i = 0; i < count; i++)
        kernels[i] = numbered(first + i);
    return rtl_ring_draft_kernels(ring, kernels, count, draft);
}

static bool draft_copy(struct rtl_ring *ring, uint64_t number, struct rtl_ring_draft *draft)
{
    struct rtl_wire_copy copy = {.ordinal = number};
    struct rtl_piece piece = {&copy, sizeof copy};
    return rtl_ring_draft(ring, RTL_WIRE_COPY, &piece, 1, 0, draft);
}

static bool draft_launch(struct rtl_ring *ring, uint64_t number, uint64_t spare,
                         struct rtl_ring_draft *draft)
{
    struct rtl_wire_launch launch = {.time_ns = number};
    struct rtl_piece piece = {&launch, sizeof launch};
    return rtl_ring_draft(ring, RTL_WIRE_LAUNCH, &piece, 1, spare, draft);
}

static struct told read_told(struct rtl_ring *ring, bool dead)
{
    struct told told = {0};
    uint64_t torn = 0;
    while (rtl_ring_read(ring, UINT64_MAX, dead, tell, &told, &torn) > 0)
        continue;
    told.others += (unsigned)torn;
    return told;
}

/* Two kernels in a slot each, and 64 in one record, which are read together or not at all. */
const char *Ring_DraftsHoldTheReaderUntilTheyAreDecided(void)
{
    for (unsigned count = 2; count <= 64; count += 62) {
        struct rtl_ring ring;
        struct rtl_ring_draft one;
        struct rtl_ring_draft two;
        struct rtl_ring_draft copy;
        CHECK(rtl_ring_create_private(&ring, SMALLEST_RING) == 0);
        CHECK(draft_kernels(&ring, 100, count, &one) == count);
        CHECK(draft_kernels(&ring, 200, count, &two) == count);
        CHECK(draft_copy(&ring, 7, &copy));
        rtl_ring_commit(&ring, &copy);
        CHECK(read_told(&ring, false).sum == 0);
        rtl_ring_give_up(&ring, &one);
        CHECK(read_told(&ring, false).sum == 0 && rtl_ring_pending(&ring) > 0);
        rtl_ring_commit(&ring, &two);
        struct told told = read_told(&ring, false);
        CHECK(told.kernels == count && told.copies == 1 && told.others == 0 && told.last == 7);
        CHECK(told.sum == 200 * count + count * (count - 1) / 2 + 7);
        CHECK(told.draft_kernels == 0 && rtl_ring_pending(&ring) == 0);
        rtl_ring_unmap(&ring);
    }
    return NULL;
}

/* And what was begun and not written is skipped all the same. */
const char *Ring_DraftsOfTheDeadAreHandedOverAsSuch(void)
{
    struct rtl_ring ring;
    struct rtl_ring_draft draft;
    CHECK(rtl_ring_create_private(&ring, SMALLEST_RING) == 0);
    CHECK(draft_kernels(&ring, 100, 3, &draft) == 3);
    atomic_fetch_add(&ring.header->head, 2);
    CHECK(draft_kernels(&ring, 200, 64, &draft) == 64);
    CHECK(draft_copy(&ring, 7, &draft));
    CHECK(draft_launch(&ring, 9, 0, &draft));
    CHECK(draft_kernels(&ring, 300, 1, &draft) == 1);
    rtl_ring_commit(&ring, &draft);
    CHECK(draft_copy(&ring, 8, &draft));
    rtl_ring_give_up(&ring, &draft);
    CHECK(read_told(&ring, false).sum == 0);
    struct told told = read_told(&ring, true);
    CHECK(told.draft_kernels == 67 && told.draft_copies == 1 && told.draft_launches == 1);
    CHECK(told.kernels == 1 && told.copies == 0 && told.others == 2);
    CHECK(told.sum == 303 + 200 * 64 + 63 * 64 / 2 + 7 + 9 + 300);
    CHECK(rtl_ring_pending(&ring) == 0);
    rtl_ring_unmap(&ring);
    return NULL;
}

const char *Ring_DraftsLeaveWhatIsToStayFree(void)
{
    struct rtl_ring ring;
    struct rtl_ring_draft draft;
    CHECK(rtl_ring_create_private(&ring, SMALLEST_RING) == 0);
    uint64_t slots = ring.mask + 1;
    uint64_t drafted = 0;
    while (draft_launch(&ring, 1, slots / 8, &draft))
        drafted += draft.slots;
    CHECK(drafted <= slots - slots / 8 + draft.slots && drafted >= slots - slots / 8);
    CHECK(draft_launch(&ring, 1, 0, &draft));
    rtl_ring_unmap(&ring);
    return NULL;
}

/* What was in a slot a lap before is not taken for a draft, nor a draft for what was there. */
const char *Ring_DraftsRunOverTheEnd(void)
{
    struct rtl_ring ring;
    CHECK(rtl_ring_create_private(&ring, SMALLEST_RING) == 0);
    for (uint64_t round = 1; round < 3000; round++) {
        struct rtl_ring_draft draft;
        unsigned count = 1 + (unsigned)(round * 7 % 64);
        unsigned drafted = draft_kernels(&ring, round, count, &draft);
        CHECK(drafted > 0 && read_told(&ring, false).sum == 0);
        bool dead = round % 3 == 2;
        if (round % 3 == 0)
            rtl_ring_give_up(&ring, &draft);
        else if (round % 3 == 1)
            rtl_ring_commit(&ring, &draft);
        struct told told = read_told(&ring, dead);
        CHECK(told.others == 0 && told.kernels == (round % 3 == 1 ? drafted : 0));
        CHECK(told.draft_kernels == (dead ? drafted : 0));
        CHECK(round % 3 == 0 ||
              told.sum == round * drafted + (uint64_t)drafted * (drafted - 1) / 2);
    }
    rtl_ring_unmap(&ring);
    return NULL;
}

struct filling {
    struct rtl_ring *ring;
    uint64_t pushed;
};

static void *fill(void *context)
{
    struct filling *filling = context;
    while (push_text(filling->ring, "x"))
        filling->pushed++;
    return NULL;
}

static void *reserve_all(void *context)
{
    while (rtl_ring_reserve_piece(context, RTL_RING_SMALL_PIECE) > 0)
        continue;
    return NULL;
}

/* Writers fill a ring of which hardly any memory is reserved; `ahead`: a thread besides them does
 * that. */
static const char *fill_all(bool ahead)
{
    struct fixture f;
    static struct got got;
    uint64_t torn = 0;
    uint64_t pushed = 0;
    struct filling filling[WRITERS];
    pthread_t threads[WRITERS];
    pthread_t reserver;
    CHECK(rtl_ring_dir_create(f.session, sizeof f.session) == 0);
    CHECK(rtl_ring_create(&f.writer, f.session, LARGE_RING) == 0);
    uint64_t slots = f.writer.mask + 1;
    CHECK(slots * RTL_SLOT_SIZE == LARGE_RING);
    CHECK(atomic_load(&f.writer.header->usable) * RTL_SLOT_SIZE == RTL_RING_SMALL_PIECE);
    if (ahead)
        CHECK(pthread_create(&reserver, NULL, reserve_all, &f.writer) == 0);
    for (int i = 0; i < WRITERS; i++) {
        filling[i] = (struct filling){.ring = &f.writer};
        CHECK(pthread_create(&threads[i], NULL, fill, &filling[i]) == 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], NULL);
        pushed += filling[i].pushed;
    }
    if (ahead)
        pthread_join(reserver, NULL);
    CHECK(pushed == slots); /* none was refused before it was full */
    CHECK(atomic_load(&f.writer.header->usable) == slots);
    CHECK(rtl_ring_reserve_piece(&f.writer, SIZE_MAX) == 0);
    CHECK(rtl_ring_read(&f.writer, UINT64_MAX, false, keep_last, &got, &torn) == slots);
    CHECK(push_text(&f.writer, "x"));
    rtl_ring_unmap(&f.writer);
    rtl_ring_dir_remove(f.session);
    return NULL;
}

const char *Ring_WritersReserveWhatIsNotThere(void)
{
    return fill_all(false);
}

const char *Ring_WritersOvertakeWhoReserves(void)
{
    return fill_all(true);
}

/* What the file takes of the machine's memory. */
static size_t taken(const char *session)
{
    char path[512];
    struct stat status;
    (void)snprintf(path, sizeof path, "%s/ring.%d.0", session, (int)getpid());
    return stat(path, &status) == 0 ? (size_t)status.st_blocks * 512 : SIZE_MAX;
}

/* Who looks ahead reserves no more than is soon written, and all of it in the end. */
const char *Ring_TakesMemoryAsItIsWritten(void)
{
    struct fixture f;
    const size_t ahead = (size_t)1 << 20;
    CHECK(rtl_ring_dir_create(f.session, sizeof f.session) == 0);
    CHECK(rtl_ring_create(&f.writer, f.session, LARGE_RING) == 0);
    const struct rtl_ring_header *header = f.writer.header;
    uint64_t slots = f.writer.mask + 1;
    while (rtl_ring_reserve_ahead(&f.writer) > 0)
        continue;
    CHECK(atomic_load(&header->usable) * RTL_SLOT_SIZE > RTL_RING_SMALL_PIECE);
    CHECK(atomic_load(&header->usable) * RTL_SLOT_SIZE <= ahead);
    CHECK(taken(f.session) <= sizeof *header + ahead);
    for (uint64_t pushed = 0; pushed < slots; pushed++) {
        if (pushed % 1000 == 0)
            while (rtl_ring_reserve_ahead(&f.writer) > 0)
                continue;
        uint64_t usable = atomic_load(&header->usable);
        CHECK(usable > pushed && (usable - pushed) * RTL_SLOT_SIZE <= ahead);
        CHECK(push_text(&f.writer, "x"));
        CHECK(atomic_load(&header->usable) == usable); /* the writer needed no more */
    }
    CHECK(atomic_load(&header->usable) == slots);
    CHECK(rtl_ring_reserve_ahead(&f.writer) == 0 && !push_text(&f.writer, "x"));
    rtl_ring_unmap(&f.writer);
    rtl_ring_dir_remove(f.session);
    return NULL;
}

/* As the system tells: a page that is not yet mapped is a fault for its first writer. */
static bool is_mapped(int pagemap, const void *at)
{
    uint64_t entry = 0;
    off_t offset = (off_t)((uintptr_t)at / RTL_PAGE * sizeof entry);
    return pread(pagemap, &entry, sizeof entry, offset) == sizeof entry && entry >> 63 != 0;
}

/* Memory of its own and an open page map, or a system that has not both. */
static bool has_page_map(int pagemap)
{
    void *page = rtl_pages(RTL_PAGE);
    bool before = is_mapped(pagemap, page);
    rtl_prefault(page, (unsigned char *)page + RTL_PAGE);
    bool after = is_mapped(pagemap, page);
    (void)munmap(page, RTL_PAGE);
    return !before && after;
}

/* Whoever reserves takes the faults, too: writers find all that is usable mapped. */
const char *Ring_WritersFindMemoryMapped(void)
{
    struct fixture f;
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (pagemap < 0 || !has_page_map(pagemap))
        return NULL; /* before Linux 5.14 */
    CHECK(rtl_ring_dir_create(f.session, sizeof f.session) == 0);
    CHECK(rtl_ring_create(&f.writer, f.session, LARGE_RING) == 0);
    while (rtl_ring_reserve_ahead(&f.writer) > 0)
        continue;
    uint64_t usable = atomic_load(&f.writer.header->usable);
    const uint64_t of_page = RTL_PAGE / RTL_SLOT_SIZE;
    CHECK(usable > of_page && usable < f.writer.mask + 1 - of_page);
    for (uint64_t slot = 0; slot < usable; slot += of_page)
        CHECK(is_mapped(pagemap, f.writer.slots + slot * RTL_SLOT_SIZE));
    CHECK(!is_mapped(pagemap, f.writer.slots + (usable + of_page) * RTL_SLOT_SIZE));
    (void)close(pagemap);
    rtl_ring_unmap(&f.writer);
    rtl_ring_dir_remove(f.session);
    return NULL;
}

const char *Ring_LivesOnTheMemoryThatItHas(void)
{
    struct fixture f;
    static struct got got;
    uint64_t torn = 0;
    CHECK_DONE(set_up(&f));
    make_short(&f.writer, 100);
    CHECK(rtl_ring_capacity(&f.writer) == 100);
    for (int lap = 0; lap < 5; lap++) {
        got.count = 0;
        for (int i = 0; i < 100; i++)
            CHECK(push_text(&f.writer, "x"));
        CHECK(!push_text(&f.writer, "x") && rtl_ring_pending(&f.reader) == 100);
        CHECK(rtl_ring_read(&f.reader, UINT64_MAX, false, keep_last, &got, &torn) == 100);
        CHECK(got.count == 100 && torn == 0 && rtl_ring_pending(&f.reader) == 0);
    }
    lengthen(&f.writer, UINT64_C(1) << 40); /* in the middle of the game */
    for (uint64_t i = 0; i <= f.writer.mask; i++)
        CHECK(push_text(&f.writer, "x"));
    CHECK(!push_text(&f.writer, "x"));
    CHECK(rtl_ring_read(&f.reader, UINT64_MAX, false, keep_last, &got, &torn) == f.writer.mask + 1);
    tear_down(&f);
    return NULL;
}

/* What must stay free of a short ring is a part of what it has. */
const char *Ring_ShortOneSparesAPartOfWhatItHas(void)
{
    struct fixture f;
    static struct got got;
    uint64_t torn = 0;
    struct rtl_wire_note note = {.text_length = 0};
    const struct rtl_piece piece = {&note, sizeof note};
    struct rtl_ring_place place;
    CHECK_DONE(set_up(&f));
    uint64_t half = (f.writer.mask + 1) / 2;
    make_short(&f.writer, 128);
    for (int lap = 0; lap < 3; lap++) {
        int pushed = 0;
        while (rtl_ring_push_sparing(&f.writer, RTL_WIRE_NOTE, &piece, 1, half))
            pushed++;
        CHECK(pushed >= 64 && pushed <= 65);
        CHECK(rtl_ring_begin(&f.writer, sizeof note, half, &place) == NULL);
        CHECK(rtl_ring_push(&f.writer, RTL_WIRE_NOTE, &piece, 1));
        (void)rtl_ring_read(&f.reader, UINT64_MAX, false, keep_last, &got, &torn);
    }
    tear_down(&f);
    return NULL;
}

/* Numbered records of many lengths, and what came out of them. */
struct numbered {
    uint64_t next, wrong;
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static bool push_number(struct rtl_ring *ring, uint64_t number, size_t words)
{
    uint64_t body[64];
    for (size_t i = 0; i < words; i++)
        body[i] = number + i;
    const struct rtl_piece piece = {body, words * sizeof *body};
    return rtl_ring_push(ring, RTL_WIRE_NOTE, &piece, 1);
}

static void check_number(void *context, enum rtl_wire_type type, const void *body, size_t size)
{
    struct numbered *numbered = context;
    const uint64_t *words = body;
    size_t sure = (size / sizeof *words) - 7; /* the rest is what was there before */
    numbered->wrong += type != RTL_WIRE_NOTE || size < 56;
    for (size_t i = 0; i < sure; i++)
        numbered->wrong += words[i] != numbered->next + i;
    numbered->next++;
}

/* Lengths, reads and moments at which memory comes are random; nothing is lost that was taken, and
 * all of it comes out in order. */
const char *Ring_GrowsAtAnyMoment(void)
{
    for (uint32_t seed = 1; seed <= 50; seed++) {
        struct fixture f;
        struct numbered numbered = {0, 0};
        uint32_t state = seed;
        uint64_t torn = 0;
        uint64_t pushed = 0;
        CHECK_DONE(set_up(&f));
        make_short(&f.writer, 40 + next_random(&state) % 200);
        for (int step = 0; step < 3000; step++) {
            if (push_number(&f.writer, pushed, 1 + next_random(&state) % 64))
                pushed++;
            if (next_random(&state) % 16 == 0)
                (void)rtl_ring_read(&f.reader, 1 + next_random(&state) % 100, false, check_number,
                                    &numbered, &torn);
            if (next_random(&state) % 200 == 0)
                lengthen(&f.writer, next_random(&state) % 200);
            CHECK(rtl_ring_pending(&f.writer) <= atomic_load(&f.writer.header->usable));
        }
        while (rtl_ring_read(&f.reader, 50, false, check_number, &numbered, &torn) > 0)
            continue;
        CHECK(pushed > 500 && numbered.next == pushed && numbered.wrong == 0 && torn == 0);
        CHECK(rtl_ring_pending(&f.reader) == 0);
        tear_down(&f);
    }
    return NULL;
}

/* A writer that died when it had gone on with the next lap, and had not told yet. */
const char *Ring_WhoDiedBetweenLapsIsSkipped(void)
{
    struct fixture f;
    static struct got got;
    uint64_t torn = 0;
    CHECK_DONE(set_up(&f));
    make_short(&f.writer, 100);
    for (int i = 0; i < 97; i++)
        CHECK(push_text(&f.writer, "x"));
    CHECK(rtl_ring_read(&f.reader, UINT64_MAX, false, keep_last, &got, &torn) == 97);
    got.count = 0;
    CHECK(push_number(&f.writer, 0, 40)); /* 6 slots */
    atomic_store(&f.writer.header->gap, 0);
    CHECK(rtl_ring_read(&f.reader, UINT64_MAX, false, keep_last, &got, &torn) == 0);
    CHECK(rtl_ring_read(&f.reader, UINT64_MAX, true, keep_last, &got, &torn) == 9);
    CHECK(got.count == 1 && torn == 3 && rtl_ring_pending(&f.reader) == 0);
    tear_down(&f);
    return NULL;
}

const char *Session_OtherVersionIsTold(void)
{
    struct fixture f;
    struct rtl_ring ring;
    char path[512];
    uint32_t version = 0;
    char library[32];
    CHECK_DONE(set_up(&f));
    CHECK(rtl_ring_dir_check(f.session, &version) == 1 && version == RTL_WIRE_VERSION);
    f.writer.header->wire_version = 4242;
    (void)snprintf(path, sizeof path, "%s/ring.%d.0", f.session, (int)getpid());
    CHECK(rtl_ring_open(&ring, path, &version, library) == -2);
    CHECK(version == 4242 && strcmp(library, RTL_VERSION) == 0);
    (void)snprintf(path, sizeof path, "%s/session", f.session);
    int file = open(path, O_WRONLY | O_TRUNC);
    CHECK(file >= 0 && dprintf(file, "wire 77\n") == 8);
    close(file);
    CHECK(rtl_ring_dir_check(f.session, &version) == 0 && version == 77);
    CHECK(rtl_ring_dir_check("/nonexistent", &version) == -1 && errno == ENOENT);
    tear_down(&f);
    return NULL;
}

/* What is at `name` in the session is no file of it: `error` says why. */
static const char *refused(const struct fixture *f, const char *name, int error)
{
    struct rtl_ring ring;
    uint32_t version;
    char library[32];
    char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", f->session, name);
    CHECK(strcmp(name, "session") == 0 ? rtl_ring_dir_check(f->session, &version) == -1
                                       : rtl_ring_open(&ring, path, &version, library) == -1);
    CHECK(errno == error);
    return NULL;
}

/* Links, FIFOs, and what others can write to, in the place of `name`. Nothing of it blocks. */
static const char *replaced(const struct fixture *f, const char *name)
{
    char path[512];
    char kept[512];
    (void)snprintf(path, sizeof path, "%s/%s", f->session, name);
    (void)snprintf(kept, sizeof kept, "%s/kept", f->session);
    CHECK(chmod(path, 0620) == 0);
    CHECK_DONE(refused(f, name, EPERM));
    CHECK(chmod(path, 0602) == 0);
    CHECK_DONE(refused(f, name, EPERM));
    CHECK(chmod(path, 0600) == 0 && rename(path, kept) == 0 && symlink(kept, path) == 0);
    CHECK_DONE(refused(f, name, ELOOP));
    CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    CHECK_DONE(refused(f, name, EPERM));
    CHECK(unlink(path) == 0 && rename(kept, path) == 0);
    if (geteuid() != 0)
        return NULL; /* nobody else can give files away */
    CHECK(chown(path, 12345, 12345) == 0);
    CHECK_DONE(refused(f, name, EPERM));
    CHECK(chown(path, 0, 0) == 0);
    CHECK(chown(f->session, 12345, 12345) == 0);
    CHECK_DONE(refused(f, name, EPERM));
    CHECK(chown(f->session, 0, 0) == 0);
    return NULL;
}

const char *Session_OnlyItsOwnersFiles(void)
{
    struct fixture f;
    struct rtl_ring ring;
    char name[64];
    char link[] = "/tmp/link.XXXXXX";
    uint32_t version;
    CHECK_DONE(set_up(&f));
    (void)snprintf(name, sizeof name, "ring.%d.0", (int)getpid());
    CHECK_DONE(replaced(&f, name));
    CHECK_DONE(replaced(&f, "session"));
    CHECK(chmod(f.session, 0720) == 0);
    CHECK_DONE(refused(&f, name, EPERM));
    CHECK_DONE(refused(&f, "session", EPERM));
    CHECK(rtl_ring_create(&ring, f.session, SMALLEST_RING) == -1 && errno == EPERM);
    rtl_ring_dir_remove(f.session);
    CHECK(access(f.session, F_OK) == 0);
    CHECK(chmod(f.session, 0700) == 0);
    CHECK(mkdtemp(link) != NULL && rmdir(link) == 0 && symlink(f.session, link) == 0);
    CHECK(rtl_ring_dir_check(link, &version) == -1 && errno == ENOTDIR);
    CHECK(rtl_ring_create(&ring, link, SMALLEST_RING) == -1 && errno == ENOTDIR);
    CHECK(unlink(link) == 0);
    CHECK(rtl_ring_dir_check(f.session, &version) == 1);
    tear_down(&f);
    return NULL;
}

const char *Session_JunkIsNoRing(void)
{
    struct fixture f;
    struct rtl_ring ring;
    char path[512];
    uint32_t version = 0;
    char library[32];
    CHECK_DONE(set_up(&f));
    (void)snprintf(path, sizeof path, "%s/ring.1.0", f.session);
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    CHECK(file >= 0);
    CHECK(rtl_ring_open(&ring, path, &version, library) == -1 && errno == EINVAL);
    static const char junk[200000];
    CHECK(write(file, junk, sizeof junk) == (ssize_t)sizeof junk);
    CHECK(rtl_ring_open(&ring, path, &version, library) == -1 && errno == EINVAL);
    /* A header that promises more slots than the file has. */
    CHECK(pwrite(file, f.writer.header, 64, 0) == 64);
    CHECK(rtl_ring_open(&ring, path, &version, library) == -1 && errno == EINVAL);
    /* One that agrees with another size than the file's: more slots, then fewer. */
    uint32_t slots = f.writer.header->slots;
    off_t whole = (off_t)sizeof *f.writer.header + (off_t)slots * RTL_SLOT_SIZE;
    CHECK(ftruncate(file, whole) == 0);
    CHECK(rtl_ring_open(&ring, path, &version, library) == 0);
    rtl_ring_unmap(&ring);
    for (uint32_t claimed = slots / 2; claimed <= 2 * slots; claimed += slots + slots / 2) {
        CHECK(pwrite(file, &claimed, sizeof claimed, offsetof(struct rtl_ring_header, slots)) ==
              sizeof claimed);
        CHECK(rtl_ring_open(&ring, path, &version, library) == -1 && errno == EINVAL);
    }
    close(file);
    tear_down(&f);
    return NULL;
}

const char *Session_ProcessesGetRingsOfTheirOwn(void)
{
    struct fixture f;
    struct rtl_ring second;
    struct rtl_ring found;
    CHECK_DONE(set_up(&f));
    CHECK(rtl_ring_create(&second, f.session, SMALLEST_RING) == 0);
    CHECK(second.header->ordinal == 1);
    CHECK(find_ring(f.session, getpid(), 1, &found) == 0);
    CHECK(found.header->pid == (uint32_t)getpid());
    rtl_ring_unmap(&found);
    rtl_ring_unmap(&second);
    tear_down(&f);
    return NULL;
}

const char *Session_RemoveLeavesNothing(void)
{
    struct fixture f;
    CHECK_DONE(set_up(&f));
    struct stat status;
    CHECK(stat(f.session, &status) == 0 && (status.st_mode & 0777) == 0700);
    tear_down(&f);
    CHECK(stat(f.session, &status) == -1 && errno == ENOENT);
    return NULL;
}

const char *Session_ReadyRingsAreTaken(void)
{
    struct fixture f;
    struct rtl_ring second;
    char path[512];
    CHECK(rtl_ring_dir_create_for(f.session, sizeof f.session, LARGE_RING, NULL, 0) == 0);
    (void)snprintf(path, sizeof path, "%s/spare.0", f.session);
    CHECK(access(path, F_OK) == 0);
    CHECK(rtl_ring_create(&f.writer, f.session, LARGE_RING) == 0);
    CHECK(access(path, F_OK) != 0 && f.writer.size == rtl_ring_file_size(f.writer.header->slots));
    CHECK(find_ring(f.session, getpid(), 0, &f.reader) == 0);
    CHECK(push_text(&f.writer, "x"));
    CHECK(rtl_ring_create(&second, f.session, LARGE_RING) == 0); /* without one */
    CHECK(rtl_spares_make(f.session, rtl_ring_slots(LARGE_RING), 3) == 0);
    CHECK(access(path, F_OK) == 0);
    rtl_ring_unmap(&second);
    tear_down(&f);
    struct stat status;
    CHECK(stat(f.session, &status) == -1 && errno == ENOENT);
    return NULL;
}

/* In a process of its own whose files may not be longer than so many bytes: 0 if it has a ring,
 * else errno. */
static int errno_within(const char *session, rlim_t bytes)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct rtl_ring ring;
        const struct rlimit limit = {bytes, bytes};
        bool made = setrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                    rtl_ring_create(&ring, session, LARGE_RING) == 0;
        int error = made ? 0 : errno;
        while (made && rtl_ring_reserve_piece(&ring, RTL_RING_SMALL_PIECE) > 0)
            continue;
        if (made && rtl_ring_reserve_ahead(&ring) < 0)
            error = ENOSPC;
        struct rtl_refusal refusal;
        rtl_refusal_fill(&refusal, session, error, LARGE_RING);
        if (!made && !rtl_refusal_leave(session, &refusal))
            error = 255;
        _exit(error);
    }
    int status;
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return -1; /* a signal ended it */
    return WEXITSTATUS(status);
}

const char *Session_NoFileIsMadeLongerThanAllowed(void)
{
    static const rlim_t limits[] = {0, 4096, 65536, 1 << 20, 8 << 20, 16 << 20};
    char session[256];
    struct rtl_refusal refusal;
    char text[400];
    unsigned refused = 0;
    unsigned expected = 0;
    CHECK(rtl_ring_dir_create_for(session, sizeof session, LARGE_RING, NULL, 0) == 0);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        CHECK(rtl_spares_make(session, rtl_ring_slots(LARGE_RING), 1) == 0);
        CHECK(errno_within(session, limits[i]) == 0);
        bool fits = limits[i] >= rtl_ring_file_size(rtl_ring_slots(0)); /* the smallest */
        CHECK(errno_within(session, limits[i]) == (fits ? 0 : EFBIG));  /* no ring is ready */
        expected += !fits;
    }
    struct dirent *entry;
    DIR *folder = opendir(session);
    CHECK(folder != NULL);
    while ((entry = readdir(folder)) != NULL) // NOLINT(concurrency-mt-unsafe): one thread
        if (rtl_refusal_read(session, entry->d_name, &refusal)) {
            CHECK(refusal.error == EFBIG && refusal.limit <= limits[5]);
            rtl_refusal_text(&refusal, session, text, sizeof text);
            CHECK(strstr(text, "RLIMIT_FSIZE") != NULL);
            refused++;
        }
    closedir(folder);
    CHECK(refused == expected && expected > 0);
    rtl_ring_dir_remove(session);
    CHECK(access(session, F_OK) != 0);
    return NULL;
}
