/* What the machine looks like: node 0 is the host, nodes 1 to N are software GPUs that look like a
 * gfx906 (Radeon Instinct MI50) with 60 compute units. Field meanings: hsakmttypes.h; which of them
 * ROCr 5.2.3 and HIP look at: amd_gpu_agent.cpp and amd_topology.cpp of ROCr. */
#include "softgpu/topology.h"

#include "softgpu/clock.h"
#include "softgpu/memory.h"
#include "softgpu/process.h"
#include "softgpu/settings.h"

#include <hsakmt.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum {
    HOST_NODE = 0,
    COMPUTE_UNITS = 60,
    SIMDS_PER_CU = 4,
    HEAPS_HOST = 1,
    HEAPS_GPU = 4,
    CACHES_HOST = 1,
    CACHES_GPU = 2,
    PCI_VENDOR_AMD = 0x1002,
    PCI_DEVICE_MI50 = 0x66a1,
    PCIE_WEIGHT = 20,
    PEER_WEIGHT = 40,
};

/* Apertures of the real driver on gfx9: ROCr asserts that the upper halves are not zero. */
static const uint64_t LDS_APERTURE = UINT64_C(0x1000000000000);
static const uint64_t SCRATCH_APERTURE = UINT64_C(0x2000000000000);
static const uint64_t SCRATCH_APERTURE_BYTES = UINT64_C(1) << 32;

static uint32_t node_count(void)
{
    return sg_settings()->gpus + 1;
}

bool sg_topology_is_gpu(uint32_t node)
{
    return node > HOST_NODE && node < node_count();
}

/* The checks that every call about a node begins with. */
static HSAKMT_STATUS check_node(uint32_t node, const void *result)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!result)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    return node < node_count() ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_INVALID_NODE_UNIT;
}

/* 1.7: gfx906 is refused below 1.4 (SRAM-ECC reporting), and 1.0 would switch interrupts off. */
HSAKMT_STATUS hsaKmtGetVersion(HsaVersionInfo *VersionInfo)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!VersionInfo)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    VersionInfo->KernelInterfaceMajorVersion = 1;
    VersionInfo->KernelInterfaceMinorVersion = 7;
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtAcquireSystemProperties(HsaSystemProperties *SystemProperties)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!SystemProperties)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    memset(SystemProperties, 0, sizeof(*SystemProperties));
    SystemProperties->NumNodes = node_count();
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtReleaseSystemProperties(void)
{
    return HSAKMT_STATUS_SUCCESS;
}

/* The marketing name is UTF-16 in a struct that is packed to 4 bytes, hence the byte-wise copy. */
static void set_marketing_name(HsaNodeProperties *node, const char *name)
{
    for (size_t i = 0; i + 1 < HSA_PUBLIC_NAME_SIZE && name[i]; i++)
        node->MarketingName[i] = (HSAuint16)(unsigned char)name[i];
}

static void set_host_name(HsaNodeProperties *node)
{
    char line[256];
    char name[HSA_PUBLIC_NAME_SIZE] = "CPU";
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, "model name", strlen("model name")) != 0)
            continue;
        (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file)
        (void)fclose(file);
    set_marketing_name(node, name);
}

static void describe_host(HsaNodeProperties *node)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    node->NumCPUCores = cores > 0 ? (HSAuint32)cores : 1;
    node->NumMemoryBanks = HEAPS_HOST;
    node->NumCaches = CACHES_HOST;
    node->NumIOLinks = 0; /* see hsaKmtGetNodeIoLinkProperties */
    node->DrmRenderMinor = -1;
    set_host_name(node);
}

