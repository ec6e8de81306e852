/* Launches that one thread has in hand, and does not come on with, while another one is told that
 * they are done: each is in the ring at that moment, as a draft at least, and comes to its end
 * there once, with what was known of it. */
#include "../../common/brief.h"
#include "../../common/check.h"
#include "intercept/base/account.h"
#include "intercept/base/emit.h"
#include "intercept/base/recording.h"
#include "intercept/base/thread_context.h"
#include "intercept/queue/launches.h"
#include "stepping.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#define PLACES 4096u   /* as many launches may be on their way */
#define IDS    65536u  /* more than one case makes launches */
#define MOST   400000u /* instructions, of any build */
#define FINE   200u    /* so many of them are tried */
#define BEFORE 60u     /* a draft, and behind it: what is tried */
#define BEHIND 90u
#define SOME   3u
#define DRAFTS 64u

/* What is known of each launch, by its id: a number, which is the index of its first packet and the
 * generation of its graph. */
static _Atomic uint32_t numbers[IDS];
static _Atomic uint32_t committed[IDS]; /* how often */
static _Atomic uint32_t wrong;          /* records that have another number */
static _Atomic uint32_t lost;
static _Atomic uint32_t waiting;
static _Atomic uint32_t ended[2]; /* drafts, by whether they were committed */
static _Atomic uint32_t begun;    /* drafts */
static uint32_t drafts[DRAFTS];   /* their launches, of a test that makes few; 0: it was decided */
static uint32_t refused;          /* that many drafts find no room */
static _Atomic uint32_t counted;  /* as begun */
static _Atomic uint32_t left_out;
static _Atomic uint32_t flags_of_last; /* of what was committed */

_Atomic bool rtl_recording_stopped;

/* ---- a thread that is stuck with a draft ---- */

static _Thread_local bool is_to_stop;
static sem_t stopped;
static sem_t goes_on;

static void stop(void)
{
    if (!is_to_stop)
        return;
    is_to_stop = false;
    (void)sem_post(&stopped);
    while (sem_wait(&goes_on) != 0)
        continue;
}

/* ---- what launches need from the rest of librtl ---- */

/* That it is of one launch, and not of two. */
static bool is_right(const struct rtl_wire_launch *wire)
{
    uint32_t number = numbers[wire->launch % IDS];
    return wire->first == number && (wire->graph == RTL_NONE || wire->generation == number) &&
           wire->packets == (wire->graph == RTL_NONE ? 16 : 1);
}

bool rtl_emit_draft(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count,
                    unsigned eighths, struct rtl_emit_draft *draft)
{
    const struct rtl_wire_launch *wire = pieces[0].data;
    if (refused > 0) {
        refused--;
        return false;
    }
    uint32_t place = atomic_fetch_add(&begun, 1) % DRAFTS;
    wrong += type != RTL_WIRE_LAUNCH || count != 1 || eighths != RTL_SPARE_FEW || !is_right(wire);
    draft->draft.position = place;
    __atomic_store_n(&drafts[place], wire->launch, __ATOMIC_RELAXED);
    stop();
    return true;
}

void rtl_emit_commit(const struct rtl_emit_draft *draft, enum rtl_wire_type type,
                     const struct rtl_piece *pieces, unsigned count)
{
    const struct rtl_wire_launch *wire = pieces[0].data;
    wrong += type != RTL_WIRE_LAUNCH || count != 1;
    committed[wire->launch % IDS]++;
    flags_of_last = wire->flags;
    ended[true]++;
    __atomic_store_n(&drafts[draft->draft.position], 0, __ATOMIC_RELAXED);
}

void rtl_emit_give_up(const struct rtl_emit_draft *draft)
{
    ended[false]++;
    __atomic_store_n(&drafts[draft->draft.position], 0, __ATOMIC_RELAXED);
}

bool rtl_emit_has_spare(unsigned eighths)
{
    (void)eighths;
    return true;
}

enum rtl_lost rtl_emit_why(void)
{
    return RTL_LOST_RING;
}

void rtl_account_lose(enum rtl_kind kind, enum rtl_lost why, uint64_t count)
{
    (void)kind;
    (void)why;
    lost += (uint32_t)count;
}

