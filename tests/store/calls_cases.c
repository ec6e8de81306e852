/* Host calls: through the file and back, by time and by correlation, after damage and kills. */
#include "fixture.h"
#include "store/enums.h"
#include "store/origin_sets.h"
#include "store/sql.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define __HIP_PLATFORM_AMD__ /* NOLINT(bugprone-reserved-identifier): HIP's own switch */
#include <hip/hip_runtime_api.h>

static void define(struct rtl_writer *writer, uint32_t process, uint32_t call, const char *name,
                   const char *arguments)
{
    char texts[512];
    const struct rtl_wire_call body = {.call = call,
                                       .name_length = (uint16_t)strlen(name),
                                       .arguments_length = (uint16_t)strlen(arguments)};
    (void)snprintf(texts, sizeof texts, "%s%s", name, arguments);
    rtl_writer_call(writer, process, &body, texts);
}

static void name(struct rtl_writer *writer, uint32_t process, enum rtl_named kind, uint64_t handle,
                 const char *text)
{
    const struct rtl_wire_name body = {
        .handle = handle, .kind = kind, .text_length = (uint16_t)strlen(text)};
    rtl_writer_name(writer, process, &body, text);
}

static rtl_trace_t *open_trace(const char *path)
{
    char error[512] = "";
    rtl_trace_t *trace = NULL;
    if (rtlTraceOpen(path, &trace, error, sizeof error) != RTL_OK)
        (void)fprintf(stderr, "%s\n", error);
    return trace;
}

static bool finish(struct rtl_writer *writer)
{
    char error[512];
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

/* Every field. */

static const struct rtl_wire_api copy = {.start_ns = 5000,
                                         .end_ns = 5700,
                                         .correlation = 3,
                                         .range = 2,
                                         .stream = 0x7f00000010,
                                         .call = 8,
                                         .thread = 4711,
                                         .result = 1,
                                         .words = 4,
                                         .flags = RTL_API_STREAM};
static const uint64_t copy_words[] = {0x7f0000001000, 0, 4096, 1};
static const struct rtl_wire_api bare = {
    .start_ns = 6000, .end_ns = 6001, .correlation = 4, .call = 99, .thread = 4712, .words = 1};
static const uint64_t bare_words[] = {0xabc};

/* The definition comes after the call that it is of, as it may. */
static bool write_two(const char *path)
{
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    uint32_t process = fixture_define(writer, 1, 1);
    rtl_writer_api(writer, process, &copy, copy_words);
    (void)rtl_writer_checkpoint(writer);
    rtl_writer_api(writer, process, &bare, bare_words);
    define(writer, process, 8, "hipMemcpyAsync", "dst:p,src:p,bytes:z,kind:b[hipMemcpyKind]");
    name(writer, process, RTL_NAMED_THREAD, 4711, "old");
    name(writer, process, RTL_NAMED_THREAD, 4711, "loader");
    name(writer, process, RTL_NAMED_STREAM, 0x7f00000020, "side");
    name(writer, process, RTL_NAMED_DEVICE, 1, "second");
    return finish(writer);
}

static const char *check_copy(const rtl_api_t *api)
{
    char text[256];
    CHECK(api->process == 1 && api->thread == 4711 && strcmp(api->name, "hipMemcpyAsync") == 0);
    CHECK(api->start == 5000 && api->end == 5700 && api->correlation == 3 && api->range == 2);
    CHECK(api->stream == 1 && api->result == 1 && api->word_count == 4);
    CHECK(memcmp(api->words, copy_words, sizeof copy_words) == 0);
    CHECK(strcmp(rtlApiResultName(api->result), "hipErrorInvalidValue") == 0);
    size_t length = rtlApiArguments(api, text, sizeof text);
    CHECK(strcmp(text, "dst=0x7f0000001000, src=NULL, bytes=4096, kind=hipMemcpyHostToDevice") ==
          0);
    CHECK(length == strlen(text) && rtlApiArguments(api, NULL, 0) == length);
    char cut[10];
    CHECK(rtlApiArguments(api, cut, sizeof cut) == length && strcmp(cut, "dst=0x7f0") == 0);
    return NULL;
}

static const char *check_bare(const rtl_api_t *api)
{
    char text[64];
    CHECK(api->thread == 4712 && strcmp(api->name, "call 99") == 0 && !api->definition);
    CHECK(api->range == 0 && api->stream == RTL_TRACE_NONE && api->result == 0);
    CHECK(rtlApiArguments(api, text, sizeof text) == 5 && strcmp(text, "0xabc") == 0);
    return NULL;
}

static const char *check_lists(rtl_trace_t *trace)
{
    const rtl_stream_t *streams;
    const rtl_thread_t *threads;
    const rtl_name_t *names;
    size_t count;
    CHECK(rtlTraceStreams(trace, &streams, &count) == RTL_OK && count == 3);
    CHECK(streams[0].stream == 0 && streams[0].handle == 0 && strcmp(streams[0].name, "") == 0);
    CHECK(streams[1].stream == 1 && streams[1].handle == 0x7f00000010);
    CHECK(streams[2].handle == 0x7f00000020 && strcmp(streams[2].name, "side") == 0);
    CHECK(rtlTraceThreads(trace, &threads, &count) == RTL_OK && count == 2);
    CHECK(threads[0].thread == 4711 && strcmp(threads[0].name, "loader") == 0);
    CHECK(threads[1].thread == 4712 && strcmp(threads[1].name, "") == 0);
    CHECK(rtlTraceNames(trace, &names, &count) == RTL_OK && count == 3);
    CHECK(strcmp(names[0].kind, "device") == 0 && names[0].handle == 1);
    CHECK(strcmp(names[0].name, "second") == 0);
    return NULL;
}

const char *Calls_EveryField(void)
{
    char path[FIXTURE_PATH];
    rtl_api_iter_t *iter;
    rtl_api_t api;
    rtl_trace_info_t info;
    CHECK(fixture_path(path) && write_two(path));
    rtl_trace_t *trace = open_trace(path);
    CHECK(trace && rtlTraceApi(trace, NULL, &iter) == RTL_OK);
    CHECK(rtlApiNext(iter, &api) == RTL_OK);
    CHECK_DONE(check_copy(&api));
    CHECK(rtlApiNext(iter, &api) == RTL_OK);
    CHECK_DONE(check_bare(&api));
    CHECK(rtlApiNext(iter, &api) == RTL_END && rtlApiNext(iter, &api) == RTL_END);
    rtlApiIterFree(iter);
    CHECK_DONE(check_lists(trace));
    CHECK(rtlTraceInfo(trace, &info) == RTL_OK && info.calls == 2 && info.ranges == 0);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

const char *Calls_InSql(void)
{
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path) && write_two(path));
    CHECK(fixture_number(path, "SELECT count(*) FROM api") == 2);
    CHECK(fixture_number(path, "SELECT count(*) FROM api WHERE process = 1 AND thread = 4711 AND"
                               " name = 'hipMemcpyAsync' AND start = 5000 AND end = 5700 AND"
                               " correlation = 3 AND duration = 700") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM api WHERE stream = 1 AND range = 2 AND"
                               " result = 1 AND error = 'hipErrorInvalidValue' AND args ="
                               " 'dst=0x7f0000001000, src=NULL, bytes=4096,"
                               " kind=hipMemcpyHostToDevice'") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM api WHERE name = 'call 99' AND stream IS NULL"
                               " AND range IS NULL AND result = 0 AND error IS NULL AND"
                               " args = '0xabc'") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM streams WHERE process = 1 AND stream = 2 AND"
                               " handle = 0x7f00000020 AND name = 'side'") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM streams WHERE name IS NULL") == 2);
    CHECK(fixture_number(path, "SELECT count(*) FROM threads WHERE thread = 4711 AND"
                               " name = 'loader'") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM names WHERE kind = 'device' AND handle = 1"
                               " AND name = 'second'") == 1);
    fixture_remove(path);
    return NULL;
}

