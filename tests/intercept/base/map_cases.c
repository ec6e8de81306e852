#include "../../common/check.h"
#include "intercept/base/queue_map.h"

#include <string.h>

static struct rtl_queue_map map;
static int values[8];

const char *Map_FindsWhatWasPut(void)
{
    memset(&map, 0, sizeof map);
    CHECK(rtl_queue_map_find(&map, 64) == NULL);
    CHECK(rtl_queue_map_put(&map, 64, &values[0]) && rtl_queue_map_put(&map, 128, &values[1]));
    CHECK(rtl_queue_map_find(&map, 64) == &values[0] &&
          rtl_queue_map_find(&map, 128) == &values[1]);
    CHECK(rtl_queue_map_put(&map, 64, &values[2]));
    CHECK(rtl_queue_map_find(&map, 64) == &values[2]);
    rtl_queue_map_remove(&map, 64);
    rtl_queue_map_remove(&map, 192);
    CHECK(rtl_queue_map_find(&map, 64) == NULL && rtl_queue_map_find(&map, 128) == &values[1]);
    return NULL;
}

const char *Map_PlacesAreUsedAgain(void)
{
    memset(&map, 0, sizeof map);
    for (uint64_t i = 1; i < 20 * RTL_MAP_PLACES; i++) {
        CHECK(rtl_queue_map_put(&map, i * 64, &values[i % 8]));
        CHECK(rtl_queue_map_find(&map, i * 64) == &values[i % 8]);
        rtl_queue_map_remove(&map, i * 64);
    }
    return NULL;
}

const char *Map_FullMapRefuses(void)
{
    memset(&map, 0, sizeof map);
    for (uint64_t i = 1; i <= RTL_MAP_PLACES; i++)
        CHECK(rtl_queue_map_put(&map, i * 64, &values[i % 8]));
    CHECK(!rtl_queue_map_put(&map, (RTL_MAP_PLACES + 1) * 64, &values[0]));
    for (uint64_t i = 1; i <= RTL_MAP_PLACES; i++)
        CHECK(rtl_queue_map_find(&map, i * 64) == &values[i % 8]);
    return NULL;
}
