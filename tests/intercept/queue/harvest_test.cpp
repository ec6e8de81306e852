#include "../../common/check.h"

RTL_C_TEST(Harvest, ASignalIsForwardedThatIsBorrowedMeanwhile)
RTL_C_TEST(Harvest, ASignalIsBorrowedThatIsForwardedMeanwhile)
RTL_C_TEST(Harvest, TwoQueuesForwardToOneSignal)
RTL_C_TEST(Harvest, WhatIsClaimedIsInTheRing)
RTL_C_TEST(Harvest, ASignalFallsBehindItsRecord)
RTL_C_TEST(Harvest, AForwardComesBehindWhoIsAboutToBorrow)
RTL_C_TEST(Harvest, ClosingWaitsForWhoIsAboutToBorrow)
