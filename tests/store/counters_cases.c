/* What hardware counters counted, through a file: in the lists, in the order in which it is read,
 * one by one, in SQL; and what readers do where a part is missing, damaged or too large. */
#include "fixture.h"
#include "store/reader.h"
#include "store/sample_codec.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_counting(struct rtl_writer *writer, uint32_t process, uint32_t mode,
                           uint16_t pass)
{
    const struct rtl_wire_counting body = {
        .mode = mode, .pass = pass, .passes = 2, .text_length = 19};
    rtl_writer_counting(writer, process, &body, "occupancy,SQ_WAVES,…");
}

static void write_counter(struct rtl_writer *writer, uint32_t process, uint32_t counter,
                          uint32_t agent, uint16_t pass)
{
    char name[16];
    int length = snprintf(name, sizeof name, "COUNTER_%" PRIu32, counter);
    const struct rtl_wire_counter body = {.counter = counter,
                                          .agent = agent,
                                          .block = 7 + counter,
                                          .event = 100 + counter,
                                          .instances = 16,
                                          .pass = pass,
                                          .name_length = (uint16_t)length};
    rtl_writer_counter(writer, process, &body, name);
}

static void write_uncounted(struct rtl_writer *writer, uint32_t process, uint32_t agent,
                            uint32_t why, uint64_t count)
{
    const struct rtl_wire_uncounted body = {.count = count, .agent = agent, .why = why};
    rtl_writer_uncounted(writer, process, &body);
}

static void write_sample(struct rtl_writer *writer, uint32_t process, uint32_t queue,
                         uint32_t agent, uint64_t owner, uint16_t count, const uint64_t *values)
{
    const struct rtl_wire_sample body = {.owner = owner,
                                         .queue = queue,
                                         .agent = agent,
                                         .values = count,
                                         .flags = (uint16_t)(owner % 3 == 0)};
    rtl_writer_sample(writer, process, &body, values);
}

/* What a counter counted of an owner: any number, and the same on both sides. */
static uint64_t value_of(uint32_t process, uint32_t queue, uint32_t agent, uint64_t owner,
                         uint32_t counter)
{
    uint64_t seed = owner * 1000003 + process * UINT64_C(31) + (queue + UINT64_C(1)) * 7 +
                    agent * UINT64_C(5) + counter * UINT64_C(17);
    uint64_t number = fixture_random(&seed);
    return number >> number % 64;
}

/* Counters of agent 0: 0 and 2 in pass 0, 1 in pass 1; of agent 1: 3 in pass 0. */
static void write_counters(struct rtl_writer *writer, uint32_t process)
{
    write_counter(writer, process, 2, 0, 0);
    write_counter(writer, process, 0, 0, 0);
    write_counter(writer, process, 1, 0, 1);
    write_counter(writer, process, 3, 1, 0);
}

enum { KERNELS = 20000, RANGES = 30000 };

static void write_kernel_samples(struct rtl_writer *writer, uint32_t process, uint32_t queue,
                                 uint64_t from, uint64_t to)
{
    for (uint64_t packet = from; packet < to; packet++) {
        const uint64_t values[] = {value_of(process, queue, 0, packet, 0),
                                   value_of(process, queue, 0, packet, 2)};
        write_sample(writer, process, queue, 0, packet, 2, values);
    }
}

/* Ranges with an even id have work on two agents. */
static void write_range_sample(struct rtl_writer *writer, uint32_t process, uint64_t range)
{
    const uint64_t values[] = {value_of(process, RTL_NONE, 0, range, 0),
                               value_of(process, RTL_NONE, 0, range, 2)};
    const uint64_t other = value_of(process, RTL_NONE, 1, range, 3);
    if (range % 2 == 0)
        write_sample(writer, process, RTL_NONE, 1, range, 1, &other);
    write_sample(writer, process, RTL_NONE, 0, range, 2, values);
}

/* Process 1 counts kernels: packets 0 to KERNELS of queue 0 with their kernels, 10 of queue 1
 * without. Process 2 counts ranges; inner ones end before outer ones, and 1 is around all. */
