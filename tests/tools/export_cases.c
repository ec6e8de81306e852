/* What `rtl export` writes of names that are hard to write, and the parts that it is made of. */
#include "export/lanes.h"
#include "export/later.h"
#include "export/levels.h"
#include "export/proto.h"
#include "export/rpd_arguments.h"
#include "export/sent.h"
#include "export/utf8.h"
#include "made.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Texts that a format may stumble over. The last two are not UTF-8. */
static const char *const hard[] = {
    "a \"quoted\", parted name",
    "two\r\nlines\tand \\ a tab",
    "\x01\x1f\x7f",
    "na\xc3\xafve \xf0\x9f\x9a\x80",
    "cut \xc3",
    "\xff\xfe\xed\xa0\x80 wrong",
};

enum { HARD = sizeof hard / sizeof hard[0] };

static void hard_names(struct rtl_ring *ring)
{
    made_definitions(ring);
    made_queue(ring, 0, 0x1000, MADE_BEGIN_NS);
    for (uint32_t i = 0; i < HARD; ++i) {
        uint64_t start = MADE_BEGIN_NS + UINT64_C(1000) * i;
        made_range(ring, RTL_RANGE_PUSH, i + 1, 0, start, hard[i]);
        made_range_end(ring, i + 1, start + 500);
        uint64_t tick = MADE_BEGIN + UINT64_C(100) * i;
        made_kernel_of(ring, i, i + 1, tick, tick + 10);
    }
    made_name(ring, RTL_NAMED_THREAD, 71, hard[0]);
    made_copies(ring, 1);
    made_copy(ring, 1, 4096, RTL_COPY_HOST_TO_DEVICE, RTL_ENGINE_SDMA, MADE_BEGIN + 5,
              MADE_BEGIN + 9);
    made_copy(ring, 1, 10, RTL_COPY_HOST_TO_HOST, RTL_ENGINE_HOST, 0, 0);
    made_ledger(ring, 0, HARD, HARD, 0);
    rtl_ring_close(ring);
}

static const char *make_hard(struct made *made)
{
    CHECK_DONE(made_begin(made));
    (void)made_process(made, hard_names);
    return made_end(made);
}

/* Runs a shell command in the folder, with RTL the program and T the trace; true if it says that
 * all is well. */
static bool fine(const struct made *made, const char *command)
{
    char line[4 * MADE_PATH];
    (void)snprintf(line, sizeof line, "cd %s && RTL=%s T=%s && { %s; } >>log 2>&1", made->folder,
                   RTL_COMMAND, made->trace, command);
    return made_shell(line) == 0;
}

/* Names as jq and Python read them. The writer keeps what is no UTF-8 out of traces, so it is put
 * there by hand; it is replaced as the standard has it. */
const char *Export_HardNames(void)
{
    struct made made;
    CHECK_DONE(make_hard(&made));
    CHECK(fine(&made,
               "sqlite3 $T \"UPDATE ranges SET name = cast(x'63757420c3' AS TEXT) WHERE id = 5;"
               " UPDATE ranges SET name = cast(x'fffeeda0802077726f6e67' AS TEXT) WHERE id = 6\""));
    CHECK(fine(&made,
               "$RTL export $T -F chrome -o t.json 2>said && grep -q '1 copy is left out' said"));
    CHECK(fine(&made, "jq -e '.traceEvents | length' t.json"));
    CHECK(fine(&made, "$RTL export $T -F csv --table ranges -o r.csv"));
    CHECK(fine(&made, "python3 " EXPORT_NAMES " t.json r.csv"));
    CHECK(
        fine(&made, "$RTL export $T -F csv --table copies -o - | grep -q ',,,,10,host-to-host,'"));
    made_clean(&made);
    return NULL;
}

