/* Pieces of PrivateUse1 tracing alone: metadata, the stack of ids, a session with a made-up vendor.
 */
#include "header.h"

#include "../common/check.h"
#include "intercept/base/thread_context.h"
#include "intercept/callbacks/external.h"
#include "kineto/members.h"
#include "kineto/rows.h"
#include "kineto/session.h"
#include "kineto/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void header_in_c(size_t facts[HEADER_FACTS])
{
    static const size_t own[HEADER_FACTS] = {HEADER_LIST};
    memcpy(facts, own, sizeof own);
}

/* ---- members ---- */

const char *Members_AreThoseOfRfc8259(void);
const char *Members_AreThoseOfRfc8259(void)
{
    static const char *const good[] = {
        "{}",
        " { } ",
        "{\"a\":1}",
        "{\"a\": -0.5e+10, \"b\": [1, 2, [], {}], \"c\": {\"d\": null}, \"e\": true, \"f\":false}",
        "{\"\\u00e9\\\"\\\\\\/\\b\\f\\n\\r\\t\": \"\\ud83d\\ude00 \xc3\xa9\"}",
        "\t{\n\"a\"\r:\t0}\n",
    };
    static const char *const bad[] = {
        "",
        "1",
        "[]",
        "null",
        "{",
        "}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":01}",
        "{\"a\":1}x",
        "{\"a\":+1}",
        "{\"a\":.5}",
        "{\"a\":1.}",
        "{\"a\":1e}",
        "{\"a\":tru}",
        "{\"a\":\"",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12g4\"}",
        "{\"a\":\"\n\"}",
        "{\"a\":[1}",
        "{\"a\":{\"b\":1]}",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "{,}",
        "{\"a\":NaN}",
        "{\"a\":\"\\",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(pu1_is_object(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!pu1_is_object(bad[i]));
    return NULL;
}

static void nest(char *text, int depth)
{
    text += sprintf(text, "{\"a\":");
    for (int i = 0; i < depth; i++)
        *text++ = '[';
    for (int i = 0; i < depth; i++)
        *text++ = ']';
    memcpy(text, "}", 2);
}

const char *Members_AreNotDeep(void);
const char *Members_AreNotDeep(void)
{
    static char text[300000];
    nest(text, 31);
    CHECK(pu1_is_object(text));
    nest(text, 32);
    CHECK(!pu1_is_object(text));
    nest(text, 100000);
    CHECK(!pu1_is_object(text));
    return NULL;
}

const char *Members_ComeOneByOne(void);
const char *Members_ComeOneByOne(void)
{
    static const char *const wanted[][2] = {
        {"grid", "[1, 2]"}, {"a\\\"b", "\"x, }\""}, {"n", "-1.5"}, {"o", "{\"p\": 1}"}};
    const char *at = " {\"grid\": [1, 2] , \"a\\\"b\":\"x, }\",\"n\" : -1.5, \"o\": {\"p\": 1} } ";
    pu1_member_t member;
    CHECK(pu1_is_object(at));
    for (size_t i = 0; i < 4; i++) {
        CHECK(pu1_next_member(&at, &member));
        CHECK(member.key_length == strlen(wanted[i][0]));
        CHECK(strncmp(member.key, wanted[i][0], member.key_length) == 0);
        CHECK(member.value_length == strlen(wanted[i][1]));
        CHECK(strncmp(member.value, wanted[i][1], member.value_length) == 0);
    }
    CHECK(!pu1_next_member(&at, &member));
    at = "{}";
    CHECK(!pu1_next_member(&at, &member));
    return NULL;
}

/* ---- texts ---- */

const char *Text_KnowsTheCharactersOfRfc3629(void);
const char *Text_KnowsTheCharactersOfRfc3629(void)
{
    static const char *const good[] = {"a",
                                       "\x7f",
                                       "\xc2\x80",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xbf",
                                      "\xc0\x80",
                                      "\xc1\xbf",
                                      "\xc2",
                                      "\xc2\x41",
                                      "\xe0\x9f\xbf",
                                      "\xed\xa0\x80",
                                      "\xe2\x82",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xf0\x90\x80"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(pu1_character(good[i]) == strlen(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(pu1_character(bad[i]) == 0);
    CHECK(pu1_character("") == 1);
    return NULL;
}

static bool becomes(void (*rewrite)(char *text), const char *text, const char *wanted)
{
    char copy[1024];
    (void)snprintf(copy, sizeof copy, "%s", text);
    rewrite(copy);
    return strcmp(copy, wanted) == 0;
}

const char *Text_NamesArePlain(void);
const char *Text_NamesArePlain(void)
{
    CHECK(becomes(pu1_mend_utf8, "\xc3\xa9\n\"\xc3\"\xe2\x82z\xff", "\xc3\xa9\n\"?\"??z?"));
    CHECK(becomes(pu1_plain_name, "operator\"\" _x", "operator'' _x"));
    CHECK(becomes(pu1_plain_name, "C:\\a\nb\x7f\x01\xff\xc3\xa9", "C:/a b  ?\xc3\xa9"));
    CHECK(becomes(pu1_plain_name, "", ""));
    return NULL;
}

const char *Text_ObjectsHaveNoBackslash(void);
const char *Text_ObjectsHaveNoBackslash(void)
{
    static const char *const pairs[][2] = {
        {"{}", "{}"},
        {"{\"q\\\"z\": \"a\\\\b\\/c\"}", "{\"q'z\": \"a/b/c\"}"},
        {"{\"a\":\n[1, -2.5e+10, true, null]}", "{\"a\": [1, -2.5e+10, true, null]}"},
        {"{\"a\": \"\\b\\f\\n\\r\\t\\u0000\\u001F\\u007f\"}", "{\"a\": \"        \"}"},
        {"{\"a\": \"\\u0022\\u005c\\u0041\"}", "{\"a\": \"'/A\"}"},
        {"{\"a\": \"\\u00e9\\u20AC\\uD83D\\uDE00\"}",
         "{\"a\": \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"}"},
        {"{\"a\": \"\\ud800\\u0041\\udc00\\ud800\\ud800\\udc00\"}",
         "{\"a\": \"?A??\xf0\x90\x80\x80\"}"},
        {"{\"a\": \"\xc3\"}", "{\"a\": \"?\"}"},
        {"{\"\xff\": \"\xed\xa0\x80\xc3\xa9\"}", "{\"?\": \"???\xc3\xa9\"}"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        CHECK(pu1_is_object(pairs[i][0]) && pu1_is_object(pairs[i][1]));
        CHECK(becomes(pu1_plain_object, pairs[i][0], pairs[i][1]));
    }
    return NULL;
}

/* Python reads no integer of more than 4300 digits. */
const char *Text_NumbersAreNotLong(void);
const char *Text_NumbersAreNotLong(void)
{
    char text[1024], wanted[1024];
    (void)snprintf(text, sizeof text, "{\"a\": 1%0399d, \"b\": [2]}", 0);
    CHECK(becomes(pu1_plain_object, text, text));
    (void)snprintf(text, sizeof text, "{\"a\": 1%0400d, \"b\": [2]}", 0);
    (void)snprintf(wanted, sizeof wanted, "{\"a\": null, \"b\": [2]}");
    CHECK(becomes(pu1_plain_object, text, wanted));
    return NULL;
}

/* ---- external ids ---- */

static void *run_thread(void *failed)
{
    *(bool *)failed =
        rtl_external_pop(NULL) || !rtl_external_push(9) || rtl_thread_context_correlation() == 0 ||
        rtl_external_of(rtl_thread_context_correlation()) != 9; /* and is left there */
    return NULL;
}

const char *External_BelongsToWhatIsLaunched(void);
const char *External_BelongsToWhatIsLaunched(void)
{
    uint64_t last = 0;
    rtl_external_watch();
    rtl_thread_context_set_range(0);
    CHECK(rtl_thread_context_correlation() == 0);
    CHECK(rtl_external_push(5));
    uint64_t outer = rtl_thread_context_correlation();
    CHECK(outer != 0 && rtl_external_of(outer) == 5);
    rtl_thread_context_set_range(77); /* a range within changes nothing */
    CHECK(rtl_thread_context_correlation() == outer && rtl_thread_context.range == 77);
    CHECK(rtl_external_push(6));
    uint64_t inner = rtl_thread_context_correlation();
    CHECK(inner != outer && rtl_external_of(inner) == 6);
    rtl_thread_context.call = rtl_thread_context_new_id();
    rtl_external_note(rtl_thread_context.call);
    CHECK(rtl_thread_context_correlation() == rtl_thread_context.call &&
          rtl_external_of(rtl_thread_context.call) == 6);
    rtl_thread_context.call = 0;
    CHECK(rtl_external_pop(&last) && last == 6);
    CHECK(rtl_thread_context_correlation() == outer);
    CHECK(rtl_external_pop(&last) && last == 5);
    CHECK(rtl_thread_context_correlation() == 77); /* the range again */
    CHECK(!rtl_external_pop(&last) && last == 5);
    rtl_thread_context_set_range(0);
    CHECK(rtl_external_of(outer) == 5 && rtl_external_of(inner) == 6);
    CHECK(rtl_external_of(0) == 0 && rtl_external_of(inner + 1000000) == 0);
    return NULL;
}

const char *External_IsAThreadsOwn(void);
const char *External_IsAThreadsOwn(void)
{
    rtl_external_watch();
    CHECK(rtl_external_push(1));
    for (int i = 0; i < 10; i++) {
        bool failed = true;
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, run_thread, &failed) == 0);
        CHECK(pthread_join(thread, NULL) == 0 && !failed);
    }
    CHECK(rtl_external_of(rtl_thread_context_correlation()) == 1);
    CHECK(rtl_external_pop(NULL));
    return NULL;
}

static void *note_many(void *first)
{
    uint64_t id = (uint64_t)(uintptr_t)first;
    for (int i = 0; i < 20000; i++) {
        (void)rtl_external_push(id);
        /* So far apart that all threads meet at the same notes. */
        rtl_external_note(((uint64_t)i << 18 | 3) + (id << 40));
        (void)rtl_external_pop(NULL);
    }
    return NULL;
}

/* Whatever is found belongs to the correlation that was asked for. */
const char *External_NotesAreNeverMixed(void);
const char *External_NotesAreNeverMixed(void)
{
    pthread_t threads[4];
    rtl_external_watch();
    for (uintptr_t i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, note_many, (void *)(i + 1)) == 0);
    for (int round = 0; round < 200000; round++) {
        uint64_t id = (uint64_t)(round % 4) + 1;
        uint64_t found = rtl_external_of(((uint64_t)(round % 20000) << 18 | 3) + (id << 40));
        CHECK(found == 0 || found == id);
    }
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return NULL;
}