static bool write_samples(const char *path)
{
    char error[512];
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        return false;
    uint32_t one = fixture_define(writer, 2, 2);
    uint32_t two = fixture_define(writer, 1, 1);
    write_counting(writer, one, RTL_COUNTING_KERNEL, 0);
    write_counting(writer, two, RTL_COUNTING_RANGE, 0);
    write_counters(writer, one);
    write_counters(writer, two);
    for (uint64_t i = 0; i < KERNELS; i += 1000) {
        fixture_kernels(writer, one, 0, i, i + 1000);
        write_kernel_samples(writer, one, 0, i, i + 1000);
        (void)rtl_writer_checkpoint(writer);
    }
    write_kernel_samples(writer, one, 1, 0, 10);
    for (uint64_t range = 2; range < RANGES; range += 2) {
        write_range_sample(writer, two, range + 1);
        write_range_sample(writer, two, range);
    }
    write_range_sample(writer, two, 1);
    write_uncounted(writer, one, 0, RTL_UNCOUNTED_GRAPH, 5);
    write_uncounted(writer, one, 0, RTL_UNCOUNTED_GRAPH, 512);
    write_uncounted(writer, one, RTL_NONE, RTL_UNCOUNTED_MEMORY, 1);
    (void)rtl_writer_checkpoint(writer);
    write_uncounted(writer, one, RTL_NONE, RTL_UNCOUNTED_MEMORY, UINT64_MAX);
    write_uncounted(writer, two, 1, 77, 3);
    return rtl_writer_close(writer, 0, error, sizeof error) == 0;
}

static rtl_trace_t *open_samples(char *path)
{
    char error[512] = "";
    rtl_trace_t *trace = NULL;
    if (!fixture_path(path) || !write_samples(path) ||
        rtlTraceOpen(path, &trace, error, sizeof error) != RTL_OK)
        (void)fprintf(stderr, "%s\n", error);
    return trace;
}

static void close_samples(rtl_trace_t *trace, const char *path)
{
    rtlTraceClose(trace);
    fixture_remove(path);
}

static bool is_counter(const rtl_trace_counter_t *counter, uint32_t process, uint32_t number)
{
    char name[16];
    (void)snprintf(name, sizeof name, "COUNTER_%" PRIu32, number);
    return counter->process == process && counter->counter == number &&
           counter->agent == (number == 3) && counter->block == 7 + number &&
           counter->event == 100 + number && counter->instances == 16 &&
           counter->pass == (number == 1) && strcmp(counter->name, name) == 0;
}

const char *Counters_EveryFieldOfTheLists(void)
{
    char path[FIXTURE_PATH];
    const rtl_trace_counting_t *counting;
    const rtl_trace_counter_t *counters;
    const rtl_trace_uncounted_t *uncounted;
    size_t count;
    rtl_trace_info_t info;
    rtl_trace_t *trace = open_samples(path);
    CHECK(trace && rtlTraceInfo(trace, &info) == RTL_OK);
    CHECK(info.kernel_samples == KERNELS + 10 && info.range_samples == RANGES - 1 + RANGES / 2 - 1);
    CHECK(rtlTraceCounting(trace, &counting, &count) == RTL_OK && count == 2);
    CHECK(counting[0].process == 1 && counting[0].pass == 0 && counting[0].passes == 2);
    CHECK(strcmp(counting[0].mode, "kernel") == 0 && strcmp(counting[1].mode, "range") == 0);
    CHECK(counting[1].process == 2 && strncmp(counting[1].metrics, "occupancy,SQ_WAVES,", 19) == 0);
    CHECK(rtlTraceCounters(trace, &counters, &count) == RTL_OK && count == 8);
    for (uint32_t i = 0; i < 8; i++)
        CHECK(is_counter(&counters[i], 1 + i / 4, i % 4));
    CHECK(rtlTraceUncounted(trace, &uncounted, &count) == RTL_OK && count == 3);
    CHECK(uncounted[0].process == 1 && uncounted[0].agent == RTL_TRACE_NONE);
    CHECK(uncounted[0].count == UINT64_MAX && strcmp(uncounted[0].why, "memory") == 0);
    CHECK(uncounted[1].agent == 0 && uncounted[1].count == 512);
    CHECK(strcmp(uncounted[1].why, "graph") == 0 && strcmp(uncounted[2].why, "unknown") == 0);
    CHECK(uncounted[2].process == 2 && uncounted[2].agent == 1 && uncounted[2].count == 3);
    CHECK(rtlTraceCounting(NULL, &counting, &count) == RTL_E_ARGUMENT);
    CHECK(rtlTraceCounters(trace, NULL, &count) == RTL_E_ARGUMENT);
    CHECK(rtlTraceUncounted(trace, &uncounted, NULL) == RTL_E_ARGUMENT);
    close_samples(trace, path);
    return NULL;
}