/* Arguments. */

static const char *check_arguments(const rtl_api_t *api, const char *want)
{
    char text[512];
    (void)rtlApiArguments(api, text, sizeof text);
    if (strcmp(text, want) != 0)
        return check_failed("arguments", 0, text);
    return NULL;
}

const char *Calls_ArgumentsOfEveryType(void)
{
    static const char definition[] =
        "p:p,filled:P,s:s,e:e,g:g,x:x,n:n,f:f,u:u,i:i,z:z,mode:b[hipStreamCaptureMode],"
        "odd:b[hipNobodyKnows],d:d,grid:3,new:?";
    char path[FIXTURE_PATH];
    rtl_api_iter_t *iter;
    rtl_api_t api;
    rtl_argument_t argument;
    double real = -0.125;
    uint64_t words[18] = {1, 2,    3,   4, 5, 6, 7, 8, 9, UINT64_MAX, 11, 2, 13, 0, 64 | 2ULL << 32,
                          3, 0xff, 0x11};
    struct rtl_wire_api call = {.correlation = 1, .thread = 1, .words = 17};
    memcpy(&words[13], &real, sizeof real);
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t process = fixture_define(writer, 1, 1);
    define(writer, process, 0, "everything", definition);
    rtl_writer_api(writer, process, &call, words);
    call = (struct rtl_wire_api){.start_ns = 1, .correlation = 2, .result = 1, .words = 2};
    rtl_writer_api(writer, process, &call, words);
    call = (struct rtl_wire_api){.start_ns = 2, .correlation = 3, .words = 18};
    rtl_writer_api(writer, process, &call, words);
    CHECK(finish(writer));
    rtl_trace_t *trace = open_trace(path);
    CHECK(rtlTraceApi(trace, NULL, &iter) == RTL_OK && rtlApiNext(iter, &api) == RTL_OK);
    CHECK_DONE(check_arguments(
        &api, "p=0x1, *filled=0x2, s=0x3, e=0x4, g=0x5, x=0x6, n=0x7, f=0x8, u=9, i=-1, z=11,"
              " mode=hipStreamCaptureModeRelaxed, odd=13, d=-0.125, grid={64, 2, 3}, new=0xff"));
    CHECK(rtlApiArgument(&api, 14, &argument) == RTL_OK && argument.parameter.type == '3');
    CHECK(argument.words[0] == words[14] && argument.words[1] == 3);
    CHECK(rtlApiArgument(&api, 11, &argument) == RTL_OK && argument.parameter.type == 'b');
    CHECK(strcmp(argument.parameter.enumeration, "hipStreamCaptureMode") == 0);
    CHECK(rtlApiArgument(&api, 16, &argument) == RTL_END);
    /* Fewer words than the definition has, of a call that failed; and more. */
    CHECK(rtlApiNext(iter, &api) == RTL_OK);
    CHECK_DONE(check_arguments(&api, "p=0x1, *filled=?"));
    CHECK(rtlApiNext(iter, &api) == RTL_OK);
    CHECK(rtlApiArgument(&api, 16, &argument) == RTL_OK && argument.words[0] == 0x11);
    rtlApiIterFree(iter);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

/* Against HIP's own header. */
const char *Calls_NamesOfEnumerations(void)
{
#define VALUE(enumeration, value)                                                                  \
    {                                                                                              \
        enumeration, value, #value                                                                 \
    }
    static const struct {
        const char *enumeration;
        int value;
        const char *name;
    } values[] = {
        VALUE("hipError_t", hipSuccess),
        VALUE("hipError_t", hipErrorInvalidValue),
        VALUE("hipError_t", hipErrorOutOfMemory),
        VALUE("hipError_t", hipErrorNotInitialized),
        VALUE("hipError_t", hipErrorDeinitialized),
        VALUE("hipError_t", hipErrorInvalidConfiguration),
        VALUE("hipError_t", hipErrorInvalidDevicePointer),
        VALUE("hipError_t", hipErrorInvalidMemcpyDirection),
        VALUE("hipError_t", hipErrorInvalidDeviceFunction),
        VALUE("hipError_t", hipErrorNoDevice),
        VALUE("hipError_t", hipErrorInvalidDevice),
        VALUE("hipError_t", hipErrorInvalidImage),
        VALUE("hipError_t", hipErrorNoBinaryForGpu),
        VALUE("hipError_t", hipErrorFileNotFound),
        VALUE("hipError_t", hipErrorInvalidHandle),
        VALUE("hipError_t", hipErrorIllegalState),
        VALUE("hipError_t", hipErrorNotFound),
        VALUE("hipError_t", hipErrorNotReady),
        VALUE("hipError_t", hipErrorIllegalAddress),
        VALUE("hipError_t", hipErrorPeerAccessAlreadyEnabled),
        VALUE("hipError_t", hipErrorHostMemoryNotRegistered),
        VALUE("hipError_t", hipErrorLaunchFailure),
        VALUE("hipError_t", hipErrorCooperativeLaunchTooLarge),
        VALUE("hipError_t", hipErrorNotSupported),
        VALUE("hipError_t", hipErrorStreamCaptureUnsupported),
        VALUE("hipError_t", hipErrorStreamCaptureInvalidated),
        VALUE("hipError_t", hipErrorStreamCaptureMerge),
        VALUE("hipError_t", hipErrorStreamCaptureUnmatched),
        VALUE("hipError_t", hipErrorStreamCaptureUnjoined),
        VALUE("hipError_t", hipErrorStreamCaptureIsolation),
        VALUE("hipError_t", hipErrorStreamCaptureImplicit),
        VALUE("hipError_t", hipErrorCapturedEvent),
        VALUE("hipError_t", hipErrorStreamCaptureWrongThread),
        VALUE("hipError_t", hipErrorGraphExecUpdateFailure),
        VALUE("hipError_t", hipErrorUnknown),
        VALUE("hipError_t", hipErrorRuntimeMemory),
        VALUE("hipError_t", hipErrorRuntimeOther),
        VALUE("hipMemcpyKind", hipMemcpyHostToHost),
        VALUE("hipMemcpyKind", hipMemcpyHostToDevice),
        VALUE("hipMemcpyKind", hipMemcpyDeviceToHost),
        VALUE("hipMemcpyKind", hipMemcpyDeviceToDevice),
        VALUE("hipMemcpyKind", hipMemcpyDefault),
        VALUE("hipStreamCaptureMode", hipStreamCaptureModeGlobal),
        VALUE("hipStreamCaptureMode", hipStreamCaptureModeThreadLocal),
        VALUE("hipStreamCaptureMode", hipStreamCaptureModeRelaxed),
        VALUE("hipStreamCaptureStatus", hipStreamCaptureStatusNone),
        VALUE("hipStreamCaptureStatus", hipStreamCaptureStatusActive),
        VALUE("hipStreamCaptureStatus", hipStreamCaptureStatusInvalidated),
        VALUE("hipGraphExecUpdateResult", hipGraphExecUpdateErrorTopologyChanged),
        VALUE("hipGraphExecUpdateResult", hipGraphExecUpdateErrorUnsupportedFunctionChange),
        VALUE("hipMemoryAdvise", hipMemAdviseSetReadMostly),
        VALUE("hipMemoryAdvise", hipMemAdviseUnsetCoarseGrain),
        VALUE("hipMemRangeAttribute", hipMemRangeAttributeCoherencyMode),
        VALUE("hipMemPoolAttr", hipMemPoolReuseFollowEventDependencies),
        VALUE("hipMemPoolAttr", hipMemPoolAttrUsedMemHigh),
        VALUE("hipMemAllocationHandleType", hipMemHandleTypeWin32Kmt),
        VALUE("hipMemAllocationGranularity_flags", hipMemAllocationGranularityRecommended),
    };
#undef VALUE
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const char *found = rtl_enum_name(values[i].enumeration, values[i].value);
        if (!found || strcmp(found, values[i].name) != 0)
            return check_failed(values[i].name, values[i].value, found ? found : "no name");
    }
    CHECK(!rtl_enum_name("hipMemcpyKind", 5) && !rtl_enum_name("hipMemcpyKind", -1));
    CHECK(!rtl_enum_name("nothing", 1) && !rtlApiResultName(-7) && !rtlApiResultName(2000));
    return NULL;
}

