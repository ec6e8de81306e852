#include <dlfcn.h>
#include <gtest/gtest.h>

namespace
{

/* What the thunk loader of ROCr of August 2025 looks up in libdtif.so (thunk_loader.cpp); it gives
 * up at the first that is missing. */
const char *const NAMES[] = {
    "hsaKmtOpenKFD",
    "hsaKmtCloseKFD",
    "hsaKmtGetVersion",
    "hsaKmtAcquireSystemProperties",
    "hsaKmtReleaseSystemProperties",
    "hsaKmtGetNodeProperties",
    "hsaKmtGetNodeMemoryProperties",
    "hsaKmtGetNodeCacheProperties",
    "hsaKmtGetNodeIoLinkProperties",
    "hsaKmtCreateEvent",
    "hsaKmtDestroyEvent",
    "hsaKmtSetEvent",
    "hsaKmtResetEvent",
    "hsaKmtQueryEventState",
    "hsaKmtWaitOnEvent",
    "hsaKmtWaitOnMultipleEvents",
    "hsaKmtCreateQueue",
    "hsaKmtCreateQueueExt",
    "hsaKmtUpdateQueue",
    "hsaKmtDestroyQueue",
    "hsaKmtSetQueueCUMask",
    "hsaKmtSetMemoryPolicy",
    "hsaKmtAllocMemory",
    "hsaKmtAllocMemoryAlign",
    "hsaKmtFreeMemory",
    "hsaKmtAvailableMemory",
    "hsaKmtRegisterMemory",
    "hsaKmtRegisterMemoryToNodes",
    "hsaKmtRegisterMemoryWithFlags",
    "hsaKmtRegisterGraphicsHandleToNodes",
    "hsaKmtRegisterGraphicsHandleToNodesExt",
    "hsaKmtShareMemory",
    "hsaKmtRegisterSharedHandle",
    "hsaKmtRegisterSharedHandleToNodes",
    "hsaKmtProcessVMRead",
    "hsaKmtProcessVMWrite",
    "hsaKmtDeregisterMemory",
    "hsaKmtMapMemoryToGPU",
    "hsaKmtMapMemoryToGPUNodes",
    "hsaKmtUnmapMemoryToGPU",
    "hsaKmtDbgRegister",
    "hsaKmtDbgUnregister",
    "hsaKmtDbgWavefrontControl",
    "hsaKmtDbgAddressWatch",
    "hsaKmtDbgEnable",
    "hsaKmtDbgDisable",
    "hsaKmtDbgGetDeviceData",
    "hsaKmtDbgGetQueueData",
    "hsaKmtGetClockCounters",
    "hsaKmtPmcGetCounterProperties",
    "hsaKmtPmcRegisterTrace",
    "hsaKmtPmcUnregisterTrace",
    "hsaKmtPmcAcquireTraceAccess",
    "hsaKmtPmcReleaseTraceAccess",
    "hsaKmtPmcStartTrace",
    "hsaKmtPmcQueryTrace",
    "hsaKmtPmcStopTrace",
    "hsaKmtMapGraphicHandle",
    "hsaKmtUnmapGraphicHandle",
    "hsaKmtSetTrapHandler",
    "hsaKmtGetTileConfig",
    "hsaKmtQueryPointerInfo",
    "hsaKmtSetMemoryUserData",
    "hsaKmtGetQueueInfo",
    "hsaKmtAllocQueueGWS",
    "hsaKmtRuntimeEnable",
    "hsaKmtRuntimeDisable",
    "hsaKmtCheckRuntimeDebugSupport",
    "hsaKmtGetRuntimeCapabilities",
    "hsaKmtDebugTrapIoctl",
    "hsaKmtSPMAcquire",
    "hsaKmtSPMRelease",
    "hsaKmtSPMSetDestBuffer",
    "hsaKmtSVMSetAttr",
    "hsaKmtSVMGetAttr",
    "hsaKmtSetXNACKMode",
    "hsaKmtGetXNACKMode",
    "hsaKmtOpenSMI",
    "hsaKmtExportDMABufHandle",
    "hsaKmtWaitOnEvent_Ext",
    "hsaKmtWaitOnMultipleEvents_Ext",
    "hsaKmtReplaceAsanHeaderPage",
    "hsaKmtReturnAsanHeaderPage",
    "hsaKmtGetAMDGPUDeviceHandle",
    "hsaKmtPcSamplingQueryCapabilities",
    "hsaKmtPcSamplingCreate",
    "hsaKmtPcSamplingDestroy",
    "hsaKmtPcSamplingStart",
    "hsaKmtPcSamplingStop",
    "hsaKmtPcSamplingSupport",
    "hsaKmtModelEnabled",
    "hsaKmtQueueRingDoorbell",
    "amdgpu_device_initialize",
    "amdgpu_device_deinitialize",
    "amdgpu_query_gpu_info",
    "amdgpu_bo_cpu_map",
    "amdgpu_bo_free",
    "amdgpu_bo_export",
    "amdgpu_bo_import",
    "amdgpu_bo_va_op",
    "drmCommandWriteRead",
    "DtifCreate",
    "DtifDestroy",
};

class Dtif : public testing::Test
{
  protected:
    void *library = nullptr; // NOLINT(misc-non-private-member-variables-in-classes): for the tests

    void SetUp() override
    {
        library = dlopen(DTIF_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
        ASSERT_NE(library, nullptr) << DTIF_LIBRARY;
    }

    template <typename Function> Function *find(const char *name)
    {
        return reinterpret_cast<Function *>(dlsym(library, name));
    }
};

TEST_F(Dtif, HasEveryName)
{
    for (const char *name : NAMES)
        EXPECT_NE(dlsym(library, name), nullptr) << name;
}

TEST_F(Dtif, CreateGivesAnInstance)
{
    auto *create = find<void *(const char *)>("DtifCreate");
    auto *destroy = find<void()>("DtifDestroy");
    ASSERT_NE(create, nullptr);
    ASSERT_NE(destroy, nullptr);
    EXPECT_NE(create("HSA"), nullptr);
    destroy();
}

/* libdrm's call for the counter frequency, in kHz at offset 72 of its struct. */
TEST_F(Dtif, TellsTheClockFrequency)
{
    void *device = nullptr;
    auto *handle = find<int(uint32_t, void **)>("hsaKmtGetAMDGPUDeviceHandle");
    auto *query = find<int(void *, uint32_t *)>("amdgpu_query_gpu_info");
    ASSERT_EQ(handle(1, &device), 0);
    uint32_t info[256] = {};
    ASSERT_EQ(query(device, info), 0);
    EXPECT_EQ(info[72 / 4], 100000U);
}

/* The library stays when it is closed: its device thread may still run. */
TEST_F(Dtif, StaysLoaded)
{
    ASSERT_EQ(dlclose(library), 0);
    EXPECT_NE(dlopen(DTIF_LIBRARY, RTLD_LAZY | RTLD_NOLOAD), nullptr);
}

} // namespace