static const char *check_sample(const rtl_trace_sample_t *sample, uint32_t process, uint32_t queue,
                                uint32_t agent, uint64_t owner)
{
    static const uint32_t numbers[] = {0, 2};
    CHECK(sample->process == process && sample->queue == queue && sample->agent == agent);
    CHECK(sample->owner == owner && sample->shared == (owner % 3 == 0));
    CHECK(sample->count == (agent ? 1 : 2));
    for (uint32_t i = 0; i < sample->count; i++) {
        uint32_t number = agent ? 3 : numbers[i];
        CHECK(is_counter(sample->counters[i], process, number));
        CHECK(sample->values[i] == value_of(process, queue, agent, owner, number));
    }
    return NULL;
}

static const char *check_kernel_samples(rtl_trace_t *trace, const rtl_sample_filter_t *filter,
                                        uint64_t from, uint64_t to)
{
    rtl_sample_iter_t *iter;
    rtl_trace_sample_t sample;
    CHECK(rtlTraceKernelSamples(trace, filter, &iter) == RTL_OK);
    for (uint64_t packet = from; packet < to; packet++) {
        CHECK(rtlSampleNext(iter, &sample) == RTL_OK);
        CHECK_DONE(check_sample(&sample, 1, 0, 0, packet));
    }
    for (uint64_t packet = 0; !filter && packet < 10; packet++) {
        CHECK(rtlSampleNext(iter, &sample) == RTL_OK);
        CHECK_DONE(check_sample(&sample, 1, 1, 0, packet));
    }
    CHECK(rtlSampleNext(iter, &sample) == RTL_END && rtlSampleNext(iter, &sample) == RTL_END);
    rtlSampleIterFree(iter);
    return NULL;
}

const char *Counters_SamplesOfKernels(void)
{
    char path[FIXTURE_PATH];
    rtl_trace_t *trace = open_samples(path);
    rtl_sample_filter_t filter = RTL_SAMPLE_FILTER_ALL;
    CHECK(trace);
    CHECK_DONE(check_kernel_samples(trace, NULL, 0, KERNELS));
    filter.queue = 0;
    CHECK_DONE(check_kernel_samples(trace, &filter, 0, KERNELS));
    filter.process = 1;
    filter.first = 7777;
    CHECK_DONE(check_kernel_samples(trace, &filter, 7777, KERNELS));
    filter.last = 18000;
    CHECK_DONE(check_kernel_samples(trace, &filter, 7777, 18001));
    filter.last = 7777;
    CHECK_DONE(check_kernel_samples(trace, &filter, 7777, 7778));
    filter.process = 2;
    CHECK_DONE(check_kernel_samples(trace, &filter, 0, 0));
    close_samples(trace, path);
    return NULL;
}

static const char *check_range_samples(rtl_trace_t *trace, const rtl_sample_filter_t *filter,
                                       uint64_t from, uint64_t to)
{
    rtl_sample_iter_t *iter;
    rtl_trace_sample_t sample;
    CHECK(rtlTraceRangeSamples(trace, filter, &iter) == RTL_OK);
    for (uint64_t range = from; range < to; range++) {
        uint32_t agents = 0;
        for (uint64_t i = 0; i < 2 - range % 2; i++) {
            CHECK(rtlSampleNext(iter, &sample) == RTL_OK && sample.agent < 2);
            CHECK_DONE(check_sample(&sample, 2, RTL_TRACE_NONE, sample.agent, range));
            agents |= 1u << sample.agent;
        }
        CHECK(agents == (range % 2 ? 1 : 3));
    }
    CHECK(rtlSampleNext(iter, &sample) == RTL_END);
    rtlSampleIterFree(iter);
    return NULL;
}

