/* The wrappers of HIP's functions, each of them, with a made-up HIP behind them and the rest of
 * librtl around them made up. What a record should hold is computed here from the arguments anew.
 */
#include "../../common/check.h"
#include "every_hip.h"
#include "intercept/base/account.h"
#include "intercept/base/account_lanes.h"
#include "intercept/base/config.h"
#include "intercept/base/emit.h"
#include "intercept/hip/calls.h"
#include "intercept/hip/libc.h"
#include "intercept/hip/resolve.h"
#include "intercept/hip/starts.h"
#include "intercept/queue/waits.h"
#include "intercept/ranges/roctx.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { MOST_WORDS = 40, MOST_TEXT = 600 };

#define CHECK_EQUAL(got, want) CHECK((uint64_t)(got) == (uint64_t)(want))
#define CHECK_TEXT(got, want)  CHECK((got) != NULL && strcmp(got, want) == 0)

/* ---- the rest of librtl ---- */

static struct {
    struct rtl_wire_api api;
    uint64_t words[MOST_WORDS];
    unsigned count;
} sent;
static struct {
    char name[MOST_TEXT], arguments[MOST_TEXT];
    unsigned count;
} definitions[RTL_HIP_ENTRIES];
static bool ring_full, in_place;
static unsigned notes;
static uint64_t lost, left_out;
static struct {
    enum rtl_node_type type;
    hipStream_t stream;
    unsigned count;
} captured;
static unsigned before, after;
static unsigned handed_over; /* times, before the call's record was sent */

enum rtl_lost rtl_emit_why(void)
{
    return RTL_LOST_RING;
}

void rtl_starts_look(void)
{
}

void *rtl_starts_instead_of(void *found)
{
    return found;
}

void *rtl_roctx_instead_of(const char *name, void *found)
{
    (void)name;
    return found;
}

bool rtl_config_wants_calls(void)
{
    return true;
}

bool rtl_emit_try_spare(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count,
                        unsigned eighths)
{
    if (ring_full)
        return false;
    if (type != RTL_WIRE_API || count != 2 || eighths != RTL_SPARE_FEW ||
        pieces[1].size > sizeof sent.words)
        abort();
    memcpy(&sent.api, pieces[0].data, sizeof sent.api);
    if (pieces[1].size > 0)
        memcpy(sent.words, pieces[1].data, pieces[1].size);
    sent.count++;
    errno = 1;
    return true;
}

void *rtl_emit_begin(size_t size, unsigned eighths, struct rtl_emit_place *place)
{
    place->ring = NULL;
    if (ring_full || !in_place)
        return NULL;
    if (eighths != RTL_SPARE_FEW || size > sizeof sent.api + sizeof sent.words)
        abort();
    return &sent;
}

void rtl_emit_end(enum rtl_wire_type type, const struct rtl_emit_place *place)
{
    if (type != RTL_WIRE_API || place->ring != NULL)
        abort();
    sent.count++;
    errno = 1;
}

void rtl_emit_definition(enum rtl_wire_type type, const struct rtl_piece *pieces, unsigned count)
{
    const struct rtl_wire_call *call = pieces[0].data;
    if (type != RTL_WIRE_CALL || count != 3 || call->call >= RTL_HIP_ENTRIES)
        abort();
    (void)snprintf(definitions[call->call].name, MOST_TEXT, "%.*s", (int)call->name_length,
                   (const char *)pieces[1].data);
    (void)snprintf(definitions[call->call].arguments, MOST_TEXT, "%.*s",
                   (int)call->arguments_length, (const char *)pieces[2].data);
    definitions[call->call].count++;
}

void rtl_emit_note(uint32_t queue, const char *format, ...)
{
    (void)queue;
    (void)format;
    notes++;
}

void rtl_account_lose(enum rtl_kind kind, enum rtl_lost why, uint64_t count)
{
    lost += kind == RTL_KIND_CALLS && why == RTL_LOST_RING ? count : 0;
}

