/* Statistics of all kernels: that they are what the kernels add up to, aggregate_cases.c tells. */
#include "fixture.h"
#include "store/chunk_stat.h"
#include "store/merge.h"
#include "store/reader.h"
#include "store/stat_codec.h"
#include "store/stats_make.h"
#include "store/stats_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KERNELS = 3000, NODES = 5000 };

/* The codec. */

static bool add_all(struct rtl_stat *stat, const uint64_t *durations, size_t count)
{
    *stat = (struct rtl_stat){0};
    for (size_t i = 0; i < count; i++)
        if (!rtl_stat_add(stat, durations[i]))
            return false;
    return true;
}

/* The example of docs/format.md, worked out there by hand. */
const char *Stats_BlockHasTheBytesOfTheSpecification(void)
{
    static const unsigned char want[] = {
        0, 1, 0,                   /* queue: 0, then the same */
        1, 2, 6,    2,             /* shape: 3, then one more */
        1, 2, 1,    4,             /* graph: none, then 1 */
        1, 2, 0,    2,             /* generation: 0, then 1 */
        1, 2, 1,    6,             /* node: none, then 2 */
        1, 2, 3,    1,             /* kernels */
        1, 2, 100,  10,            /* least */
        1, 2, 3,    0,             /* greatest: beyond the least */
        1, 2, 3,    0,             /* total: beyond as many of the least */
        1, 4, 0x91, 0xef, 1,  100, /* sum of squares: 30609, then 100 */
        0, 1, 0,                   /* its high bits */
        1, 2, 2,    1,             /* steps */
        1, 3, 100,  2,    10,      /* step 100, then 103; step 10 */
        1, 3, 1,    0,    0,       /* two kernels in the first, one in the others */
    };
    static const uint64_t durations[] = {100, 103, 100, 10};
    const struct rtl_stat_group groups[] = {{.shape = 3, .graph = RTL_NONE, .node = RTL_NONE},
                                            {.shape = 4, .graph = 1, .generation = 1, .node = 2}};
    struct rtl_stat_codec *codec = rtl_stat_codec_new();
    struct rtl_stat_block block = {.process = 1};
    const unsigned char *data = NULL;
    struct rtl_stat stats[2];
    size_t size = 0;
    CHECK(codec && add_all(&stats[0], durations, 3) && add_all(&stats[1], durations + 3, 1));
    rtl_stat_put(codec, &groups[0], &stats[0]);
    rtl_stat_put(codec, &groups[1], &stats[1]);
    CHECK(rtl_stat_pack(codec, &block, &data, &size) == 0);
    CHECK(size == sizeof want && memcmp(data, want, size) == 0);
    CHECK(block.groups == 2 && block.bins == 3 && block.kernels == 4);
    const uint64_t fields[] = {1, 2, 3, 4};
    CHECK(block.checksum == fixture_checksum(fields, 4, want, sizeof want));
    rtl_stat_codec_free(codec);
    return NULL;
}

struct any {
    struct rtl_stat_group group;
    struct rtl_stat stat;
};

static bool make_any(struct any *any, uint64_t *seed)
{
    size_t count = 1 + fixture_random(seed) % (fixture_random(seed) % 4 ? 5 : 200);
    any->group =
        (struct rtl_stat_group){(uint32_t)fixture_random(seed) % 5, (uint32_t)fixture_random(seed),
                                count % 2 ? RTL_NONE : (uint32_t)fixture_random(seed),
                                (uint32_t)fixture_random(seed) % 3, (uint32_t)fixture_random(seed)};
    any->stat = (struct rtl_stat){0};
    for (size_t i = 0; i < count; i++) {
        uint64_t pick = fixture_random(seed);
        if (!rtl_stat_add(&any->stat, pick >> pick % 64))
            return false;
    }
    return true;
}