const char *Counters_SamplesOfRanges(void)
{
    char path[FIXTURE_PATH];
    rtl_trace_t *trace = open_samples(path);
    rtl_sample_filter_t filter = RTL_SAMPLE_FILTER_ALL;
    CHECK(trace);
    CHECK_DONE(check_range_samples(trace, NULL, 1, RANGES));
    filter.first = filter.last = 1;
    CHECK_DONE(check_range_samples(trace, &filter, 1, 2));
    filter.process = 2;
    filter.first = 12345;
    filter.last = 12346;
    CHECK_DONE(check_range_samples(trace, &filter, 12345, 12347));
    filter.process = 1;
    CHECK_DONE(check_range_samples(trace, &filter, 0, 0));
    close_samples(trace, path);
    return NULL;
}

/* A sample by its kernel and the kernel by its packet, far apart and in any order. */
const char *Counters_OneByOne(void)
{
    char path[FIXTURE_PATH];
    rtl_trace_sample_t sample;
    rtl_kernel_t kernel;
    uint64_t seed = 41;
    rtl_trace_t *trace = open_samples(path);
    CHECK(trace);
    for (int i = 0; i < 3000; i++) {
        uint64_t packet = fixture_random(&seed) % KERNELS;
        CHECK(rtlTraceKernelSample(trace, 1, 0, packet, &sample) == RTL_OK);
        CHECK_DONE(check_sample(&sample, 1, 0, 0, packet));
        CHECK(rtlTraceKernelAt(trace, 1, 0, packet, &kernel) == RTL_OK);
        const struct rtl_wire_kernel want = fixture_kernel(0, packet);
        CHECK(kernel.packet == packet && kernel.queue == 0 && kernel.process == 1);
        CHECK(kernel.start_ticks == want.start && kernel.end_ticks == want.end);
        CHECK(kernel.start == want.start * 10 && kernel.correlation == want.correlation);
        CHECK(kernel.grid[0] == 64 * (want.shape + 1));
        CHECK(strcmp(kernel.name, want.shape ? "b" : "a") == 0);
    }
    CHECK(rtlTraceKernelSample(trace, 1, 1, 9, &sample) == RTL_OK);
    CHECK(rtlTraceKernelAt(trace, 1, 1, 9, &kernel) == RTL_END);
    CHECK(rtlTraceKernelSample(trace, 1, 1, 10, &sample) == RTL_END);
    CHECK(rtlTraceKernelSample(trace, 2, RTL_TRACE_NONE, 4, &sample) == RTL_END);
    CHECK(rtlTraceKernelSample(trace, 0, 0, 4, &sample) == RTL_END);
    CHECK(rtlTraceKernelAt(trace, 1, 0, KERNELS, &kernel) == RTL_END);
    CHECK(rtlTraceKernelAt(trace, 9, 0, 0, &kernel) == RTL_END);
    CHECK(rtlTraceKernelAt(NULL, 1, 0, 0, &kernel) == RTL_E_ARGUMENT);
    CHECK(rtlTraceKernelSample(trace, 1, 0, 0, NULL) == RTL_E_ARGUMENT);
    close_samples(trace, path);
    return NULL;
}

/* Values of one sample stay while others are looked up. */
const char *Counters_ValuesStay(void)
{
    char path[FIXTURE_PATH];
    rtl_sample_iter_t *iter;
    rtl_trace_sample_t first;
    rtl_trace_sample_t other;
    rtl_trace_t *trace = open_samples(path);
    CHECK(trace && rtlTraceRangeSamples(trace, NULL, &iter) == RTL_OK);
    CHECK(rtlSampleNext(iter, &first) == RTL_OK);
    for (uint64_t packet = 0; packet < KERNELS; packet += 500)
        CHECK(rtlTraceKernelSample(trace, 1, 0, packet, &other) == RTL_OK);
    CHECK_DONE(check_sample(&first, 2, RTL_TRACE_NONE, 0, 1));
    rtlSampleIterFree(iter);
    close_samples(trace, path);
    return NULL;
}