/* ---- a session, with a vendor that does what the case says ---- */

#define DEEP 5000u

static struct {
    pu1BufferRequestFn request;
    pu1BufferCompleteFn complete;
    uint32_t enabled;
    pu1Result answer; /* to an enable */
    uint64_t stack[DEEP];
    bool full;  /* takes no ids */
    bool quiet; /* has no records */
    unsigned depth, flushes;
    uint64_t dropped;
    const char *metadata;
    uint32_t kind; /* of the second record */
} vendor;

static uint32_t get_version(void)
{
    return PU1_VERSION;
}

static pu1Result enable(pu1ActivityKind kind)
{
    if (kind == PRIVATEUSE1_DRIVER && vendor.answer != PU1_SUCCESS)
        return PU1_ERROR_NOT_SUPPORTED;
    if (vendor.answer == PU1_SUCCESS)
        vendor.enabled |= PU1_KIND_BIT(kind);
    return vendor.answer;
}

static pu1Result disable(pu1ActivityKind kind)
{
    vendor.enabled &= ~PU1_KIND_BIT(kind);
    return PU1_SUCCESS;
}

static pu1Result set_callbacks(pu1BufferRequestFn request, pu1BufferCompleteFn complete)
{
    vendor.request = request;
    vendor.complete = complete;
    return PU1_SUCCESS;
}