static bool same_stat(const struct rtl_stat *a, const struct rtl_stat *b)
{
    uint32_t one = 0;
    uint32_t other = 0;
    for (uint64_t count = 1; count; one++, other++) {
        count = rtl_stat_next_bin(a, &one);
        if (rtl_stat_next_bin(b, &other) != count || (count && one != other))
            return false;
    }
    return a->count == b->count && a->total == b->total && a->squares == b->squares &&
           a->max == b->max && rtl_stat_min(a) == rtl_stat_min(b);
}

static const char *check_block(struct rtl_stat_codec *codec, uint64_t *seed)
{
    enum { MOST = 50 };
    static struct any in[MOST];
    struct rtl_stat_block block = {.process = 9};
    const unsigned char *packed = NULL;
    size_t size = 0;
    size_t count = 1 + fixture_random(seed) % MOST;
    rtl_stat_begin(codec);
    for (size_t i = 0; i < count; i++) {
        CHECK(make_any(&in[i], seed));
        rtl_stat_put(codec, &in[i].group, &in[i].stat);
    }
    CHECK(rtl_stat_pack(codec, &block, &packed, &size) == 0 && block.groups == count);
    static unsigned char data[1 << 20];
    CHECK(size <= sizeof data);
    memcpy(data, packed, size);
    CHECK(rtl_stat_open(codec, &block, data, size) == 0);
    for (size_t i = 0; i < count; i++) {
        struct any out = {.stat = {0}};
        CHECK(rtl_stat_get(codec, &out.group, &out.stat) == 1);
        CHECK(memcmp(&out.group, &in[i].group, sizeof out.group) == 0);
        CHECK(same_stat(&out.stat, &in[i].stat));
        rtl_stat_free(&out.stat);
        rtl_stat_free(&in[i].stat);
    }
    struct any none = {.stat = {0}};
    CHECK(rtl_stat_get(codec, &none.group, &none.stat) == 0);
    data[size / 2] ^= 1;
    CHECK(rtl_stat_open(codec, &block, data, size) == -1);
    return NULL;
}

const char *Stats_AnyBlockComesBack(void)
{
    uint64_t seed = 17;
    struct rtl_stat_codec *codec = rtl_stat_codec_new();
    CHECK(codec);
    for (int i = 0; i < 200; i++)
        CHECK_DONE(check_block(codec, &seed));
    rtl_stat_codec_free(codec);
    return NULL;
}

/* A right checksum over numbers that contradict each other. */
const char *Stats_BlockThatContradictsItselfIsDamaged(void)
{
    static const uint64_t durations[] = {100, 103, 100};
    struct rtl_stat_codec *codec = rtl_stat_codec_new();
    const unsigned char *packed = NULL;
    unsigned char data[128];
    size_t size = 0;
    struct rtl_stat stat;
    CHECK(codec && add_all(&stat, durations, 3));
    const struct rtl_stat_group group = {.shape = 1};
    struct rtl_stat_block block = {.process = 1};
    rtl_stat_put(codec, &group, &stat);
    CHECK(rtl_stat_pack(codec, &block, &packed, &size) == 0 && size <= sizeof data);
    memcpy(data, packed, size);
    for (size_t i = 0; i < size; i++) {
        struct rtl_stat_group out;
        struct rtl_stat read = {0};
        const uint64_t fields[] = {1, 1, 2, 3};
        data[i] ^= 0x40;
        block.checksum = fixture_checksum(fields, 4, data, size);
        int got = rtl_stat_open(codec, &block, data, size);
        if (got == 0 && (got = rtl_stat_get(codec, &out, &read)) == 1) {
            /* What it says of the kernels may be anything, but not how many there are. */
            CHECK(read.count == 3);
            rtl_stat_free(&read);
            got = rtl_stat_get(codec, &out, &read);
        }
        CHECK(got == 0 || got == -1);
        rtl_stat_free(&read);
        data[i] ^= 0x40;
    }
    rtl_stat_codec_free(codec);
    return NULL;
}

/* In a trace. */

static bool add_stats(const char *path, struct rtl_stats_done *done)
{
    char error[512] = "";
    if (rtl_stats_add(path, done, error, sizeof error) == RTL_OK)
        return true;
    (void)fprintf(stderr, "%s\n", error);
    return false;
}