void rtl_account_wait(enum rtl_kind kind, uint64_t count)
{
    (void)kind;
    waiting += (uint32_t)count;
}

void rtl_account_waited(enum rtl_kind kind, uint64_t count)
{
    (void)kind;
    waiting -= (uint32_t)count;
}

void rtl_account_begin(enum rtl_kind kind)
{
    counted += kind == RTL_KIND_LAUNCHES;
}

void rtl_account_leave_out(enum rtl_kind kind)
{
    left_out += kind == RTL_KIND_LAUNCHES;
}

/* ---- the program ---- */

static const char *clear(void)
{
    CHECK(rtl_launches_begin());
    wrong = lost = begun = ended[false] = ended[true] = 0;
    for (uint32_t i = 0; i < DRAFTS; i++)
        drafts[i] = 0;
    for (uint32_t i = 0; i < IDS; i++)
        numbers[i] = committed[i] = 0;
    return NULL;
}

/* A launch that HIP has told of, with one kernel, all of which has passed. Returns its id. */
static uint32_t launch(uint32_t number)
{
    uint32_t id = rtl_launch_begin(5, number);
    if (id == RTL_NONE)
        return RTL_NONE;
    numbers[id % IDS] = number;
    (void)rtl_launch_reserve(0, number, 1);
    rtl_launch_end();
    rtl_launch_submitted(&(struct rtl_launch_part){.launch = id, .packets = 1, .kernels = 1});
    return id;
}

/* Packets that were reserved at once, and so many kernels among them. */
static uint32_t batch(uint32_t number, uint32_t kernels)
{
    uint32_t id = rtl_launch_infer(0, number, 16);
    if (id == RTL_NONE)
        return RTL_NONE;
    numbers[id % IDS] = number;
    rtl_launch_submitted(
        &(struct rtl_launch_part){.launch = id, .packets = 16, .kernels = kernels});
    return id;
}

/* No place is left with a launch that is long done: ids go on without a gap. */
static const char *lap(void)
{
    uint32_t first = launch(1);
    CHECK(first != RTL_NONE && rtl_launches_send());
    for (uint32_t i = 1; i < PLACES; i++)
        CHECK(launch(i + 1) == first + i && (i % 64 != 0 || rtl_launches_send()));
    CHECK(rtl_launches_send() && lost == 0);
    return NULL;
}

static const char *all_came_once(void)
{
    for (uint32_t id = 0; id < IDS; id++)
        CHECK(committed[id] == (numbers[id] != 0));
    CHECK(wrong == 0 && lost == 0 && waiting == 0 && ended[false] + ended[true] == begun);
    return NULL;
}

/* ---- recording is stopped and started ---- */

/* A launch of two kernels, of which so many are left out and so many packets nobody can look into.
 * It begins while recording is stopped; at its end recording goes on or does not. */
static const char *begin_stopped(uint32_t number, uint32_t without, uint32_t unseen, bool started)
{
    rtl_recording_stopped = true;
    uint32_t id = rtl_launch_begin(5, number);
    CHECK(id != RTL_NONE);
    numbers[id % IDS] = number;
    (void)rtl_launch_reserve(0, number, 1);
    rtl_launch_end();
    rtl_recording_stopped = !started;
    rtl_launch_submitted(&(struct rtl_launch_part){
        .launch = id, .packets = 1, .kernels = 2, .left_out = without, .unseen = unseen});
    CHECK(rtl_launches_send());
    numbers[id % IDS] = committed[id % IDS] != 0 ? number : 0;
    rtl_recording_stopped = false;
    return NULL;
}

const char *Launches_BegunWhileRecordingIsStopped(void)
{
    CHECK_DONE(clear());
    counted = left_out = 0;
    CHECK_DONE(begin_stopped(1, 2, 0, false));
    CHECK(begun == 0 && left_out == 1 && counted == 0);
    CHECK_DONE(begin_stopped(2, 2, 1, false));
    CHECK(begun == 0 && left_out == 2 && counted == 0);
    CHECK_DONE(begin_stopped(3, 1, 0, true));
    CHECK(begun == 1 && ended[true] == 1 && left_out == 2 && counted == 1);
    CHECK_DONE(begin_stopped(4, 2, 1, true));
    CHECK(begun == 2 && ended[true] == 2 && left_out == 2 && counted == 2);
    CHECK(launch(5) != RTL_NONE && rtl_launches_send() && counted == 3 && left_out == 2);
    rtl_thread_context.paused = true;
    CHECK(launch(6) == RTL_NONE && left_out == 3);
    rtl_thread_context.paused = false;
    return all_came_once();
}

