#include "../common/check.h"

RTL_C_TEST(Page, Bins)
RTL_C_TEST(Page, BinsOfOneLongThing)
RTL_C_TEST(Page, BinsAtTheEndOfTime)
RTL_C_TEST(Page, Spread)
RTL_C_TEST(Page, Lanes)
RTL_C_TEST(Page, Items)
RTL_C_TEST(Page, Deflate)
