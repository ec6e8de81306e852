/**
 * RTL inside another profiler: what is recorded is handed to functions of a host, in its own
 * process. No file is written and no other process is started.
 *
 *     static void kernels(void *context, const rtl_batch_t *batch,
 *                         const rtl_kernel_event_t *events, size_t count);
 *
 *     rtl_callbacks_t callbacks = {.size = sizeof callbacks, .kernels = kernels};
 *     if (rtlSubscribe(&callbacks, NULL) != 0)    before hsa_init or the first HIP call
 *         …
 *     … the program runs …
 *     rtlFlush(1000);
 *     rtlUnsubscribe();
 *
 * The contract:
 *
 * - A host links librtl.so, or opens it (dlopen) and looks the functions up. HIP calls are seen
 *   where librtl.so stands before libamdhip64.so in the process: linked before it, or preloaded.
 * - rtlSubscribe comes before hsa_init and while no other thread uses the environment: it adds
 *   librtl.so to HSA_TOOLS_LIB, by which the HSA runtime loads it, and sets RTL_EMBEDDED, so that
 *   programs that this process starts do not record themselves because of that. rtlRecording()
 *   tells after hsa_init whether it worked.
 * - A process that is recorded into a trace (RTL_SESSION is set, as rtl trace does) has no
 *   subscriber: EBUSY. RTL_OUTPUT is not looked at. All else is set as ever: RTL_MODE, RTL_BUFFER,
 *   RTL_DELAY, rtlStop and rtlStart, which are the way to record by sessions.
 * - All callbacks are called from one thread of RTL's, one after the other, with all signals
 *   blocked; never from a thread of the program, and never in a forked child. They may take their
 *   time: what the program does meanwhile waits in a ring (RTL_BUFFER), and what finds no room is
 *   counted as lost, as ever. They may call anything but rtlSubscribe, rtlFlush and rtlUnsubscribe;
 *   what they submit to the GPU is recorded, too. They must return: no exception, no longjmp.
 * - Events come in batches within some tenths of a second, those of one kind roughly in the order
 *   of their ends, kinds in no order: a kernel may come before the call that launched it. Each
 *   kernel comes once.
 * - The arrays, `batch` and the texts of ranges, notes and names are valid during the call. Names
 *   of kernels and calls stay valid, at the same address, until the process ends.
 * - At an exit of the process through exit(), what has ended by then is handed over before the
 *   host's own exit handlers run, if these were set up before hsa_init; then nothing more comes.
 *   _exit and signals hand nothing over.
 *
 * Times are nanoseconds of CLOCK_BOOTTIME (in a time namespace: of the machine's, as the times are
 * that the runtime gives); those of host calls and ranges may be a microsecond off.
 * Structures only grow at their end, events not at all within a major version.
 */
#ifndef RTL_CALLBACKS_H
#define RTL_CALLBACKS_H

#include <rtl/rtl.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** "None" in 32-bit fields. */
#define RTL_EVENT_NONE UINT32_MAX

/** What is the same for all events of a call. */
typedef struct rtl_batch {
    int64_t realtime_offset; /**< what to add to a time to get CLOCK_REALTIME, ns */
    uint64_t lost;           /**< kernels and copies that were seen and will not come, so far */
} rtl_batch_t;

/** A kernel that has run. */
typedef struct rtl_kernel_event {
    const char *name;     /**< mangled, without `.kd`; NULL if it is not known */
    uint64_t start, end;  /**< both 0 if the clock of the GPU could not be read */
    uint64_t correlation; /**< of the host call that it comes from; else of the innermost range that
                             was open in its thread; 0 if neither */
    uint64_t range;       /**< innermost range that was open in the thread, 0 if none or unknown */
    uint64_t stream;      /**< handle (hipStream_t) if has_stream: NULL is a stream, too */
    uint64_t queue_address; /**< of the hsa_queue_t */
    uint64_t packet;        /**< its index in the queue; (queue_id, packet) names a kernel */
    uint64_t kernel_object;
    uint32_t has_stream; /**< 1 if the call that launched it is known and has one */
    uint32_t device;     /**< ordinal among the GPUs, as the HSA runtime lists them */
    uint32_t queue_id;   /**< of RTL, counted in the process from 0 */
    uint32_t launch;     /**< graph launch it belongs to (rtl_launch_event_t), or RTL_EVENT_NONE */
    uint32_t ordinal;    /**< of its packet in the launch, or RTL_EVENT_NONE */
    uint32_t grid[3];    /**< work-items */
    uint32_t block[3];
    uint32_t group_size;   /**< LDS as dispatched, bytes */
    uint32_t private_size; /**< memory of a work-item, of the symbol, bytes; 0 if not known */
} rtl_kernel_event_t;

typedef enum rtl_copy_event_kind {
    RTL_EVENT_HOST_TO_HOST = 0,
    RTL_EVENT_HOST_TO_DEVICE = 1,
    RTL_EVENT_DEVICE_TO_HOST = 2,
    RTL_EVENT_DEVICE_TO_DEVICE = 3,
    RTL_EVENT_PEER = 4
} rtl_copy_event_kind_t;