void rtl_account_leave_out(enum rtl_kind kind)
{
    left_out += kind == RTL_KIND_CALLS;
}

void rtl_hip_captured(enum rtl_node_type type, hipStream_t stream)
{
    captured.type = type;
    captured.stream = stream;
    captured.count++;
}

void rtl_hip_before_hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t stream)
{
    (void)graphExec;
    (void)stream;
    before = every_hip.calls;
}

void rtl_hip_after_hipGraphLaunch(hipError_t result, hipGraphExec_t graphExec, hipStream_t stream)
{
    (void)graphExec;
    (void)stream;
    after = every_hip.calls + (result == hipErrorNotReady);
}

void rtl_waits_ended(void)
{
    handed_over += every_hip.calls == 1 && sent.count == 0;
}

/* ---- what a record should hold ---- */

static uint64_t random_state = 88172645463325252u;

static void fill(void *bytes, size_t size)
{
    unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) {
        random_state ^= random_state << 13;
        random_state ^= random_state >> 7;
        random_state ^= random_state << 17;
        at[i] = (unsigned char)(random_state >> 32);
    }
}

static struct {
    uint64_t words[MOST_WORDS];
    unsigned count;
} wanted;

static uint64_t storage[32]; /* what the call fills, and configurations */

static void want(uint64_t word)
{
    wanted.words[wanted.count++] = word;
}

static void want_size(uint32_t x, uint32_t y, uint32_t z)
{
    want(x + ((uint64_t)y << 32));
    want(z);
}

static void want_config(const hipLaunchConfig_t *config, bool done)
{
    hipLaunchConfig_t none = {0};
    if (!done)
        config = &none;
    want_size(config->gridDim.x, config->gridDim.y, config->gridDim.z);
    want_size(config->blockDim.x, config->blockDim.y, config->blockDim.z);
    want(config->dynamicSmemBytes);
    want((uint64_t)(uintptr_t)config->stream);
}

static void want_driver_config(const HIP_LAUNCH_CONFIG *config, bool done)
{
    HIP_LAUNCH_CONFIG none = {0};
    if (!done)
        config = &none;
    want_size(config->gridDimX, config->gridDimY, config->gridDimZ);
    want_size(config->blockDimX, config->blockDimY, config->blockDimZ);
    want(config->sharedMemBytes);
    want((uint64_t)(uintptr_t)config->hStream);
}

#define WANT_p(name) want((uint64_t)(uintptr_t)(name));
#define WANT_P(name) want(done ? storage[0] : 0);
#define WANT_s(name) WANT_p(name)
#define WANT_e(name) WANT_p(name)
#define WANT_g(name) WANT_p(name)
#define WANT_x(name) WANT_p(name)
#define WANT_n(name) WANT_p(name)
#define WANT_f(name) WANT_p(name)
#define WANT_u(name) want(name);
#define WANT_i(name) want((uint64_t)(int64_t)(name));
#define WANT_z(name) want(name);
#define WANT_b(name) want((uint64_t)(name));
#define WANT_3(name) want_size((name).x, (name).y, (name).z);
#define WANT_D(name) want_size((name)->x, (name)->y, (name)->z);
#define WANT_E(name)                                                                               \
    want((name).width);                                                                            \
    want((name).height);                                                                           \
    want((name).depth);
#define WANT_Q(name)                                                                               \
    WANT_p((name).ptr);                                                                            \
    want((name).pitch);
#define WANT_L(name) want_config(name, done);
#define WANT_K(name) want_driver_config(name, done);
#define WANT_M(name)                                                                               \
    WANT_p(name);                                                                                  \
    want(done ? (uint64_t)(name)->kind : 0);                                                       \
    want(done ? (name)->extent.width : 0);                                                         \
    want(done ? (name)->extent.height : 0);                                                        \
    want(done ? (name)->extent.depth : 0);
#define WANT_W(name)                                                                               \
    WANT_p(name);                                                                                  \
    want(done ? (name)->WidthInBytes : 0);                                                         \
    want(done ? (name)->Height : 0);
