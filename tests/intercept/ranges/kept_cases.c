/* What a session keeps, told in every order in which it may come. */
#include "../../common/check.h"
#include "intercept/ranges/kept.h"
#include "intercept/ranges/sum.h"

#include <stdlib.h>

enum { OUTER = 10, INNER = 20, CALL = 30, OTHER_CALL = 50 };

static void tell_range(struct rtl_kept *kept, uint64_t id, uint64_t parent)
{
    const rtl_range_event_t event = {
        .text = "range", .start = 100 + id, .end = 1000000 - id, .id = id, .parent = parent};
    rtl_kept_range(kept, &event);
}

static void tell_call(struct rtl_kept *kept, uint64_t correlation, uint64_t range)
{
    const rtl_call_event_t event = {
        .correlation = correlation, .range = range, .start = 100 + correlation};
    rtl_kept_call(kept, &event);
}

static void tell_kernel(struct rtl_kept *kept, uint64_t correlation, uint64_t range, uint64_t end)
{
    const rtl_kernel_event_t event = {
        .start = end - 1, .end = end, .correlation = correlation, .range = range};
    rtl_kept_kernel(kept, &event);
}

static size_t count_in(struct rtl_kept *kept, uint64_t id, uint64_t *launches)
{
    struct rtl_kept_list list;
    const struct rtl_kept_range *range = rtl_kept_find(kept, id);
    if (range == NULL || !rtl_kept_gather(kept, range, &list))
        return SIZE_MAX;
    free(list.places);
    if (launches != NULL)
        *launches = list.launches;
    return list.count;
}

const char *Kept_AKernelBeforeItsCall(void)
{
    struct rtl_kept kept = {0};
    tell_kernel(&kept, CALL, 0, 500);
    tell_range(&kept, INNER, OUTER);
    rtl_kept_assign(&kept, 0);
    CHECK(count_in(&kept, INNER, NULL) == 0);
    tell_call(&kept, CALL, INNER);
    rtl_kept_assign(&kept, 0);
    rtl_kept_assign(&kept, 0);
    CHECK(count_in(&kept, INNER, NULL) == 1);
    CHECK(rtl_kept_call_start(&kept, &kept.work[0]) == 100 + CALL);
    rtl_kept_free(&kept);
    return NULL;
}

/* Its call was made in no range, which nobody tells: it is waited for, and given up in the end. */
const char *Kept_AKernelOfNoRange(void)
{
    struct rtl_kept kept = {0};
    tell_kernel(&kept, OTHER_CALL, 0, 500);
    tell_kernel(&kept, 0, 0, 500);
    CHECK(kept.unassigned_count == 1);
    rtl_kept_assign(&kept, 500);
    CHECK(kept.unassigned_count == 1);
    rtl_kept_assign(&kept, 501);
    CHECK(kept.unassigned_count == 0 && kept.lost == 0);
    rtl_kept_free(&kept);
    return NULL;
}

/* Inner ranges end first, so their outer one is not known yet when it gets its first work. */
const char *Kept_InnerRangesFirst(void)
{
    struct rtl_kept kept = {0};
    uint64_t launches = 0;
    const rtl_launch_event_t graph = {.range = INNER, .graph = 3};
    const rtl_launch_event_t batch = {.range = INNER, .graph = RTL_EVENT_NONE};
    const rtl_copy_event_t copy = {.bytes = 5, .correlation = OUTER, .range = OUTER};
    tell_kernel(&kept, INNER, INNER, 500);
    rtl_kept_launch(&kept, &graph);
    rtl_kept_launch(&kept, &batch);
    CHECK(rtl_kept_find(&kept, INNER) == NULL);
    tell_range(&kept, INNER, OUTER);
    CHECK(rtl_kept_find(&kept, OUTER) == NULL && rtl_kept_find(&kept, INNER) != NULL);
    rtl_kept_copy(&kept, &copy);
    tell_range(&kept, OUTER, 0);
    CHECK(count_in(&kept, OUTER, &launches) == 2 && launches == 1);
    CHECK(count_in(&kept, INNER, &launches) == 1 && launches == 1);
    CHECK(rtl_kept_find(&kept, 0) == NULL && rtl_kept_find(&kept, 99) == NULL);
    rtl_kept_free(&kept);
    return NULL;
}

