#include "softgpu/memory.h"

#include "softgpu/exec.h"
#include "softgpu/process.h"
#include "softgpu/settings.h"

#include <hsakmt.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PAGE = 4096,
    HUGE_PAGE = 2 << 20,
    POINTER = sizeof(void *),
    MAX_NODES = SG_MAX_GPUS + 1,
};

/* One allocation, or one range of the program's own memory that is registered. */
typedef struct sg_block {
    uintptr_t base;
    size_t size;
    HSA_POINTER_TYPE type;
    HsaMemFlags flags;
    uint32_t node;
    uint32_t references; /* registrations of the same range */
    void *user_data;
    uint32_t mapped_count;
    uint32_t mapped[MAX_NODES];
} sg_block_t;

/* Blocks sorted by base. Allocations never overlap; registered ranges may nest, so a look-up walks
 * back as far as the longest of them reaches. */
typedef struct sg_table {
    sg_block_t **blocks;
    size_t count;
    size_t capacity;
    size_t longest;
} sg_table_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sg_table_t allocated;
static sg_table_t registered;
static void *mmio_page;

/* Index of the first block whose base lies above `address`. */
static size_t table_above(const sg_table_t *table, uintptr_t address)
{
    size_t low = 0;
    size_t high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->blocks[middle]->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static sg_block_t *table_find(const sg_table_t *table, uintptr_t address)
{
    for (size_t i = table_above(table, address); i > 0; i--) {
        sg_block_t *block = table->blocks[i - 1];
        if (address - block->base < block->size)
            return block;
        if (address - block->base >= table->longest)
            break;
    }
    return NULL;
}

/* The block that begins at `base`, of `size` bytes unless size is 0. */
static sg_block_t *table_exact(const sg_table_t *table, uintptr_t base, size_t size)
{
    for (size_t i = table_above(table, base); i > 0; i--) {
        sg_block_t *block = table->blocks[i - 1];
        if (block->base != base)
            break;
        if (size == 0 || block->size == size)
            return block;
    }
    return NULL;
}

static bool table_insert(sg_table_t *table, sg_block_t *block)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? table->capacity * 2 : 64;
        sg_block_t **blocks = realloc(table->blocks, capacity * POINTER);
        if (!blocks)
            return false;
        table->blocks = blocks;
        table->capacity = capacity;
    }
    size_t at = table_above(table, block->base);
    memmove(&table->blocks[at + 1], &table->blocks[at], (table->count - at) * POINTER);
    table->blocks[at] = block;
    table->count++;
    if (block->size > table->longest)
        table->longest = block->size;
    return true;
}

static void table_remove(sg_table_t *table, const sg_block_t *block)
{
    for (size_t i = table_above(table, block->base); i > 0; i--) {
        if (table->blocks[i - 1] != block)
            continue;
        memmove(&table->blocks[i - 1], &table->blocks[i], (table->count - i) * POINTER);
        table->count--;
        return;
    }
}

static void table_clear(sg_table_t *table, bool unmap)
{
    for (size_t i = 0; i < table->count; i++) {
        sg_block_t *block = table->blocks[i];
        if (unmap) {
            sg_kernel_forget((void *)block->base, block->size);
            (void)munmap((void *)block->base, block->size);
        }
        free(block);
    }
    free(table->blocks);
    memset(table, 0, sizeof(*table));
}