const char *Counters_Sql(void)
{
    char path[FIXTURE_PATH];
    char query[512];
    uint64_t sum = 0;
    rtl_trace_t *trace = open_samples(path);
    CHECK(trace);
    for (uint64_t packet = 0; packet < 1000; packet++)
        sum += value_of(1, 0, 0, packet, 2) & 0xffff;
    CHECK(fixture_number(path, "SELECT count(*) FROM kernel_counters") ==
          INT64_C(2) * (KERNELS + 10));
    CHECK(fixture_number(path, "SELECT sum(value & 65535) FROM kernel_counters WHERE queue = 0 AND"
                               " packet < 1000 AND name = 'COUNTER_2'") == (int64_t)sum);
    CHECK(fixture_number(path, "SELECT sum(c.value & 65535) FROM kernels k JOIN kernel_counters c"
                               " ON c.kernel = k.id WHERE k.start < 10 * (5000 + 1000 * 2000)"
                               " AND c.counter = 2") == (int64_t)sum);
    CHECK(fixture_number(path, "SELECT sum(c.value & 65535) FROM kernels k JOIN kernel_counters c"
                               " USING(process, queue, packet) WHERE k.packet BETWEEN 0 AND 999"
                               " AND c.name = 'COUNTER_2'") == (int64_t)sum);
    (void)snprintf(query, sizeof query,
                   "SELECT value FROM kernel_counters WHERE process = 1 AND"
                   " queue = 0 AND packet = 4711 AND counter = 0");
    CHECK(fixture_number(path, query) == (int64_t)value_of(1, 0, 0, 4711, 0));
    CHECK(fixture_number(path, "SELECT count(*) FROM kernel_counters c JOIN kernels k ON"
                               " k.id = c.kernel WHERE k.packet <> c.packet OR k.queue <> c.queue"
                               " OR c.packet > 300") == INT64_C(2) * (KERNELS - 301));
    CHECK(fixture_number(path, "SELECT count(*) FROM kernel_counters WHERE kernel IS NULL") == 20);
    CHECK(fixture_number(path, "SELECT count(*) FROM range_counters") ==
          INT64_C(2) * (RANGES - 1) + RANGES / 2 - 1);
    CHECK(fixture_number(path, "SELECT value FROM range_counters WHERE range = 8 AND agent = 1") ==
          (int64_t)value_of(2, RTL_NONE, 1, 8, 3));
    CHECK(fixture_number(path, "SELECT sum(shared) FROM range_counters WHERE range BETWEEN 1 AND 9"
                               " AND process = 2") == 2 + 3 + 2);
    CHECK(fixture_number(path, "SELECT count(*) FROM counters WHERE pass = 0") == 6);
    CHECK(fixture_number(path, "SELECT sum(passes) FROM counting") == 4);
    CHECK(fixture_number(path, "SELECT count FROM uncounted WHERE why = 'graph'") == 512);
    close_samples(trace, path);
    return NULL;
}

/* Owners that SQL shows as negative numbers are found, and conditions on others leave them. */
const char *Counters_LargestOwners(void)
{
    static const uint64_t owners[] = {0, 5, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
    char path[FIXTURE_PATH];
    char error[512];
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    CHECK(writer);
    uint32_t process = fixture_define(writer, 1, 1);
    write_counting(writer, process, RTL_COUNTING_KERNEL, 0);
    write_counter(writer, process, 0, 0, 0);
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        write_sample(writer, process, 0, 0, owners[i], 1, &owners[i]);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK(fixture_number(path, "SELECT value FROM kernel_counters WHERE packet = -1") == -1);
    CHECK(fixture_number(path, "SELECT value FROM kernel_counters WHERE packet = 0") == 0);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernel_counters WHERE packet < 6") == 4);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernel_counters WHERE packet > 4") == 2);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernel_counters WHERE packet > -5") == 4);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernel_counters WHERE packet = 5.0") == 1);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernel_counters WHERE packet = 'x'") == 0);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernel_counters WHERE packet IS NULL") == 0);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernel_counters WHERE kernel = 65536") == 0);
    fixture_remove(path);
    return NULL;
}

/* Where definitions were lost, or a sample is of another pass, nothing is made up. */
const char *Counters_UnknownOnesAreNotGuessed(void)
{
    static const uint64_t values[] = {1, 2, 3};
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    rtl_sample_iter_t *iter;
    rtl_trace_sample_t sample;
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    CHECK(writer);
    uint32_t process = fixture_define(writer, 1, 1);
    write_counting(writer, process, RTL_COUNTING_KERNEL, 0);
    write_counter(writer, process, 0, 0, 0);
    write_counter(writer, process, 1, 0, 1);
    write_sample(writer, process, 0, 0, 1, 1, values);
    write_sample(writer, process, 0, 0, 2, 3, values);
    write_sample(writer, process, 0, 0, 3, 0, values);
    write_sample(writer, process, 0, 6, 4, 1, values);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceKernelSamples(trace, NULL, &iter) == RTL_OK);
    for (uint64_t owner = 1; owner <= 4; owner++) {
        CHECK(rtlSampleNext(iter, &sample) == RTL_OK && sample.owner == owner);
        CHECK(sample.count == (owner == 1) && (sample.counters != NULL) == (owner == 1));
    }
    CHECK(rtlSampleNext(iter, &sample) == RTL_END);
    rtlSampleIterFree(iter);
    rtlTraceClose(trace);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernel_counters") == 1);
    fixture_remove(path);
    return NULL;
}

