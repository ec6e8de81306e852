#include "softgpu/kfd_memory.h"

#include "softgpu/exec.h"
#include "softgpu/kfd_buffers.h"
#include "softgpu/kfd_svm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, POINTER = sizeof(void *) };

/* Thunks take the low 32 bits of a doorbell's place for its place in the page, as the driver has
 * the GPU in higher ones: each GPU's page lies at a multiple of that. */
static const uint64_t DOORBELL_STEP = UINT64_C(1) << 32;
/* What lies in the memfd (frame buffer, system memory); the rest is the process's own, or nothing.
 */
static const uint32_t OF_DRIVER =
    KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP;

typedef struct sg_block {
    uintptr_t base; /* on the devices; 0: it has no address */
    size_t size;
    uintptr_t host;      /* where the process sees it */
    sg_buffer_t *buffer; /* NULL for the process's own memory, and doorbells */
    uint64_t offset;     /* in the buffer */
    uint64_t handle;     /* 0 for a mapping */
    uint32_t mapping;    /* the render node's handle that it was mapped by, or 0 */
    uint32_t flags;
    uint32_t gpu;
    uint32_t mapped; /* by GPU a bit */
} sg_block_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    sg_block_t **blocks; /* by base */
    size_t count;
    size_t capacity;
} table;
static uint64_t next_handle = 1;
static atomic_uint elsewhere; /* blocks whose host address is another than the devices' */
static _Atomic uint64_t *doorbells[SG_MAX_GPUS];

/* Index of the first block whose base lies above `address`. */
static size_t above(uintptr_t address)
{
    size_t low = 0;
    size_t high = table.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table.blocks[middle]->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static sg_block_t *find(uintptr_t address)
{
    size_t at = above(address);
    if (at == 0)
        return NULL;
    sg_block_t *block = table.blocks[at - 1];
    return address - block->base < block->size ? block : NULL;
}

static sg_block_t *by_handle(uint64_t handle)
{
    for (size_t i = 0; i < table.count && handle != 0; i++)
        if (table.blocks[i]->handle == handle)
            return table.blocks[i];
    return NULL;
}

static bool insert(sg_block_t *block)
{
    if (table.count == table.capacity) {
        size_t capacity = table.capacity ? table.capacity * 2 : 64;
        sg_block_t **blocks = realloc(table.blocks, capacity * POINTER);
        if (!blocks)
            return false;
        table.blocks = blocks;
        table.capacity = capacity;
    }
    size_t at = above(block->base);
    memmove(&table.blocks[at + 1], &table.blocks[at], (table.count - at) * POINTER);
    table.blocks[at] = block;
    table.count++;
    if (block->host != block->base)
        atomic_fetch_add(&elsewhere, 1);
    return true;
}

static void take_out(const sg_block_t *block)
{
    size_t at = above(block->base) - 1;
    while (table.blocks[at] != block)
        at--;
    memmove(&table.blocks[at], &table.blocks[at + 1], (table.count - at - 1) * POINTER);
    table.count--;
    if (block->host != block->base)
        atomic_fetch_sub(&elsewhere, 1);
}

void sg_kfd_memory_clear(bool give)
{
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < table.count; i++) {
        sg_kernel_forget((void *)table.blocks[i]->base, table.blocks[i]->size);
        if (give)
            sg_buffer_release(table.blocks[i]->buffer);
        free(table.blocks[i]);
    }
    free(table.blocks);
    memset(&table, 0, sizeof(table));
    atomic_store(&elsewhere, 0);
    for (uint32_t gpu = 0; gpu < SG_MAX_GPUS; gpu++) {
        if (doorbells[gpu] && give)
            (void)munmap((void *)(uintptr_t)doorbells[gpu], SG_DOORBELL_BYTES);
        doorbells[gpu] = NULL;
    }
    (void)pthread_mutex_unlock(&lock);
}

void sg_kfd_memory_before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

void sg_kfd_memory_after_fork(void)
{
    (void)pthread_mutex_unlock(&lock);
}

static bool is_visible(const sg_block_t *block)
{
    return block->mapped != 0 && !(block->flags & KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL);
}