/* Packets that were reserved at once, between which recording is stopped: no replay of that shape.
 */
const char *Launches_CutByAStop(void)
{
    CHECK_DONE(clear());
    CHECK(batch(1, 3) != RTL_NONE && rtl_launches_send() && flags_of_last == 0);
    uint32_t id = rtl_launch_infer(0, 2, 16);
    CHECK(id != RTL_NONE);
    numbers[id % IDS] = 2;
    rtl_launch_submitted(&(struct rtl_launch_part){.launch = id, .packets = 8, .kernels = 8});
    rtl_launch_submitted(
        &(struct rtl_launch_part){.launch = id, .packets = 8, .kernels = 8, .left_out = 8});
    CHECK(rtl_launches_send() && flags_of_last == RTL_LAUNCH_CUT);
    return all_came_once();
}

/* ---- at any moment ---- */

#ifdef STEPPING
/* Whether the ring has it: if the process was killed now it would be in the trace. */
static bool is_in_ring(uint32_t id)
{
    bool is_there = committed[id % IDS] > 0;
    for (uint32_t i = 0; i < DRAFTS; i++)
        is_there = is_there || drafts[i] == id;
    return is_there;
}

static void send(void *context)
{
    (void)context;
    (void)rtl_launches_send();
}

static void settle(void *context)
{
    (void)context;
    rtl_launches_drain();
}

/* One thread sends, or is told that all is done; behind some of its instructions another one is
 * told. */
struct moment {
    uint32_t at;
    uint32_t ids[SOME]; /* done before */
    uint32_t missing;   /* of these, behind that */
};

static bool tell_at(void *context, uint32_t step)
{
    struct moment *moment = context;
    if (step != moment->at)
        return true;
    rtl_launches_drain();
    for (uint32_t i = 0; i < SOME; i++)
        moment->missing += !is_in_ring(moment->ids[i]);
    return false;
}

static const char *send_and_tell(struct moment *moment, uint32_t *steps)
{
    moment->missing = 0;
    moment->ids[0] = launch(10);
    moment->ids[1] = batch(11, 3);
    moment->ids[2] = launch(12);
    uint32_t none = batch(13, 0);
    CHECK(none != RTL_NONE);
    numbers[none % IDS] = 0; /* of no kernels: there is no record */
    *steps = stepping_run(send, moment, tell_at);
    CHECK(moment->missing == 0);
    return NULL;
}

const char *Launches_InTheHandsOfAThreadThatDoesNotComeOn(void)
{
    struct moment moment = {.at = 0};
    uint32_t last;
    uint32_t steps;
    CHECK_DONE(clear());
    CHECK_DONE(send_and_tell(&moment, &last));
    CHECK(last > 2 && last < MOST);
    for (moment.at = 1; moment.at <= last; moment.at += 1 + last / rtl_test_times(FINE))
        CHECK_DONE(send_and_tell(&moment, &steps));
    CHECK(ended[false] > 0); /* two have drafted the same one */
    CHECK_DONE(lap());
    return all_came_once();
}

/* The same where the ring is full for the first thread. */
const char *Launches_ThatWaitForRoomInTheHandsOfAnother(void)
{
    struct moment moment = {.at = 0};
    uint32_t last;
    uint32_t steps;
    CHECK_DONE(clear());
    CHECK_DONE(send_and_tell(&moment, &last));
    for (moment.at = 1; moment.at <= last; moment.at += 1 + last / rtl_test_times(FINE)) {
        (void)launch(1);
        (void)batch(2, 3);
        refused = 1;
        CHECK(!rtl_launches_send() && waiting == 1);
        CHECK_DONE(send_and_tell(&moment, &steps));
        CHECK(rtl_launches_send() && waiting == 0);
    }
    CHECK_DONE(lap());
    return all_came_once();
}

static void *send_and_stop(void *context)
{
    is_to_stop = true;
    send(context);
    return NULL;
}

/* While one is told and sends what another thread has in hand, that one comes on, and the places
 * are given to other launches. */
