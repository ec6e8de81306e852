/**
 * PrivateUse1 tracing: how a profiler (the host: Kineto with the bridge, or a program of its own)
 * gets kernels, copies, sets and host calls from whoever sees them (the vendor: a shared library).
 *
 * The vendor's library exports one function, `kineto_register_privateuse1_plugin`, which fills a
 * table of functions, and these functions under their own names. A session goes like this:
 *
 *     host                                          vendor
 *     pu1TracingSetCallbacks(request, complete)
 *     pu1TracingEnable(CONCURRENT_KERNEL), …        records begin
 *       pu1PushExternalCorrelationId(id)            what this thread launches carries id
 *       … the program launches …                    request(&buffer, &size), writes records
 *       pu1PopExternalCorrelationId(NULL)           complete(buffer, size, valid): full
 *     pu1TracingDisable(CONCURRENT_KERNEL), …       records end
 *     pu1FlushAll()                                 waits, complete(buffer, size, valid) for all
 *       while (pu1GetNextRecord(buffer, valid, &record) == PU1_SUCCESS) …
 *
 * The contract:
 *
 * - Times are nanoseconds of CLOCK_REALTIME.
 * - Buffers are the host's. The vendor asks for one, fills it from its beginning with records, one
 *   behind the other, and hands it back exactly once. It asks for none when it has no record.
 * - A buffer that is NULL or has no room for a record is no buffer: the records that it was meant
 *   for are dropped and counted (pu1GetDroppedRecords). One that is not NULL is handed back at once
 *   with nothing valid. The memory is aligned to PU1_BUFFER_ALIGNMENT, or it is no buffer.
 * - Texts of a record (name, metadata) live until the buffer is completed, that is, until
 *   `complete` returns: a host that keeps records for longer copies them.
 * - request and complete are called one at a time, from any thread: the vendor's own, or one that
 *   is in pu1FlushAll, pu1TracingEnable or pu1TracingSetCallbacks. They do not call the vendor, but
 *   for pu1GetNextRecord, and pu1Push…/pu1PopExternalCorrelationId.
 * - All functions may be called from any thread at any time, unless it says otherwise. None throws.
 * - Records come in no order.
 *
 * Versions: PU1_VERSION_MAJOR moves when something here changes its meaning, and host and vendor
 * must agree on it. PU1_VERSION_MINOR moves when something is added: functions at the end of the
 * table, members at the end of the record, kinds, results. Either side may be the newer: the table
 * and the records say how large they are, a vendor answers a kind that it does not know with
 * PU1_ERROR_NOT_SUPPORTED, and a host leaves records of a kind that it does not know alone.
 *
 * Valid C11 and C++17.
 */
#ifndef PRIVATEUSE1_TRACING_API_H
#define PRIVATEUSE1_TRACING_API_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version that this header describes. */
#define PU1_VERSION_MAJOR 1u
#define PU1_VERSION_MINOR 1u

/** As pu1GetVersion has it, and back. */
#define PU1_VERSION           ((PU1_VERSION_MAJOR << 16) | PU1_VERSION_MINOR)
#define PU1_MAJOR_OF(version) ((uint32_t)(version) >> 16)
#define PU1_MINOR_OF(version) ((uint32_t)(version)&0xffffu)

/** What a buffer of the host begins at a multiple of, bytes. */
#define PU1_BUFFER_ALIGNMENT 8u

/** Name of the function that a vendor's library exports for the loader (pu1RegisterFn). */
#define PU1_REGISTER_SYMBOL "kineto_register_privateuse1_plugin"

#if defined(__GNUC__)
#define PU1_EXPORT __attribute__((visibility("default")))
#else
#define PU1_EXPORT
#endif

