#include "../common/check.h"

RTL_C_TEST(SyncPacket, ComesBack)
RTL_C_TEST(SyncPacket, OthersAreNone)
RTL_C_TEST(SyncBurst, KeepsTheTightest)
RTL_C_TEST(SyncAddress, AsUsersWriteIt)
RTL_C_TEST(SyncAddress, IsOfThisMachine)

RTL_C_TEST(SyncResponder, AnswersRequestsAlone)
RTL_C_TEST(SyncResponder, AnswersFromWhereItWasAsked)
RTL_C_TEST(SyncResponder, SeveralOfOneUserShareThePort)
RTL_C_TEST(SyncResponder, KnowsWhoIsExpected)

RTL_C_TEST(SyncClient, PassesOverStrangers)
RTL_C_TEST(SyncClient, GoesOnAfterLosses)
RTL_C_TEST(SyncClient, EndsWhereNobodyAnswers)
RTL_C_TEST(Sync, RespondsUntilItIsEnded)
RTL_C_TEST(Sync, UnknownHost)