static pu1Result push(uint64_t id)
{
    if (vendor.full)
        return PU1_ERROR_OUT_OF_MEMORY;
    vendor.stack[vendor.depth++] = id;
    return PU1_SUCCESS;
}

static pu1Result pop(uint64_t *last)
{
    (void)last;
    vendor.depth--;
    return PU1_SUCCESS;
}

static pu1Result get_next(uint8_t *buffer, size_t valid, pu1ActivityRecord **record)
{
    size_t at =
        *record != NULL ? (size_t)((uint8_t *)*record - buffer) + (*record)->struct_size : 0;
    *record = at < valid ? (pu1ActivityRecord *)(void *)(buffer + at) : NULL;
    return *record != NULL ? PU1_SUCCESS : PU1_ERROR_END_OF_BUFFER;
}

/* Two records that are larger than this version's, whose texts die when the buffer is completed. */
static void produce(void)
{
    char name[] = "a name";
    char metadata[64];
    uint8_t *buffer = NULL;
    size_t size = 0;
    vendor.request(&buffer, &size);
    if (buffer == NULL)
        return;
    (void)snprintf(metadata, sizeof metadata, "%s", vendor.metadata);
    for (uint32_t i = 0; i < 2; i++) {
        pu1ActivityRecord record = {.struct_size = sizeof record + 16,
                                    .kind = i == 0 ? CONCURRENT_KERNEL : vendor.kind,
                                    .start_time = 100,
                                    .end_time = i == 0 ? 200 : 50,
                                    .correlation_id = i + 1,
                                    .process_id = i == 0 ? 0 : 1u << 22,
                                    .thread_id = (1u << 22) + 1 - i,
                                    .name = name,
                                    .metadata = metadata};
        memcpy(buffer + i * (sizeof record + 16), &record, sizeof record);
    }
    vendor.complete(buffer, size, 2 * (sizeof(pu1ActivityRecord) + 16));
    memset(name, 'x', sizeof name - 1);
    memset(metadata, 'x', sizeof metadata - 1);
}