static void tell_aside(struct rtl_kept *kept, uint64_t id, uint64_t parent, uint64_t end)
{
    const rtl_range_event_t event = {.text = "aside",
                                     .start = 100 + id,
                                     .end = end,
                                     .id = id,
                                     .parent = parent,
                                     .flags = RTL_EVENT_ASIDE};
    rtl_kept_range(kept, &event);
}

/* It is told when it begins, so that what ends within it finds its way around it. */
const char *Kept_ARangeThatIsAside(void)
{
    enum { ASIDE = 15 };
    struct rtl_kept kept = {0};
    tell_aside(&kept, ASIDE, OUTER, 0);
    tell_kernel(&kept, INNER, INNER, 500);
    tell_range(&kept, INNER, ASIDE);
    CHECK(rtl_kept_measured(&kept, ASIDE) == OUTER);
    CHECK(rtl_kept_measured(&kept, INNER) == INNER);
    tell_kernel(&kept, ASIDE, ASIDE, 600);
    tell_aside(&kept, ASIDE, OUTER, 1000);
    tell_range(&kept, OUTER, 0);
    CHECK(rtl_kept_find(&kept, ASIDE) == NULL);
    CHECK(count_in(&kept, OUTER, NULL) == 2 && count_in(&kept, INNER, NULL) == 1);
    tell_aside(&kept, ASIDE + 100, 0, 0);
    CHECK(rtl_kept_measured(&kept, ASIDE + 100) == 0);
    CHECK(kept.lost == 0);
    rtl_kept_free(&kept);
    return NULL;
}

static bool is_order(const struct rtl_kept_sum *sum, size_t count, const uint32_t *places)
{
    if (sum->list.count != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (sum->list.places[i] != places[i])
            return false;
    return true;
}

/* What was added up stays until there is more work in the range: here the test moves a kernel in
 * time, which nothing but adding up once more would notice. */
const char *Kept_AddedUpOnce(void)
{
    struct rtl_kept kept = {0};
    struct rtl_kept_sum sum = {0};
    tell_kernel(&kept, INNER, INNER, 800);
    tell_kernel(&kept, INNER, INNER, 600);
    tell_kernel(&kept, OUTER, OUTER, 700);
    tell_range(&kept, INNER, OUTER);
    tell_range(&kept, OUTER, 0);
    CHECK(rtl_kept_sum(&sum, &kept, rtl_kept_find(&kept, OUTER)));
    CHECK(is_order(&sum, 3, (uint32_t[]){1, 2, 0}) && sum.time.last == 800);
    kept.work[1].work.start = 899;
    kept.work[1].work.end = 900;
    CHECK(rtl_kept_sum(&sum, &kept, rtl_kept_find(&kept, OUTER)));
    CHECK(is_order(&sum, 3, (uint32_t[]){1, 2, 0}) && sum.time.last == 800);
    CHECK(rtl_kept_sum(&sum, &kept, rtl_kept_find(&kept, INNER)));
    CHECK(is_order(&sum, 2, (uint32_t[]){0, 1}) && sum.time.kernels == 2 && sum.time.last == 900);
    CHECK(rtl_kept_sum(&sum, &kept, rtl_kept_find(&kept, OUTER)));
    CHECK(is_order(&sum, 3, (uint32_t[]){2, 0, 1}) && sum.time.kernels == 3);
    tell_kernel(&kept, INNER, INNER, 500);
    CHECK(rtl_kept_sum(&sum, &kept, rtl_kept_find(&kept, OUTER)));
    CHECK(is_order(&sum, 4, (uint32_t[]){3, 2, 0, 1}) && sum.time.first == 499);
    rtl_kept_sum_free(&sum);
    rtl_kept_free(&kept);
    return NULL;
}

/* Far more than there is room for at first. */
const char *Kept_Many(void)
{
    struct rtl_kept kept = {0};
    for (uint64_t id = 2; id <= 50000; id++) {
        tell_range(&kept, id, 1);
        tell_kernel(&kept, id, id, 500);
    }
    tell_range(&kept, 1, 0);
    CHECK(count_in(&kept, 1, NULL) == 49999 && count_in(&kept, 77, NULL) == 1);
    CHECK(kept.lost == 0);
    rtl_kept_free(&kept);
    CHECK(kept.work == NULL && kept.range_count == 0);
    return NULL;
}