#define WANT_V(name)                                                                               \
    WANT_W(name);                                                                                  \
    want(done ? (name)->Depth : 0);
#define WANT__(name)
#define WANT(type, name, field) WANT_##field(name)

/* Pointers go somewhere, since some are read; all other arguments are noise. */
static void *somewhere(void)
{
    static char text[1 << 20]; /* empty words */
    uint32_t at;
    fill(&at, sizeof at);
    return &text[at % sizeof text];
}

#define POINT(name)   memcpy(&(name), &(void *){storage}, sizeof(void *));
#define POINT_P(name) POINT(name)
#define POINT_D(name) POINT(name)
#define POINT_L(name) POINT(name)
#define POINT_K(name) POINT(name)
#define POINT_M(name) POINT(name)
#define POINT_W(name) POINT(name)
#define POINT_V(name) POINT(name)
#define POINT_p(name) memcpy(&(name), &(void *){somewhere()}, sizeof(void *));
#define POINT_s(name)
#define POINT_e(name)
#define POINT_g(name)
#define POINT_x(name)
#define POINT_n(name)
#define POINT_f(name)
#define POINT_u(name)
#define POINT_i(name)
#define POINT_z(name)
#define POINT_b(name)
#define POINT_3(name)
#define POINT_E(name)
#define POINT_Q(name)
#define POINT__(name)
#define VARIABLE(type, name, field)                                                                \
    type name;                                                                                     \
    fill((void *)&(name), sizeof(name));                                                           \
    POINT_##field(name)
#define HASH(type, name, field) hash = every_hash(hash, (const void *)&(name), sizeof(name));

#define ABOUT_NONE          NULL
#define ABOUT_GIVEN         stream
#define ABOUT_THREAD_OR     stream /* never NULL here */
#define ABOUT_LEGACY        NULL
#define ABOUT_THREAD        hipStreamPerThread
#define ABOUT_CONFIG        (done ? config->stream : NULL)
#define ABOUT_DRIVER_CONFIG (done ? config->hStream : NULL)

#define IS_ABOUT_NONE          0
#define IS_ABOUT_GIVEN         1
#define IS_ABOUT_THREAD_OR     1
#define IS_ABOUT_LEGACY        1
#define IS_ABOUT_THREAD        1
#define IS_ABOUT_CONFIG        done
#define IS_ABOUT_DRIVER_CONFIG done

#define NODE_NO           (-1)
#define NODE_KERNEL       RTL_NODE_KERNEL
#define NODE_MEMCPY       RTL_NODE_MEMCPY
#define NODE_MEMSET       RTL_NODE_MEMSET
#define NODE_HOST         RTL_NODE_HOST
#define NODE_WAIT_EVENT   RTL_NODE_WAIT_EVENT
#define NODE_EVENT_RECORD RTL_NODE_EVENT_RECORD
#define NODE_OTHER        RTL_NODE_OTHER

/* ---- one call of each ---- */

struct outcome {
    int result, error;
    uint64_t hash, stream;
    unsigned flags;
    int node;
};

static void prepare(void)
{
    wanted.count = 0;
    fill(storage, sizeof storage);
    errno = 17;
}