static pu1Result flush(void)
{
    vendor.flushes++;
    if (!vendor.quiet)
        produce();
    return PU1_SUCCESS;
}

static const char *last_error(void)
{
    return "it is not there";
}

static uint64_t dropped(void)
{
    return vendor.dropped;
}

static const pu1_vendor_t made_up = {
    .path = "made up",
    .version = PU1_VERSION,
    .api = {sizeof(pu1TracingApiTable), "made up", get_version, enable, disable, set_callbacks,
            push, pop, flush, get_next, last_error, dropped, NULL},
};
static const pu1_vendors_t vendors = {1, &made_up};

static unsigned errors;

static void keep_error(void *context, const char *sentence)
{
    errors++;
    (void)snprintf(context, 256, "%s", sentence);
}

static pu1_session_t *make(void)
{
    memset(&vendor, 0, sizeof vendor);
    vendor.metadata = "{\"a\": 1}";
    vendor.kind = GPU_MEMSET;
    return pu1_session_new(&vendors);
}

const char *Session_KeepsCopies(void);
const char *Session_KeepsCopies(void)
{
    char error[256] = "";
    size_t count = 0;
    pu1_session_t *session = make();
    vendor.dropped = 5; /* before its time */
    CHECK(pu1_session_start(session, PU1_DEVICE_KINDS, keep_error, error) == 1);
    CHECK(vendor.enabled == PU1_DEVICE_KINDS);
    produce();
    vendor.metadata = "{\"a\": ";
    vendor.dropped = 8;
    pu1_session_stop(session);
    CHECK(vendor.enabled == 0);
    pu1_session_finish(session, keep_error, error);
    const pu1_item_t *items = pu1_session_items(session, &count);
    CHECK(vendor.flushes == 1 && count == 4 && error[0] == '\0');
    for (size_t i = 0; i < count; i++) {
        CHECK(strcmp(items[i].record.name, "a name") == 0 && items[i].vendor == 0);
        CHECK(items[i].record.correlation_id == i % 2 + 1);
        CHECK(items[i].record.process_id == (uint32_t)(i % 2 == 0 ? getpid() : 1 << 22));
        CHECK(items[i].record.thread_id == (i % 2 == 0 ? 0u : 1u << 22));
        CHECK(items[i].record.end_time == (i % 2 == 0 ? 200 : 100));
        CHECK(i < 2 ? strcmp(items[i].record.metadata, "{\"a\": 1}") == 0
                    : items[i].record.metadata == NULL);
    }
    CHECK(pu1_session_dropped(session) == 3);
    produce(); /* late: for nobody */
    (void)pu1_session_items(session, &count);
    CHECK(count == 4);
    pu1_session_free(session);
    produce();
    return NULL;
}