/** What came of a call. Negative values and those from 1000 on are a vendor's own. */
typedef enum pu1Result {
    PU1_SUCCESS = 0,
    PU1_ERROR_INVALID_ARGUMENT = 1, /**< NULL where it must not be, or no such kind */
    PU1_ERROR_NOT_INITIALIZED = 2,  /**< the vendor cannot see the device's work in this process:
                                       its interceptor was not loaded early enough, say */
    PU1_ERROR_NOT_SUPPORTED = 3,    /**< this vendor has no records of this kind */
    PU1_ERROR_END_OF_BUFFER = 4,    /**< pu1GetNextRecord: there is no further record */
    PU1_ERROR_STACK_EMPTY = 5,      /**< pu1PopExternalCorrelationId: nothing was pushed */
    PU1_ERROR_OUT_OF_MEMORY = 6,
    PU1_ERROR_BUSY = 7,      /**< called by request or complete, or something else has the device's
                                work (another profiler) */
    PU1_ERROR_TIMEOUT = 8,   /**< pu1FlushAll: what was launched is not done */
    PU1_ERROR_MALFORMED = 9, /**< pu1GetNextRecord: the bytes are no records */
    PU1_ERROR_UNKNOWN = 999
} pu1Result;

/** What a record is about. */
typedef enum pu1ActivityKind {
    PRIVATEUSE1_RUNTIME = 1, /**< a call of the runtime by a thread of the host */
    PRIVATEUSE1_DRIVER = 2,  /**< a call of the driver by a thread of the host */
    CONCURRENT_KERNEL = 3,   /**< a kernel on the device */
    GPU_MEMCPY = 4,          /**< a copy by the device */
    GPU_MEMSET = 5           /**< a fill of memory by the device */
} pu1ActivityKind;

/** Kinds are counted from 1 to this. */
#define PU1_LAST_KIND 5u

/** "Unknown" in device_id. */
#define PU1_NO_DEVICE UINT32_MAX

/** One thing that happened, of any kind. */
typedef struct pu1ActivityRecord {
    uint32_t struct_size; /**< bytes from this record to the next one: at least the vendor's
                             sizeof(pu1ActivityRecord), and a multiple of 8 */
    uint32_t kind;        /**< pu1ActivityKind */
    uint64_t start_time;  /**< ns of CLOCK_REALTIME */
    uint64_t end_time;    /**< not before start_time */
    uint32_t device_id;   /**< of device work: the device, from 0; PU1_NO_DEVICE for calls */
    uint32_t reserved;    /**< 0 */
    uint64_t stream_id;   /**< of device work: its row, a small number of the vendor's making that
                             one stream keeps; 0 for calls */
    uint64_t correlation_id; /**< the same in the record of a call and in those of all device work
                                that the call has launched; unique in the process for a vendor; 0
                                is none. There need not be a record of the call. */
    uint64_t external_id;    /**< what the launching thread had pushed last, 0 if nothing */
    uint32_t process_id;     /**< getpid */
    uint32_t thread_id;      /**< gettid of the thread that made the call; 0 if it is not known */
    const char *name;        /**< UTF-8, never NULL; C++ names may be mangled */
    const char *metadata;    /**< more, as the text of one JSON object, or NULL */
} pu1ActivityRecord;

/** The host provides a buffer: sets `*buffer` and its `*size` in bytes, or `*buffer` to NULL. */
typedef void (*pu1BufferRequestFn)(uint8_t **buffer, size_t *size);

/** The host has a buffer back: records are in its first `valid` bytes. */
typedef void (*pu1BufferCompleteFn)(uint8_t *buffer, size_t size, size_t valid);

/** PU1_VERSION of the header that the vendor was built with. May be called first. */
PU1_EXPORT uint32_t pu1GetVersion(void);

/** Begins and ends records of a kind; of what is launched, or for calls begins, in between. Does
 * not wait for the device. Not counted: one disable ends any number of enables. What was launched
 * before a disable still comes, by pu1FlushAll at the latest. The first kind that is enabled while
 * none is begins a session: what an earlier session has not flushed is forgotten.
 *
 * PU1_ERROR_NOT_SUPPORTED, PU1_ERROR_NOT_INITIALIZED, PU1_ERROR_BUSY, PU1_ERROR_OUT_OF_MEMORY,
 * PU1_ERROR_INVALID_ARGUMENT. Why, pu1GetLastError says. */
