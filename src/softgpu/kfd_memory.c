#include "softgpu/kfd_memory.h"

#include "softgpu/exec.h"
#include "softgpu/kfd_svm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    HUGE_PAGE = 2 << 20,
    POINTER = sizeof(void *),
};

/* Thunks take the low 32 bits of a doorbell's place for its place in the page, as the driver has
 * the GPU in higher ones: each GPU's page lies at a multiple of that. Behind them lies everything
 * else. */
static const uint64_t DOORBELL_STEP = UINT64_C(1) << 32;
static const uint64_t BEGIN = SG_MAX_GPUS * (UINT64_C(1) << 32);

/* The memfd is as large as it can ever become: only what is touched takes memory. Places are not
 * used again, so that fresh memory is zero. */
static const uint64_t MEMFD_BYTES = UINT64_C(1) << 46;
static const uint64_t ANONYMOUS_BYTES = UINT64_C(1) << 42;

/* What lies in the memfd (frame buffer, system memory); the rest is the process's own, or nothing.
 */
static const uint32_t OF_DRIVER =
    KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_GTT | KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP;

typedef struct sg_block {
    uintptr_t base; /* on the devices */
    size_t size;
    uintptr_t host;  /* where the process sees it */
    uint64_t offset; /* in the memfd */
    uint64_t handle;
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
static uint64_t next_offset;
static uint64_t end_offset;
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
    for (size_t i = 0; i < table.count; i++)
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

/* A memfd counts as a file (RLIMIT_FSIZE), and who makes one that is too long gets a signal. Shared
 * memory without a file does not, and has one that a privileged process can open. */
static int open_anonymous(size_t bytes)
{
    char path[64];
    void *memory = mmap(NULL, bytes, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    (void)snprintf(path, sizeof(path), "/proc/self/map_files/%zx-%zx", (size_t)memory,
                   (size_t)memory + bytes);
    int made = open(path, O_RDWR | O_CLOEXEC);
    int why = errno;
    (void)munmap(memory, bytes);
    errno = why;
    return made;
}

static int open_memfd(void)
{
    int made = memfd_create("softgpu", MFD_CLOEXEC);
    if (made >= 0 && ftruncate(made, (off_t)MEMFD_BYTES) != 0) {
        int why = errno;
        (void)close(made);
        errno = why;
        made = -1;
    }
    return made;
}

int sg_kfd_memory_create(void)
{
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < MEMFD_BYTES;
    next_offset = BEGIN;
    end_offset = limited ? ANONYMOUS_BYTES : MEMFD_BYTES;
    return limited ? open_anonymous(ANONYMOUS_BYTES) : open_memfd();
}

static void give_back(const sg_block_t *block)
{
    if (block->flags & OF_DRIVER)
        (void)fallocate(sg_kfd_memfd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)block->offset, (off_t)block->size);
}

void sg_kfd_memory_clear(bool give)
{
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < table.count; i++) {
        sg_kernel_forget((void *)table.blocks[i]->base, table.blocks[i]->size);
        if (give)
            give_back(table.blocks[i]);
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

static uint64_t take_place(uint64_t size)
{
    uint64_t alignment = size >= HUGE_PAGE ? HUGE_PAGE : PAGE;
    uint64_t place = (next_offset + alignment - 1) & ~(alignment - 1);
    if (place > end_offset || size > end_offset - place)
        return 0;
    next_offset = (place + size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    return place;
}

/* Under the lock. */
static int allocate(sg_block_t *block)
{
    if (block->flags & OF_DRIVER) {
        block->offset = take_place(block->size);
        if (block->offset == 0)
            return ENOMEM;
    }
    block->handle = next_handle++;
    return insert(block) ? 0 : ENOMEM;
}

int sg_kfd_allocate(struct kfd_ioctl_alloc_memory_of_gpu_args *args)
{
    int gpu = sg_kfd_gpu_of(args->gpu_id);
    if (gpu < 0 || args->size == 0 || args->va_addr + args->size < args->va_addr)
        return EINVAL;
    sg_block_t *block = calloc(1, sizeof(*block));
    if (!block)
        return ENOMEM;
    block->base = args->va_addr;
    block->size = args->size;
    block->host = host_of(args);
    block->flags = args->flags;
    block->gpu = (uint32_t)gpu;
    (void)pthread_mutex_lock(&lock);
    int failed = allocate(block);
    (void)pthread_mutex_unlock(&lock);
    if (failed) {
        free(block);
        return failed;
    }
    args->handle = block->handle;
    if (args->flags & KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL)
        args->mmap_offset = (uint64_t)gpu * DOORBELL_STEP;
    else if (args->flags & OF_DRIVER)
        args->mmap_offset = block->offset;
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
    give_back(block);
    free(block);
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
    if (block->flags & OF_DRIVER &&
        mmap(at, block->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, sg_kfd_memfd(),
             (off_t)block->offset) == MAP_FAILED)
        return errno;
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

uint64_t sg_kfd_memory_used(uint32_t gpu)
{
    uint64_t bytes = 0;
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; i < table.count; i++)
        if (table.blocks[i]->gpu == gpu && table.blocks[i]->flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM)
            bytes += table.blocks[i]->size;
    (void)pthread_mutex_unlock(&lock);
    return bytes;
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