/* Many calls against a model: all that the writer was given, in an array. */

enum { MANY = 60000, PROCESSES = 3 };

struct model {
    struct rtl_wire_api calls[MANY];
    uint64_t words[MANY];
    uint32_t processes[MANY];
    uint32_t count;
};

static uint32_t make_processes(struct rtl_writer *writer)
{
    for (int i = 0; i < PROCESSES; i++) {
        uint32_t process = fixture_define(writer, 1, 1);
        define(writer, process, 0, "zero", "a:u");
        define(writer, process, 1, "one", "b:p");
    }
    return PROCESSES;
}

/* Calls of several threads in three processes, in the order of their ends; some take long. */
static void make_model(struct model *model, struct rtl_writer *writer, uint64_t *seed)
{
    uint64_t now[PROCESSES][4] = {0};
    uint64_t next[PROCESSES] = {0};
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t process = (uint32_t)(fixture_random(seed) % PROCESSES);
        uint32_t thread = (uint32_t)(fixture_random(seed) % 4);
        uint64_t start = now[process][thread] + fixture_random(seed) % 50;
        uint64_t length = fixture_random(seed) % (i % 1000 == 7 ? 200000 : 90);
        now[process][thread] = start + length;
        model->processes[i] = process + 1;
        model->words[i] = fixture_random(seed);
        /* Ids of ranges lie between those of calls. */
        model->calls[i] = (struct rtl_wire_api){.start_ns = start,
                                                .end_ns = start + length,
                                                .correlation = next[process] += 1 + i % 3 / 2,
                                                .range = i % 7,
                                                .stream = UINT64_C(0x1000) * (i % 5),
                                                .call = i % 2,
                                                .thread = 50 + thread,
                                                .words = 1,
                                                .flags = i % 5 == 4 ? 0 : RTL_API_STREAM};
        rtl_writer_api(writer, model->processes[i], &model->calls[i], &model->words[i]);
        if (i % 7000 == 6999)
            (void)rtl_writer_checkpoint(writer);
    }
    model->count = MANY;
}