void *sg_memory_map(size_t size, size_t alignment)
{
    size_t extra = alignment > PAGE ? alignment : 0;
    char *start = mmap(NULL, size + extra, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    if (extra == 0)
        return start;
    size_t lead = (alignment - (uintptr_t)start % alignment) % alignment;
    if (lead > 0)
        (void)munmap(start, lead);
    if (extra > lead)
        (void)munmap(start + lead + size, extra - lead);
    return start + lead;
}

bool sg_memory_open(void)
{
    if (!mmio_page)
        mmio_page = sg_memory_map(PAGE, PAGE);
    return mmio_page != NULL;
}

void sg_memory_close(void)
{
    (void)pthread_mutex_lock(&lock);
    table_clear(&allocated, true);
    table_clear(&registered, false);
    if (mmio_page)
        (void)munmap(mmio_page, PAGE);
    mmio_page = NULL;
    (void)pthread_mutex_unlock(&lock);
}

void sg_memory_forget(void)
{
    (void)pthread_mutex_lock(&lock);
    table_clear(&allocated, false);
    table_clear(&registered, false);
    mmio_page = NULL;
    (void)pthread_mutex_unlock(&lock);
}

void sg_memory_before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

void sg_memory_after_fork(void)
{
    (void)pthread_mutex_unlock(&lock);
}

void *sg_memory_mmio_page(void)
{
    return mmio_page;
}

bool sg_memory_find(const void *address, void **base, size_t *size)
{
    (void)pthread_mutex_lock(&lock);
    const sg_block_t *block = table_find(&allocated, (uintptr_t)address);
    if (!block)
        block = table_find(&registered, (uintptr_t)address);
    if (block) {
        *base = (void *)block->base;
        *size = block->size;
    }
    (void)pthread_mutex_unlock(&lock);
    return block != NULL;
}

void *sg_memory_host(uint64_t address, uint64_t *bytes)
{
    void *base = NULL;
    size_t size = 0;
    if (!sg_memory_find((const void *)(uintptr_t)address, &base, &size))
        return NULL;
    *bytes = (uintptr_t)base + size - address;
    return (void *)(uintptr_t)address;
}

bool sg_memory_is_one(void)
{
    return true;
}

static sg_block_t *block_new(void *base, size_t size, HSA_POINTER_TYPE type, HsaMemFlags flags,
                             uint32_t node)
{
    sg_block_t *block = calloc(1, sizeof(*block));
    if (!block)
        return NULL;
    block->base = (uintptr_t)base;
    block->size = size;
    block->type = type;
    block->flags = flags;
    block->node = node;
    block->references = 1;
    return block;
}

HSAKMT_STATUS sg_memory_allocate(uint32_t node, uint64_t size, uint64_t alignment,
                                 HsaMemFlags flags, void **address)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!address || size == 0 || size % PAGE != 0 || (alignment & (alignment - 1)) != 0)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    if (node > sg_settings()->gpus)
        return HSAKMT_STATUS_INVALID_NODE_UNIT;
    /* The device has no global data share, and an address of the caller's choice is not offered. */
    if (flags.ui32.GDSMemory || flags.ui32.FixedAddress)
        return HSAKMT_STATUS_NOT_SUPPORTED;

    uint64_t least = size >= HUGE_PAGE ? HUGE_PAGE : PAGE;
    void *base = sg_memory_map(size, alignment > least ? alignment : least);
    if (!base)
        return HSAKMT_STATUS_NO_MEMORY;
    sg_block_t *block = block_new(base, size, HSA_POINTER_ALLOCATED, flags, node);
    (void)pthread_mutex_lock(&lock);
    bool kept = block && table_insert(&allocated, block);
    (void)pthread_mutex_unlock(&lock);
    if (!kept) {
        free(block);
        (void)munmap(base, size);
        return HSAKMT_STATUS_NO_MEMORY;
    }
    *address = base;
    return HSAKMT_STATUS_SUCCESS;
}

uint64_t sg_memory_used(uint32_t node)
{
    uint64_t bytes = 0;
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < allocated.count; i++)
        if (allocated.blocks[i]->node == node && !allocated.blocks[i]->flags.ui32.Scratch)
            bytes += allocated.blocks[i]->size;
    (void)pthread_mutex_unlock(&lock);
    return bytes;
}

HSAKMT_STATUS hsaKmtAllocMemory(HSAuint32 PreferredNode, HSAuint64 SizeInBytes,
                                HsaMemFlags MemFlags, void **MemoryAddress)
{
    return sg_memory_allocate(PreferredNode, SizeInBytes, 0, MemFlags, MemoryAddress);
}

