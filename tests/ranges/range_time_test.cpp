#include "../common/check.h"

RTL_C_TEST(RangeTime, IsThatOfFlags)
RTL_C_TEST(RangeTime, CopiesWithoutTimes)
