#include "../common/check.h"

RTL_C_TEST(RangeTime, IsThatOfFlags)
RTL_C_TEST(RangeTime, CopiesWithoutTimes)
RTL_C_TEST(Metrics, ARatioIsThatOfTheSums)
RTL_C_TEST(Metrics, KernelsAreAddedBeforeTheyAreDivided)
RTL_C_TEST(Metrics, TheGreatestOfMaxima)
RTL_C_TEST(Metrics, ARatioToNothingHasNoValue)
RTL_C_TEST(Metrics, EachIsDeclared)
RTL_C_TEST(Kept, AKernelBeforeItsCall)
RTL_C_TEST(Kept, AKernelOfNoRange)
RTL_C_TEST(Kept, InnerRangesFirst)
RTL_C_TEST(Kept, Many)