bool sg_memory_find(const void *address, void **base, size_t *size)
{
    (void)pthread_mutex_lock(&lock);
    const sg_block_t *block = find((uintptr_t)address);
    bool found = block && is_visible(block) && block->host == block->base;
    if (found) {
        *base = (void *)block->base;
        *size = block->size;
    }
    (void)pthread_mutex_unlock(&lock);
    return found;
}

void *sg_memory_host(uint64_t address, uint64_t *bytes)
{
    char *host = NULL;
    (void)pthread_mutex_lock(&lock);
    const sg_block_t *block = find(address);
    if (block && is_visible(block)) {
        host = (char *)block->host + (address - block->base);
        *bytes = block->base + block->size - address;
    }
    (void)pthread_mutex_unlock(&lock);
    if (!host && (*bytes = sg_kfd_svm_bytes(address)) > 0)
        host = (char *)(uintptr_t)address;
    return host;
}

bool sg_memory_is_one(void)
{
    return atomic_load_explicit(&elsewhere, memory_order_relaxed) == 0;
}

/* Where the process sees memory of its own that it registers; the driver's it maps at the devices'
 * address. */
static uintptr_t host_of(const struct kfd_ioctl_alloc_memory_of_gpu_args *args)
{
    return args->flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR ? args->mmap_offset : args->va_addr;
}

/* A block is the caller's until it is inserted. */
static sg_block_t *new_block(uintptr_t base, uint64_t size, uint32_t flags, int gpu)
{
    sg_block_t *block = calloc(1, sizeof(*block));
    if (!block)
        return NULL;
    block->base = base;
    block->size = size;
    block->host = base;
    block->flags = flags;
    block->gpu = (uint32_t)gpu;
    return block;
}

static int insert_with_handle(sg_block_t *block, __u64 *handle)
{
    (void)pthread_mutex_lock(&lock);
    *handle = block->handle = next_handle++;
    bool inserted = insert(block);
    (void)pthread_mutex_unlock(&lock);
    return inserted ? 0 : ENOMEM;
}

static void discard(sg_block_t *block)
{
    sg_buffer_release(block->buffer);
    free(block);
}

static uint64_t place_of(const sg_block_t *block)
{
    uint64_t place = 0;
    (void)sg_buffer_place(block->buffer, &place);
    return place;
}

int sg_kfd_allocate(struct kfd_ioctl_alloc_memory_of_gpu_args *args)
{
    int gpu = sg_kfd_gpu_of(args->gpu_id);
    if (gpu < 0 || args->size == 0 || args->va_addr + args->size < args->va_addr)
        return EINVAL;
    sg_block_t *block = new_block(args->va_addr, args->size, args->flags, gpu);
    if (!block)
        return ENOMEM;
    block->host = host_of(args);
    if (args->flags & OF_DRIVER)
        block->buffer = sg_buffer_create(args->size, args->flags, (uint32_t)gpu);
    if ((args->flags & OF_DRIVER && !block->buffer) ||
        insert_with_handle(block, &args->handle) != 0) {
        discard(block);
        return ENOMEM;
    }
    if (args->flags & KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL)
        args->mmap_offset = (uint64_t)gpu * DOORBELL_STEP;
    else if (block->buffer)
        args->mmap_offset = place_of(block);
    return 0;
}

int sg_kfd_free(const struct kfd_ioctl_free_memory_of_gpu_args *args)
{
    (void)pthread_mutex_lock(&lock);
    sg_block_t *block = by_handle(args->handle);
    if (block)
        take_out(block);
    (void)pthread_mutex_unlock(&lock);
    if (!block)
        return EINVAL;
    sg_kernel_forget((void *)block->base, block->size);
    discard(block);
    return 0;
}

/* The GPUs that a call names, a bit each; 0 if one of them is none. */
static uint32_t gpus_of(uint64_t ids, uint32_t count)
{
    const uint32_t *id = (const uint32_t *)(uintptr_t)ids;
    uint32_t mask = 0;
    for (uint32_t i = 0; i < count; i++) {
        int gpu = sg_kfd_gpu_of(id[i]);
        if (gpu < 0)
            return 0;
        mask |= 1U << gpu;
    }
    return mask;
}

