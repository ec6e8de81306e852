/**
 * Where device work stands in a trace: each device of each vendor is a process, each of its streams
 * a thread, under numbers that no other process has. The numbers are 32 bits wide and not negative,
 * whatever vendors count with.
 */
#ifndef RTL_KINETO_ROWS_H
#define RTL_KINETO_ROWS_H

#include "kineto/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Device d of vendor v is the process PU1_FIRST_PROCESS + v * PU1_PROCESSES_OF_A_VENDOR + d, the
 * unknown one the vendor's last: beyond the devices of Kineto's own (0, 1, …) and all process
 * ids of Linux, which end at 2^22. Devices that have no room there come behind those of all
 * vendors. */
#define PU1_FIRST_PROCESS         (1 << 24)
#define PU1_PROCESSES_OF_A_VENDOR (1 << 16)

/** The process of a device that has room: PU1_NO_DEVICE, or below PU1_PROCESSES_OF_A_VENDOR - 1. */
int32_t pu1_process_of(size_t vendor, uint32_t device);

/** Streams are threads of their own number; those from here on are counted from here. */
#define PU1_FIRST_LARGE_STREAM (1 << 30)

/** A stream that has work. */
typedef struct pu1_row {
    size_t vendor;   /**< its place in pu1_vendors_t */
    uint32_t device; /**< the vendor's number, PU1_NO_DEVICE: unknown */
    uint64_t stream; /**< the vendor's number */
    int32_t process; /**< in the trace */
    int32_t thread;  /**< in the trace */
} pu1_row_t;

typedef struct pu1_rows pu1_rows_t;

/** The rows of the device work among the items. NULL without memory. */
pu1_rows_t *pu1_rows_new(const pu1_item_t *items, size_t count);
void pu1_rows_free(pu1_rows_t *rows);

/** All of them, in the order of vendors, devices and streams. Until pu1_rows_free. */
const pu1_row_t *pu1_rows_all(const pu1_rows_t *rows, size_t *count);

/** That of device work, which was among the items; NULL for what was not. */
const pu1_row_t *pu1_row_of(const pu1_rows_t *rows, const pu1_item_t *item);

/** True if the item is work of a device, which has a row here; calls are in rows of their threads.
 */
bool pu1_is_device_work(const pu1_item_t *item);

#ifdef __cplusplus
}
#endif

#endif