HSAKMT_STATUS hsaKmtFreeMemory(void *MemoryAddress, HSAuint64 SizeInBytes)
{
    if (sg_process_is_orphan())
        return HSAKMT_STATUS_SUCCESS;
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    (void)SizeInBytes;
    (void)pthread_mutex_lock(&lock);
    sg_block_t *block = table_exact(&allocated, (uintptr_t)MemoryAddress, 0);
    if (block)
        table_remove(&allocated, block);
    (void)pthread_mutex_unlock(&lock);
    if (!block)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    sg_kernel_forget(MemoryAddress, block->size);
    (void)munmap(MemoryAddress, block->size);
    free(block);
    return HSAKMT_STATUS_SUCCESS;
}

/* Registering a range again counts; registering (part of) an allocation only changes who may see
 * it, and everybody may. */
HSAKMT_STATUS hsaKmtRegisterMemoryWithFlags(void *MemoryAddress, HSAuint64 MemorySizeInBytes,
                                            HsaMemFlags MemFlags)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (!MemoryAddress || MemorySizeInBytes == 0)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;
    uintptr_t base = (uintptr_t)MemoryAddress;
    (void)pthread_mutex_lock(&lock);
    sg_block_t *block = table_exact(&registered, base, MemorySizeInBytes);
    if (block) {
        block->references++;
    } else if (!table_find(&allocated, base)) {
        block =
            block_new(MemoryAddress, MemorySizeInBytes, HSA_POINTER_REGISTERED_USER, MemFlags, 0);
        if (!block || !table_insert(&registered, block)) {
            free(block);
            status = HSAKMT_STATUS_NO_MEMORY;
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return status;
}

HSAKMT_STATUS hsaKmtRegisterMemory(void *MemoryAddress, HSAuint64 MemorySizeInBytes)
{
    HsaMemFlags flags = {.Value = 0};
    flags.ui32.CoarseGrain = 1;
    return hsaKmtRegisterMemoryWithFlags(MemoryAddress, MemorySizeInBytes, flags);
}

HSAKMT_STATUS hsaKmtRegisterMemoryToNodes(void *MemoryAddress, HSAuint64 MemorySizeInBytes,
                                          HSAuint64 NumberOfNodes, HSAuint32 *NodeArray)
{
    (void)NumberOfNodes;
    (void)NodeArray;
    return hsaKmtRegisterMemory(MemoryAddress, MemorySizeInBytes);
}

HSAKMT_STATUS hsaKmtDeregisterMemory(void *MemoryAddress)
{
    if (sg_process_is_orphan())
        return HSAKMT_STATUS_SUCCESS;
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    HSAKMT_STATUS status = HSAKMT_STATUS_SUCCESS;
    (void)pthread_mutex_lock(&lock);
    sg_block_t *block = table_exact(&registered, (uintptr_t)MemoryAddress, 0);
    if (block) {
        if (--block->references == 0) {
            table_remove(&registered, block);
            free(block);
        }
    } else if (!table_exact(&allocated, (uintptr_t)MemoryAddress, 0)) {
        status = HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
    }
    (void)pthread_mutex_unlock(&lock);
    return status;
}

/* The block that a map call means: of several registered ranges the one with the same begin. */
static sg_block_t *block_to_map(const void *address)
{
    sg_block_t *block = table_exact(&registered, (uintptr_t)address, 0);
    if (!block)
        block = table_find(&allocated, (uintptr_t)address);
    return block ? block : table_find(&registered, (uintptr_t)address);
}

static HSAKMT_STATUS map_to_nodes(const void *address, uint64_t count, const uint32_t *nodes)
{
    if (count > MAX_NODES)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    for (uint64_t i = 0; i < count; i++)
        if (nodes[i] > sg_settings()->gpus)
            return HSAKMT_STATUS_INVALID_NODE_UNIT;
    HSAKMT_STATUS status = HSAKMT_STATUS_INVALID_PARAMETER;
    (void)pthread_mutex_lock(&lock);
    sg_block_t *block = block_to_map(address);
    if (block) {
        block->mapped_count = (uint32_t)count;
        for (uint64_t i = 0; i < count; i++)
            block->mapped[i] = nodes[i];
        status = HSAKMT_STATUS_SUCCESS;
    }
    (void)pthread_mutex_unlock(&lock);
    return status;
}

HSAKMT_STATUS hsaKmtMapMemoryToGPU(void *MemoryAddress, HSAuint64 MemorySizeInBytes,
                                   HSAuint64 *AlternateVAGPU)
{
    (void)MemorySizeInBytes;
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (AlternateVAGPU)
        *AlternateVAGPU = 0;
    uint32_t nodes[SG_MAX_GPUS];
    for (uint32_t i = 0; i < sg_settings()->gpus; i++)
        nodes[i] = i + 1;
    return map_to_nodes(MemoryAddress, sg_settings()->gpus, nodes);
}

HSAKMT_STATUS hsaKmtMapMemoryToGPUNodes(void *MemoryAddress, HSAuint64 MemorySizeInBytes,
                                        HSAuint64 *AlternateVAGPU, HsaMemMapFlags MemMapFlags,
                                        HSAuint64 NumberOfNodes, HSAuint32 *NodeArray)
{
    (void)MemorySizeInBytes;
    (void)MemMapFlags;
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (NumberOfNodes > 0 && !NodeArray)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    if (AlternateVAGPU)
        *AlternateVAGPU = 0;
    return map_to_nodes(MemoryAddress, NumberOfNodes, NodeArray);
}

HSAKMT_STATUS hsaKmtUnmapMemoryToGPU(void *MemoryAddress)
{
    if (sg_process_is_orphan())
        return HSAKMT_STATUS_SUCCESS;
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    return map_to_nodes(MemoryAddress, 0, NULL);
}

/* The arrays in the answer are the block's own, as in the real thunk: they are valid until the next
 * call that changes the block, and ROCr holds its memory lock meanwhile. Memory that the host may
 * not touch on hardware (private frame buffer) reports no host address. */
HSAKMT_STATUS hsaKmtQueryPointerInfo(const void *Pointer, HsaPointerInfo *PointerInfo)
{
    if (!PointerInfo)
        return HSAKMT_STATUS_INVALID_PARAMETER;
    memset(PointerInfo, 0, sizeof(*PointerInfo));
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    (void)pthread_mutex_lock(&lock);
    const sg_block_t *block = table_find(&allocated, (uintptr_t)Pointer);
    if (!block)
        block = table_find(&registered, (uintptr_t)Pointer);
    if (block) {
        bool host = block->type != HSA_POINTER_ALLOCATED || block->flags.ui32.HostAccess;
        PointerInfo->Type = block->type;
        PointerInfo->Node = block->node;
        PointerInfo->MemFlags = block->flags;
        PointerInfo->CPUAddress = host ? (void *)block->base : NULL;
        PointerInfo->GPUAddress = block->base;
        PointerInfo->SizeInBytes = block->size;
        PointerInfo->NMappedNodes = block->mapped_count;
        PointerInfo->MappedNodes = block->mapped;
        PointerInfo->UserData = block->user_data;
    }
    (void)pthread_mutex_unlock(&lock);
    return block ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
}

HSAKMT_STATUS hsaKmtSetMemoryUserData(const void *Pointer, void *UserData)
{
    if (!sg_process_is_open())
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    (void)pthread_mutex_lock(&lock);
    sg_block_t *block = block_to_map(Pointer);
    if (block)
        block->user_data = UserData;
    (void)pthread_mutex_unlock(&lock);
    return block ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_ERROR;
}

/* Caches are coherent on the host: a policy has nothing to change. */
HSAKMT_STATUS hsaKmtSetMemoryPolicy(HSAuint32 Node, HSAuint32 DefaultPolicy,
                                    HSAuint32 AlternatePolicy, void *MemoryAddressAlternate,
                                    HSAuint64 MemorySizeInBytes)
{
    (void)Node;
    (void)DefaultPolicy;
    (void)AlternatePolicy;
    (void)MemoryAddressAlternate;
    (void)MemorySizeInBytes;
    return sg_process_is_open() ? HSAKMT_STATUS_SUCCESS
                                : HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
}