/* What the kernels of a trace add up to, by name and process, in one number each. */
struct sums {
    rtl_status_t status;
    bool usable, graphs; /* statistics */
    size_t groups;
    uint64_t kernels, total, busy;
    char error[256];
};

static void add_up(rtl_trace_t *trace, unsigned by, struct sums *sums)
{
    const rtl_aggregate_request_t request = RTL_AGGREGATE_BY(by);
    rtl_aggregate_t *aggregate = NULL;
    const rtl_group_t *groups = NULL;
    const rtl_queue_time_t *queues = NULL;
    size_t queue_count = 0;
    sums->usable = rtl_stats_usable(trace, false);
    sums->graphs = rtl_stats_usable(trace, true);
    sums->status = rtlTraceAggregate(trace, &request, &aggregate);
    (void)snprintf(sums->error, sizeof sums->error, "%s", rtlTraceError(trace));
    if (sums->status != RTL_OK)
        return;
    (void)rtlAggregateGroups(aggregate, &groups, &sums->groups);
    for (size_t i = 0; i < sums->groups; i++) {
        sums->kernels += groups[i].count;
        sums->total += groups[i].total;
    }
    (void)rtlAggregateQueues(aggregate, &queues, &queue_count);
    for (size_t i = 0; i < queue_count; i++)
        sums->busy += queues[i].span.busy;
    rtlAggregateFree(aggregate);
}

static struct sums sums_of(const char *path, unsigned by)
{
    struct sums sums = {.status = RTL_E_ARGUMENT};
    rtl_trace_t *trace = NULL;
    sums.status = rtlTraceOpen(path, &trace, sums.error, sizeof sums.error);
    if (sums.status == RTL_OK)
        add_up(trace, by, &sums);
    rtlTraceClose(trace);
    return sums;
}

/* Kernels of fixture_kernel last 1000 ticks of 10 ns, and are of two shapes in each of two queues.
 */
static bool are_fixtures(const struct sums *sums)
{
    return sums->status == RTL_OK && sums->kernels == (uint64_t)2 * KERNELS &&
           sums->total == UINT64_C(20000) * KERNELS && sums->busy == UINT64_C(20000) * KERNELS;
}

/* As well, of a chunk. */
const char *Stats_ChunkHasTheBytesOfTheSpecification(void)
{
    static const unsigned char want[] = {
        1, 2, 3,    2,      /* shape: 3, then 2 more */
        1, 2, 1,    0,      /* kernels: 2 - 1; 1 - 1 */
        1, 3, 0xcb, 1, 100, /* total: 203, 100 */
    };
    static const struct rtl_chunk_share shares[] = {{3, 2, 203}, {5, 1, 100}};
    const struct rtl_chunk_stat stat = {290, shares, 2};
    struct rtl_chunk_stat_codec *codec = rtl_chunk_stat_codec_new();
    struct rtl_chunk_stat_row row = {.chunk = 7};
    struct rtl_chunk_stat back;
    const unsigned char *data = NULL;
    size_t size = 0;
    CHECK(codec && rtl_chunk_stat_pack(codec, &stat, &row, &data, &size) == 0);
    CHECK(size == sizeof want && memcmp(data, want, size) == 0);
    const uint64_t fields[] = {7, 2, 290};
    CHECK(row.shapes == 2 && row.busy == 290 &&
          row.checksum == fixture_checksum(fields, 3, want, sizeof want));
    CHECK(rtl_chunk_stat_unpack(codec, &row, want, sizeof want, 3, &back) == 0);
    CHECK(back.busy == 290 && back.count == 2 && memcmp(back.shares, shares, sizeof shares) == 0);
    rtl_chunk_stat_codec_free(codec);
    return NULL;
}

static uint32_t checksum_of(const struct rtl_chunk_stat_row *row, const unsigned char *data,
                            size_t size)
{
    const uint64_t fields[] = {(uint64_t)row->chunk, row->shapes, row->busy};
    return fixture_checksum(fields, 3, data, size);
}

