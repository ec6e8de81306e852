#include "softgpu/process.h"

#include "softgpu/device.h"
#include "softgpu/events.h"
#include "softgpu/exec.h"
#include "softgpu/memory.h"
#include "softgpu/pmc.h"
#include "softgpu/queues.h"
#include "softgpu/settings.h"

#include <hsakmt.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned open_count;
static atomic_bool forked;
static atomic_bool is_open;

bool sg_process_is_open(void)
{
    return atomic_load_explicit(&is_open, memory_order_acquire);
}

bool sg_process_is_orphan(void)
{
    return atomic_load_explicit(&forked, memory_order_relaxed);
}

/* The order of the locks is the order in which the modules may call each other. */
static void before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
    sg_device_before_fork();
    sg_memory_before_fork();
}

static void after_fork_in_parent(void)
{
    sg_memory_after_fork();
    sg_device_after_fork();
    (void)pthread_mutex_unlock(&lock);
}

static void after_fork_in_child(void)
{
    sg_memory_after_fork();
    sg_device_after_fork();
    (void)pthread_mutex_unlock(&lock);
    if (open_count == 0)
        return;
    forked = true;
    atomic_store(&is_open, false);
}

static void watch_forks(void)
{
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* What the parent had open means nothing here: no device thread lives in the child. The memory
 * stays, copied on write, for the child's code may still read signals and buffers of the parent. */
static void forget_parent(void)
{
    sg_device_forget();
    sg_queues_forget();
    sg_events_forget();
    sg_memory_forget();
    open_count = 0;
    forked = false;
}

static HSAKMT_STATUS open_device(void)
{
    sg_settings_read();
    sg_exec_init();
    sg_pmc_open();
    sg_truth_start();
    if (!sg_memory_open() || !sg_events_open()) {
        sg_events_close();
        sg_memory_close();
        return HSAKMT_STATUS_NO_MEMORY;
    }
    if (!sg_device_start()) {
        sg_events_close();
        sg_memory_close();
        return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    }
    return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS hsaKmtOpenKFD(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, watch_forks);
    (void)pthread_mutex_lock(&lock);
    if (forked)
        forget_parent();
    HSAKMT_STATUS status = HSAKMT_STATUS_KERNEL_ALREADY_OPENED;
    if (open_count == 0) {
        status = open_device();
        if (status == HSAKMT_STATUS_SUCCESS)
            atomic_store(&is_open, true);
    }
    if (status == HSAKMT_STATUS_SUCCESS || status == HSAKMT_STATUS_KERNEL_ALREADY_OPENED)
        open_count++;
    (void)pthread_mutex_unlock(&lock);
    return status;
}

HSAKMT_STATUS hsaKmtCloseKFD(void)
{
    (void)pthread_mutex_lock(&lock);
    HSAKMT_STATUS status = HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    if (open_count > 0 && !forked) {
        status = HSAKMT_STATUS_SUCCESS;
        if (--open_count == 0) {
            atomic_store(&is_open, false);
            sg_device_stop();
            sg_queues_close();
            sg_events_close();
            sg_memory_close();
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return status;
}
