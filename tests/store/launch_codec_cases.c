/* Chunks of graph launches: what goes in comes out, and the bytes are those of the specification.
 */
#include "fixture.h"

#include "store/launch_codec.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 3000, SPANS = MOST * 3 };

struct content {
    struct rtl_launch_row rows[MOST];
    struct rtl_graphs_span spans[SPANS];
    uint32_t count, span_count;
};

static bool same_row(const struct rtl_launch_row *a, const struct rtl_launch_row *b)
{
    return a->time == b->time && a->correlation == b->correlation && a->range == b->range &&
           a->first == b->first && a->launch == b->launch && a->graph == b->graph &&
           a->generation == b->generation && a->plan == b->plan && a->head_plan == b->head_plan &&
           a->thread == b->thread && a->queue == b->queue && a->packets == b->packets &&
           a->kernels == b->kernels && a->recorded == b->recorded && a->unseen == b->unseen &&
           a->span_count == b->span_count;
}

/* Packs and unpacks. */
static const char *round_trip(const struct content *in)
{
    static struct rtl_launch_row rows[MOST];
    static struct rtl_graphs_span spans[SPANS];
    struct rtl_launch_codec *codec = rtl_launch_codec_new();
    struct rtl_launch_chunk chunk = {.process = 3};
    struct rtl_launch_packed packed;
    CHECK(codec);
    CHECK(rtl_launch_encode(codec, in->rows, in->count, in->spans, &chunk, &packed) == 0);
    CHECK(chunk.launches == in->count && chunk.spans == in->span_count);
    CHECK(rtl_launch_intact(&chunk, packed.data, packed.size));
    CHECK(rtl_launch_summary_intact(&chunk, packed.summary, packed.summary_size));
    unsigned char *data = malloc(packed.size);
    CHECK(data);
    memcpy(data, packed.data, packed.size);
    int decoded = rtl_launch_decode(codec, &chunk, data, packed.size, rows, spans);
    free(data);
    CHECK(decoded == 0);
    for (uint32_t i = 0; i < in->count; i++) {
        CHECK(same_row(&rows[i], &in->rows[i]));
        for (uint32_t j = 0; j < rows[i].span_count; j++) {
            const struct rtl_graphs_span *a = &spans[rows[i].span + j];
            const struct rtl_graphs_span *b = &in->spans[in->rows[i].span + j];
            CHECK(a->queue == b->queue && a->start == b->start && a->end == b->end);
        }
    }
    rtl_launch_codec_free(codec);
    return NULL;
}