static bool passes(const struct model *model, uint32_t i, const rtl_api_filter_t *filter)
{
    const struct rtl_wire_api *call = &model->calls[i];
    return (filter->process == 0 || filter->process == model->processes[i]) &&
           (filter->thread == 0 || filter->thread == call->thread) &&
           (filter->correlation == 0 || filter->correlation == call->correlation) &&
           (filter->to == 0 || call->start_ns < filter->to) &&
           (call->end_ns > filter->from || call->start_ns >= filter->from);
}

/* What the iteration gives is what the model has, in the order of start. */
static const char *compare(rtl_trace_t *trace, const struct model *model,
                           const rtl_api_filter_t *filter)
{
    rtl_api_iter_t *iter;
    rtl_api_t api;
    rtl_status_t status;
    uint64_t want[3] = {0};
    uint64_t came[3] = {0};
    uint64_t last = 0;
    for (uint32_t i = 0; i < model->count; i++) {
        if (!passes(model, i, filter))
            continue;
        want[0]++;
        want[1] += model->calls[i].correlation * model->processes[i] + model->words[i];
        want[2] += model->calls[i].start_ns ^ model->calls[i].end_ns * model->calls[i].thread;
    }
    CHECK(rtlTraceApi(trace, filter, &iter) == RTL_OK);
    while ((status = rtlApiNext(iter, &api)) == RTL_OK) {
        CHECK(api.start >= last || filter->correlation);
        last = api.start;
        came[0]++;
        came[1] += api.correlation * api.process + api.words[0];
        came[2] += api.start ^ api.end * api.thread;
    }
    CHECK(status == RTL_END);
    rtlApiIterFree(iter);
    CHECK(memcmp(want, came, sizeof want) == 0);
    return NULL;
}

/* A model in a file. */
static const char *write_model(const char *path, struct model **made)
{
    uint64_t seed = 31;
    struct rtl_writer *writer = fixture_open(path);
    CHECK(writer);
    struct model *model = malloc(sizeof *model);
    CHECK(model);
    *made = model;
    (void)make_processes(writer);
    make_model(model, writer, &seed);
    CHECK(finish(writer));
    return NULL;
}