/* Files that are there stay as they are, and no export leaves anything that is not whole. */
const char *Export_Files(void)
{
    struct made made;
    CHECK_DONE(make_hard(&made));
    CHECK(fine(&made, "cp $T mine.db && echo precious > mine.csv"));
    CHECK(fine(&made, "! $RTL export mine.db -F csv && [ \"$(cat mine.csv)\" = precious ]"));
    CHECK(fine(&made, "$RTL export mine.db -F csv -f && head -1 mine.csv | grep -q ^id,process"));
    CHECK(
        fine(&made,
             "echo precious > p-2.csv && ! $RTL export mine.db -F csv --split-size 300 -o p.csv"));
    CHECK(fine(&made, "[ ! -e p-1.csv ] && [ \"$(cat p-2.csv)\" = precious ]"));
    CHECK(fine(&made, "$RTL export mine.db -F csv --split-size 300 -o p.csv -f && [ -s p-1.csv ] "
                      "&& [ -s p-3.csv ]"));
    CHECK(fine(&made, "! $RTL export mine.db -F chrome -o /dev/full/x.json"));
    CHECK(fine(&made, "! $RTL export mine.db -F chrome -o - > /dev/full"));
    CHECK(fine(&made, "[ -z \"$(find . -name '*.csv.*' -o -name '*.json.*')\" ]"));
    made_clean(&made);
    return NULL;
}

const char *Export_Utf8(void)
{
    CHECK(utf8_sequence("a") == 1 && utf8_sequence("\x7f") == 1);
    CHECK(utf8_sequence("\xc2\x80") == 2 && utf8_sequence("\xdf\xbf") == 2);
    CHECK(utf8_sequence("\xe0\xa0\x80") == 3 && utf8_sequence("\xef\xbf\xbf") == 3);
    CHECK(utf8_sequence("\xf0\x90\x80\x80") == 4 && utf8_sequence("\xf4\x8f\xbf\xbf") == 4);
    CHECK(utf8_sequence("\x80") == 0 && utf8_sequence("\xc1\xbf") == 0 &&
          utf8_sequence("\xc2") == 0);
    CHECK(utf8_sequence("\xe0\x9f\xbf") == 0 && utf8_sequence("\xed\xa0\x80") == 0);
    CHECK(utf8_sequence("\xf0\x8f\xbf\xbf") == 0 && utf8_sequence("\xf4\x90\x80\x80") == 0);
    CHECK(utf8_sequence("\xf5\x80\x80\x80") == 0 && utf8_sequence("\xe1\x80") == 0);
    return NULL;
}

/* The examples of protobuf's own description of its encoding, and a long message. */
const char *Export_Protobuf(void)
{
    static const unsigned char number[] = {0x08, 0x96, 0x01};
    static const unsigned char testing[] = {0x12, 0x07, 't', 'e', 's', 't', 'i', 'n', 'g'};
    static const unsigned char inside[] = {0x1a, 0x03, 0x08, 0x96, 0x01};
    static const unsigned char fixed[] = {0xf9, 0x02, 8, 7, 6, 5, 4, 3, 2, 1};
    struct proto proto = {0};
    char letters[301];
    proto_number(&proto, 1, 150);
    CHECK(proto.used == sizeof number && memcmp(proto.bytes, number, sizeof number) == 0);
    proto_clear(&proto);
    proto_text(&proto, 2, "testing");
    CHECK(proto.used == sizeof testing && memcmp(proto.bytes, testing, sizeof testing) == 0);
    proto_clear(&proto);
    size_t begin = proto_begin(&proto, 3);
    proto_number(&proto, 1, 150);
    proto_end(&proto, begin);
    CHECK(proto.used == sizeof inside && memcmp(proto.bytes, inside, sizeof inside) == 0);
    proto_clear(&proto);
    proto_fixed64(&proto, 47, UINT64_C(0x0102030405060708));
    CHECK(proto.used == sizeof fixed && memcmp(proto.bytes, fixed, sizeof fixed) == 0);
    proto_clear(&proto);
    memset(letters, 'x', sizeof letters - 1);
    letters[sizeof letters - 1] = '\0';
    begin = proto_begin(&proto, 1);
    proto_text(&proto, 2, letters);
    proto_end(&proto, begin);
    CHECK(proto.used == 306 && proto.bytes[1] == 0xaf && proto.bytes[2] == 0x02);
    CHECK(proto.bytes[3] == 0x12 && proto.bytes[4] == 0xac && proto.bytes[5] == 0x02);
    CHECK(proto.bytes[6] == 'x' && proto.bytes[305] == 'x');
    proto_clear(&proto);
    proto_text(&proto, 2,
               "a\xff"
               "b");
    CHECK(proto.used == 5 && memcmp(proto.bytes + 2, "a?b", 3) == 0 && !proto.failed);
    proto_free(&proto);
    return NULL;
}

