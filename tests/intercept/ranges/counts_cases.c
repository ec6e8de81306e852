/* What a session keeps of hardware counters, told by records of the wire. */
#include "../../common/check.h"
#include "intercept/ranges/counts.h"

#include <stdlib.h>
#include <string.h>

static void tell_counting(struct rtl_kept_counts *counts, enum rtl_counting_mode mode)
{
    const struct rtl_wire_counting wire = {.mode = (uint32_t)mode, .pass = 1, .passes = 2};
    rtl_kept_count(counts, RTL_WIRE_COUNTING, &wire);
}

static void tell_counter(struct rtl_kept_counts *counts, uint32_t id, uint32_t agent, uint16_t pass,
                         const char *name)
{
    struct {
        struct rtl_wire_counter wire;
        char name[32];
    } body = {
        .wire = {
            .counter = id, .agent = agent, .pass = pass, .name_length = (uint16_t)strlen(name)}};
    memcpy((char *)(&body.wire + 1), name, strlen(name));
    rtl_kept_count(counts, RTL_WIRE_COUNTER, &body);
}

static void tell_sample(struct rtl_kept_counts *counts, uint32_t queue, uint64_t owner,
                        uint32_t agent, uint64_t first, uint64_t second, uint16_t flags)
{
    struct {
        struct rtl_wire_sample wire;
        uint64_t values[2];
    } body = {.wire = {.owner = owner, .queue = queue, .agent = agent, .values = 2, .flags = flags},
              .values = {first, second}};
    rtl_kept_count(counts, RTL_WIRE_SAMPLE, &body);
}

/* Two devices with the same counters in another order, and one of another pass. */
static void tell_counters(struct rtl_kept_counts *counts)
{
    tell_counter(counts, 0, 5, 1, "SQ_WAVES");
    tell_counter(counts, 1, 5, 0, "TCC_MISS");
    tell_counter(counts, 2, 5, 1, "TCC_HIT");
    tell_counter(counts, 3, 6, 1, "TCC_HIT");
    tell_counter(counts, 4, 6, 1, "SQ_WAVES");
}

const char *Counts_OfARangeOnTwoDevices(void)
{
    struct rtl_kept_counts counts = {0};
    struct rtl_count row[2] = {{0}};
    uint32_t flags = 0;
    tell_counting(&counts, RTL_COUNTING_RANGE);
    tell_counters(&counts);
    CHECK(counts.name_count == 2 && strcmp(counts.names[0], "SQ_WAVES") == 0);
    CHECK(strcmp(counts.names[1], "TCC_HIT") == 0);
    CHECK(rtl_kept_counter(&counts, "TCC_MISS")->pass == 0);
    CHECK(rtl_kept_counter(&counts, "SQ_WAVES")->pass == 1);
    CHECK(rtl_kept_counter(&counts, "SQ_BUSY_CYCLES") == NULL);
    tell_sample(&counts, RTL_NONE, 77, 5, 10, 200, 0);
    tell_sample(&counts, RTL_NONE, 78, 5, 1, 2, 0);
    tell_sample(&counts, RTL_NONE, 77, 6, 3000, 40000, RTL_SAMPLE_SHARED);
    CHECK(rtl_kept_counted(&counts, 77, row, &flags) == 2 && flags == RTL_SAMPLE_SHARED);
    CHECK(row[0].sum == 40010 && row[1].sum == 3200 && row[0].of_range);
    CHECK(rtl_kept_counted(&counts, 79, row, &flags) == 0);
    rtl_kept_counts_forget(&counts);
    CHECK(rtl_kept_counted(&counts, 77, row, &flags) == 0 && counts.name_count == 2);
    rtl_kept_counts_free(&counts);
    CHECK(counts.counters == NULL && !counts.known && counts.lost == 0);
    return NULL;
}

/* A packet of one queue is not that of another, nor a range. */
const char *Counts_OfKernels(void)
{
    struct rtl_kept_counts counts = {0};
    struct rtl_count row[2] = {{0}};
    uint32_t flags = 0;
    tell_counting(&counts, RTL_COUNTING_KERNEL);
    tell_counters(&counts);
    for (uint64_t packet = 0; packet < 5000; packet++)
        for (uint32_t queue = 0; queue < 2; queue++)
            tell_sample(&counts, queue, packet, 5, packet, queue, 0);
    tell_sample(&counts, RTL_NONE, 9, 5, 7, 7, 0);
    CHECK(rtl_kept_counted(&counts, rtl_kept_kernel_key(0, 9), row, &flags) == 1);
    CHECK(row[0].sum == 9 && row[1].sum == 0);
    CHECK(rtl_kept_counted(&counts, rtl_kept_kernel_key(1, 4999), row, &flags) == 1);
    CHECK(row[0].sum == 5008 && row[0].max == 4999 && row[1].sum == 1 && !row[0].of_range);
    CHECK(rtl_kept_counted(&counts, rtl_kept_kernel_key(2, 9), row, &flags) == 0);
    CHECK(counts.lost == 0 && flags == 0);
    rtl_kept_counts_free(&counts);
    return NULL;
}