/* Of a newer minor version, or none at all. */
const char *Session_LeavesUnknownKindsAlone(void);
const char *Session_LeavesUnknownKindsAlone(void)
{
    static const uint32_t kinds[] = {0, PU1_LAST_KIND + 1, 31, 32, UINT32_MAX};
    size_t count = 0;
    pu1_session_t *session = make();
    CHECK(pu1_session_start(session, PU1_ALL_KINDS, NULL, NULL) == 1);
    for (size_t i = 0; i < 5; i++) {
        vendor.kind = kinds[i];
        produce();
    }
    pu1_session_finish(session, NULL, NULL);
    const pu1_item_t *items = pu1_session_items(session, &count);
    CHECK(count == 6); /* the first of each pair, and that of the flush */
    for (size_t i = 0; i < count; i++)
        CHECK(items[i].record.kind == CONCURRENT_KERNEL);
    pu1_session_free(session);
    return NULL;
}

static void keep_sentences(void *context, const char *sentence)
{
    char *all = context;
    (void)snprintf(all + strlen(all), 1024 - strlen(all), "%s\n", sentence);
}

const char *Session_TellsLosses(void);
const char *Session_TellsLosses(void)
{
    char said[1024] = "";
    pu1_session_t *session = make();
    CHECK(pu1_session_start(session, PU1_ALL_KINDS, NULL, NULL) == 1);
    vendor.kind = CONCURRENT_KERNEL;
    vendor.metadata = "[]"; /* two records, of which the second ends before it begins, too */
    produce();
    vendor.kind = 99; /* the first of two, and one of no kind */
    produce();
    vendor.dropped = 4;
    vendor.metadata = "{}";
    vendor.full = true;
    pu1_session_push(1);
    pu1_session_push(2);
    pu1_session_finish(session, NULL, NULL); /* one of no kind */
    pu1_session_tell(session, keep_sentences, said);
    CHECK(strcmp(said, "4 records were dropped\n"
                       "3 records have no name, end before they begin, or have metadata that is no "
                       "JSON object: they are shown as far as they can be\n"
                       "2 records are of kinds that are not known here\n"
                       "2 scopes were not taken by a vendor: what was launched in them is shown in "
                       "those around them\n") == 0);
    pu1_session_free(session);
    pu1_session_pop();
    pu1_session_pop();
    session = make();
    CHECK(pu1_session_start(session, PU1_DEVICE_KINDS, NULL, NULL) == 1);
    vendor.flushes = 0;
    pu1_session_push(1);
    pu1_session_pop();
    vendor.metadata = "{}";
    vendor.quiet = true;
    pu1_session_finish(session, NULL, NULL);
    said[0] = '\0';
    pu1_session_tell(session, keep_sentences, said);
    CHECK(said[0] == '\0');
    pu1_session_free(session);
    return NULL;
}