struct samples {
    uint64_t times[64], counts[64];
    unsigned count;
};

static void take_sample(void *state, struct level *level, uint64_t time)
{
    struct samples *samples = state;
    samples->times[samples->count] = time;
    samples->counts[samples->count++] = level->value;
}

/* What changes twice at a time has one sample, which comes when that time is over. */
const char *Export_Levels(void)
{
    static const uint64_t times[] = {10, 10, 30};
    static const uint64_t counts[] = {2, 7, 1};
    const struct lane_key one = {1, 1, 7, 0};
    const struct lane_key other = {1, 2, 7, 0};
    struct levels levels = {0};
    struct samples samples = {.count = 0};
    struct level *level = levels_of(&levels, &one);
    CHECK(level && level != levels_of(&levels, &other) && level == levels_of(&levels, &one));
    levels_until(&levels, 10, take_sample, &samples);
    levels_set(&levels, level, 10, 1);
    levels_set(&levels, levels_of(&levels, &other), 10, 7);
    levels_set(&levels, level, 10, 2);
    levels_until(&levels, 10, take_sample, &samples);
    CHECK(samples.count == 0);
    levels_until(&levels, 30, take_sample, &samples);
    CHECK(samples.count == 2);
    levels_set(&levels, level, 30, 1);
    levels_until(&levels, UINT64_MAX, take_sample, &samples);
    CHECK(samples.count == 3);
    CHECK(memcmp(samples.times, times, sizeof times) == 0);
    CHECK(memcmp(samples.counts, counts, sizeof counts) == 0);
    levels_free(&levels);
    return NULL;
}

/* Whatever the order in which they come, they are taken by time. */
const char *Export_Later(void)
{
    struct later later = {0};
    struct later_item item;
    for (uint64_t i = 0; i < 1000; ++i) {
        item = (struct later_item){.time = i * 7919 % 1000, .track = i};
        CHECK(later_add(&later, &item));
    }
    for (uint64_t i = 0; i < 1000; ++i) {
        CHECK(i == 0 || !later_take(&later, i - 1, &item));
        CHECK(later_take(&later, i, &item) && item.time == i && item.track * 7919 % 1000 == i);
    }
    CHECK(!later_take(&later, UINT64_MAX, &item));
    later_free(&later);
    return NULL;
}

const char *Export_Lanes(void)
{
    const struct lane_key one = {1, 1, 7, 0};
    const struct lane_key other = {1, 1, 8, 0};
    int owner;
    struct lanes lanes = {0};
    CHECK(lanes_take(&lanes, &one, NULL, 10, 20)->number == 0);
    CHECK(lanes_take(&lanes, &one, NULL, 15, 30)->number == 1);
    CHECK(lanes_take(&lanes, &other, NULL, 15, 30)->number == 0);
    CHECK(lanes_take(&lanes, &one, NULL, 20, 25)->number == 0);
    struct lane *lane = lanes_take(&lanes, &one, &owner, 26, 28);
    CHECK(lane->number == 0 && lane->end == 28);
    lane->owner = &owner;
    lane->busy = 100;
    CHECK(lanes_take(&lanes, &one, NULL, 28, 29)->number == 2);
    CHECK(lanes_take(&lanes, &one, &owner, 28, 40)->number == 0);
    CHECK(lanes_take(&lanes, &one, &owner, 39, 45)->number == 1);
    CHECK(lanes_take(&lanes, &one, NULL, 100, 101)->number == 0);
    lanes_free(&lanes);
    return NULL;
}