struct meanwhile {
    uint32_t at;      /* 0: behind all */
    uint32_t step;    /* so far */
    uint32_t drafted; /* the step of the first draft */
    pthread_t thread;
    const char *trouble;
};

static const char *go_on(struct meanwhile *meanwhile)
{
    (void)sem_post(&goes_on);
    CHECK(pthread_join(meanwhile->thread, NULL) == 0);
    for (uint32_t i = 0; i < PLACES; i++)
        CHECK(launch(100 + i) != RTL_NONE);
    CHECK(rtl_launches_send());
    return NULL;
}

static bool go_on_at(void *context, uint32_t step)
{
    struct meanwhile *meanwhile = context;
    meanwhile->step = step;
    if (meanwhile->drafted == 0 && begun == 2)
        meanwhile->drafted = step;
    if (step != meanwhile->at)
        return true;
    meanwhile->trouble = go_on(meanwhile);
    return false;
}

/* In the first places, so that there are few instructions before one comes to them. */
static const char *tell_and_go_on(struct meanwhile *meanwhile)
{
    while ((launch(1) + 1) % PLACES != 0)
        CHECK(rtl_launches_send());
    CHECK(rtl_launches_send());
    CHECK_DONE(clear());
    CHECK(launch(10) != RTL_NONE && launch(11) != RTL_NONE);
    CHECK(pthread_create(&meanwhile->thread, NULL, send_and_stop, NULL) == 0);
    while (sem_wait(&stopped) != 0)
        continue;
    meanwhile->drafted = 0;
    (void)stepping_run(settle, meanwhile, go_on_at);
    CHECK_DONE(meanwhile->at == 0 ? go_on(meanwhile) : meanwhile->trouble);
    return all_came_once();
}

const char *Launches_WhosePlacesAreTakenMeanwhile(void)
{
    struct meanwhile meanwhile = {.at = 0};
    unsigned given_up = 0;
    CHECK(sem_init(&stopped, 0, 0) == 0 && sem_init(&goes_on, 0, 0) == 0);
    CHECK_DONE(tell_and_go_on(&meanwhile));
    CHECK(meanwhile.step < MOST && ended[false] == 1 && meanwhile.drafted > BEFORE);
    uint32_t end = meanwhile.drafted + BEHIND;
    for (meanwhile.at = meanwhile.drafted - BEFORE; meanwhile.at < end;
         meanwhile.at += 3 * rtl_test_stride()) {
        CHECK_DONE(tell_and_go_on(&meanwhile));
        given_up += ended[false];
    }
    CHECK(given_up > 0);
    CHECK_DONE(clear());
    CHECK_DONE(lap());
    return all_came_once();
}
#else
const char *Launches_InTheHandsOfAThreadThatDoesNotComeOn(void)
{
    return NULL;
}

const char *Launches_ThatWaitForRoomInTheHandsOfAnother(void)
{
    return NULL;
}

const char *Launches_WhosePlacesAreTakenMeanwhile(void)
{
    return NULL;
}
#endif

/* ---- by many threads ---- */

#define THREADS 3u
#define EACH    15000u

static _Atomic bool ends;

static void *make_launches(void *failed)
{
    for (uint32_t i = 0; i < EACH; i++) {
        uint32_t id = i % 4 == 0 ? batch(i + 1, 3) : launch(i + 1);
        if (id == RTL_NONE)
            return failed;
        if (i % 8 == 0)
            rtl_launches_drain();
    }
    return NULL;
}

static void *send_until_the_end(void *unused)
{
    while (!ends) {
        rtl_launches_poll();
        (void)sched_yield();
    }
    return unused;
}

const char *Launches_OfManyThreads(void)
{
    pthread_t threads[THREADS + 1];
    void *trouble = NULL;
    CHECK_DONE(clear());
    ends = false;
    CHECK(pthread_create(&threads[THREADS], NULL, send_until_the_end, NULL) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, make_launches, &committed) == 0);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], &trouble) == 0 && trouble == NULL);
    ends = true;
    CHECK(pthread_join(threads[THREADS], NULL) == 0);
    rtl_launches_drain();
    CHECK_DONE(all_came_once());
    CHECK_DONE(clear());
    return lap();
}