static void describe_gpu(uint32_t id, HsaNodeProperties *node)
{
    node->NumFComputeCores = COMPUTE_UNITS * SIMDS_PER_CU;
    node->NumSIMDPerCU = SIMDS_PER_CU;
    node->NumMemoryBanks = HEAPS_GPU;
    node->NumCaches = CACHES_GPU;
    node->NumIOLinks = sg_settings()->gpus; /* the host and every other GPU */
    node->FComputeIdLo = 0x80000000U + id * 0x1000U;
    node->Capability.ui32.DoorbellType = 2; /* AQL doorbells and a 64-bit write index */
    node->Capability.ui32.WatchPointsTotalBits = 2;
    node->Capability.ui32.ASICRevision = 1;
    node->MaxWavesPerSIMD = 10;
    node->LDSSizeInKB = 64;
    node->WaveFrontSize = 64;
    node->NumShaderBanks = 4;
    node->NumArrays = 1;
    node->NumCUPerArray = 16;
    node->MaxSlotsScratchCU = 32;
    node->EngineId.ui32.uCode = 400;
    node->EngineId.ui32.Major = 9;
    node->EngineId.ui32.Minor = 0;
    node->EngineId.ui32.Stepping = 6;
    node->VendorId = PCI_VENDOR_AMD;
    node->DeviceId = PCI_DEVICE_MI50;
    node->LocationId = id << 8; /* bus `id`, device 0, function 0 */
    node->LocalMemSize = SG_FRAME_BUFFER_BYTES;
    node->MaxEngineClockMhzFCompute = 1725;
    node->DrmRenderMinor = (HSAint32)(127 + id);
    set_marketing_name(node, "RTL software GPU (gfx906)");
    (void)snprintf((char *)node->AMDName, sizeof(node->AMDName), "vega20");
    node->uCodeEngineVersions.uCodeSDMA = 145;
    node->NumSdmaEngines = 2;
    node->NumSdmaQueuesPerEngine = 8;
    node->NumCpQueues = 24;
    node->UniqueID = UINT64_C(0x50f7900000000000) + id;
    node->VGPRSizePerCU = 256 << 10;
    node->SGPRSizePerCU = 12800;
    node->Reserved[0] = 1; /* NumXcc for ROCr 6 and later, which keep this struct's layout */
}

HSAKMT_STATUS hsaKmtGetNodeProperties(HSAuint32 NodeId, HsaNodeProperties *NodeProperties)
{
    HSAKMT_STATUS status = check_node(NodeId, NodeProperties);
    if (status != HSAKMT_STATUS_SUCCESS)
        return status;
    memset(NodeProperties, 0, sizeof(*NodeProperties));
    if (NodeId == HOST_NODE)
        describe_host(NodeProperties);
    else
        describe_gpu(NodeId, NodeProperties);
    return HSAKMT_STATUS_SUCCESS;
}

static HsaMemoryProperties heap(HSA_HEAPTYPE type, uint64_t bytes, uint64_t base)
{
    HsaMemoryProperties properties;
    memset(&properties, 0, sizeof(properties));
    properties.HeapType = type;
    properties.SizeInBytes = bytes;
    properties.VirtualBaseAddress = base;
    return properties;
}

/* The frame buffer is private, as on a card without resizable BAR: then ROCr and HIP copy with the
 * device where the program asks for a copy, and do not sneak small ones past it on the host. */
static HsaMemoryProperties gpu_heap(uint32_t index)
{
    HsaMemoryProperties frame_buffer =
        heap(HSA_HEAPTYPE_FRAME_BUFFER_PRIVATE, SG_FRAME_BUFFER_BYTES, 0);
    frame_buffer.Width = 4096;
    frame_buffer.MemoryClockMax = 1000;
    switch (index) {
    case 0:
        return frame_buffer;
    case 1:
        return heap(HSA_HEAPTYPE_GPU_LDS, 64 << 10, LDS_APERTURE);
    case 2:
        return heap(HSA_HEAPTYPE_GPU_SCRATCH, SCRATCH_APERTURE_BYTES, SCRATCH_APERTURE);
    default:
        return heap(HSA_HEAPTYPE_MMIO_REMAP, 4096, (uintptr_t)sg_memory_mmio_page());
    }
}

static uint64_t host_memory(void)
{
    struct sysinfo info;
    if (sysinfo(&info) != 0)
        return SG_FRAME_BUFFER_BYTES;
    uint64_t bytes = (uint64_t)info.totalram * info.mem_unit;
    return bytes & ~UINT64_C(4095);
}

HSAKMT_STATUS hsaKmtGetNodeMemoryProperties(HSAuint32 NodeId, HSAuint32 NumBanks,
                                            HsaMemoryProperties *MemoryProperties)
{
    HSAKMT_STATUS status = check_node(NodeId, MemoryProperties);
    if (status != HSAKMT_STATUS_SUCCESS)
        return status;
    uint32_t heaps = NodeId == HOST_NODE ? HEAPS_HOST : HEAPS_GPU;
    for (uint32_t i = 0; i < NumBanks && i < heaps; i++)
        MemoryProperties[i] =
            NodeId == HOST_NODE ? heap(HSA_HEAPTYPE_SYSTEM, host_memory(), 0) : gpu_heap(i);
    return HSAKMT_STATUS_SUCCESS;
}

static HsaCacheProperties cache(uint32_t processor, uint32_t level, uint32_t kilobytes,
                                uint32_t type)
{
    HsaCacheProperties properties;
    memset(&properties, 0, sizeof(properties));
    properties.ProcessorIdLow = processor;
    properties.CacheLevel = level;
    properties.CacheSize = kilobytes;
    properties.CacheLineSize = 64;
    properties.CacheLinesPerTag = 1;
    properties.CacheType.Value = type;
    return properties;
}

