#include "../common/check.h"

RTL_C_TEST(Writer, Memory)
RTL_C_TEST(Writer, Files)
RTL_C_TEST(Writer, Sqlite)
