/* Values of the public headers hip_runtime_api.h and driver_types.h; where a value has two names,
 * the one that hipGetErrorName gives. */
#include "store/enums.h"

#include "rtl/rtl_trace.h"

#include <stddef.h>
#include <string.h>

struct value {
    int64_t value;
    const char *name;
};

static const struct value errors[] = {
    {0, "hipSuccess"},
    {1, "hipErrorInvalidValue"},
    {2, "hipErrorOutOfMemory"},
    {3, "hipErrorNotInitialized"},
    {4, "hipErrorDeinitialized"},
    {5, "hipErrorProfilerDisabled"},
    {6, "hipErrorProfilerNotInitialized"},
    {7, "hipErrorProfilerAlreadyStarted"},
    {8, "hipErrorProfilerAlreadyStopped"},
    {9, "hipErrorInvalidConfiguration"},
    {12, "hipErrorInvalidPitchValue"},
    {13, "hipErrorInvalidSymbol"},
    {17, "hipErrorInvalidDevicePointer"},
    {21, "hipErrorInvalidMemcpyDirection"},
    {35, "hipErrorInsufficientDriver"},
    {52, "hipErrorMissingConfiguration"},
    {53, "hipErrorPriorLaunchFailure"},
    {98, "hipErrorInvalidDeviceFunction"},
    {100, "hipErrorNoDevice"},
    {101, "hipErrorInvalidDevice"},
    {200, "hipErrorInvalidImage"},
    {201, "hipErrorInvalidContext"},
    {202, "hipErrorContextAlreadyCurrent"},
    {205, "hipErrorMapFailed"},
    {206, "hipErrorUnmapFailed"},
    {207, "hipErrorArrayIsMapped"},
    {208, "hipErrorAlreadyMapped"},
    {209, "hipErrorNoBinaryForGpu"},
    {210, "hipErrorAlreadyAcquired"},
    {211, "hipErrorNotMapped"},
    {212, "hipErrorNotMappedAsArray"},
    {213, "hipErrorNotMappedAsPointer"},
    {214, "hipErrorECCNotCorrectable"},
    {215, "hipErrorUnsupportedLimit"},
    {216, "hipErrorContextAlreadyInUse"},
    {217, "hipErrorPeerAccessUnsupported"},
    {218, "hipErrorInvalidKernelFile"},
    {219, "hipErrorInvalidGraphicsContext"},
    {300, "hipErrorInvalidSource"},
    {301, "hipErrorFileNotFound"},
    {302, "hipErrorSharedObjectSymbolNotFound"},
    {303, "hipErrorSharedObjectInitFailed"},
    {304, "hipErrorOperatingSystem"},
    {400, "hipErrorInvalidHandle"},
    {401, "hipErrorIllegalState"},
    {500, "hipErrorNotFound"},
    {600, "hipErrorNotReady"},
    {700, "hipErrorIllegalAddress"},
    {701, "hipErrorLaunchOutOfResources"},
    {702, "hipErrorLaunchTimeOut"},
    {704, "hipErrorPeerAccessAlreadyEnabled"},
    {705, "hipErrorPeerAccessNotEnabled"},
    {708, "hipErrorSetOnActiveProcess"},
    {709, "hipErrorContextIsDestroyed"},
    {710, "hipErrorAssert"},
    {712, "hipErrorHostMemoryAlreadyRegistered"},
    {713, "hipErrorHostMemoryNotRegistered"},
    {719, "hipErrorLaunchFailure"},
    {720, "hipErrorCooperativeLaunchTooLarge"},
    {801, "hipErrorNotSupported"},
    {900, "hipErrorStreamCaptureUnsupported"},
    {901, "hipErrorStreamCaptureInvalidated"},
    {902, "hipErrorStreamCaptureMerge"},
    {903, "hipErrorStreamCaptureUnmatched"},
    {904, "hipErrorStreamCaptureUnjoined"},
    {905, "hipErrorStreamCaptureIsolation"},
    {906, "hipErrorStreamCaptureImplicit"},
    {907, "hipErrorCapturedEvent"},
    {908, "hipErrorStreamCaptureWrongThread"},
    {910, "hipErrorGraphExecUpdateFailure"},
    {911, "hipErrorInvalidChannelDescriptor"},
    {912, "hipErrorInvalidTexture"},
    {999, "hipErrorUnknown"},
    {1052, "hipErrorRuntimeMemory"},
    {1053, "hipErrorRuntimeOther"},
};