PU1_EXPORT pu1Result pu1TracingEnable(pu1ActivityKind kind);
PU1_EXPORT pu1Result pu1TracingDisable(pu1ActivityKind kind);

/** Sets who provides buffers and gets them; both or neither. A buffer that the vendor still has is
 * completed to the one who provided it. Without callbacks records are dropped and counted.
 *
 * PU1_ERROR_INVALID_ARGUMENT if one is NULL, PU1_ERROR_BUSY. */
PU1_EXPORT pu1Result pu1TracingSetCallbacks(pu1BufferRequestFn request,
                                            pu1BufferCompleteFn complete);

/** The stack of the host's ids, one in each thread: what the thread launches and calls while an id
 * is on top carries it, whenever it runs on the device. Cheap; also while nothing is enabled.
 *
 * Pop sets `*last`, unless `last` is NULL, to the id that it has taken off.
 * PU1_ERROR_OUT_OF_MEMORY, PU1_ERROR_STACK_EMPTY. */
PU1_EXPORT pu1Result pu1PushExternalCorrelationId(uint64_t id);
PU1_EXPORT pu1Result pu1PopExternalCorrelationId(uint64_t *last);

/** Waits until what was launched before has run and is in buffers, and completes these. Some
 * seconds at most: PU1_ERROR_TIMEOUT if something is then not done; what is done has been handed
 * over all the same, and the rest comes later. PU1_ERROR_BUSY. */
PU1_EXPORT pu1Result pu1FlushAll(void);

/** Walks over the records of a completed buffer: the first if `*record` is NULL, else the one
 * behind it. Reads `valid` bytes from `buffer` and nothing else.
 *
 * PU1_ERROR_END_OF_BUFFER behind the last one, and PU1_ERROR_MALFORMED where a record does not fit
 * or is smaller than one of this version; `*record` is then NULL. PU1_ERROR_INVALID_ARGUMENT. */
PU1_EXPORT pu1Result pu1GetNextRecord(uint8_t *buffer, size_t valid, pu1ActivityRecord **record);

/** Why the last call of this thread that returned an error did; one sentence, valid until the
 * thread's next call. Never NULL. */
PU1_EXPORT const char *pu1GetLastError(void);

/** How many records were dropped so far in this process: for want of a buffer, or because the
 * vendor lost sight of something. */
PU1_EXPORT uint64_t pu1GetDroppedRecords(void);

/** A device, for the head of a trace. Grows at its end. */
typedef struct pu1DeviceProperties {
    size_t struct_size; /**< in: bytes that the host knows; the vendor writes no more. Out: bytes
                           that it has filled */
    const char *name;   /**< as its maker calls it; valid as long as the process. NULL: unknown */
    uint64_t memory_bytes;  /**< its own memory; 0: unknown */
    uint32_t compute_units; /**< or what the vendor has in their place; 0: unknown */
    uint32_t wave_size;     /**< threads that run in step; 0: unknown */
} pu1DeviceProperties;

/** Since version 1.1, and optional: a vendor may have none in its table, and one of version 1.0 has
 * none. Devices are numbered from 0, without holes, by the numbers of their records. `*properties`
 * begins as zero but for struct_size.
 *
 * PU1_ERROR_INVALID_ARGUMENT if there is no such device, PU1_ERROR_NOT_INITIALIZED if the devices
 * are not known (yet), PU1_ERROR_NOT_SUPPORTED. */
PU1_EXPORT pu1Result pu1GetDeviceProperties(uint32_t device, pu1DeviceProperties *properties);