/* The thunk has reserved the addresses, and mapped what the host may touch. Here "the device" is a
 * thread of the process, which must be able to touch everything. As with the real driver's memory,
 * a forked child has none of it. */
static int make_visible(const sg_block_t *block)
{
    void *at = (void *)block->base;
    if (!at)
        return EINVAL;
    if (block->buffer)
        return sg_buffer_map(block->buffer, at, block->offset, block->size) == MAP_FAILED ? errno
                                                                                          : 0;
    if (block->host == block->base)
        (void)madvise(at, block->size, MADV_DONTFORK);
    return 0;
}

int sg_kfd_map(struct kfd_ioctl_map_memory_to_gpu_args *args)
{
    uint32_t gpus = gpus_of(args->device_ids_array_ptr, args->n_devices);
    if (gpus == 0)
        return EINVAL;
    (void)pthread_mutex_lock(&lock);
    sg_block_t *block = by_handle(args->handle);
    int failed = block ? 0 : EINVAL;
    if (block && block->mapped == 0)
        failed = make_visible(block);
    if (!failed) {
        block->mapped |= gpus;
        args->n_success = args->n_devices;
    }
    (void)pthread_mutex_unlock(&lock);
    return failed;
}

int sg_kfd_unmap(struct kfd_ioctl_unmap_memory_from_gpu_args *args)
{
    uint32_t gpus = gpus_of(args->device_ids_array_ptr, args->n_devices);
    (void)pthread_mutex_lock(&lock);
    sg_block_t *block = by_handle(args->handle);
    if (block && gpus != 0) {
        block->mapped &= ~gpus;
        args->n_success = args->n_devices;
    }
    (void)pthread_mutex_unlock(&lock);
    return block && gpus != 0 ? 0 : EINVAL;
}

/* ---- dmabufs ---- */

int sg_kfd_export_dmabuf(sg_export_dmabuf_args_t *args)
{
    sg_buffer_t *buffer = NULL;
    (void)pthread_mutex_lock(&lock);
    const sg_block_t *block = by_handle(args->handle);
    if (block && block->buffer) {
        buffer = block->buffer;
        sg_buffer_hold(buffer);
    }
    (void)pthread_mutex_unlock(&lock);
    if (!buffer)
        return EINVAL;
    int made = sg_buffer_export(buffer, args->flags & O_CLOEXEC);
    sg_buffer_release(buffer);
    if (made < 0)
        return -made;
    args->dmabuf_fd = (uint32_t)made;
    return 0;
}

int sg_kfd_import_dmabuf(struct kfd_ioctl_import_dmabuf_args *args)
{
    int gpu = sg_kfd_gpu_of(args->gpu_id);
    sg_buffer_t *buffer = NULL;
    int failed = gpu < 0 ? EINVAL : sg_buffer_import((int)args->dmabuf_fd, &buffer);
    if (failed)
        return failed;
    sg_block_t *block =
        new_block(args->va_addr, sg_buffer_bytes(buffer), sg_buffer_flags(buffer), gpu);
    if (!block) {
        sg_buffer_release(buffer);
        return ENOMEM;
    }
    block->buffer = buffer;
    failed = insert_with_handle(block, &args->handle);
    if (failed)
        discard(block);
    return failed;
}

/* What does not fit into the caller's space is an error, and its size is told. */
static int copy_metadata(struct kfd_ioctl_get_dmabuf_info_args *args, const sg_metadata_t *metadata)
{
    uint32_t space = args->metadata_size;
    args->metadata_size = metadata->bytes;
    if (args->metadata_ptr == 0)
        return 0;
    if (space < metadata->bytes)
        return EINVAL;
    memcpy((void *)(uintptr_t)args->metadata_ptr, metadata->words, metadata->bytes);
    return 0;
}

