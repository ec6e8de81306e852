#include "../common/check.h"

RTL_C_TEST(Golden, Version10)
RTL_C_TEST(Golden, Version11)
RTL_C_TEST(Golden, Version12)
RTL_C_TEST(Golden, Version13)
RTL_C_TEST(Golden, Version14)
RTL_C_TEST(Golden, Version15)
RTL_C_TEST(Golden, Version16)