const char *Calls_FiltersLeaveWhatTheySay(void)
{
    char path[FIXTURE_PATH];
    struct model *model;
    uint64_t seed = 32;
    CHECK(fixture_path(path));
    CHECK_DONE(write_model(path, &model));
    rtl_trace_t *trace = open_trace(path);
    CHECK(trace);
    CHECK_DONE(compare(trace, model, &(rtl_api_filter_t){0}));
    for (int i = 0; i < 40; i++) {
        uint64_t from = fixture_random(&seed) % 1000000;
        const rtl_api_filter_t filter = {
            .from = i % 2 ? from : 0,
            .to = i % 3 ? from + 1 + fixture_random(&seed) % 200000 : 0,
            .process = (uint32_t)(fixture_random(&seed) % (PROCESSES + 2)),
            .thread = i % 4 == 3 ? 50 + (uint32_t)(fixture_random(&seed) % 5) : 0,
            .correlation = i % 5 == 4 ? 1 + fixture_random(&seed) % 20000 : 0,
        };
        CHECK_DONE(compare(trace, model, &filter));
    }
    rtlTraceClose(trace);
    free(model);
    fixture_remove(path);
    return NULL;
}

/* Where the model has a correlation of a process; MANY if it has not. */
static uint32_t place_of(const struct model *model, uint32_t process, uint64_t correlation)
{
    for (uint32_t i = 0; i < model->count; i++)
        if (model->processes[i] == process && model->calls[i].correlation == correlation)
            return i;
    return MANY;
}

static const char *check_origin(rtl_trace_t *trace, const struct model *model, uint32_t process,
                                uint64_t correlation)
{
    rtl_trace_origin_t origin;
    uint32_t place = place_of(model, process, correlation);
    CHECK(rtlTraceOrigin(trace, process, correlation, &origin) == RTL_OK);
    if (place == MANY) {
        CHECK(origin.call == 0 && origin.range == 0 && origin.stream == RTL_TRACE_NONE);
        CHECK(origin.thread == 0 && origin.start == 0);
        return NULL;
    }
    const struct rtl_wire_api *call = &model->calls[place];
    CHECK(origin.call == correlation && origin.range == call->range);
    CHECK(origin.thread == call->thread && origin.start == call->start_ns);
    CHECK((origin.stream == RTL_TRACE_NONE) == !(call->flags & RTL_API_STREAM));
    CHECK((origin.stream == 0) == (call->flags & RTL_API_STREAM && call->stream == 0));
    return NULL;
}

const char *Calls_FoundByCorrelation(void)
{
    char path[FIXTURE_PATH];
    struct model *model;
    uint64_t seed = 33;
    CHECK(fixture_path(path));
    CHECK_DONE(write_model(path, &model));
    rtl_trace_t *trace = open_trace(path);
    CHECK(trace);
    for (int i = 0; i < 600; i++) {
        uint32_t process = (uint32_t)(fixture_random(&seed) % (PROCESSES + 2));
        CHECK_DONE(check_origin(trace, model, process, fixture_random(&seed) % 35000));
    }
    for (uint64_t correlation = 1; correlation < 300; correlation++)
        CHECK_DONE(check_origin(trace, model, 2, correlation));
    CHECK_DONE(check_origin(trace, model, 1, UINT64_MAX));
    rtlTraceClose(trace);
    free(model);
    fixture_remove(path);
    return NULL;
}

static void no_damage(void *context, const char *what)
{
    (void)check_failed(what, 0, "damage in what is whole");
    ++*(int *)context;
}

/* Looks one after the other, so that what is known of neighbours is used, and back and forth. */
static const char *check_sets(const struct rtl_origin_sets *sets, const struct model *model,
                              uint32_t process, uint64_t *seed)
{
    struct rtl_origin_look look;
    rtl_origin_look_begin(sets, process, &look);
    for (uint64_t i = 1; i < 600; i++) {
        uint64_t number = i < 300 ? i : 1 + fixture_random(seed) % 35000;
        bool there = place_of(model, process, number) != MANY;
        CHECK(rtl_origin_look(&look, number) == (there ? RTL_ORIGIN_CALL : RTL_ORIGIN_NONE));
    }
    CHECK(rtl_origin_look(&look, UINT64_MAX) == RTL_ORIGIN_NONE);
    return NULL;
}

const char *Calls_SetsOfOrigins(void)
{
    char path[FIXTURE_PATH];
    struct model *model;
    uint64_t seed = 34;
    int told = 0;
    CHECK(fixture_path(path));
    CHECK_DONE(write_model(path, &model));
    rtl_trace_t *trace = open_trace(path);
    CHECK(trace);
    for (int deep = 0; deep < 2; deep++) {
        struct rtl_origin_sets *sets = NULL;
        CHECK(rtl_origin_sets_read(trace, deep, no_damage, &told, &sets) == RTL_OK && told == 0);
        for (uint32_t process = 0; process < PROCESSES + 2; process++)
            CHECK_DONE(check_sets(sets, model, process, &seed));
        rtl_origin_sets_free(sets);
    }
    rtlTraceClose(trace);
    free(model);
    fixture_remove(path);
    return NULL;
}

