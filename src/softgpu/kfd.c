/* /dev/kfd and the render nodes: open, close, fork, and which module answers which ioctl. Both are
 * descriptors of one memfd, which the process maps where the driver's ioctls tell it to. */
#include "softgpu/kfd.h"

#include "softgpu/clock.h"
#include "softgpu/device.h"
#include "softgpu/exec.h"
#include "softgpu/front.h"
#include "softgpu/kfd_buffers.h"
#include "softgpu/kfd_events.h"
#include "softgpu/kfd_gem.h"
#include "softgpu/kfd_memory.h"
#include "softgpu/kfd_queues.h"
#include "softgpu/kfd_svm.h"
#include "softgpu/kfd_topology.h"
#include "softgpu/pmc.h"
#include "softgpu/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The interface of newer drivers, where the installed header is older. ROCr 5.7 and later refuse a
 * driver below 1.9; from 1.14 on waits know the ages of events, from 1.15 on ROCr uses virtual
 * memory by handles. */
enum { INTERFACE_MAJOR = 1, INTERFACE_MINOR = 15 };

enum {
    LONGEST_ARGUMENTS = 512,
    EXPORT_DMABUF = 0x24, /* of newer drivers, as the interface, and so the next */
    RUNTIME_ENABLE = 0x25,
};

/* The arguments of RUNTIME_ENABLE. */
typedef struct sg_runtime_enable {
    uint64_t r_debug;   /* of a runtime that debuggers may attach to */
    uint32_t mode;      /* bit 0: enable, else disable */
    uint32_t abilities; /* told */
} sg_runtime_enable_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int memfd = -1;
static unsigned open_count; /* descriptors of /dev/kfd */
static bool are_settings_read;
static bool started;            /* the device thread runs */
static atomic_bool has_runtime; /* RUNTIME_ENABLE has enabled one */
static atomic_bool forked;
static atomic_bool is_open;

bool sg_kfd_is_open(void)
{
    return atomic_load_explicit(&is_open, memory_order_acquire) &&
           !atomic_load_explicit(&forked, memory_order_relaxed);
}

bool sg_kfd_has_runtime(void)
{
    return atomic_load(&has_runtime);
}

int sg_kfd_memfd(void)
{
    return memfd;
}

/* ---- fork ---- */

/* The order of the locks is the order in which the modules may call each other. */
static void before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
    sg_device_before_fork();
    sg_gem_before_fork();
    sg_kfd_memory_before_fork();
    sg_kfd_svm_before_fork();
    sg_buffers_before_fork();
}

static void after_fork_in_parent(void)
{
    sg_buffers_after_fork();
    sg_kfd_svm_after_fork();
    sg_kfd_memory_after_fork();
    sg_gem_after_fork();
    sg_device_after_fork();
    (void)pthread_mutex_unlock(&lock);
}

static void after_fork_in_child(void)
{
    after_fork_in_parent();
    if (memfd >= 0)
        atomic_store(&forked, true);
}

/* What the parent had open means nothing here: no device thread lives in the child, and the memory
 * is the parent's. */
static void forget_parent(void)
{
    sg_device_forget();
    sg_kfd_queues_forget();
    sg_kfd_events_forget();
    sg_gem_clear(false);
    sg_kfd_memory_clear(false);
    sg_kfd_svm_clear();
    sg_buffers_forget();
    (void)close(memfd);
    memfd = -1;
    open_count = 0;
    started = false;
    has_runtime = false;
    are_settings_read = false;
    atomic_store(&is_open, false);
    atomic_store(&forked, false);
}

/* ---- open and close ---- */

/* Under the lock. */
static void read_settings(void)
{
    if (are_settings_read)
        return;
    sg_settings_read();
    are_settings_read = true;
}

/* Under the lock. 0, or an errno value that is negated. */
static int prepare(void)
{
    static bool watched;
    if (!watched)
        watched = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
    if (forked)
        forget_parent();
    read_settings();
    if (memfd < 0)
        memfd = sg_buffers_open();
    return memfd < 0 ? -errno : 0;
}

