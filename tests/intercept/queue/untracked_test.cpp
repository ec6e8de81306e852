#include "../../common/check.h"

RTL_C_TEST(Untracked, KernelsOfBothPacketFormatsAreCounted)
RTL_C_TEST(Untracked, ABlindQueueIsNotRead)