/* As deep as scopes are, the thread's stack at the vendor follows. */
const char *Session_PassesDeepIdsOn(void);
const char *Session_PassesDeepIdsOn(void)
{
    pu1_session_t *session = make();
    CHECK(pu1_session_start(session, PU1_ALL_KINDS, NULL, NULL) == 1);
    for (uint64_t id = 1; id <= DEEP; id++)
        pu1_session_push(id);
    CHECK(vendor.depth == DEEP && vendor.stack[DEEP - 1] == DEEP);
    for (uint64_t id = DEEP; id > 1; id--)
        pu1_session_pop();
    CHECK(vendor.depth == 1 && vendor.stack[0] == 1);
    pu1_session_pop();
    CHECK(vendor.depth == 0);
    pu1_session_finish(session, NULL, NULL);
    pu1_session_free(session);
    return NULL;
}

const char *Session_TellsErrors(void);
const char *Session_TellsErrors(void)
{
    char error[256] = "";
    pu1_session_t *session = make();
    vendor.answer = PU1_ERROR_NOT_SUPPORTED;
    CHECK(pu1_session_start(session, PU1_ALL_KINDS, keep_error, error) == 0 && error[0] == '\0');
    pu1_session_free(session);
    session = make();
    vendor.answer = PU1_ERROR_NOT_INITIALIZED;
    errors = 0;
    CHECK(pu1_session_start(session, PU1_ALL_KINDS, keep_error, error) == 0);
    CHECK(strcmp(error, "made up cannot be traced: it is not there") == 0 && errors == 1);
    pu1_session_finish(session, keep_error, error);
    CHECK(vendor.flushes == 0);
    pu1_session_free(session);
    return NULL;
}

const char *Session_IsOneAtATime(void);
const char *Session_IsOneAtATime(void)
{
    char error[256] = "";
    size_t count = 0;
    pu1_session_t *first = make();
    pu1_session_t *second = pu1_session_new(&vendors);
    CHECK(pu1_session_start(first, PU1_ALL_KINDS, NULL, NULL) == 1);
    CHECK(pu1_session_start(second, PU1_ALL_KINDS, keep_error, error) == 0);
    CHECK(strcmp(error, "another session is running") == 0);
    pu1_session_free(second);
    CHECK(vendor.enabled == PU1_ALL_KINDS);
    produce();
    pu1_session_finish(first, NULL, NULL);
    (void)pu1_session_items(first, &count);
    CHECK(count == 4);
    pu1_session_free(first);
    return NULL;
}

const char *Session_PassesIdsOn(void);
const char *Session_PassesIdsOn(void)
{
    pu1_session_t *session = make();
    pu1_session_push(1); /* before the start */
    CHECK(vendor.depth == 0);
    CHECK(pu1_session_start(session, PU1_ALL_KINDS, NULL, NULL) == 1);
    pu1_session_push(2);
    pu1_session_push(3);
    CHECK(vendor.depth == 2 && vendor.stack[1] == 3);
    pu1_session_pop();
    pu1_session_stop(session);
    pu1_session_push(4); /* after the end */
    CHECK(vendor.depth == 1);
    pu1_session_pop();
    CHECK(vendor.depth == 1);
    pu1_session_finish(session, NULL, NULL);
    pu1_session_free(session);
    session = pu1_session_new(&vendors);
    CHECK(pu1_session_start(session, PU1_ALL_KINDS, NULL, NULL) == 1);
    pu1_session_push(5); /* 2 was never popped */
    CHECK(vendor.depth == 1 && vendor.stack[0] == 5);
    pu1_session_pop();
    pu1_session_pop();
    pu1_session_pop();
    CHECK(vendor.depth == 0);
    for (uint64_t i = 0; i < 60; i++)
        pu1_session_push(i);
    for (uint64_t i = 0; i < 60; i++)
        pu1_session_pop();
    CHECK(vendor.depth == 0);
    pu1_session_free(session);
    return NULL;
}