const char *Counters_OlderFilesHaveNone(void)
{
    char path[FIXTURE_PATH];
    const rtl_trace_counting_t *counting;
    rtl_sample_iter_t *iter;
    rtl_trace_sample_t sample;
    size_t count = 7;
    rtl_trace_t *trace = NULL;
    CHECK(fixture_path(path));
    CHECK(fixture_trace(path, 10));
    CHECK(fixture_sql(path, "DROP TABLE counting; DROP TABLE counters; DROP TABLE sample_chunks;"
                            "DROP TABLE uncounted; PRAGMA user_version = 1003"));
    CHECK(rtlTraceOpen(path, &trace, NULL, 0) == RTL_OK);
    CHECK(rtlTraceCounting(trace, &counting, &count) == RTL_OK && count == 0);
    CHECK(rtlTraceRangeSamples(trace, NULL, &iter) == RTL_OK);
    CHECK(rtlSampleNext(iter, &sample) == RTL_END);
    rtlSampleIterFree(iter);
    rtlTraceClose(trace);
    CHECK(fixture_number(path, "SELECT (SELECT count(*) FROM counters) +"
                               " (SELECT count(*) FROM counting) +"
                               " (SELECT count(*) FROM uncounted) +"
                               " (SELECT count(*) FROM kernel_counters) +"
                               " (SELECT count(*) FROM range_counters)") == 0);
    fixture_remove(path);
    return NULL;
}

/* Reading samples after `sql` has changed the file fails as damaged; kernels are read on. */
static const char *samples_fail(const char *sql)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_sample_iter_t *iter;
    rtl_trace_sample_t sample;
    rtl_status_t status;
    rtl_trace_t *trace = open_samples(path);
    CHECK(trace);
    rtlTraceClose(trace);
    CHECK(fixture_sql(path, sql));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceKernelSamples(trace, NULL, &iter) == RTL_OK);
    while ((status = rtlSampleNext(iter, &sample)) == RTL_OK)
        continue;
    CHECK(status == RTL_E_DAMAGED && strstr(rtlTraceError(trace), "sample chunk 2") != NULL);
    CHECK(rtlSampleNext(iter, &sample) == RTL_E_DAMAGED);
    rtlSampleIterFree(iter);
    CHECK(rtlTraceKernelSample(trace, 1, 0, 0, &sample) == RTL_OK);
    CHECK(rtlTraceKernelSample(trace, 1, 0, KERNELS - 1, &sample) == RTL_OK);
    CHECK(rtlTraceKernelSample(trace, 1, 0, 6000, &sample) == RTL_E_DAMAGED);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernel_counters") == INT64_MIN);
    CHECK(fixture_count(path) == KERNELS);
    close_samples(trace, path);
    return NULL;
}

const char *Counters_DamageIsTold(void)
{
    CHECK_DONE(samples_fail("UPDATE sample_chunks SET checksum = checksum - 1 WHERE chunk = 2"));
    CHECK_DONE(samples_fail("UPDATE sample_chunks SET data = x'00' WHERE chunk = 2"));
    CHECK_DONE(samples_fail("UPDATE sample_chunks SET data = NULL WHERE chunk = 2"));
    CHECK_DONE(samples_fail("UPDATE sample_chunks SET samples = 4000000000 WHERE chunk = 2"));
    CHECK_DONE(samples_fail("UPDATE sample_chunks SET counts = 4000000000 WHERE chunk = 2"));
    CHECK_DONE(samples_fail("UPDATE sample_chunks SET samples = 0 WHERE chunk = 2"));
    CHECK_DONE(samples_fail("UPDATE sample_chunks SET owner_min = owner_min - 1 WHERE chunk = 2"));
    return NULL;
}