/* A query and the same conditions on a copy of the table, which SQLite evaluates alone. */
const char *Calls_ConditionsInSql(void)
{
    static const char *const conditions[] = {
        "1",
        "process = 2",
        "process IN (1, 3)",
        "thread = 51",
        "correlation = 777",
        "correlation = 778 AND process = 3",
        "correlation IN (5, 6, 7, 100000000)",
        "correlation = NULL",
        "correlation = '9'",
        "id = 65536 + 40",
        "start = 1000",
        "start > 5000 AND start <= 90000",
        "start BETWEEN 3 AND 1000 AND process = 1",
        "end > 100000 AND start < 100100",
        "name = 'one' AND stream = 2",
        "start < -1",
        "process = -1",
        "range IS NULL AND start < 4000.5",
    };
    char path[FIXTURE_PATH];
    char error[512];
    char query[512];
    struct model *model;
    sqlite3 *db;
    CHECK(fixture_path(path));
    CHECK_DONE(write_model(path, &model));
    CHECK(rtl_sql_open(path, &db, error, sizeof error) == RTL_OK);
    CHECK(sqlite3_exec(db, "CREATE TEMP TABLE plain AS SELECT * FROM api", NULL, NULL, NULL) ==
          SQLITE_OK);
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
        sqlite3_stmt *row = NULL;
        (void)snprintf(query, sizeof query,
                       "SELECT (SELECT coalesce(sum(id), 0) || ' ' || count(*) FROM api WHERE %s)"
                       " = (SELECT coalesce(sum(id), 0) || ' ' || count(*) FROM plain WHERE %s)",
                       conditions[i], conditions[i]);
        CHECK(sqlite3_prepare_v2(db, query, -1, &row, NULL) == SQLITE_OK);
        CHECK(sqlite3_step(row) == SQLITE_ROW);
        if (sqlite3_column_int(row, 0) != 1)
            return check_failed(conditions[i], 0, "not the rows of the plain table");
        CHECK(sqlite3_finalize(row) == SQLITE_OK);
    }
    CHECK(sqlite3_close(db) == SQLITE_OK);
    CHECK(fixture_number(path, "SELECT count(*) FROM (SELECT start, lag(start) OVER () AS last FROM"
                               " (SELECT start FROM api ORDER BY start)) WHERE start < last") == 0);
    CHECK(fixture_number(path, "SELECT count(*) FROM api a JOIN api b USING(process, correlation)"
                               " WHERE a.start < 3000 AND a.id <> b.id") == 0);
    free(model);
    fixture_remove(path);
    return NULL;
}

/* Kernels and copies know their call, its stream and its range. */

static void add_kernel(struct rtl_writer *writer, uint32_t process, uint64_t packet,
                       uint64_t correlation)
{
    struct rtl_wire_kernel kernel = fixture_kernel(0, packet);
    kernel.correlation = correlation;
    rtl_writer_kernel(writer, process, &kernel);
}

const char *Calls_OriginsOfKernelsAndCopies(void)
{
    static const struct rtl_wire_range range = {.id = 7, .start_ns = 10, .thread = 5};
    static const struct rtl_wire_range other = {.id = 2, .start_ns = 5, .thread = 5};
    static const struct rtl_wire_range_end orphan = {.id = 9, .end_ns = 3};
    static const struct rtl_wire_queue copies = {.queue = 1, .interception = RTL_COPIES_ONLY};
    static const struct rtl_wire_copy made = {.queue = 1, .start = 5, .end = 6, .correlation = 3};
    static const struct rtl_wire_copy raw = {.queue = 1, .start = 7, .end = 8, .correlation = 7};
    char path[FIXTURE_PATH];
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t process = fixture_define(writer, 1, 2);
    rtl_writer_queue(writer, process, &copies);
    rtl_writer_range(writer, process, &range, "");
    rtl_writer_range(writer, process, &other, "");
    rtl_writer_range_end(writer, process, &orphan);
    rtl_writer_api(writer, process, &copy, copy_words); /* 3: range 2, stream 1 */
    rtl_writer_api(writer, process, &bare, bare_words); /* 4: neither */
    add_kernel(writer, process, 0, 0);
    add_kernel(writer, process, 1, 3);
    add_kernel(writer, process, 2, 4);
    add_kernel(writer, process, 3, 7); /* a range itself */
    add_kernel(writer, process, 4, 8); /* nothing that is known */
    add_kernel(writer, process, 5, 9); /* a range whose begin was lost */
    rtl_writer_copy(writer, process, &made);
    rtl_writer_copy(writer, process, &raw);
    CHECK(finish(writer));
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE packet = 1 AND correlation = 3"
                               " AND stream = 1 AND range = 2") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE packet = 2 AND correlation = 4"
                               " AND stream IS NULL AND range IS NULL") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE packet = 3 AND correlation IS"
                               " NULL AND stream IS NULL AND range = 7") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE packet IN (0, 4, 5) AND"
                               " correlation IS NULL AND stream IS NULL AND range IS NULL") == 3);
    CHECK(fixture_number(path, "SELECT count(*) FROM copies WHERE correlation = 3 AND stream = 1"
                               " AND range = 2") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM copies WHERE correlation IS NULL AND stream"
                               " IS NULL AND range = 7") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels k JOIN api a ON a.process = k.process"
                               " AND a.correlation = k.correlation") == 2);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels k LEFT JOIN api a ON a.process ="
                               " k.process AND a.correlation = k.correlation") == 6);
    fixture_remove(path);
    return NULL;
}

