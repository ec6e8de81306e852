#include "../common/check.h"

RTL_C_TEST(Counted, Kernels)
RTL_C_TEST(Counted, Text)
RTL_C_TEST(Counted, Ranges)
RTL_C_TEST(Counted, PassesOfKernels)
RTL_C_TEST(Counted, PassesOfRanges)
RTL_C_TEST(Counted, Nothing)

RTL_C_TEST(Checked, Text)
RTL_C_TEST(Checked, Json)
RTL_C_TEST(Checked, Info)
