#include "../common/check.h"

RTL_C_TEST(Names, BlocksAreAqlprofiles)
RTL_C_TEST(Names, ANameMeansOneThingOnAFamily)
RTL_C_TEST(Names, RowsOfANameFollowEachOther)
RTL_C_TEST(Names, SelectsOfDevices)
RTL_C_TEST(Names, FamiliesOfAgents)
RTL_C_TEST(Names, NearOnes)
RTL_C_TEST(Names, NothingIsNearANovel)