/* Damage. */

static const char *reading_fails(const char *path)
{
    char error[512];
    sqlite3 *db;
    sqlite3_stmt *row;
    rtl_api_iter_t *iter;
    rtl_api_t api;
    rtl_trace_origin_t origin;
    rtl_status_t status;
    rtl_trace_t *trace = open_trace(path);
    CHECK(trace && rtlTraceApi(trace, NULL, &iter) == RTL_OK);
    while ((status = rtlApiNext(iter, &api)) == RTL_OK)
        continue;
    CHECK(status == RTL_E_DAMAGED && rtlApiNext(iter, &api) == RTL_E_DAMAGED);
    CHECK(strstr(rtlTraceError(trace), "chunk 1 of host calls") != NULL);
    rtlApiIterFree(iter);
    CHECK(rtlTraceOrigin(trace, 1, 3, &origin) == RTL_E_DAMAGED);
    rtlTraceClose(trace);
    CHECK(rtl_sql_open(path, &db, error, sizeof error) == RTL_OK);
    CHECK(sqlite3_prepare_v2(db, "SELECT count(*) FROM api", -1, &row, NULL) == SQLITE_OK);
    CHECK(sqlite3_step(row) == SQLITE_ERROR && strstr(sqlite3_errmsg(db), "chunk 1 of host"));
    (void)sqlite3_finalize(row);
    CHECK(sqlite3_prepare_v2(db, "SELECT correlation FROM kernels", -1, &row, NULL) == SQLITE_OK);
    CHECK(sqlite3_step(row) == SQLITE_ERROR && strstr(sqlite3_errmsg(db), "chunk 1 of host"));
    (void)sqlite3_finalize(row);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    return NULL;
}

const char *Calls_DamageIsTold(void)
{
    static const char *const damages[] = {
        "UPDATE api_chunks SET checksum = checksum - 1",
        "UPDATE api_chunks SET data = NULL",
        "UPDATE api_chunks SET data = x'00'",
        "UPDATE api_chunks SET calls = 4000000000",
        "UPDATE api_chunks SET calls = 0",
        "UPDATE api_chunks SET words = 4000000000",
        "UPDATE api_chunks SET start_min = start_min - 1",
        "UPDATE api_chunks SET data = cast(substr(data, 1, 7) || x'FF' || substr(data, 9) AS BLOB)",
    };
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char path[FIXTURE_PATH];
        CHECK(fixture_path(path));
        struct rtl_writer *writer = fixture_open(path);
        uint32_t process = fixture_define(writer, 1, 1);
        rtl_writer_api(writer, process, &copy, copy_words);
        rtl_writer_api(writer, process, &bare, bare_words);
        add_kernel(writer, process, 0, 3);
        CHECK(finish(writer) && fixture_sql(path, damages[i]));
        CHECK_DONE(reading_fails(path));
        fixture_remove(path);
    }
    return NULL;
}