/* With a checksum that is right, and without. */
const char *Stats_DamagedChunkIsTold(void)
{
    static const struct {
        unsigned char data[16];
        size_t size;
        uint32_t shapes, kernels;
    } wrong[] = {
        {{1, 2, 3, 2, 1, 2, 1, 0, 1, 3, 0xcb, 1, 100}, 13, 2, 4}, /* of more kernels */
        {{1, 2, 3, 2, 1, 2, 1, 0, 1, 3, 0xcb, 1, 100}, 13, 2, 2}, /* of fewer */
        {{1, 2, 3, 2, 1, 2, 1, 0, 1, 3, 0xcb, 1, 100}, 13, 1, 2}, /* of fewer shapes */
        {{1, 2, 3, 0, 1, 2, 1, 0, 1, 3, 0xcb, 1, 100}, 13, 2, 3}, /* a shape twice */
        {{1, 2, 3, 2, 1, 2, 1, 0, 1, 3, 0xcb, 1, 100}, 12, 2, 3}, /* cut off */
        {{1, 2, 3, 2, 1, 2, 1, 0, 1, 3, 0xcb, 1, 100}, 13, 0, 0}, /* of nothing */
    };
    struct rtl_chunk_stat_codec *codec = rtl_chunk_stat_codec_new();
    CHECK(codec);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rtl_chunk_stat_row row = {.chunk = 7, .shapes = wrong[i].shapes, .busy = 290};
        struct rtl_chunk_stat stat;
        row.checksum = checksum_of(&row, wrong[i].data, wrong[i].size);
        CHECK(rtl_chunk_stat_unpack(codec, &row, wrong[i].data, wrong[i].size, wrong[i].kernels,
                                    &stat) == -1);
    }
    struct rtl_chunk_stat_row row = {.chunk = 7, .shapes = 2, .busy = 290};
    struct rtl_chunk_stat stat;
    row.checksum = checksum_of(&row, wrong[0].data, 13);
    CHECK(rtl_chunk_stat_unpack(codec, &row, wrong[0].data, 13, 3, &stat) == 0);
    row.busy++;
    CHECK(rtl_chunk_stat_unpack(codec, &row, wrong[0].data, 13, 3, &stat) == -1);
    rtl_chunk_stat_codec_free(codec);
    return NULL;
}

/* No kernel is unpacked: there is none to unpack any more. */
const char *Stats_AnswerWithoutKernels(void)
{
    char path[FIXTURE_PATH];
    struct rtl_stats_done done;
    CHECK(fixture_path(path) && fixture_trace(path, KERNELS));
    struct sums before = sums_of(path, RTL_BY_NAME);
    CHECK(are_fixtures(&before) && !before.usable);
    CHECK(add_stats(path, &done) && done.made && done.graphs);
    CHECK(done.kernels == (uint64_t)2 * KERNELS && done.groups == 4 && done.bytes > 0);
    CHECK(fixture_sql(path, "UPDATE kernel_chunks SET data = x''"));
    struct sums after = sums_of(path, RTL_BY_NAME);
    CHECK(are_fixtures(&after) && after.usable && after.graphs);
    CHECK(after.groups == before.groups);
    fixture_remove(path);
    return NULL;
}