#define CALL(name, hook, about, node_, ...)                                                        \
    static struct outcome call_##name(void)                                                        \
    {                                                                                              \
        const bool done = every_hip.result == hipSuccess;                                          \
        uint64_t hash = 0;                                                                         \
        prepare();                                                                                 \
        RTL_EACH(VARIABLE, __VA_ARGS__)                                                            \
        RTL_EACH(HASH, __VA_ARGS__)                                                                \
        struct outcome outcome = {.hash = hash, .node = NODE_##node_};                             \
        outcome.result = name(RTL_LIST(RTL_ARGUMENT, __VA_ARGS__));                                \
        outcome.error = errno;                                                                     \
        outcome.stream = (uint64_t)(uintptr_t)(ABOUT_##about);                                     \
        outcome.flags = IS_ABOUT_##about;                                                          \
        RTL_EACH(WANT, __VA_ARGS__)                                                                \
        (void)done;                                                                                \
        return outcome;                                                                            \
    }
#define CALL_0(name)                                                                               \
    static struct outcome call_##name(void)                                                        \
    {                                                                                              \
        prepare();                                                                                 \
        struct outcome outcome = {.result = name(), .error = errno, .node = -1};                   \
        return outcome;                                                                            \
    }
#define CALL_VOID(name, hook, about, node_, ...)                                                   \
    static struct outcome call_##name(void)                                                        \
    {                                                                                              \
        uint64_t hash = 0;                                                                         \
        prepare();                                                                                 \
        RTL_EACH(VARIABLE, __VA_ARGS__)                                                            \
        RTL_EACH(HASH, __VA_ARGS__)                                                                \
        struct outcome outcome = {.hash = hash, .node = NODE_##node_};                             \
        name(RTL_LIST(RTL_ARGUMENT, __VA_ARGS__));                                                 \
        outcome.error = errno;                                                                     \
        outcome.stream = (uint64_t)(uintptr_t)(ABOUT_##about);                                     \
        outcome.flags = IS_ABOUT_##about;                                                          \
        RTL_EACH(WANT, __VA_ARGS__)                                                                \
        return outcome;                                                                            \
    }
#include "intercept/hip/entries.def"
#undef CALL
#undef CALL_0
#undef CALL_VOID

static struct outcome (*const calls[])(void) = {
#define CALL(name, ...)      call_##name,
#define CALL_0(name)         call_##name,
#define CALL_VOID(name, ...) call_##name,
#include "intercept/hip/entries.def"
#undef CALL
#undef CALL_0
#undef CALL_VOID
};

#define WAITS_PLAIN  false
#define WAITS_ALWAYS false
#define WAITS_GRAPH  false
#define WAITS_WAIT   true

static const struct {
    const char *name;
    bool returns, waits;
} entries[] = {
#define CALL(name, hook, ...) {#name, true, WAITS_##hook},
#define CALL_0(name)          {#name, true, true},
#define CALL_VOID(name, ...)  {#name, false, false},
#include "intercept/hip/entries.def"
#undef CALL
#undef CALL_0
#undef CALL_VOID
};

static void begin(enum rtl_calls state, hipError_t result)
{
    memset(&sent, 0, sizeof sent);
    memset(&captured, 0, sizeof captured);
    memset(&every_hip, 0, sizeof every_hip);
    every_hip.result = result;
    ring_full = false;
    notes = 0;
    handed_over = 0;
    rtl_calls_state = state;
    rtl_hip_captures = 0;
}

/* The program got what HIP gave, and HIP what the program gave. */
static const char *check_passed(unsigned entry, const struct outcome *outcome)
{
    CHECK_TEXT(every_hip.name, entries[entry].name);
    CHECK_EQUAL(every_hip.hash, outcome->hash);
    CHECK_EQUAL(outcome->error, EVERY_ERRNO);
    if (entries[entry].returns)
        CHECK_EQUAL(outcome->result, every_hip.result);
    return NULL;
}

static const char *check_record(unsigned entry, const struct outcome *outcome)
{
    CHECK_EQUAL(sent.count, 1);
    CHECK_EQUAL(sent.api.call, entry);
    CHECK_EQUAL(sent.api.result, entries[entry].returns ? outcome->result : 0);
    CHECK_EQUAL(sent.api.thread, rtl_thread_context_thread());
    CHECK(sent.api.start_ns > 0 && sent.api.start_ns <= sent.api.end_ns);
    CHECK_EQUAL(sent.api.flags, outcome->flags);
    CHECK_EQUAL(sent.api.stream, outcome->stream);
    CHECK_EQUAL(sent.api.words, wanted.count);
    CHECK(memcmp(sent.words, wanted.words, wanted.count * sizeof *wanted.words) == 0);
    return NULL;
}

const char *Hip_EachPassesWhenOff(void)
{
    for (unsigned i = 0; i < RTL_HIP_ENTRIES; i++) {
        begin(RTL_CALLS_OFF, hipErrorNotReady);
        struct outcome outcome = calls[i]();
        CHECK_DONE(check_passed(i, &outcome));
        CHECK_EQUAL(every_hip.calls, 1);
        CHECK_EQUAL(sent.count, 0);
    }
    return NULL;
}

/* Recording is stopped, or the thread has stopped its own. */
const char *Hip_EachIsLeftOutWhenStopped(void)
{
    for (unsigned i = 0; i < RTL_HIP_ENTRIES; i++) {
        for (unsigned j = 0; j < 2; j++) {
            begin(j == 0 ? RTL_CALLS_STOPPED : RTL_CALLS_ON, hipErrorNotReady);
            rtl_thread_context.paused = j == 1;
            struct outcome outcome = calls[i]();
            rtl_thread_context.paused = false;
            CHECK_DONE(check_passed(i, &outcome));
            CHECK_EQUAL(every_hip.calls, 1);
            CHECK_EQUAL(sent.count, 0);
        }
    }
    return NULL;
}

static const char *each_is_sent(enum rtl_calls state, hipError_t result)
{
    uint64_t last = 0;
    for (unsigned i = 0; i < RTL_HIP_ENTRIES; i++) {
        begin(state, result);
        rtl_thread_context.range = 1000 + i;
        struct outcome outcome = calls[i]();
        CHECK_DONE(check_passed(i, &outcome));
        CHECK_DONE(check_record(i, &outcome));
        CHECK(sent.api.correlation > last);
        CHECK_EQUAL(sent.api.range, 1000 + i);
        CHECK_EQUAL(rtl_thread_context.call, 0);
        last = sent.api.correlation;
    }
    rtl_thread_context.range = 0;
    return NULL;
}

/* In the ring itself, and where that cannot be. */
static const char *each_is_recorded(enum rtl_calls state, hipError_t result)
{
    in_place = true;
    CHECK_DONE(each_is_sent(state, result));
    in_place = false;
    CHECK_DONE(each_is_sent(state, result));
    return NULL;
}

const char *Hip_EachIsRecordedWhenItFails(void)
{
    CHECK_DONE(each_is_recorded(RTL_CALLS_ON, hipErrorInvalidValue));
    return NULL;
}

const char *Hip_EachIsRecordedWhenItSucceeds(void)
{
    CHECK_DONE(each_is_recorded(RTL_CALLS_ON, hipSuccess));
    return NULL;
}

/* Whether calls are recorded or not. A query that says that something is not done tells nothing. */
const char *Hip_WhatIsDoneIsHandedOverByWhoWaits(void)
{
    static const enum rtl_calls states[] = {RTL_CALLS_OFF, RTL_CALLS_STOPPED, RTL_CALLS_ON};
    unsigned waiting = 0;
    for (unsigned i = 0; i < RTL_HIP_ENTRIES; i++) {
        waiting += entries[i].waits;
        for (unsigned j = 0; j < 3; j++) {
            begin(states[j], hipSuccess);
            (void)calls[i]();
            CHECK_EQUAL(handed_over, entries[i].waits);
            begin(states[j], hipErrorNotReady);
            (void)calls[i]();
            CHECK_EQUAL(handed_over, 0);
        }
    }
    CHECK(waiting > 0);
    return NULL;
}

/* As many words as the text says, once per entry, and names without C++'s decoration. */
const char *Hip_EachIsDefinedOnce(void)
{
    for (unsigned i = 0; i < RTL_HIP_ENTRIES; i++) {
        begin(RTL_CALLS_ON, hipErrorInvalidValue);
        (void)calls[i]();
        (void)calls[i]();
        CHECK_EQUAL(definitions[i].count, 1);
        const char *plain = strstr(entries[i].name, "hip");
        size_t length = strlen(definitions[i].name);
        CHECK(strncmp(definitions[i].name, "hip", 3) == 0);
        CHECK(strstr(entries[i].name, definitions[i].name) != NULL);
        CHECK(plain == entries[i].name ? plain[length] == '\0' : length > 10);
        unsigned words = 0;
        for (char *at = definitions[i].arguments; *at != '\0'; at += strcspn(at, ",")) {
            at += *at == ',';
            char *colon = strchr(at, ':');
            CHECK(colon != NULL && colon > at);
            CHECK(colon[1] == 'b' ? colon[2] == '[' : colon[2] == ',' || colon[2] == '\0');
            words += colon[1] == '3' ? 2 : 1;
        }
        CHECK_EQUAL(sent.api.words, words);
    }
    return NULL;
}

const char *Hip_DecidedWhileTheCallRuns(void)
{
    for (unsigned end = RTL_CALLS_OFF; end <= RTL_CALLS_ON; end++) {
        begin(RTL_CALLS_UNDECIDED, hipSuccess);
        struct rtl_hip_call call;
        CHECK(rtl_hip_enter(&call));
        rtl_hip_begin(&call);
        rtl_calls_state = end;
        rtl_hip_end(&call);
        rtl_hip_leave(&call, RTL_HIP_hipMalloc, 0, (uint64_t[]){0, 1}, 2);
        CHECK_EQUAL(sent.count, end == RTL_CALLS_ON);
    }
    return NULL;
}

static unsigned nested;
static uint64_t correlation_within;

static void call_again(void)
{
    every_hip.within = NULL;
    correlation_within = rtl_thread_context_correlation();
    for (unsigned i = 0; i < RTL_HIP_ENTRIES; i++) {
        (void)calls[i]();
        nested += every_hip.name != NULL && strcmp(every_hip.name, entries[i].name) == 0;
    }
}

const char *Hip_WhatHipCallsItselfIsNotRecorded(void)
{
    begin(RTL_CALLS_ON, hipErrorNotReady);
    nested = 0;
    every_hip.within = call_again;
    CHECK_EQUAL(hipDeviceSynchronize(), hipErrorNotReady);
    CHECK_EQUAL(nested, RTL_HIP_ENTRIES);
    CHECK_EQUAL(sent.count, 1);
    CHECK_EQUAL(sent.api.call, RTL_HIP_hipDeviceSynchronize);
    CHECK_EQUAL(sent.api.correlation, correlation_within);
    CHECK_EQUAL(rtl_thread_context.inside, 0);
    return NULL;
}

const char *Hip_CapturesAreTold(void)
{
    for (unsigned i = 0; i < RTL_HIP_ENTRIES; i++) {
        begin(RTL_CALLS_ON, hipSuccess);
        (void)calls[i]();
        CHECK_EQUAL(captured.count, 0);
        rtl_hip_captures = 1;
        struct outcome outcome = calls[i]();
        CHECK_EQUAL(captured.count, outcome.node >= 0);
        if (outcome.node >= 0) {
            CHECK_EQUAL(captured.type, outcome.node);
            CHECK_EQUAL((uint64_t)(uintptr_t)captured.stream, outcome.stream);
        }
        begin(RTL_CALLS_ON, hipErrorNotReady);
        rtl_hip_captures = 1;
        (void)calls[i]();
        CHECK(captured.count == 0 || !entries[i].returns);
    }
    return NULL;
}

const char *Hip_GraphHooksAreAround(void)
{
    begin(RTL_CALLS_ON, hipErrorNotReady);
    every_hip.calls = 5;
    before = after = 0;
    (void)hipGraphLaunch(NULL, NULL);
    CHECK_EQUAL(before, 5);
    CHECK_EQUAL(after, 7);
    begin(RTL_CALLS_OFF, hipErrorNotReady);
    before = after = 99;
    (void)hipGraphLaunch(NULL, NULL);
    CHECK_EQUAL(before, 99);
    CHECK_EQUAL(after, 99);
    return NULL;
}

const char *Hip_LossIsCounted(void)
{
    begin(RTL_CALLS_ON, hipSuccess);
    lost = 0;
    (void)hipDeviceSynchronize();
    CHECK_EQUAL(lost, 0);
    ring_full = true;
    (void)hipDeviceSynchronize();
    (void)hipDeviceSynchronize();
    CHECK_EQUAL(lost, 2);
    CHECK_EQUAL(notes, 1);
    return NULL;
}

const char *Hip_AThreadLeavesItsCallsOut(void)
{
    begin(RTL_CALLS_ON, hipSuccess);
    left_out = 0;
    (void)hipDeviceSynchronize();
    CHECK_EQUAL(left_out, 0);
    rtl_thread_context.paused = true;
    (void)hipDeviceSynchronize();
    rtl_thread_context.paused = false;
    CHECK_EQUAL(left_out, 1);
    return NULL;
}

const char *Hip_ThreadsDefaultStream(void)
{
    begin(RTL_CALLS_ON, hipSuccess);
    CHECK_EQUAL(hipStreamSynchronize_spt(NULL), hipSuccess);
    CHECK_EQUAL(sent.api.stream, (uint64_t)(uintptr_t)hipStreamPerThread);
    CHECK_EQUAL(sent.words[0], 0);
    return NULL;
}

/* What HIP's own look-ups give is replaced, also while calls are not recorded. */
const char *Hip_LookUpsGiveWrappers(void)
{
    static const enum rtl_calls states[] = {RTL_CALLS_OFF, RTL_CALLS_ON};
    for (unsigned i = 0; i < 2; i++) {
        begin(states[i], hipSuccess);
        void *given = rtl_hip_as_symbol(rtl_hip_find(RTL_HIP_hipMemcpyAsync));
        CHECK(rtl_hip_as_function(given) != (rtl_hip_function)hipMemcpyAsync);
        CHECK_EQUAL(hipGetProcAddress("hipMemcpyAsync", &given, 60000, 0, NULL), hipSuccess);
        CHECK(rtl_hip_as_function(given) == (rtl_hip_function)hipMemcpyAsync);
        given = rtl_hip_as_symbol(rtl_hip_find(RTL_HIP_hipFree));
        CHECK_EQUAL(hipGetDriverEntryPoint("hipFree", &given, 0, NULL), hipSuccess);
        CHECK(rtl_hip_as_function(given) == (rtl_hip_function)hipFree);
        given = storage;
        CHECK_EQUAL(hipGetProcAddress("hipOther", &given, 60000, 0, NULL), hipSuccess);
        CHECK(given == storage);
        given = rtl_hip_as_symbol(rtl_hip_find(RTL_HIP_hipFree));
        every_hip.result = hipErrorNotFound;
        CHECK_EQUAL(hipGetProcAddress("hipFree", &given, 60000, 0, NULL), hipErrorNotFound);
        CHECK(given == rtl_hip_as_symbol(rtl_hip_find(RTL_HIP_hipFree)));
    }
    return NULL;
}

void __hipRegisterFunction(void **modules, const void *host, char *function, const char *name,
                           unsigned threads, void *tid, void *bid, dim3 *block, dim3 *grid,
                           int *warp);
void __hipUnregisterFatBinary(void **modules);

static void register_kernel(void **modules, const void *host, const char *name)
{
    __hipRegisterFunction(modules, host, NULL, name, 0, NULL, NULL, NULL, NULL, NULL);
}

const char *Hip_NamesOfRegisteredKernels(void)
{
    void *modules[2] = {NULL, NULL};
    static const char hosts[3];
    begin(RTL_CALLS_OFF, hipSuccess);
    CHECK(rtl_hip_kernel_name(&hosts[0]) == NULL);
    register_kernel(&modules[0], &hosts[0], "first");
    register_kernel(&modules[0], &hosts[1], "second");
    register_kernel(&modules[1], &hosts[2], "third");
    CHECK_TEXT(rtl_hip_kernel_name(&hosts[0]), "first");
    CHECK_TEXT(rtl_hip_kernel_name(&hosts[1]), "second");
    __hipUnregisterFatBinary(&modules[0]);
    CHECK(rtl_hip_kernel_name(&hosts[0]) == NULL);
    CHECK(rtl_hip_kernel_name(&hosts[1]) == NULL);
    CHECK_TEXT(rtl_hip_kernel_name(&hosts[2]), "third");
    register_kernel(&modules[1], &hosts[0], "another");
    CHECK_TEXT(rtl_hip_kernel_name(&hosts[0]), "another");
    return NULL;
}

const char *Hip_NamesOfModuleKernels(void)
{
    static char modules[2], functions[2];
    char name[] = "of a module";
    begin(RTL_CALLS_OFF, hipSuccess);
    hipFunction_t function = (hipFunction_t)(void *)&functions[0];
    hipFunction_t other = (hipFunction_t)(void *)&functions[1];
    CHECK_EQUAL(hipModuleGetFunction(&function, (hipModule_t)(void *)&modules[0], name), 0);
    CHECK_EQUAL(hipModuleGetFunction(&function, (hipModule_t)(void *)&modules[0], name), 0);
    CHECK_EQUAL(hipModuleGetFunction(&other, (hipModule_t)(void *)&modules[1], "another"), 0);
    name[0] = 'O';
    CHECK_TEXT(rtl_hip_kernel_name(function), "of a module");
    CHECK_EQUAL(hipModuleUnload((hipModule_t)(void *)&modules[0]), 0);
    CHECK(rtl_hip_kernel_name(function) == NULL);
    CHECK_TEXT(rtl_hip_kernel_name(other), "another");
    every_hip.result = hipErrorNotFound;
    CHECK_EQUAL(hipModuleGetFunction(&function, (hipModule_t)(void *)&modules[1], "none"),
                hipErrorNotFound);
    CHECK(rtl_hip_kernel_name(function) == NULL);
    return NULL;
}

/* HIP 7.2's libraries: by name, or all at once, into an array that may be too small or too large.
 */
const char *Hip_NamesOfLibraryKernels(void)
{
    static char library[2];
    static char names[3][8] = {"first", "second", "third"};
    char other[8] = "other";
    begin(RTL_CALLS_OFF, hipSuccess);
    hipLibrary_t one = (hipLibrary_t)(void *)&library[0];
    hipKernel_t kernels[4] = {(hipKernel_t)(void *)names[0], (hipKernel_t)(void *)names[1],
                              (hipKernel_t)(void *)names[2], (hipKernel_t)(uintptr_t)1};
    hipKernel_t kernel = (hipKernel_t)(void *)other;
    CHECK_EQUAL(hipLibraryGetKernel(&kernel, (hipLibrary_t)(void *)&library[1], "by name"), 0);
    CHECK_TEXT(rtl_hip_kernel_name(kernel), "by name");
    every_hip.kernels = 3;
    CHECK_EQUAL(hipLibraryEnumerateKernels(kernels, 0, one), 0);
    CHECK(rtl_hip_kernel_name(kernels[0]) == NULL);
    CHECK_EQUAL(hipLibraryEnumerateKernels(kernels, 2, one), 0);
    CHECK_EQUAL(errno, EVERY_ERRNO);
    CHECK_TEXT(rtl_hip_kernel_name(kernels[0]), "first");
    CHECK_TEXT(rtl_hip_kernel_name(kernels[1]), "second");
    CHECK(rtl_hip_kernel_name(kernels[2]) == NULL);
    CHECK_EQUAL(hipLibraryEnumerateKernels(kernels, 4, one), 0);
    CHECK_TEXT(rtl_hip_kernel_name(kernels[2]), "third");
    CHECK_EQUAL(hipLibraryUnload(one), 0);
    CHECK(rtl_hip_kernel_name(kernels[0]) == NULL && rtl_hip_kernel_name(kernels[2]) == NULL);
    every_hip.kernels = 0;
    return NULL;
}