static const struct value copies[] = {
    {0, "hipMemcpyHostToHost"},     {1, "hipMemcpyHostToDevice"}, {2, "hipMemcpyDeviceToHost"},
    {3, "hipMemcpyDeviceToDevice"}, {4, "hipMemcpyDefault"},
};

static const struct value capture_modes[] = {
    {0, "hipStreamCaptureModeGlobal"},
    {1, "hipStreamCaptureModeThreadLocal"},
    {2, "hipStreamCaptureModeRelaxed"},
};

static const struct value capture_states[] = {
    {0, "hipStreamCaptureStatusNone"},
    {1, "hipStreamCaptureStatusActive"},
    {2, "hipStreamCaptureStatusInvalidated"},
};

static const struct value updates[] = {
    {0, "hipGraphExecUpdateSuccess"},
    {1, "hipGraphExecUpdateError"},
    {2, "hipGraphExecUpdateErrorTopologyChanged"},
    {3, "hipGraphExecUpdateErrorNodeTypeChanged"},
    {4, "hipGraphExecUpdateErrorFunctionChanged"},
    {5, "hipGraphExecUpdateErrorParametersChanged"},
    {6, "hipGraphExecUpdateErrorNotSupported"},
    {7, "hipGraphExecUpdateErrorUnsupportedFunctionChange"},
};

static const struct value advices[] = {
    {1, "hipMemAdviseSetReadMostly"},        {2, "hipMemAdviseUnsetReadMostly"},
    {3, "hipMemAdviseSetPreferredLocation"}, {4, "hipMemAdviseUnsetPreferredLocation"},
    {5, "hipMemAdviseSetAccessedBy"},        {6, "hipMemAdviseUnsetAccessedBy"},
    {100, "hipMemAdviseSetCoarseGrain"},     {101, "hipMemAdviseUnsetCoarseGrain"},
};

static const struct value range_attributes[] = {
    {1, "hipMemRangeAttributeReadMostly"},      {2, "hipMemRangeAttributePreferredLocation"},
    {3, "hipMemRangeAttributeAccessedBy"},      {4, "hipMemRangeAttributeLastPrefetchLocation"},
    {100, "hipMemRangeAttributeCoherencyMode"},
};

static const struct value pool_attributes[] = {
    {1, "hipMemPoolReuseFollowEventDependencies"},
    {2, "hipMemPoolReuseAllowOpportunistic"},
    {3, "hipMemPoolReuseAllowInternalDependencies"},
    {4, "hipMemPoolAttrReleaseThreshold"},
    {5, "hipMemPoolAttrReservedMemCurrent"},
    {6, "hipMemPoolAttrReservedMemHigh"},
    {7, "hipMemPoolAttrUsedMemCurrent"},
    {8, "hipMemPoolAttrUsedMemHigh"},
};

static const struct value handle_types[] = {
    {0, "hipMemHandleTypeNone"},
    {1, "hipMemHandleTypePosixFileDescriptor"},
    {2, "hipMemHandleTypeWin32"},
    {4, "hipMemHandleTypeWin32Kmt"},
};

static const struct value granularities[] = {
    {0, "hipMemAllocationGranularityMinimum"},
    {1, "hipMemAllocationGranularityRecommended"},
};

static const struct enumeration {
    const char *name;
    const struct value *values;
    size_t count;
} enumerations[] = {
#define VALUES(list) list, sizeof(list) / sizeof *(list)
    {"hipError_t", VALUES(errors)},
    {"hipMemcpyKind", VALUES(copies)},
    {"hipStreamCaptureMode", VALUES(capture_modes)},
    {"hipStreamCaptureStatus", VALUES(capture_states)},
    {"hipGraphExecUpdateResult", VALUES(updates)},
    {"hipMemoryAdvise", VALUES(advices)},
    {"hipMemRangeAttribute", VALUES(range_attributes)},
    {"hipMemPoolAttr", VALUES(pool_attributes)},
    {"hipMemAllocationHandleType", VALUES(handle_types)},
    {"hipMemAllocationGranularity_flags", VALUES(granularities)},
#undef VALUES
};

static const char *find(const struct enumeration *enumeration, int64_t value)
{
    size_t low = 0;
    size_t high = enumeration->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (enumeration->values[middle].value == value)
            return enumeration->values[middle].name;
        if (enumeration->values[middle].value < value)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const char *rtl_enum_name(const char *enumeration, int64_t value)
{
    for (size_t i = 0; i < sizeof enumerations / sizeof *enumerations; i++)
        if (strcmp(enumerations[i].name, enumeration) == 0)
            return find(&enumerations[i], value);
    return NULL;
}

const char *rtlApiResultName(int32_t result)
{
    return find(&enumerations[0], result);
}
