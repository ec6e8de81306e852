/* Symbols that only newer ROCr asks for, collected from 6.2.4 and from the thunk loader of August
 * 2025 (thunk_loader.cpp). As libdtif.so this library serves ROCr 7 with HSA_ENABLE_DTIF=1, which
 * wants every one of these names. hsakmt.h of 5.2.3 declares only some of them, so this file
 * declares its own. */
#include "softgpu/memory.h"
#include "softgpu/process.h"
#include "softgpu/queues.h"
#include "softgpu/topology.h"

#include <errno.h>
#include <hsakmttypes.h>
#include <stddef.h>
#include <string.h>

/* ---- calls with a body ---- */

HSAKMT_STATUS hsaKmtCreateQueue(HSAuint32 NodeId, HSA_QUEUE_TYPE Type, HSAuint32 QueuePercentage,
                                HSA_QUEUE_PRIORITY Priority, void *QueueAddress,
                                HSAuint64 QueueSizeInBytes, HsaEvent *Event,
                                HsaQueueResource *QueueResource);
HSAKMT_STATUS hsaKmtWaitOnMultipleEvents(HsaEvent *Events[], HSAuint32 NumEvents, bool WaitOnAll,
                                         HSAuint32 Milliseconds);

HSAKMT_STATUS hsaKmtQueueRingDoorbell(HSA_QUEUEID QueueId);
HSAKMT_STATUS hsaKmtCreateQueueExt(HSAuint32 NodeId, HSA_QUEUE_TYPE Type, HSAuint32 QueuePercentage,
                                   HSA_QUEUE_PRIORITY Priority, HSAuint32 SdmaEngineId,
                                   void *QueueAddress, HSAuint64 QueueSizeInBytes, HsaEvent *Event,
                                   HsaQueueResource *QueueResource);
HSAKMT_STATUS hsaKmtAllocMemoryAlign(HSAuint32 PreferredNode, HSAuint64 SizeInBytes,
                                     HSAuint64 Alignment, HsaMemFlags MemFlags,
                                     void **MemoryAddress);
HSAKMT_STATUS hsaKmtAvailableMemory(HSAuint32 Node, HSAuint64 *AvailableBytes);
HSAKMT_STATUS hsaKmtWaitOnEvent_Ext(HsaEvent *Event, HSAuint32 Milliseconds, uint64_t *event_age);
HSAKMT_STATUS hsaKmtWaitOnMultipleEvents_Ext(HsaEvent *Events[], HSAuint32 NumEvents,
                                             bool WaitOnAll, HSAuint32 Milliseconds,
                                             uint64_t *event_age);
HSAKMT_STATUS hsaKmtGetRuntimeCapabilities(HSAuint32 *caps_mask);
HSAKMT_STATUS hsaKmtModelEnabled(bool *enable);
HSAKMT_STATUS hsaKmtGetAMDGPUDeviceHandle(HSAuint32 NodeId, void **DeviceHandle);
void *DtifCreate(const char *client);
void DtifDestroy(void);

/* The runtime rings without a value: whatever lies below the write index is announced. */
HSAKMT_STATUS hsaKmtQueueRingDoorbell(HSA_QUEUEID QueueId)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    return sg_queues_ring(QueueId) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_HANDLE;
}

HSAKMT_STATUS hsaKmtCreateQueueExt(HSAuint32 NodeId, HSA_QUEUE_TYPE Type, HSAuint32 QueuePercentage,
                                   HSA_QUEUE_PRIORITY Priority, HSAuint32 SdmaEngineId,
                                   void *QueueAddress, HSAuint64 QueueSizeInBytes, HsaEvent *Event,
                                   HsaQueueResource *QueueResource)
{
    enum { SDMA_BY_ENGINE_ID = 6 }; /* HSA_QUEUE_SDMA_BY_ENG_ID: all engines are alike here */
    (void)SdmaEngineId;
    if ((unsigned)Type == SDMA_BY_ENGINE_ID)
        Type = HSA_QUEUE_SDMA;
    return hsaKmtCreateQueue(NodeId, Type, QueuePercentage, Priority, QueueAddress,
                             QueueSizeInBytes, Event, QueueResource);
}