HSAKMT_STATUS hsaKmtGetNodeCacheProperties(HSAuint32 NodeId, HSAuint32 ProcessorId,
                                           HSAuint32 NumCaches, HsaCacheProperties *CacheProperties)
{
    HSAKMT_STATUS status = check_node(NodeId, CacheProperties);
    if (status != HSAKMT_STATUS_SUCCESS)
        return status;
    enum { DATA = 1, OF_CPU = 4, OF_CU = 8 }; /* bits of HsaCacheType */
    if (NodeId == HOST_NODE) {
        if (NumCaches > 0)
            CacheProperties[0] = cache(ProcessorId, 1, 32, DATA | OF_CPU);
        return HSAKMT_STATUS_SUCCESS;
    }
    if (NumCaches > 0)
        CacheProperties[0] = cache(ProcessorId, 1, 16, DATA | OF_CU);
    if (NumCaches > 1)
        CacheProperties[1] = cache(ProcessorId, 2, 4096, DATA | OF_CU);
    return HSAKMT_STATUS_SUCCESS;
}

/* Every GPU is linked with the host and with every other GPU, so that peers may use each other's
 * memory. The host has no link of its own: as with the real driver, a card whose frame buffer the
 * host cannot map has a link in one direction only, and ROCr tells from that. */
HSAKMT_STATUS hsaKmtGetNodeIoLinkProperties(HSAuint32 NodeId, HSAuint32 NumIoLinks,
                                            HsaIoLinkProperties *IoLinkProperties)
{
    HSAKMT_STATUS status = check_node(NodeId, IoLinkProperties);
    if (status != HSAKMT_STATUS_SUCCESS || NodeId == HOST_NODE)
        return status;
    uint32_t link = 0;
    for (uint32_t other = 0; other < node_count() && link < NumIoLinks; other++) {
        if (other == NodeId)
            continue;
        HsaIoLinkProperties *properties = &IoLinkProperties[link++];
        memset(properties, 0, sizeof(*properties));
        properties->IoLinkType = HSA_IOLINKTYPE_PCIEXPRESS;
        properties->NodeFrom = NodeId;
        properties->NodeTo = other;
        properties->Weight = other == HOST_NODE ? PCIE_WEIGHT : PEER_WEIGHT;
    }
    return HSAKMT_STATUS_SUCCESS;
}

/* Images do not work on a device that runs no shader code; ROCr's image manager only wants an
 * answer. */
HSAKMT_STATUS hsaKmtGetTileConfig(HSAuint32 NodeId, HsaGpuTileConfig *config)
{
    HSAKMT_STATUS status = check_node(NodeId, config);
    if (status != HSAKMT_STATUS_SUCCESS)
        return status;
    for (uint32_t i = 0; i < config->NumTileConfigs && config->TileConfig; i++)
        config->TileConfig[i] = 0;
    for (uint32_t i = 0; i < config->NumMacroTileConfigs && config->MacroTileConfig; i++)
        config->MacroTileConfig[i] = 0;
    config->GbAddrConfig =
        0x22010042; /* register GB_ADDR_CONFIG of Vega in Linux's amdgpu driver */
    config->NumBanks = 0;
    config->NumRanks = 0;
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtGetXNACKMode(HSAint32 *enable)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!enable)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    *enable = 0;
    return HSAKMT_STATUS_SUCCESS;
}

/* A fault cannot be retried here, so XNACK stays off. */
HSAKMT_STATUS hsaKmtSetXNACKMode(HSAint32 enable)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    return enable ? HSAKMT_STATUS_NOT_SUPPORTED : HSAKMT_STATUS_SUCCESS;
}

/* The system counter is rounded down to the tick: with both counters of one reading exactly
 * proportional, no pair of readings can make a translated time drift. */
HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32 NodeId, HsaClockCounters *Counters)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!Counters)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    if (NodeId > sg_settings()->gpus)
        return HSAKMT_STATUS_INVALID_NODE_UNIT;
    uint64_t ticks = sg_clock_ticks();
    Counters->GPUClockCounter = NodeId == 0 ? 0 : ticks;
    Counters->CPUClockCounter = ticks * SG_NS_PER_TICK;
    Counters->SystemClockCounter = ticks * SG_NS_PER_TICK;
    Counters->SystemClockFrequencyHz = UINT64_C(1000000000);
    return HSAKMT_STATUS_SUCCESS;
}