/* ---- rows ---- */

static pu1_item_t work_of(size_t of, uint32_t device, uint64_t stream)
{
    return (pu1_item_t){
        .record = {.kind = CONCURRENT_KERNEL, .device_id = device, .stream_id = stream},
        .vendor = of};
}

const char *Rows_AreNumbersOfTheirOwn(void);
const char *Rows_AreNumbersOfTheirOwn(void)
{
    const pu1_item_t items[] = {
        work_of(7, PU1_NO_DEVICE, 5),
        work_of(0, 0, 3),
        work_of(0, 16, UINT64_MAX),
        work_of(0, 16, 1ull << 32),
        work_of(1, 0, 3),
        work_of(0, 0xfffe, 1),
        work_of(0, 0xffff, 1),
        work_of(1, 0xffff, 1),
        work_of(0, UINT32_MAX - 1, 1),
        work_of(0, 0, 3),
        work_of(0, PU1_NO_DEVICE, 1),
        {.record = {.kind = PRIVATEUSE1_RUNTIME}},
    };
    static const int32_t wanted[][2] = {
        {(1 << 24) + 7 * 65536 + 65535, 5},
        {1 << 24, 3},
        {(1 << 24) + 16, (1 << 30) + 1},
        {(1 << 24) + 16, 1 << 30},
        {(1 << 24) + 65536, 3},
        {(1 << 24) + 0xfffe, 1},
        {(1 << 24) + (1 << 20), 1},
        {(1 << 24) + (1 << 20) + 2, 1},
        {(1 << 24) + (1 << 20) + 1, 1},
        {1 << 24, 3},
        {(1 << 24) + 65535, 1},
    };
    size_t count = 0;
    pu1_rows_t *rows = pu1_rows_new(items, sizeof items / sizeof *items);
    CHECK(rows != NULL);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const pu1_row_t *row = pu1_row_of(rows, &items[i]);
        CHECK(pu1_is_device_work(&items[i]));
        CHECK(row != NULL && row->process == wanted[i][0] && row->thread == wanted[i][1]);
        CHECK(row->vendor == items[i].vendor && row->stream == items[i].record.stream_id);
    }
    CHECK(!pu1_is_device_work(&items[11]));
    const pu1_row_t *all = pu1_rows_all(rows, &count);
    CHECK(count == 10 && all[0].process == 1 << 24 && all[9].vendor == 7);
    pu1_item_t other = work_of(3, 0, 0);
    CHECK(pu1_row_of(rows, &other) == NULL);
    pu1_rows_free(rows);
    rows = pu1_rows_new(NULL, 0);
    CHECK(rows != NULL && pu1_row_of(rows, &other) == NULL);
    pu1_rows_free(rows);
    return NULL;
}

const char *Session_TellsFlowsApart(void);
const char *Session_TellsFlowsApart(void)
{
    static const pu1_vendors_t three = {3, &made_up};
    uint64_t seen[30];
    unsigned count = 0;
    for (size_t v = 0; v < 3; v++)
        for (uint64_t id = 1; id <= 10; id++) {
            pu1_item_t item = {.record = {.correlation_id = id}, .vendor = v};
            uint64_t flow = pu1_flow_id(&three, &item);
            for (unsigned i = 0; i < count; i++)
                CHECK(seen[i] != flow);
            seen[count++] = flow;
            CHECK(pu1_flow_id(&vendors, &(pu1_item_t){.record = {.correlation_id = id}}) == id);
        }
    return NULL;
}