HSAKMT_STATUS hsaKmtAllocMemoryAlign(HSAuint32 PreferredNode, HSAuint64 SizeInBytes,
                                     HSAuint64 Alignment, HsaMemFlags MemFlags,
                                     void **MemoryAddress)
{
    return sg_memory_allocate(PreferredNode, SizeInBytes, Alignment, MemFlags, MemoryAddress);
}

HSAKMT_STATUS hsaKmtAvailableMemory(HSAuint32 Node, HSAuint64 *AvailableBytes)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!AvailableBytes)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    if (!sg_topology_is_gpu(Node))
        return HSAKMT_STATUS_INVALID_NODE_UNIT;
    uint64_t used = sg_memory_used(Node);
    *AvailableBytes = used < SG_FRAME_BUFFER_BYTES ? SG_FRAME_BUFFER_BYTES - used : 0;
    return HSAKMT_STATUS_SUCCESS;
}

/* Event ages came with interface version 1.14; a runtime that reads our 1.7 passes none. */
HSAKMT_STATUS hsaKmtWaitOnMultipleEvents_Ext(HsaEvent *Events[], HSAuint32 NumEvents,
                                             bool WaitOnAll, HSAuint32 Milliseconds,
                                             uint64_t *event_age)
{
    (void)event_age;
    return hsaKmtWaitOnMultipleEvents(Events, NumEvents, WaitOnAll, Milliseconds);
}

HSAKMT_STATUS hsaKmtWaitOnEvent_Ext(HsaEvent *Event, HSAuint32 Milliseconds, uint64_t *event_age)
{
    (void)event_age;
    return hsaKmtWaitOnMultipleEvents(&Event, 1, true, Milliseconds);
}

HSAKMT_STATUS hsaKmtGetRuntimeCapabilities(HSAuint32 *caps_mask)
{
    if (!caps_mask)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    *caps_mask = 0;
    return HSAKMT_STATUS_SUCCESS;
}

/* "Model" is AMD's own simulator, for which ROCr changes its behaviour. */
HSAKMT_STATUS hsaKmtModelEnabled(bool *enable)
{
    if (!enable)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    *enable = false;
    return HSAKMT_STATUS_SUCCESS;
}

static char dtif_instance;

void *DtifCreate(const char *client)
{
    (void)client;
    return &dtif_instance;
}

void DtifDestroy(void)
{
}

/* ---- libdrm: one device, of which only the counter's frequency is asked ---- */

/* The beginning of struct amdgpu_gpu_info of libdrm's amdgpu.h, up to the last field that is set
 * here. */
typedef struct sg_gpu_info {
    uint32_t ids[4];
    uint64_t flags_and_clocks[3];
    uint32_t pipes[8];
    uint32_t gpu_counter_freq; /* kHz */
} sg_gpu_info_t;

_Static_assert(offsetof(sg_gpu_info_t, gpu_counter_freq) == 72, "libdrm's layout");

int amdgpu_device_initialize(int fd, uint32_t *major_version, uint32_t *minor_version,
                             void **device_handle);
int amdgpu_device_deinitialize(void *device_handle);
int amdgpu_query_gpu_info(void *device_handle, sg_gpu_info_t *info);

static char drm_device;

HSAKMT_STATUS hsaKmtGetAMDGPUDeviceHandle(HSAuint32 NodeId, void **DeviceHandle)
{
    if (!DeviceHandle)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    if (!sg_topology_is_gpu(NodeId))
        return HSAKMT_STATUS_INVALID_NODE_UNIT;
    *DeviceHandle = &drm_device;
    return HSAKMT_STATUS_SUCCESS;
}