int sg_kfd_dmabuf_info(struct kfd_ioctl_get_dmabuf_info_args *args)
{
    static const uint32_t told =
        KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_PUBLIC;
    sg_buffer_t *buffer = NULL;
    sg_metadata_t metadata;
    int failed = sg_buffer_import((int)args->dmabuf_fd, &buffer);
    if (failed)
        return failed;
    args->size = sg_buffer_bytes(buffer);
    args->gpu_id = sg_kfd_id_of(sg_buffer_gpu(buffer));
    args->flags = sg_buffer_flags(buffer) & told;
    if (sg_buffer_metadata(buffer, &metadata))
        failed = copy_metadata(args, &metadata);
    sg_buffer_release(buffer);
    return failed;
}

/* ---- mappings by render nodes ---- */

static bool overlap(const sg_block_t *one, const sg_block_t *other)
{
    return one->base < other->base + other->size && other->base < one->base + one->size;
}

/* Devices may have one thing at an address, and different things nowhere: they have the process's
 * addresses in common. */
static bool is_free(const sg_block_t *wanted)
{
    for (size_t i = 0; i < table.count; i++) {
        const sg_block_t *block = table.blocks[i];
        if (block->base == 0 || !overlap(block, wanted))
            continue;
        bool is_same = block->mapping != 0 && block->buffer == wanted->buffer &&
                       block->base == wanted->base && block->size == wanted->size &&
                       block->offset == wanted->offset && block->gpu != wanted->gpu;
        if (!is_same)
            return false;
    }
    return true;
}

static int insert_mapping(sg_block_t *block)
{
    int failed = is_free(block) ? make_visible(block) : EINVAL;
    if (!failed && !insert(block))
        failed = ENOMEM;
    return failed;
}

int sg_memory_place(sg_buffer_t *buffer, const sg_mapping_t *mapping)
{
    uint64_t bytes = (mapping->bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    uint64_t there = sg_buffer_bytes(buffer);
    if (bytes == 0 || mapping->address == 0 || mapping->address + bytes < mapping->address ||
        (mapping->address | mapping->offset) % PAGE != 0 || mapping->offset > there ||
        bytes > ((there - mapping->offset + PAGE - 1) & ~(uint64_t)(PAGE - 1)))
        return EINVAL;
    sg_block_t *block =
        new_block(mapping->address, bytes, sg_buffer_flags(buffer), (int)mapping->gpu);
    if (!block)
        return ENOMEM;
    sg_buffer_hold(buffer);
    block->buffer = buffer;
    block->offset = mapping->offset;
    block->mapping = mapping->handle;
    block->mapped = 1U << mapping->gpu;
    (void)pthread_mutex_lock(&lock);
    int failed = insert_mapping(block);
    (void)pthread_mutex_unlock(&lock);
    if (failed)
        discard(block);
    return failed;
}

/* The first mapping by a handle, at an address if that is not 0. */
static sg_block_t *by_mapping(uint32_t handle, uint64_t address)
{
    for (size_t i = 0; i < table.count; i++) {
        sg_block_t *block = table.blocks[i];
        if (block->mapping == handle && (address == 0 || block->base == address))
            return block;
    }
    return NULL;
}

/* The host's pages stay: the runtime maps and unmaps those itself, where the host has access. */
bool sg_memory_displace(uint32_t handle, uint64_t address)
{
    (void)pthread_mutex_lock(&lock);
    sg_block_t *block = by_mapping(handle, address);
    if (block)
        take_out(block);
    (void)pthread_mutex_unlock(&lock);
    if (!block)
        return false;
    sg_kernel_forget((void *)block->base, block->size);
    discard(block);
    return true;
}

_Atomic uint64_t *sg_kfd_doorbells(uint32_t gpu, uint64_t *offset)
{
    *offset = (uint64_t)gpu * DOORBELL_STEP;
    (void)pthread_mutex_lock(&lock);
    if (!doorbells[gpu]) {
        void *page = mmap(NULL, SG_DOORBELL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                          sg_kfd_memfd(), (off_t)*offset);
        if (page != MAP_FAILED)
            (void)madvise(page, SG_DOORBELL_BYTES, MADV_DONTFORK);
        doorbells[gpu] = page == MAP_FAILED ? NULL : page;
    }
    (void)pthread_mutex_unlock(&lock);
    return doorbells[gpu];
}
