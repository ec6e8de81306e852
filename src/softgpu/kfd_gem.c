#include "softgpu/kfd_gem.h"

#include "softgpu/kfd_buffers.h"
#include "softgpu/kfd_memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

/* A place of another process's memory: the handle, and an offset of so many bits below it. */
enum { OFFSET_BITS = 40, MOST_HANDLES = 1 << (62 - OFFSET_BITS) };

typedef struct sg_gem {
    struct sg_gem *next;
    uint32_t handle;
    uint32_t gpu;
    sg_buffer_t *buffer;
    void *view; /* the host's, or NULL */
} sg_gem_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sg_gem_t *handles;
static uint32_t last_handle;

void sg_gem_before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

void sg_gem_after_fork(void)
{
    (void)pthread_mutex_unlock(&lock);
}

static sg_gem_t *find(uint32_t handle)
{
    sg_gem_t *gem = handles;
    while (gem && gem->handle != handle)
        gem = gem->next;
    return gem;
}

int sg_gem_import(uint32_t gpu, int dmabuf, uint32_t *handle, uint64_t *bytes)
{
    sg_gem_t *gem = calloc(1, sizeof(*gem));
    if (!gem)
        return ENOMEM;
    int failed = sg_buffer_import(dmabuf, &gem->buffer);
    if (failed) {
        free(gem);
        return failed;
    }
    gem->gpu = gpu;
    *bytes = sg_buffer_bytes(gem->buffer);
    (void)pthread_mutex_lock(&lock);
    *handle = gem->handle = ++last_handle;
    gem->next = handles;
    handles = gem;
    (void)pthread_mutex_unlock(&lock);
    return 0;
}

static sg_gem_t *take_out(uint32_t handle)
{
    sg_gem_t **link = &handles;
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    sg_gem_t *gem = *link;
    if (gem)
        *link = gem->next;
    return gem;
}

/* The mappings are the address table's, which is cleared with it. */
static void discard(sg_gem_t *gem, bool give_back)
{
    if (give_back && gem->view)
        (void)munmap(gem->view, sg_buffer_bytes(gem->buffer));
    if (give_back)
        sg_buffer_release(gem->buffer);
    free(gem);
}

int sg_gem_free(uint32_t handle)
{
    (void)pthread_mutex_lock(&lock);
    sg_gem_t *gem = take_out(handle);
    (void)pthread_mutex_unlock(&lock);
    if (!gem)
        return EBADF;
    while (sg_memory_displace(handle, 0)) {
    }
    discard(gem, true);
    return 0;
}

/* The buffer of a handle, held; NULL if there is none. */
static sg_buffer_t *hold(uint32_t handle, uint32_t *gpu)
{
    sg_buffer_t *buffer = NULL;
    (void)pthread_mutex_lock(&lock);
    const sg_gem_t *gem = find(handle);
    if (gem) {
        buffer = gem->buffer;
        *gpu = gem->gpu;
        sg_buffer_hold(buffer);
    }
    (void)pthread_mutex_unlock(&lock);
    return buffer;
}

int sg_gem_export(uint32_t handle, int *dmabuf)
{
    uint32_t gpu = 0;
    sg_buffer_t *buffer = hold(handle, &gpu);
    if (!buffer)
        return EBADF;
    *dmabuf = sg_buffer_export(buffer, true);
    sg_buffer_release(buffer);
    return *dmabuf < 0 ? -*dmabuf : 0;
}

int sg_gem_place(uint32_t handle, uint64_t *place)
{
    uint32_t gpu = 0;
    sg_buffer_t *buffer = hold(handle, &gpu);
    if (!buffer)
        return EBADF;
    bool is_own = sg_buffer_place(buffer, place);
    sg_buffer_release(buffer);
    if (!is_own)
        *place = SG_FOREIGN_PLACES | (uint64_t)handle << OFFSET_BITS;
    return is_own || handle < MOST_HANDLES ? 0 : ENOMEM;
}

int sg_gem_host_map(const sg_host_mapping_t *wanted, uint64_t place, void **mapped)
{
    uint32_t gpu = 0;
    uint64_t offset = place & ((UINT64_C(1) << OFFSET_BITS) - 1);
    sg_buffer_t *buffer = hold((uint32_t)((place - SG_FOREIGN_PLACES) >> OFFSET_BITS), &gpu);
    if (!buffer)
        return EINVAL;
    *mapped = sg_buffer_host_map(buffer, wanted, offset);
    int failed = *mapped == MAP_FAILED ? errno : 0;
    sg_buffer_release(buffer);
    return failed;
}

int sg_gem_cpu_map(uint32_t handle, void **address)
{
    int failed = EBADF;
    (void)pthread_mutex_lock(&lock);
    sg_gem_t *gem = find(handle);
    if (gem && !gem->view) {
        void *view = sg_buffer_map(gem->buffer, NULL, 0, sg_buffer_bytes(gem->buffer));
        failed = view == MAP_FAILED ? errno : 0;
        gem->view = failed ? NULL : view;
    }
    if (gem && gem->view) {
        *address = gem->view;
        failed = 0;
    }
    (void)pthread_mutex_unlock(&lock);
    return failed;
}

int sg_gem_map(uint32_t handle, uint64_t offset, uint64_t bytes, uint64_t address)
{
    sg_mapping_t mapping = {.handle = handle, .offset = offset, .bytes = bytes, .address = address};
    sg_buffer_t *buffer = hold(handle, &mapping.gpu);
    if (!buffer)
        return EBADF;
    int failed = sg_memory_place(buffer, &mapping);
    sg_buffer_release(buffer);
    return failed;
}

int sg_gem_unmap(uint32_t handle, uint64_t address)
{
    return handle != 0 && address != 0 && sg_memory_displace(handle, address) ? 0 : EINVAL;
}

int sg_gem_metadata(uint32_t handle, sg_metadata_t *metadata)
{
    uint32_t gpu = 0;
    sg_buffer_t *buffer = hold(handle, &gpu);
    if (!buffer)
        return EBADF;
    bool known = sg_buffer_metadata(buffer, metadata);
    sg_buffer_release(buffer);
    return known ? 0 : EINVAL;
}

int sg_gem_set_metadata(uint32_t handle, const sg_metadata_t *metadata)
{
    uint32_t gpu = 0;
    sg_buffer_t *buffer = metadata->bytes <= sizeof(metadata->words) ? hold(handle, &gpu) : NULL;
    if (!buffer)
        return metadata->bytes <= sizeof(metadata->words) ? EBADF : EINVAL;
    bool known = sg_buffer_set_metadata(buffer, metadata);
    sg_buffer_release(buffer);
    return known ? 0 : EINVAL;
}

void sg_gem_clear(bool give_back)
{
    (void)pthread_mutex_lock(&lock);
    while (handles) {
        sg_gem_t *gem = handles;
        handles = gem->next;
        discard(gem, give_back);
    }
    (void)pthread_mutex_unlock(&lock);
}