int amdgpu_device_initialize(int fd, uint32_t *major_version, uint32_t *minor_version,
                             void **device_handle)
{
    (void)fd;
    *major_version = 3;
    *minor_version = 0;
    *device_handle = &drm_device;
    return 0;
}

int amdgpu_device_deinitialize(void *device_handle)
{
    return device_handle == &drm_device ? 0 : -EINVAL;
}

int amdgpu_query_gpu_info(void *device_handle, sg_gpu_info_t *info)
{
    if (device_handle != &drm_device)
        return -EINVAL;
    memset(info, 0, sizeof(*info));
    info->gpu_counter_freq = 100000;
    return 0;
}

/* ---- calls that are refused ---- */

/* A caller passes more arguments than these take, which the x86-64 ABI lets a callee ignore; the
 * answer is all that counts. */
#define REFUSE(name)                                                                               \
    HSAKMT_STATUS name(void);                                                                      \
    HSAKMT_STATUS name(void)                                                                       \
    {                                                                                              \
        return HSAKMT_STATUS_NOT_SUPPORTED;                                                        \
    }

#define REFUSE_DRM(name)                                                                           \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return -EOPNOTSUPP;                                                                        \
    }

REFUSE(hsaKmtReportQueue)
REFUSE(hsaKmtGetQueueInfo)
REFUSE(hsaKmtProcessVMRead)
REFUSE(hsaKmtProcessVMWrite)
REFUSE(hsaKmtMapGraphicHandle)
REFUSE(hsaKmtUnmapGraphicHandle)
REFUSE(hsaKmtRegisterGraphicsHandleToNodesExt)
REFUSE(hsaKmtExportDMABufHandle)
REFUSE(hsaKmtDbgRegister)
REFUSE(hsaKmtDbgUnregister)
REFUSE(hsaKmtDbgWavefrontControl)
REFUSE(hsaKmtDbgAddressWatch)
REFUSE(hsaKmtDbgEnable)
REFUSE(hsaKmtDbgDisable)
REFUSE(hsaKmtDbgGetDeviceData)
REFUSE(hsaKmtDbgGetQueueData)
REFUSE(hsaKmtDebugTrapIoctl)
REFUSE(hsaKmtCheckRuntimeDebugSupport)
REFUSE(hsaKmtGetKernelDebugTrapVersionInfo)
REFUSE(hsaKmtPmcGetCounterProperties)
REFUSE(hsaKmtPmcRegisterTrace)
REFUSE(hsaKmtPmcUnregisterTrace)
REFUSE(hsaKmtPmcAcquireTraceAccess)
REFUSE(hsaKmtPmcReleaseTraceAccess)
REFUSE(hsaKmtPmcStartTrace)
REFUSE(hsaKmtPmcQueryTrace)
REFUSE(hsaKmtPmcStopTrace)
REFUSE(hsaKmtSPMAcquire)
REFUSE(hsaKmtSPMRelease)
REFUSE(hsaKmtSPMSetDestBuffer)
REFUSE(hsaKmtOpenSMI)
REFUSE(hsaKmtReplaceAsanHeaderPage)
REFUSE(hsaKmtReturnAsanHeaderPage)
REFUSE(hsaKmtPcSamplingQueryCapabilities)
REFUSE(hsaKmtPcSamplingCreate)
REFUSE(hsaKmtPcSamplingDestroy)
REFUSE(hsaKmtPcSamplingStart)
REFUSE(hsaKmtPcSamplingStop)
REFUSE(hsaKmtPcSamplingSupport)
REFUSE_DRM(amdgpu_bo_cpu_map)
REFUSE_DRM(amdgpu_bo_free)
REFUSE_DRM(amdgpu_bo_export)
REFUSE_DRM(amdgpu_bo_import)
REFUSE_DRM(amdgpu_bo_va_op)
REFUSE_DRM(drmCommandWriteRead)
