#include "../common/check.h"

RTL_C_TEST(MpiExchange, OneRankOfEachHostAsks)
RTL_C_TEST(MpiExchange, FewerRoundsWithManyHosts)
RTL_C_TEST(MpiExchange, IsGivenUpWhereMpiRefuses)
RTL_C_TEST(MpiExchange, WaitsForAll)

RTL_C_TEST(MpiFound, ComesToWhoRecords)
RTL_C_TEST(MpiFound, DamageIsPassedOver)
RTL_C_TEST(MpiFound, SessionIsGone)