/* Added again, they are the same; and they are not what they are made of. */
const char *Stats_AreAddedAgain(void)
{
    char path[FIXTURE_PATH];
    struct rtl_stats_done done[2];
    CHECK(fixture_path(path) && fixture_trace(path, KERNELS));
    CHECK(add_stats(path, &done[0]) && add_stats(path, &done[1]));
    CHECK(done[1].groups == done[0].groups && done[1].bytes == done[0].bytes);
    CHECK(fixture_number(path, "SELECT count(*) FROM stat_blocks") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM stat_spans") == 3);
    fixture_remove(path);
    return NULL;
}

/* Statistics of a trace that is another one now, as its digests tell, are passed over. */
const char *Stats_OfAnotherTraceAreNotUsed(void)
{
    char path[FIXTURE_PATH];
    struct rtl_stats_done done;
    CHECK(fixture_path(path) && fixture_trace(path, KERNELS) && add_stats(path, &done));
    CHECK(fixture_sql(path, "UPDATE stat_spans SET busy = 1"));
    struct sums used = sums_of(path, 0);
    CHECK(used.usable && used.busy == 2);
    CHECK(fixture_sql(path, "UPDATE digests SET digest = digest - 1 WHERE name = 'clock_points'"));
    struct sums passed = sums_of(path, 0);
    CHECK(are_fixtures(&passed) && !passed.usable);
    /* Of fewer kernels than there are. */
    CHECK(fixture_sql(path, "UPDATE digests SET digest = digest + 1 WHERE name = 'clock_points'"));
    CHECK(fixture_sql(path, "UPDATE stat_blocks SET kernels = kernels - 1"));
    passed = sums_of(path, 0);
    CHECK(are_fixtures(&passed) && !passed.usable);
    CHECK(fixture_sql(path, "UPDATE stat_blocks SET kernels = kernels + 1"));
    used = sums_of(path, 0);
    CHECK(used.usable);
    CHECK(fixture_sql(path, "UPDATE stat_spans SET kernels = kernels - 1 WHERE agent IS NULL"));
    passed = sums_of(path, 0);
    CHECK(are_fixtures(&passed) && !passed.usable);
    CHECK(fixture_sql(path, "DELETE FROM stat_spans"));
    passed = sums_of(path, 0);
    CHECK(are_fixtures(&passed) && !passed.usable);
    CHECK(fixture_sql(path, "DROP TABLE digests"));
    struct sums without = sums_of(path, 0);
    CHECK(are_fixtures(&without) && !without.usable);
    fixture_remove(path);
    return NULL;
}

const char *Stats_DamageIsTold(void)
{
    char path[FIXTURE_PATH];
    struct rtl_stats_done done;
    CHECK(fixture_path(path) && fixture_trace(path, KERNELS) && add_stats(path, &done));
    CHECK(fixture_sql(path, "UPDATE stat_blocks SET bins = bins + 1"));
    struct sums sums = sums_of(path, 0);
    CHECK(sums.status == RTL_E_DAMAGED && strstr(sums.error, "block 1 of statistics"));
    CHECK(fixture_sql(path, "UPDATE stat_blocks SET groups = 1 << 40"));
    sums = sums_of(path, 0);
    CHECK(sums.status == RTL_E_DAMAGED && strstr(sums.error, "block 1 of statistics"));
    fixture_remove(path);
    return NULL;
}

/* A trace that others cannot be added to stays as it was. */
const char *Stats_DamagedTraceGetsNone(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    struct rtl_stats_done done;
    CHECK(fixture_path(path) && fixture_trace(path, KERNELS));
    CHECK(fixture_sql(path, "UPDATE queues SET size = 7"));
    CHECK(rtl_stats_add(path, &done, error, sizeof error) == RTL_E_DAMAGED);
    CHECK(strstr(error, "queues") && strstr(error, "damaged"));
    CHECK(fixture_number(path, "SELECT count(*) FROM stat_spans") == 0);
    fixture_remove(path);
    return NULL;
}

/* One launch of a graph of many nodes, and with `shapes` a shape for each. */
static bool write_wide(const char *path, bool shapes)
{
    char error[512];
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    uint32_t process = fixture_define(writer, 1, shapes ? NODES : 1);
    const struct rtl_wire_graph graph = {.graph = 1, .generation = 1, .nodes = NODES};
    const struct rtl_wire_launch launch = {
        .graph = 1, .generation = 1, .packets = NODES, .kernels = NODES};
    rtl_writer_graph(writer, process, &graph);
    for (uint32_t i = 0; i < NODES; i++) {
        const struct rtl_wire_node node = {.graph = 1,
                                           .generation = 1,
                                           .node = i,
                                           .parent = RTL_NONE,
                                           .grid = {64, 1, 1},
                                           .block = {64, 1, 1},
                                           .name_length = 1};
        rtl_writer_node(writer, process, &node, "a");
    }
    rtl_writer_launch(writer, process, &launch);
    for (uint32_t i = 0; i < NODES; i++) {
        struct rtl_wire_kernel kernel = fixture_kernel(0, i);
        kernel.shape = shapes ? i : 0;
        kernel.launch = 0;
        kernel.ordinal = i;
        rtl_writer_kernel(writer, process, &kernel);
    }
    rtl_writer_process_end(writer, process, "closed", 1, 0);
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

/* Where there would be nearly as many groups as kernels, graphs are left out, or all. */
const char *Stats_AreSmallerThanTheTrace(void)
{
    char path[FIXTURE_PATH];
    struct rtl_stats_done done;
    CHECK(fixture_path(path) && write_wide(path, false) && add_stats(path, &done));
    CHECK(done.made && !done.graphs && done.groups == 1);
    struct sums sums = sums_of(path, RTL_BY_NAME);
    CHECK(sums.usable && !sums.graphs && sums.groups == 1 && sums.kernels == NODES);
    sums = sums_of(path, RTL_BY_NODE);
    CHECK(sums.status == RTL_OK && sums.groups == NODES && sums.kernels == NODES);
    fixture_remove(path);
    CHECK(fixture_path(path) && write_wide(path, true) && add_stats(path, &done));
    CHECK(!done.made && done.groups == 0);
    sums = sums_of(path, RTL_BY_SHAPE);
    CHECK(!sums.usable && sums.groups == NODES && sums.kernels == NODES);
    fixture_remove(path);
    return NULL;
}

/* A recorder makes them where they save time, and so does who merges traces. */
const char *Stats_OfLargeTracesAreMade(void)
{
    char path[FIXTURE_PATH];
    char second[FIXTURE_PATH];
    char other[FIXTURE_PATH + 8];
    char error[512];
    CHECK(fixture_path(path) && fixture_trace(path, RTL_STATS_KERNELS / 2));
    struct sums sums = sums_of(path, RTL_BY_NAME);
    CHECK(sums.usable && sums.kernels == RTL_STATS_KERNELS);
    CHECK(fixture_sql(path, "UPDATE kernel_chunks SET data = x''"));
    sums = sums_of(path, RTL_BY_NAME);
    CHECK(sums.kernels == RTL_STATS_KERNELS);
    fixture_remove(path);

    CHECK(fixture_path(path) && fixture_trace(path, RTL_STATS_KERNELS / 4));
    sums = sums_of(path, RTL_BY_NAME);
    CHECK(!sums.usable && sums.kernels == RTL_STATS_KERNELS / 2);
    (void)snprintf(other, sizeof other, "%s.two", path);
    struct rtl_merge_input inputs[2] = {{.path = path}, {.path = path}};
    CHECK(fixture_path(second) && fixture_trace(second, RTL_STATS_KERNELS / 4));
    CHECK(fixture_sql(second, "UPDATE processes SET pid = pid + 1; DROP TABLE digests;"
                              "DELETE FROM meta WHERE key = 'digests'"));
    struct rtl_merge plan = {
        .path = other, .command = "", .options = "", .inputs = inputs, .count = 2};
    CHECK(rtl_merge_create(other, error, sizeof error) == 0);
    CHECK(rtl_merge(&plan, error, sizeof error) != 0 && !plan.can_go_on && plan.taken == 1);
    CHECK(strstr(error, "process 100 is in another one of the traces already"));
    CHECK(unlink(other) == 0);
    inputs[1].path = second;
    plan = (struct rtl_merge){
        .path = other, .command = "", .options = "", .inputs = inputs, .count = 2};
    CHECK(rtl_merge_create(other, error, sizeof error) == 0);
    CHECK(rtl_merge(&plan, error, sizeof error) == 0);
    sums = sums_of(other, RTL_BY_PROCESS);
    CHECK(sums.usable && sums.kernels == RTL_STATS_KERNELS && sums.groups == 2);
    fixture_remove(path);
    fixture_remove(second);
    return NULL;
}
