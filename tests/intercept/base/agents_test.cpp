#include "../../common/check.h"

RTL_C_TEST(Agents, TheFirstPointsTellTheRate)