static uint64_t any64(uint64_t *random)
{
    static const uint64_t extremes[] = {0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    uint64_t number = fixture_random(random);
    return number % 3 ? fixture_random(random) >> number % 64 : extremes[number / 3 % 5];
}

static uint32_t any32(uint64_t *random)
{
    uint64_t number = any64(random);
    return number % 2 ? (uint32_t)number : (uint32_t)(number >> 32);
}

/* Anything a file can hold. */
static void fill_adversarial(struct content *content, uint64_t *random)
{
    uint32_t launch = any32(random) / 2;
    content->count = 1 + (uint32_t)fixture_random(random) % 100;
    content->span_count = 0;
    for (uint32_t i = 0; i < content->count; i++) {
        struct rtl_launch_row *row = &content->rows[i];
        bool found = fixture_random(random) % 2;
        *row = (struct rtl_launch_row){.time = any64(random),
                                       .correlation = any64(random),
                                       .range = any64(random),
                                       .first = found ? any64(random) : 0,
                                       .launch = launch,
                                       .graph = found ? RTL_NONE : any32(random) % RTL_NONE,
                                       .generation = any32(random),
                                       .plan = any32(random),
                                       .head_plan = any32(random),
                                       .thread = any32(random),
                                       .queue = any32(random),
                                       .packets = any32(random),
                                       .kernels = any32(random),
                                       .recorded = any32(random),
                                       .unseen = any32(random),
                                       .span = content->span_count,
                                       .span_count = (uint32_t)fixture_random(random) % 4};
        for (uint32_t j = 0; j < row->span_count; j++)
            content->spans[content->span_count++] =
                (struct rtl_graphs_span){any32(random), any64(random), any64(random)};
        launch += (uint32_t)fixture_random(random) % (i % 7 ? 3 : 20000000);
    }
}

const char *LaunchCodec_ReturnsWhatWentIn(void)
{
    static struct content content;
    uint64_t random = 8;
    for (int round = 0; round < 400; round++) {
        fill_adversarial(&content, &random);
        CHECK_DONE(round_trip(&content));
    }
    return NULL;
}

/* A million replays must not cost many bytes each: what repeats costs nothing, jitter some. */
const char *LaunchCodec_ReplaysAreSmall(void)
{
    static struct content content;
    struct rtl_launch_codec *codec = rtl_launch_codec_new();
    struct rtl_launch_chunk chunk = {.process = 1};
    struct rtl_launch_packed packed;
    uint64_t random = 9;
    uint64_t time = 1000000;
    content.count = content.span_count = MOST;
    for (uint32_t i = 0; i < MOST; i++) {
        time += 100000 + fixture_random(&random) % 1000;
        content.rows[i] = (struct rtl_launch_row){.time = time,
                                                  .correlation = UINT64_C(7) * i,
                                                  .launch = i + 1,
                                                  .graph = 1,
                                                  .generation = 1,
                                                  .plan = 1,
                                                  .thread = 5,
                                                  .packets = 8,
                                                  .kernels = 8,
                                                  .recorded = 8,
                                                  .span = i,
                                                  .span_count = 1};
        content.spans[i] = (struct rtl_graphs_span){0, time / 10, time / 10 + 900 + i % 8};
    }
    CHECK_DONE(round_trip(&content));
    CHECK(rtl_launch_encode(codec, content.rows, MOST, content.spans, &chunk, &packed) == 0);
    CHECK(packed.size + packed.summary_size < (size_t)8 * MOST);
    rtl_launch_codec_free(codec);
    return NULL;
}

/* The example of docs/format.md. */
const char *LaunchCodec_HasTheBytesOfTheSpecification(void)
{
    static const unsigned char data[] = {
        0x00, 0x01, 0x00,             /* launch */
        0x01, 0x02, 0x04, 0x00,       /* graph */
        0x01, 0x02, 0x02, 0x00,       /* generation */
        0x00, 0x01, 0x06,             /* plan */
        0x00, 0x01, 0x00,             /* head plan */
        0x01, 0x02, 0x0e, 0x00,       /* thread */
        0x00, 0x01, 0x00,             /* queue */
        0x01, 0x02, 0x08, 0x00,       /* packets */
        0x01, 0x02, 0x08, 0x00,       /* kernels */
        0x01, 0x02, 0x00, 0x01,       /* recorded */
        0x00, 0x01, 0x00,             /* unseen */
        0x01, 0x03, 0x00, 0xc8, 0x01, /* time */
        0x01, 0x02, 0x00, 0x02,       /* correlation */
        0x00, 0x01, 0x00,             /* range */
        0x00, 0x01, 0x01,             /* spans */
        0x01, 0x00,                   /* first */
        0x00, 0x01, 0x00,             /* queue of a span */
        0x01, 0x03, 0xa0, 0x01, 0x77, /* start */
        0x01, 0x02, 0x28, 0x11,       /* end */
    };
    static const unsigned char summary[] = {0x01, 0x03, 0x01, 0x00, 0x00, 0x02, 0x00,
                                            0x08, 0x07, 0x01, 0x00, 0x50, 0x83, 0x01};
    const struct rtl_launch_row rows[] = {
        {1000, 20, 0, 0, 5, 2, 1, 3, 0, 7, 0, 4, 4, 4, 0, 0, 1},
        {1100, 21, 0, 0, 6, 2, 1, 3, 0, 7, 0, 4, 4, 3, 0, 1, 1},
    };
    const struct rtl_graphs_span spans[] = {{0, 80, 100}, {0, 120, 131}};
    struct rtl_launch_codec *codec = rtl_launch_codec_new();
    struct rtl_launch_chunk chunk = {.process = 1};
    struct rtl_launch_packed packed;
    CHECK(rtl_launch_encode(codec, rows, 2, spans, &chunk, &packed) == 0);
    CHECK(packed.size == sizeof data && memcmp(packed.data, data, sizeof data) == 0);
    CHECK(packed.summary_size == sizeof summary &&
          memcmp(packed.summary, summary, sizeof summary) == 0);
    rtl_launch_codec_free(codec);
    return NULL;
}

/* The checksums would keep such bytes away. */
const char *LaunchCodec_StaysInsideWhateverTheBytes(void)
{
    static struct content content;
    static struct rtl_launch_row rows[MOST];
    static struct rtl_graphs_span spans[SPANS];
    struct rtl_launch_codec *codec = rtl_launch_codec_new();
    struct rtl_launch_codec *reader = rtl_launch_codec_new();
    struct rtl_launch_summary summary = {0};
    struct rtl_launch_chunk chunk = {.process = 1};
    struct rtl_launch_packed packed;
    uint64_t random = 10;
    int refused = 0;
    for (int round = 0; round < 1500; round++) {
        fill_adversarial(&content, &random);
        CHECK(rtl_launch_encode(codec, content.rows, content.count, content.spans, &chunk,
                                &packed) == 0);
        size_t cut = round % 3 ? 0 : fixture_random(&random) % 8;
        unsigned char *bytes = malloc(packed.size + packed.summary_size);
        memcpy(bytes, packed.data, packed.size);
        bytes[fixture_random(&random) % packed.size] ^= (unsigned char)(1 + round % 255);
        refused += rtl_launch_decode(reader, &chunk, bytes, packed.size - cut, rows, spans) != 0;
        memcpy(bytes, packed.summary, packed.summary_size);
        bytes[fixture_random(&random) % packed.summary_size] ^= (unsigned char)(1 + round % 255);
        (void)rtl_launch_summary_decode(bytes, packed.summary_size, &summary);
        free(bytes);
    }
    CHECK(refused > 100);
    rtl_launch_summary_free(&summary);
    rtl_launch_codec_free(codec);
    rtl_launch_codec_free(reader);
    return NULL;
}

/* Groups and extents add up to the launches. */
const char *LaunchCodec_SummaryAddsUp(void)
{
    static struct content content;
    struct rtl_launch_codec *codec = rtl_launch_codec_new();
    struct rtl_launch_summary summary = {0};
    struct rtl_launch_chunk chunk = {.process = 1};
    struct rtl_launch_packed packed;
    uint64_t random = 11;
    for (int round = 0; round < 100; round++) {
        fill_adversarial(&content, &random);
        for (uint32_t i = 0; i < content.count; i++) {
            struct rtl_launch_row *row = &content.rows[i];
            row->graph = row->graph == RTL_NONE ? RTL_NONE : row->graph % 3;
            row->generation = row->graph == RTL_NONE ? 0 : 1;
            row->plan %= 4;
            row->thread %= 3;
        }
        CHECK(rtl_launch_encode(codec, content.rows, content.count, content.spans, &chunk,
                                &packed) == 0);
        CHECK(rtl_launch_summary_decode(packed.summary, packed.summary_size, &summary) == 0);
        for (size_t i = 0; i < summary.group_count; i++) {
            const struct rtl_launch_group *group = &summary.groups[i];
            uint64_t launches = 0;
            uint64_t kernels = 0;
            uint64_t recorded = 0;
            for (uint32_t j = 0; j < content.count; j++) {
                const struct rtl_launch_row *row = &content.rows[j];
                if (row->graph != group->graph ||
                    (row->graph == RTL_NONE &&
                     (row->plan != group->plan || row->thread != group->thread)))
                    continue;
                launches++;
                kernels += row->kernels;
                recorded += row->recorded;
            }
            CHECK(group->launches == launches && group->kernels == kernels &&
                  group->recorded == recorded);
        }
        for (uint32_t i = 0; i < content.span_count; i++) {
            bool there = false;
            for (size_t j = 0; j < summary.extent_count; j++)
                there = there || (summary.extents[j].queue == content.spans[i].queue &&
                                  summary.extents[j].start <= content.spans[i].start &&
                                  summary.extents[j].end >= content.spans[i].end &&
                                  summary.extents[j].end >= content.spans[i].start);
            CHECK(there);
        }
    }
    rtl_launch_summary_free(&summary);
    rtl_launch_codec_free(codec);
    return NULL;
}

/* The order as SQL says it. */
const char *LaunchCodec_OrderIsThatOfTheSpecification(void)
{
    static const char query[] =
        "SELECT place FROM r ORDER BY coalesce(CASE WHEN packets = 1 AND graph IS NULL THEN"
        " (SELECT min(n.launch) - 0.5 FROM r AS n WHERE n.queue = r.queue AND n.graph IS NULL"
        " AND n.first > r.first AND n.launch BETWEEN r.launch - 64 AND r.launch) END, launch),"
        " launch";
    static struct rtl_launch_row rows[400];
    uint32_t order[400];
    uint64_t random = 12;
    for (int round = 0; round < 30; round++) {
        sqlite3 *db = NULL;
        sqlite3_stmt *row = NULL;
        uint32_t launch = 1;
        CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK);
        CHECK(sqlite3_exec(db,
                           "CREATE TABLE r(place, packets, graph, queue, first,"
                           " launch INTEGER PRIMARY KEY)",
                           NULL, NULL, NULL) == SQLITE_OK);
        for (uint32_t i = 0; i < 400; i++) {
            char insert[200];
            bool found = fixture_random(&random) % 4;
            rows[i] =
                (struct rtl_launch_row){.launch = launch,
                                        .graph = found ? RTL_NONE : 1,
                                        .queue = (uint32_t)fixture_random(&random) % 3,
                                        .packets = 1 + fixture_random(&random) % 3 / 2,
                                        .first = UINT64_C(10) * i + fixture_random(&random) % 100};
            (void)snprintf(insert, sizeof insert, "INSERT INTO r VALUES(%u, %u, %s, %u, %u, %u)", i,
                           rows[i].packets, found ? "NULL" : "1", rows[i].queue,
                           (unsigned)rows[i].first, launch);
            CHECK(sqlite3_exec(db, insert, NULL, NULL, NULL) == SQLITE_OK);
            launch += 1 + (uint32_t)fixture_random(&random) % (round % 2 ? 2 : 30);
        }
        CHECK(rtl_launch_order(rows, 400, order) == 0);
        CHECK(sqlite3_prepare_v2(db, query, -1, &row, NULL) == SQLITE_OK);
        for (uint32_t i = 0; i < 400; i++) {
            CHECK(sqlite3_step(row) == SQLITE_ROW);
            CHECK((uint32_t)sqlite3_column_int(row, 0) == order[i]);
        }
        (void)sqlite3_finalize(row);
        (void)sqlite3_close(db);
    }
    return NULL;
}