/** What a vendor tells the host: its functions, and who it is. Grows at its end. */
typedef struct pu1TracingApiTable {
    size_t struct_size; /**< in: bytes that the host knows; the vendor writes no more. Out: bytes
                           that it has filled */
    const char *vendor; /**< a short name, such as "RTL"; valid as long as the process */
    uint32_t (*getVersion)(void);
    pu1Result (*tracingEnable)(pu1ActivityKind kind);
    pu1Result (*tracingDisable)(pu1ActivityKind kind);
    pu1Result (*tracingSetCallbacks)(pu1BufferRequestFn request, pu1BufferCompleteFn complete);
    pu1Result (*pushExternalCorrelationId)(uint64_t id);
    pu1Result (*popExternalCorrelationId)(uint64_t *last);
    pu1Result (*flushAll)(void);
    pu1Result (*getNextRecord)(uint8_t *buffer, size_t valid, pu1ActivityRecord **record);
    const char *(*getLastError)(void);
    uint64_t (*getDroppedRecords)(void);
    pu1Result (*getDeviceProperties)(uint32_t device, pu1DeviceProperties *properties); /**< since
                           1.1; NULL: the vendor does not tell */
} pu1TracingApiTable;

/** Bytes of the table of version 1.0, which every vendor fills. */
#define PU1_TABLE_1_0 offsetof(pu1TracingApiTable, getDeviceProperties)

/** Fills the table. Called once by a loader, after pu1GetVersion has shown that the majors are
 * equal. 0, or another number if the vendor will not be used. `struct_size` is set and the rest is
 * zero. The functions in the table are the vendor's own, whatever else in the process has the same
 * names: a library takes the addresses of static functions, or is linked with
 * -Bsymbolic-functions. */
PU1_EXPORT int kineto_register_privateuse1_plugin(pu1TracingApiTable *table);
typedef int (*pu1RegisterFn)(pu1TracingApiTable *table);

/* The layout that both sides have to agree on, on machines with 64-bit pointers. */
#ifdef __cplusplus
#define PU1_LAYOUT(condition) static_assert(condition, #condition)
#else
#define PU1_LAYOUT(condition) _Static_assert(condition, #condition)
#endif
PU1_LAYOUT(sizeof(pu1Result) == 4 && sizeof(pu1ActivityKind) == 4);
PU1_LAYOUT(offsetof(pu1ActivityRecord, struct_size) == 0);
PU1_LAYOUT(offsetof(pu1ActivityRecord, kind) == 4);
PU1_LAYOUT(offsetof(pu1ActivityRecord, start_time) == 8);
PU1_LAYOUT(offsetof(pu1ActivityRecord, end_time) == 16);
PU1_LAYOUT(offsetof(pu1ActivityRecord, device_id) == 24);
PU1_LAYOUT(offsetof(pu1ActivityRecord, stream_id) == 32);
PU1_LAYOUT(offsetof(pu1ActivityRecord, correlation_id) == 40);
PU1_LAYOUT(offsetof(pu1ActivityRecord, external_id) == 48);
PU1_LAYOUT(offsetof(pu1ActivityRecord, process_id) == 56);
PU1_LAYOUT(offsetof(pu1ActivityRecord, thread_id) == 60);
PU1_LAYOUT(offsetof(pu1ActivityRecord, name) == 64);
PU1_LAYOUT(sizeof(void *) != 8 || offsetof(pu1ActivityRecord, metadata) == 72);
PU1_LAYOUT(sizeof(void *) != 8 || sizeof(pu1ActivityRecord) == 80);
PU1_LAYOUT(sizeof(void *) != 8 || PU1_TABLE_1_0 == 96);
PU1_LAYOUT(sizeof(void *) != 8 || sizeof(pu1TracingApiTable) == 104);
PU1_LAYOUT(sizeof(void *) != 8 || sizeof(pu1DeviceProperties) == 32);
PU1_LAYOUT(offsetof(pu1TracingApiTable, struct_size) == 0);
PU1_LAYOUT(sizeof(void *) != 8 || offsetof(pu1TracingApiTable, getVersion) == 16);
PU1_LAYOUT(sizeof(void *) != 8 || offsetof(pu1TracingApiTable, getDroppedRecords) == 88);
#undef PU1_LAYOUT

#ifdef __cplusplus
}
#endif

#endif