/* More samples than a chunk takes, and no checkpoint: full chunks are there. */
static void write_and_die(const char *path)
{
    struct rtl_writer *writer = fixture_open(path);
    if (!writer)
        _exit(1);
    uint32_t process = fixture_define(writer, 1, 1);
    write_counting(writer, process, RTL_COUNTING_KERNEL, 0);
    write_counters(writer, process);
    write_kernel_samples(writer, process, 0, 0, RTL_CHUNK_SAMPLES + 1);
    (void)raise(SIGKILL);
}

const char *Counters_OfAKilledRecorder(void)
{
    char path[FIXTURE_PATH];
    int status = 0;
    CHECK(fixture_path(path));
    pid_t child = fork();
    if (child == 0)
        write_and_die(path);
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    CHECK(fixture_number(path, "SELECT count(DISTINCT packet) FROM kernel_counters") ==
          RTL_CHUNK_SAMPLES);
    CHECK(fixture_number(path, "SELECT count(*) FROM kernel_counters WHERE kernel IS NOT NULL") ==
          0);
    CHECK(fixture_number(path, "SELECT count(*) FROM counters") == 4);
    fixture_remove(path);
    return NULL;
}

/* Chunks that no writer made, by SQL. */
struct inserting {
    sqlite3 *db;
    sqlite3_stmt *insert;
    struct rtl_sample_codec *codec;
    int64_t number;
};