/* A file of format 1.1 has none of it. */
const char *Calls_OlderFilesHaveNone(void)
{
    char path[FIXTURE_PATH];
    rtl_api_iter_t *iter;
    rtl_range_iter_t *ranges;
    rtl_api_t api;
    rtl_range_t range;
    rtl_trace_info_t info;
    rtl_trace_origin_t origin;
    CHECK(fixture_path(path) && fixture_trace(path, 10));
    CHECK(fixture_sql(path, "DROP TABLE calls; DROP TABLE api_chunks; DROP TABLE streams;"
                            "DROP TABLE threads; DROP TABLE names; DROP TABLE ranges;"
                            "PRAGMA user_version = 1001"));
    CHECK(fixture_number(path,
                         "SELECT (SELECT count(*) FROM api) + (SELECT count(*) FROM ranges) +"
                         " (SELECT count(*) FROM streams) + (SELECT count(*) FROM threads) +"
                         " (SELECT count(*) FROM names) + (SELECT count(*) FROM calls)") == 0);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernels WHERE correlation IS NULL") == 20);
    rtl_trace_t *trace = open_trace(path);
    CHECK(rtlTraceApi(trace, NULL, &iter) == RTL_OK && rtlApiNext(iter, &api) == RTL_END);
    CHECK(rtlTraceRanges(trace, NULL, &ranges) == RTL_OK);
    CHECK(rtlRangeNext(ranges, &range) == RTL_END);
    CHECK(rtlTraceInfo(trace, &info) == RTL_OK && info.calls == 0 && info.ranges == 0);
    CHECK(rtlTraceOrigin(trace, 1, 5, &origin) == RTL_OK && origin.call == 0);
    rtlApiIterFree(iter);
    rtlRangeIterFree(ranges);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

/* Ends. */

static void write_and_die(const char *path)
{
    static const struct rtl_wire_range open = {
        .id = 1, .start_ns = 5, .thread = 9, .text_length = 4};
    struct rtl_writer *writer = fixture_open(path);
    uint32_t process = fixture_define(writer, 1, 1);
    rtl_writer_range(writer, process, &open, "open");
    for (uint64_t i = 0; i < MANY; i++) {
        fixture_call(writer, process, i + 2);
        if (i % 5000 == 4999)
            (void)rtl_writer_checkpoint(writer);
    }
    (void)rtl_writer_checkpoint(writer);
    fixture_call(writer, process, MANY + 2); /* not stored */
    (void)raise(SIGKILL);
}

const char *Calls_KilledWriterLeavesWhatItStored(void)
{
    char path[FIXTURE_PATH];
    int status;
    CHECK(fixture_path(path));
    pid_t child = fork();
    if (child == 0)
        write_and_die(path);
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK(fixture_number(path, "SELECT count(*) FROM api") == MANY);
    CHECK(fixture_number(path, "SELECT sum(correlation) FROM api") ==
          (int64_t)MANY * (MANY + 3) / 2);
    CHECK(fixture_number(path, "SELECT count(*) FROM ranges WHERE name = 'open' AND end IS NULL") ==
          1);
    fixture_remove(path);
    return NULL;
}

/* Ids stay while the chunk that they are in grows. */
const char *Calls_IdsStayWhileRecording(void)
{
    char path[FIXTURE_PATH];
    int64_t first = 0;
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t process = fixture_define(writer, 1, 1);
    for (uint64_t i = 1; i <= 5; i++) {
        fixture_call(writer, process, i);
        CHECK(rtl_writer_checkpoint(writer) == 0);
        CHECK(fixture_number(path, "SELECT count(*) FROM api") == (int64_t)i);
        int64_t id = fixture_number(path, "SELECT id FROM api WHERE correlation = 1");
        CHECK(i == 1 || id == first);
        first = id;
    }
    CHECK(finish(writer));
    CHECK(fixture_number(path, "SELECT count(*) FROM main.api_chunks") == 1);
    fixture_remove(path);
    return NULL;
}

/* Size and memory. */

enum { MILLION = 1000000 };

static long resident_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        (void)fscanf(file, "%*d %ld", &pages); /* NOLINT(cert-err34-c): 0 tells */
        (void)fclose(file);
    }
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* A decode loop as a framework writes it: per kernel a launch, now and then a copy and a wait. */
static void write_million(struct rtl_writer *writer, uint32_t process)
{
    uint64_t seed = 41;
    uint64_t now = 1000000000;
    define(writer, process, 0, "hipLaunchKernel", "f:f,grid:3,block:3,args:p,bytes:z,stream:s");
    define(writer, process, 1, "hipMemcpyAsync",
           "dst:p,src:p,bytes:z,kind:b[hipMemcpyKind],stream:s");
    for (uint64_t i = 0; i < MILLION; i++) {
        uint32_t which = i % 10 == 9;
        const uint64_t launch[] = {0x400000 + 64 * (i % 40), 64 + i % 8, 1,     256, 1,
                                   0x7ffc00001000,           0,          0x5000};
        const uint64_t move[] = {0x7f0000000000 + 4096 * (i % 64), 0x600000, 4096, 1, 0x5000};
        uint64_t length = 1800 + fixture_random(&seed) % 400;
        const struct rtl_wire_api api = {.start_ns = now,
                                         .end_ns = now + length,
                                         .correlation = i + 1,
                                         .stream = 0x5000,
                                         .call = which,
                                         .thread = 4711,
                                         .words = which ? 5 : 8,
                                         .flags = RTL_API_STREAM};
        rtl_writer_api(writer, process, &api, which ? move : launch);
        now += length + 300 + fixture_random(&seed) % 100;
        if (i % 100000 == 99999)
            (void)rtl_writer_checkpoint(writer);
    }
}

const char *Calls_AMillion(void)
{
    char path[FIXTURE_PATH];
    rtl_trace_info_t info;
    rtl_trace_origin_t origin;
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    uint32_t process = fixture_define(writer, 1, 1);
    long before = resident_kib();
    write_million(writer, process);
    long written = resident_kib();
    CHECK(finish(writer));
    rtl_trace_t *trace = open_trace(path);
    CHECK(rtlTraceInfo(trace, &info) == RTL_OK && info.calls == MILLION);
    for (uint64_t i = 1; i <= MILLION; i++)
        CHECK(rtlTraceOrigin(trace, process, i, &origin) == RTL_OK && origin.call == i);
    long read = resident_kib();
    rtlTraceClose(trace);
    (void)printf("%.2f bytes per host call; %ld KiB to write, %ld KiB to look all up\n",
                 (double)info.bytes / MILLION, written - before, read - before);
    CHECK(info.bytes < (uint64_t)MILLION * 12); /* on the wire: 64 or 128 */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CHECK(written - before < 40L * 1024 && read - before < 60L * 1024);
#endif
    fixture_remove(path);
    return NULL;
}