static int duplicate(int flags)
{
    int descriptor = fcntl(memfd, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
    return descriptor < 0 ? -errno : descriptor;
}

static int open_kfd(int flags)
{
    (void)pthread_mutex_lock(&lock);
    int result = prepare();
    if (result == 0)
        result = duplicate(flags);
    if (result >= 0) {
        open_count++;
        atomic_store(&is_open, true);
    }
    (void)pthread_mutex_unlock(&lock);
    return result;
}

static int open_render(unsigned number, int flags)
{
    (void)pthread_mutex_lock(&lock);
    int result = prepare();
    if (result == 0)
        result = number - SG_FIRST_RENDER_NODE < sg_settings()->gpus ? duplicate(flags) : -ENOENT;
    (void)pthread_mutex_unlock(&lock);
    return result;
}

/* At the last close; settings are read anew at the next open. The memfd stays, for thunks keep the
 * render nodes open. */
static void closing_kfd(int descriptor)
{
    (void)descriptor;
    (void)pthread_mutex_lock(&lock);
    if (!forked && open_count > 0 && --open_count == 0) {
        atomic_store(&is_open, false);
        if (started)
            sg_device_stop();
        started = false;
        has_runtime = false;
        sg_kfd_queues_clear();
        sg_kfd_events_clear();
        sg_gem_clear(true);
        sg_kfd_memory_clear(true);
        sg_kfd_svm_clear();
        are_settings_read = false;
    }
    (void)pthread_mutex_unlock(&lock);
}

/* A program that only looks whether the driver is there needs no device thread and no log. Thunks
 * repeat for ever what fails with EAGAIN, which is why a refused thread is another error. */
static int start(void)
{
    int failed = 0;
    (void)pthread_mutex_lock(&lock);
    if (!started) {
        read_settings();
        sg_exec_init();
        sg_pmc_open();
        sg_truth_start();
        started = sg_device_start();
        failed = started ? 0 : ENOMEM;
    }
    (void)pthread_mutex_unlock(&lock);
    return failed;
}

/* ---- ioctls ---- */

/* The system counter is rounded down to the tick: with both counters of one reading exactly
 * proportional, no pair of readings can make a translated time drift. */
static int clock_counters(struct kfd_ioctl_get_clock_counters_args *args)
{
    uint64_t ticks = sg_clock_ticks();
    args->gpu_clock_counter = sg_kfd_gpu_of(args->gpu_id) < 0 ? 0 : ticks;
    args->cpu_clock_counter = ticks * SG_NS_PER_TICK;
    args->system_clock_counter = ticks * SG_NS_PER_TICK;
    args->system_clock_freq = UINT64_C(1000000000);
    return 0;
}

static int available_memory(struct kfd_ioctl_get_available_memory_args *args)
{
    int gpu = sg_kfd_gpu_of(args->gpu_id);
    if (gpu < 0)
        return EINVAL;
    uint64_t used = sg_buffers_used((uint32_t)gpu);
    args->available = used < SG_FRAME_BUFFER_BYTES ? SG_FRAME_BUFFER_BYTES - used : 0;
    return 0;
}

/* A fault cannot be retried here, so XNACK stays off. A negative mode asks for the present one. */
static int xnack_mode(struct kfd_ioctl_set_xnack_mode_args *args)
{
    if (args->xnack_enabled > 0)
        return EPERM;
    args->xnack_enabled = 0;
    return 0;
}

static int get_version(struct kfd_ioctl_get_version_args *args)
{
    args->major_version = INTERFACE_MAJOR;
    args->minor_version = INTERFACE_MINOR;
    return 0;
}

/* The duration model knows no compute units, so a mask changes nothing. */
static int cu_mask(const struct kfd_ioctl_set_cu_mask_args *args)
{
    return sg_kfd_has_queue(args->queue_id) ? 0 : EINVAL;
}

/* Barriers across a grid, which nothing here runs: a queue gets what it asks for. */
static int queue_gws(struct kfd_ioctl_alloc_queue_gws_args *args)
{
    args->first_gws = 0;
    return sg_kfd_has_queue(args->queue_id) ? 0 : EINVAL;
}

/* ROCr says when it begins and ends, for a debugger that may attach; none can here. One runtime of
 * a process at a time. Newer thunks leave the driver open behind a runtime that has ended: the
 * device ends with it, and what it was set to. Memory and events stay, for the thunk knows them
 * still. */
static int enable_runtime(sg_runtime_enable_t *args)
{
    bool wanted = (args->mode & 1) != 0;
    (void)pthread_mutex_lock(&lock);
    int failed = wanted && has_runtime ? EBUSY : 0;
    if (!wanted && has_runtime && started && !sg_kfd_has_queues()) {
        sg_device_stop();
        started = false;
        are_settings_read = false;
    }
    if (!failed)
        has_runtime = wanted;
    (void)pthread_mutex_unlock(&lock);
    args->abilities = 0;
    return failed;
}

/* The device may have ended with a runtime before this one. */
static int create_queue(struct kfd_ioctl_create_queue_args *args)
{
    int failed = start();
    return failed ? failed : sg_kfd_create_queue(args);
}

/* What is not here is refused as an older driver does. */
static int answer(unsigned number, void *args, size_t bytes)
{
    switch (number) {
    case _IOC_NR(AMDKFD_IOC_GET_VERSION):
        return get_version(args);
    case _IOC_NR(AMDKFD_IOC_CREATE_QUEUE):
        return create_queue(args);
    case _IOC_NR(AMDKFD_IOC_DESTROY_QUEUE):
        return sg_kfd_destroy_queue(args);
    case _IOC_NR(AMDKFD_IOC_UPDATE_QUEUE):
        return sg_kfd_update_queue(args);
    case _IOC_NR(AMDKFD_IOC_SET_CU_MASK):
        return cu_mask(args);
    case _IOC_NR(AMDKFD_IOC_ALLOC_QUEUE_GWS):
        return queue_gws(args);
    case _IOC_NR(AMDKFD_IOC_GET_CLOCK_COUNTERS):
        return clock_counters(args);
    case _IOC_NR(AMDKFD_IOC_CREATE_EVENT):
        return sg_kfd_create_event(args);
    case _IOC_NR(AMDKFD_IOC_DESTROY_EVENT):
        return sg_kfd_destroy_event(args);
    case _IOC_NR(AMDKFD_IOC_SET_EVENT):
        return sg_kfd_set_event(args);
    case _IOC_NR(AMDKFD_IOC_RESET_EVENT):
        return sg_kfd_reset_event(args);
    case _IOC_NR(AMDKFD_IOC_WAIT_EVENTS):
        return sg_kfd_wait_events(args);
    case _IOC_NR(AMDKFD_IOC_GET_TILE_CONFIG):
        return sg_kfd_tile_config(args);
    case _IOC_NR(AMDKFD_IOC_GET_PROCESS_APERTURES_NEW):
        return sg_kfd_apertures(args);
    case _IOC_NR(AMDKFD_IOC_ALLOC_MEMORY_OF_GPU):
        return sg_kfd_allocate(args);
    case _IOC_NR(AMDKFD_IOC_FREE_MEMORY_OF_GPU):
        return sg_kfd_free(args);
    case _IOC_NR(AMDKFD_IOC_MAP_MEMORY_TO_GPU):
        return sg_kfd_map(args);
    case _IOC_NR(AMDKFD_IOC_UNMAP_MEMORY_FROM_GPU):
        return sg_kfd_unmap(args);
    case _IOC_NR(AMDKFD_IOC_GET_DMABUF_INFO):
        return sg_kfd_dmabuf_info(args);
    case _IOC_NR(AMDKFD_IOC_IMPORT_DMABUF):
        return sg_kfd_import_dmabuf(args);
    case EXPORT_DMABUF:
        return sg_kfd_export_dmabuf(args);
    case RUNTIME_ENABLE:
        return enable_runtime(args);
    case _IOC_NR(AMDKFD_IOC_SVM):
        return sg_kfd_svm(args, bytes);
    case _IOC_NR(AMDKFD_IOC_SET_XNACK_MODE):
        return xnack_mode(args);
    case _IOC_NR(AMDKFD_IOC_AVAILABLE_MEMORY):
        return available_memory(args);
    case _IOC_NR(AMDKFD_IOC_ACQUIRE_VM):
        return start();
    /* Caches are coherent on the host, no wave ever traps, nothing spills. */
    case _IOC_NR(AMDKFD_IOC_SET_MEMORY_POLICY):
    case _IOC_NR(AMDKFD_IOC_SET_SCRATCH_BACKING_VA):
    case _IOC_NR(AMDKFD_IOC_SET_TRAP_HANDLER):
        return 0;
    default:
        sg_debug("the driver's ioctl 0x%02x is not offered", number);
        return EINVAL;
    }
}

/* A struct's size is part of the request, and newer releases append to some: what the caller does
 * not have is zero, and what is not known here stays as it is. */
static int kfd_ioctl(unsigned long request, void *argument)
{
    _Alignas(uint64_t) char arguments[LONGEST_ARGUMENTS] = {0};
    size_t size = _IOC_SIZE(request);
    if (forked)
        return -EBADF;
    if (size > sizeof(arguments))
        size = sizeof(arguments);
    if (argument)
        memcpy(arguments, argument, size);
    int failed = answer(_IOC_NR(request), arguments, size);
    if (argument && (_IOC_DIR(request) & _IOC_READ))
        memcpy(argument, arguments, size);
    return -failed;
}

/* ---- what needs no open driver ---- */

static int facts(unsigned number, sg_gpu_facts_t *facts)
{
    (void)pthread_mutex_lock(&lock);
    read_settings();
    (void)pthread_mutex_unlock(&lock);
    if (number - SG_FIRST_RENDER_NODE >= sg_settings()->gpus)
        return -ENODEV;
    sg_topology_facts(facts);
    return 0;
}

static int sysfs_text(const char *path, char **text, size_t *size)
{
    (void)pthread_mutex_lock(&lock);
    read_settings();
    (void)pthread_mutex_unlock(&lock);
    return sg_topology_text(path, text, size);
}

static int sysfs_entry(const char *path, unsigned index, sg_sysfs_entry_t *entry)
{
    (void)pthread_mutex_lock(&lock);
    read_settings();
    (void)pthread_mutex_unlock(&lock);
    return sg_topology_entry(path, index, entry);
}

/* ---- buffers of render nodes ---- */

static int buffer_import(unsigned number, int dmabuf, sg_drm_buffer_t *buffer)
{
    if (!sg_kfd_is_open() || number - SG_FIRST_RENDER_NODE >= sg_settings()->gpus)
        return -ENODEV;
    return -sg_gem_import(number - SG_FIRST_RENDER_NODE, dmabuf, &buffer->handle, &buffer->bytes);
}

static int buffer_free(uint32_t handle)
{
    return -sg_gem_free(handle);
}

static int buffer_export(uint32_t handle)
{
    int dmabuf = -1;
    int failed = sg_gem_export(handle, &dmabuf);
    return failed ? -failed : dmabuf;
}

static int buffer_place(uint32_t handle, uint64_t *place)
{
    return -sg_gem_place(handle, place);
}

static int buffer_host_map(const sg_host_mapping_t *wanted, uint64_t place, void **mapped)
{
    return -sg_gem_host_map(wanted, place, mapped);
}

static int buffer_cpu_map(uint32_t handle, void **address)
{
    return -sg_gem_cpu_map(handle, address);
}

static int buffer_map(uint32_t handle, uint64_t offset, uint64_t bytes, uint64_t address)
{
    return -sg_gem_map(handle, offset, bytes, address);
}

static int buffer_unmap(uint32_t handle, uint64_t address)
{
    return -sg_gem_unmap(handle, address);
}

static int buffer_metadata(uint32_t handle, sg_metadata_t *metadata)
{
    return -sg_gem_metadata(handle, metadata);
}

static int buffer_set_metadata(uint32_t handle, const sg_metadata_t *metadata)
{
    return -sg_gem_set_metadata(handle, metadata);
}

__attribute__((constructor)) static void give_calls(void)
{
    static const sg_front_calls_t calls = {.open_kfd = open_kfd,
                                           .open_render = open_render,
                                           .closing_kfd = closing_kfd,
                                           .ioctl = kfd_ioctl,
                                           .facts = facts,
                                           .sysfs_text = sysfs_text,
                                           .sysfs_entry = sysfs_entry,
                                           .buffer_import = buffer_import,
                                           .buffer_free = buffer_free,
                                           .buffer_export = buffer_export,
                                           .buffer_place = buffer_place,
                                           .buffer_host_map = buffer_host_map,
                                           .buffer_cpu_map = buffer_cpu_map,
                                           .buffer_map = buffer_map,
                                           .buffer_unmap = buffer_unmap,
                                           .buffer_metadata = buffer_metadata,
                                           .buffer_set_metadata = buffer_set_metadata};
    static const sg_linker_t linker = {.open = softgpu_front_open, .symbol = softgpu_front_symbol};
    sg_plugin_linker(&linker);
    softgpu_front_take(&calls);
}