static const char *begin_inserting(struct inserting *to, char *path)
{
    *to = (struct inserting){.codec = rtl_sample_codec_new()};
    CHECK(to->codec && fixture_path(path) && fixture_trace(path, 10));
    CHECK(sqlite3_open(path, &to->db) == SQLITE_OK);
    CHECK(sqlite3_exec(to->db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK);
    CHECK(sqlite3_prepare_v2(to->db, "INSERT INTO sample_chunks VALUES(?, 1, ?, ?, ?, ?, ?, ?, ?)",
                             -1, &to->insert, NULL) == SQLITE_OK);
    return NULL;
}

/* A chunk of process 1; its size. */
static const char *insert_chunk(struct inserting *to, uint32_t queue,
                                const struct rtl_sample *samples, uint32_t count,
                                const uint64_t *counts, size_t *size)
{
    struct rtl_sample_chunk chunk = {.process = 1, .queue = queue};
    const unsigned char *data = NULL;
    CHECK(rtl_sample_encode(to->codec, samples, count, counts, &chunk, &data, size) == 0);
    const int64_t values[] = {++to->number,
                              queue,
                              chunk.samples,
                              chunk.counts,
                              (int64_t)chunk.owner_min,
                              (int64_t)chunk.owner_max,
                              chunk.checksum};
    for (int k = 0; k < 7; k++)
        CHECK(sqlite3_bind_int64(to->insert, k + 1, values[k]) == SQLITE_OK);
    CHECK(sqlite3_bind_blob64(to->insert, 8, data, *size, SQLITE_STATIC) == SQLITE_OK);
    CHECK(sqlite3_step(to->insert) == SQLITE_DONE);
    CHECK(sqlite3_reset(to->insert) == SQLITE_OK);
    return NULL;
}

static const char *end_inserting(struct inserting *to)
{
    (void)sqlite3_finalize(to->insert);
    CHECK(sqlite3_exec(to->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
    CHECK(sqlite3_close(to->db) == SQLITE_OK);
    rtl_sample_codec_free(to->codec);
    return NULL;
}

/* Chunks that claim as much as a chunk may, and all overlap: read a few at a time. Each is some 100
 * bytes, so that what was unpacked of all of them would take gigabytes. */
const char *Counters_ManyChunksThatOverlap(void)
{
    static const uint64_t counts[RTL_CHUNK_COUNTS_MAX];
    char path[FIXTURE_PATH];
    char error[512];
    rtl_trace_t *trace = NULL;
    rtl_sample_iter_t *iter;
    rtl_trace_sample_t sample;
    struct inserting to;
    size_t size = 0;
    CHECK_DONE(begin_inserting(&to, path));
    for (uint32_t i = 0; i < 40; i++) {
        struct rtl_sample samples[4];
        for (uint32_t j = 0; j < 4; j++)
            samples[j] = (struct rtl_sample){.owner = i + 1000 * j,
                                             .first = j * (RTL_CHUNK_COUNTS_MAX / 4),
                                             .counts = RTL_CHUNK_COUNTS_MAX / 4};
        CHECK_DONE(insert_chunk(&to, 0, samples, 4, counts, &size));
        CHECK(size < 300);
    }
    CHECK_DONE(end_inserting(&to));
    CHECK(rtlTraceOpen(path, &trace, error, sizeof error) == RTL_OK);
    CHECK(rtlTraceKernelSamples(trace, NULL, &iter) == RTL_OK);
    for (uint64_t j = 0; j < 4; j++)
        for (uint64_t i = 0; i < 40; i++)
            CHECK(rtlSampleNext(iter, &sample) == RTL_OK && sample.owner == i + 1000 * j);
    CHECK(rtlSampleNext(iter, &sample) == RTL_END);
    rtlSampleIterFree(iter);
    for (uint64_t owner = 0; owner < 3039; owner += 1013)
        CHECK(rtlTraceKernelSample(trace, 1, 0, owner, &sample) == RTL_OK && sample.owner == owner);
    CHECK(rtlTraceKernelSample(trace, 1, 0, 40, &sample) == RTL_END);
    rtlTraceClose(trace);
    fixture_remove(path);
    return NULL;
}

enum { STREAMS = 50, CHUNKS = 6, IN_CHUNK = 32 };

static const char *insert_streams(char *path)
{
    static const uint64_t counts[1];
    struct inserting to;
    size_t size = 0;
    CHECK_DONE(begin_inserting(&to, path));
    for (uint32_t i = 0; i < CHUNKS * STREAMS; i++) {
        struct rtl_sample samples[IN_CHUNK];
        for (uint32_t j = 0; j < IN_CHUNK; j++)
            samples[j] = (struct rtl_sample){.owner = i / STREAMS * IN_CHUNK + j};
        CHECK_DONE(insert_chunk(&to, i % STREAMS, samples, IN_CHUNK, counts, &size));
    }
    CHECK_DONE(end_inserting(&to));
    return NULL;
}

/* Each chunk is asked for by one statement. */
static int count_unpacked(unsigned kind, void *count, void *statement, void *text)
{
    (void)kind;
    (void)text;
    if (strstr(sqlite3_sql(statement), "sample_chunks"))
        ++*(unsigned *)count;
    return 0;
}

/* Queues that take turns, an iteration each, and some samples that are looked up once it has passed
 * them by, across the end of a chunk too: each chunk is unpacked once. */
const char *Counters_ManyQueuesInTurn(void)
{
    char path[FIXTURE_PATH];
    char error[512];
    rtl_status_t status = RTL_OK;
    rtl_sample_iter_t *iters[STREAMS];
    rtl_trace_sample_t sample;
    sqlite3 *db = NULL;
    unsigned unpacked = 0;
    CHECK_DONE(insert_streams(path));
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    rtl_trace_t *trace = rtl_trace_over(db, path, &status, error, sizeof error);
    CHECK(trace);
    CHECK(sqlite3_trace_v2(db, SQLITE_TRACE_STMT, count_unpacked, &unpacked) == SQLITE_OK);
    for (uint32_t i = 0; i < STREAMS; i++) {
        const rtl_sample_filter_t filter = {1, i, 0, 0};
        CHECK(rtlTraceKernelSamples(trace, &filter, &iters[i]) == RTL_OK);
    }
    for (uint64_t packet = 0; packet < UINT64_C(1) * CHUNKS * IN_CHUNK; packet++)
        for (uint32_t i = 0; i < STREAMS; i++) {
            uint64_t behind = packet > IN_CHUNK / 2 ? packet - IN_CHUNK / 2 : 0;
            CHECK(rtlSampleNext(iters[i], &sample) == RTL_OK);
            CHECK(sample.queue == i && sample.owner == packet);
            CHECK(rtlTraceKernelSample(trace, 1, i, behind, &sample) == RTL_OK);
            CHECK(sample.queue == i && sample.owner == behind);
        }
    CHECK(unpacked == CHUNKS * STREAMS);
    for (uint32_t i = 0; i < STREAMS; i++) {
        CHECK(rtlSampleNext(iters[i], &sample) == RTL_END);
        rtlSampleIterFree(iters[i]);
    }
    rtlTraceClose(trace);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    fixture_remove(path);
    return NULL;
}
