#include "../../common/check.h"

RTL_C_TEST(Launches, BegunWhileRecordingIsStopped)
RTL_C_TEST(Launches, CutByAStop)
RTL_C_TEST(Launches, InTheHandsOfAThreadThatDoesNotComeOn)
RTL_C_TEST(Launches, ThatWaitForRoomInTheHandsOfAnother)
RTL_C_TEST(Launches, WhosePlacesAreTakenMeanwhile)
RTL_C_TEST(Launches, OfManyThreads)
