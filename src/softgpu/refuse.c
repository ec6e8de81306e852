/* The calls that ROCr links but that this device does not offer: each says so, as an older driver
 * or a lesser card would, and ROCr goes on without the feature. */
#include "softgpu/process.h"

#include <hsakmt.h>

static HSAKMT_STATUS refused(void)
{
    return sg_process_is_open() ? HSAKMT_STATUS_NOT_SUPPORTED
                                : HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
}

/* Without the debugger interface ROCr reports queue errors through queue_inactive_signal, which is
 * what aql.c writes. */
HSAKMT_STATUS hsaKmtRuntimeEnable(void *rDebug, bool setupTtmp)
{
    (void)rDebug;
    (void)setupTtmp;
    return refused();
}

HSAKMT_STATUS hsaKmtRuntimeDisable(void)
{
    return refused();
}

HSAKMT_STATUS hsaKmtSVMSetAttr(void *start_addr, HSAuint64 size, unsigned int nattr,
                               HSA_SVM_ATTRIBUTE *attrs)
{
    (void)start_addr;
    (void)size;
    (void)nattr;
    (void)attrs;
    return refused();
}

HSAKMT_STATUS hsaKmtSVMGetAttr(void *start_addr, HSAuint64 size, unsigned int nattr,
                               HSA_SVM_ATTRIBUTE *attrs)
{
    (void)start_addr;
    (void)size;
    (void)nattr;
    (void)attrs;
    return refused();
}

/* Memory of the software GPUs is private to the process. */
HSAKMT_STATUS hsaKmtShareMemory(void *MemoryAddress, HSAuint64 SizeInBytes,
                                HsaSharedMemoryHandle *SharedMemoryHandle)
{
    (void)MemoryAddress;
    (void)SizeInBytes;
    (void)SharedMemoryHandle;
    return refused();
}

HSAKMT_STATUS hsaKmtRegisterSharedHandle(const HsaSharedMemoryHandle *SharedMemoryHandle,
                                         void **MemoryAddress, HSAuint64 *SizeInBytes)
{
    (void)SharedMemoryHandle;
    (void)MemoryAddress;
    (void)SizeInBytes;
    return refused();
}

HSAKMT_STATUS hsaKmtRegisterSharedHandleToNodes(const HsaSharedMemoryHandle *SharedMemoryHandle,
                                                void **MemoryAddress, HSAuint64 *SizeInBytes,
                                                HSAuint64 NumberOfNodes, HSAuint32 *NodeArray)
{
    (void)SharedMemoryHandle;
    (void)MemoryAddress;
    (void)SizeInBytes;
    (void)NumberOfNodes;
    (void)NodeArray;
    return refused();
}

HSAKMT_STATUS hsaKmtRegisterGraphicsHandleToNodes(HSAuint64 GraphicsResourceHandle,
                                                  HsaGraphicsResourceInfo *GraphicsResourceInfo,
                                                  HSAuint64 NumberOfNodes, HSAuint32 *NodeArray)
{
    (void)GraphicsResourceHandle;
    (void)GraphicsResourceInfo;
    (void)NumberOfNodes;
    (void)NodeArray;
    return refused();
}

/* The node says NumGws 0, so nobody should ask. */
HSAKMT_STATUS hsaKmtAllocQueueGWS(HSA_QUEUEID QueueId, HSAuint32 nGWS, HSAuint32 *firstGWS)
{
    (void)QueueId;
    (void)nGWS;
    (void)firstGWS;
    return refused();
}

/* No wave ever traps here, so the handler is taken and never runs. */
HSAKMT_STATUS hsaKmtSetTrapHandler(HSAuint32 NodeId, void *TrapHandlerBaseAddress,
                                   HSAuint64 TrapHandlerSizeInBytes, void *TrapBufferBaseAddress,
                                   HSAuint64 TrapBufferSizeInBytes)
{
    (void)NodeId;
    (void)TrapHandlerBaseAddress;
    (void)TrapHandlerSizeInBytes;
    (void)TrapBufferBaseAddress;
    (void)TrapBufferSizeInBytes;
    return sg_process_is_open() ? HSAKMT_STATUS_SUCCESS
                                : HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
}