/** An asynchronous copy that is done. */
typedef struct rtl_copy_event {
    uint64_t start, end; /**< both 0 where nobody took them (copies by the host) */
    uint64_t bytes;
    uint64_t correlation, range, stream; /**< as a kernel's */
    uint64_t ordinal;                    /**< among the copies of its device */
    uint32_t has_stream;
    uint32_t kind;     /**< rtl_copy_event_kind_t */
    uint32_t device;   /**< that copied; RTL_EVENT_NONE is the host */
    uint32_t src, dst; /**< ordinals of GPUs; RTL_EVENT_NONE is the host, or not known */
} rtl_copy_event_t;

/** A host call that has returned. */
typedef struct rtl_call_event {
    const char *name;      /**< NULL if it is not known */
    const char *arguments; /**< "name:type,…", see docs/format.md; NULL if it is not known */
    const uint64_t *words; /**< their values; valid during the call */
    uint64_t start, end;
    uint64_t correlation; /**< its own */
    uint64_t range, stream;
    uint32_t has_stream;
    uint32_t word_count;
    uint32_t thread; /**< gettid */
    int32_t result;
} rtl_call_event_t;

typedef enum rtl_range_event_kind {
    RTL_EVENT_PUSHED = 0, /**< nested in its thread */
    RTL_EVENT_STARTED = 1,
    RTL_EVENT_MARKED = 2
} rtl_range_event_kind_t;

typedef enum rtl_range_event_flags {
    RTL_EVENT_ASIDE = 1 /**< RTL_RANGES leaves it out: nobody measures it */
} rtl_range_event_flags_t;

/** A range that has ended, a mark, or (rtlUnsubscribe, exit) a range that is open. One that is
 * aside comes when it begins as well, as one that is open. */
typedef struct rtl_range_event {
    const char *text;    /**< valid during the call */
    uint64_t start, end; /**< of a mark both the same; end 0: still open */
    uint64_t id, parent; /**< parent 0: none */
    uint32_t thread;     /**< in which it began */
    uint32_t kind;       /**< rtl_range_event_kind_t */
    uint32_t flags;      /**< rtl_range_event_flags_t */
} rtl_range_event_t;

/** A graph launch whose packets have all been submitted; its kernels name it. */
typedef struct rtl_launch_event {
    uint64_t start;              /**< when it began */
    uint64_t correlation, range; /**< as a kernel's */
    uint64_t fingerprint;        /**< of a batch that no HIP call explains, else 0 */
    uint32_t launch;
    uint32_t graph, generation; /**< RTL_EVENT_NONE where no HIP call explains it */
    uint32_t thread;
    uint32_t packets, kernels;
} rtl_launch_event_t;

typedef enum rtl_name_event_kind {
    RTL_EVENT_THREAD = 0, /**< handle: gettid */
    RTL_EVENT_STREAM = 1,
    RTL_EVENT_DEVICE = 2, /**< ordinal for HIP */
    RTL_EVENT_AGENT = 3
} rtl_name_event_kind_t;

/** What a host wants; NULL functions are left out. `context` is that of rtlSubscribe. */
typedef struct rtl_callbacks {
    size_t size;      /**< sizeof(rtl_callbacks_t) */
    const char *mode; /**< lite, standard, hip or full; NULL: RTL_MODE, or full without it */
    void (*kernels)(void *context, const rtl_batch_t *batch, const rtl_kernel_event_t *events,
                    size_t count);
    void (*copies)(void *context, const rtl_batch_t *batch, const rtl_copy_event_t *events,
                   size_t count);
    void (*calls)(void *context, const rtl_batch_t *batch, const rtl_call_event_t *events,
                  size_t count);
    void (*ranges)(void *context, const rtl_batch_t *batch, const rtl_range_event_t *events,
                   size_t count);
    void (*launches)(void *context, const rtl_batch_t *batch, const rtl_launch_event_t *events,
                     size_t count);
    /** The program names something: a thread, stream, device or agent. */
    void (*name)(void *context, rtl_name_event_kind_t kind, uint64_t handle, const char *text);
    /** Something that a user should know, in one sentence: recording was stopped, a queue cannot be
     * followed, … */
    void (*note)(void *context, uint64_t time, const char *sentence);
} rtl_callbacks_t;

/** Has what this process does recorded and handed to `callbacks` (copied). Before hsa_init; again
 * after rtlUnsubscribe at any time, with the mode of the first time. Any thread.
 *
 * Returns 0, or -1 with errno: EINVAL (no callback, or no such mode), EDEADLK (called by
 * a callback), EBUSY (there is a subscriber,
 * or the process is recorded into a trace), ENOTSUP (the runtime has loaded RTL without a
 * subscriber or recording could not begin), ENOMEM. */
RTL_API int rtlSubscribe(const rtl_callbacks_t *callbacks, void *context);

/** Hands over what has ended before: kernels and copies that are done, host calls that have
 * returned, ranges that have ended. Waits for that at most `timeout_ms`. Not while another thread
 * is in hsa_shut_down.
 *
 * Returns 0, or -1 with errno: ETIMEDOUT, EDEADLK (called by a callback), ESRCH (nobody has
 * subscribed, or hsa_init is still to come). */
RTL_API int rtlFlush(unsigned timeout_ms);

/** Stops recording, hands over what was recorded, and ends the subscription: when it returns, no
 * callback runs or will. Returns 0, or -1 with errno: EDEADLK, ESRCH. */
RTL_API int rtlUnsubscribe(void);

#ifdef __cplusplus
}
#endif

#endif