const char *Export_Sent(void)
{
    struct sent sent = {0};
    CHECK(!sent_has(&sent, 1, 5) && !sent_first(&sent, 1, 5));
    CHECK(sent_add(&sent, 1, 5) && sent_add(&sent, 1, 3) && sent_add(&sent, 2, 4));
    CHECK(sent_has(&sent, 1, 5) && sent_has(&sent, 1, 3) && !sent_has(&sent, 1, 4));
    CHECK(sent_first(&sent, 1, 5) && !sent_first(&sent, 1, 5) && sent_has(&sent, 1, 5));
    CHECK(sent_add(&sent, 1, 5 + SENT_WINDOW - 1) && sent_has(&sent, 1, 5));
    CHECK(sent_add(&sent, 1, 5 + SENT_WINDOW) && !sent_has(&sent, 1, 5) && sent_has(&sent, 2, 4));
    CHECK(sent_add(&sent, 1, 5 + 9 * (uint64_t)SENT_WINDOW));
    CHECK(!sent_has(&sent, 1, 5 + SENT_WINDOW) &&
          !sent_has(&sent, 1, 6 + 8 * (uint64_t)SENT_WINDOW));
    sent_clear(&sent);
    CHECK(!sent_has(&sent, 2, 4) && sent_add(&sent, 2, 4) && sent_first(&sent, 2, 4));
    sent_free(&sent);
    return NULL;
}

/* As RPD's recorder has them: its tools cut at the bars and ask for `graph`, `graphExec`, `stream`.
 */
const char *Export_RpdArguments(void)
{
    static const rtl_parameter_t parameters[] = {{"pGraph", 'P', ""}, {"*", 'P', ""},
                                                 {"stream", 's', ""}, {"grid", '3', ""},
                                                 {"p", 'P', ""},      {"flags", 'u', ""}};
    static const uint64_t words[] = {0x10, 0x20, 0, UINT64_C(2) << 32 | 1, 3, 0x30, 7};
    static const rtl_call_definition_t definition = {
        .name = "call", .parameters = parameters, .parameter_count = 6};
    rtl_api_t api = {.name = "call", .definition = &definition, .words = words, .word_count = 7};
    char text[256];
    char short_text[12];
    rpd_arguments(&api, text, sizeof text);
    CHECK(strcmp(text, "graph = 0x10 | * = 0x20 | stream = 0x0 | grid = {1, 2, 3} | p = 0x30 |"
                       " flags = 7") == 0);
    rpd_arguments(&api, short_text, sizeof short_text);
    CHECK(strcmp(short_text, "graph = 0x1") == 0);
    api.result = 1; /* nothing was filled */
    rpd_arguments(&api, text, sizeof text);
    CHECK(strcmp(text, "graph = ? | * = ? | stream = 0x0 | grid = {1, 2, 3} | p = ? | flags = 7") ==
          0);
    api.definition = NULL;
    api.word_count = 2;
    rpd_arguments(&api, text, sizeof text);
    CHECK(strcmp(text, "0x10 | 0x20") == 0);
    return NULL;
}

/* A text that comes again soon is the same one, and no two are one, however many have come. */
const char *Export_RpdTexts(void)
{
    struct rpd_recent recent = {0};
    char text[32];
    bool added;
    int64_t first = -1;
    int64_t last = -1;
    for (unsigned i = 0; i < 50000; ++i) {
        (void)snprintf(text, sizeof text, "text %u", i);
        int64_t number = rpd_recent_number(&recent, text, &added);
        CHECK(added && number > last);
        CHECK(rpd_recent_number(&recent, text, &added) == number && !added);
        last = number;
        if (i == 0)
            first = number;
    }
    CHECK(rpd_recent_number(&recent, "text 0", &added) != first && added);
    CHECK(recent.texts.count < 20000);
    rpd_recent_free(&recent);
    return NULL;
}
