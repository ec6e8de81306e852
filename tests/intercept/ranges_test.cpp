#include "../common/check.h"

RTL_C_TEST(Ranges, OpenWhenRecordingBegins)
RTL_C_TEST(Ranges, WhileRecordingIsStopped)
RTL_C_TEST(Ranges, FullRing)
RTL_C_TEST(Ranges, WithoutEnd)
RTL_C_TEST(Ranges, ForkBeforeRecording)
RTL_C_TEST(Ranges, ARingBeside)
RTL_C_TEST(Ranges, MemoryIsShort)
RTL_C_TEST(Ranges, WhichAreMeasured)
RTL_C_TEST(Ranges, ByTheirLevel)
RTL_C_TEST(Ranges, ThreadsWhileRecordingFlickers)

RTL_C_TEST(Events, WaitForTheClock)
RTL_C_TEST(Events, AFlushWaitsForTheClock)
RTL_C_TEST(Events, WaitForTheRate)
RTL_C_TEST(Events, WaitForTheName)
RTL_C_TEST(Events, UnknownThings)
RTL_C_TEST(Events, WhereKernelsComeFrom)
RTL_C_TEST(Events, MoreThanABatch)
RTL_C_TEST(Events, CopiesLaunchesAndMarks)

RTL_C_TEST(Duration, Words)
