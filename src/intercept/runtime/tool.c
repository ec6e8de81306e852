/*
 * Loading and unloading: the HSA runtime calls OnLoad when the program initialises it and OnUnload
 * when it shuts it down. A program may do both several times; the ring is made once and stays.
 *
 * The end of a process, however it comes about, needs no help from us: what was harvested is in
 * shared memory. At an orderly exit we harvest what is finished, say what is not, and close the
 * ring; the worker goes on until the very end, because the runtime's own exit code may still wait
 * for signals that it forwards.
 */
#include "common/clock.h"
#include "common/log.h"
#include "common/pages.h"
#include "common/private.h"
#include "common/rank.h"
#include "common/stamp.h"
#include "common/tsan.h"
#include "intercept/base/agents.h"
#include "intercept/base/api.h"
#include "intercept/base/config.h"
#include "intercept/base/control.h"
#include "intercept/base/emit.h"
#include "intercept/base/forks.h"
#include "intercept/base/patience.h"
#include "intercept/base/recording.h"
#include "intercept/base/refuse.h"
#include "intercept/base/symbols.h"
#include "intercept/base/thread_context.h"
#include "intercept/base/threads.h"
#include "intercept/callbacks/callbacks.h"
#include "intercept/counters/counters.h"
#include "intercept/hip/follow.h"
#include "intercept/hip/hip.h"
#include "intercept/hip/libc.h"
#include "intercept/hip/makers.h"
#include "intercept/hip/starts.h"
#include "intercept/queue/adoption.h"
#include "intercept/queue/copies.h"
#include "intercept/queue/creation.h"
#include "intercept/queue/handlers.h"
#include "intercept/queue/harvest.h"
#include "intercept/queue/launches.h"
#include "intercept/queue/lifecycle.h"
#include "intercept/queue/queue.h"
#include "intercept/queue/shapes.h"
#include "intercept/queue/signal_pool.h"
#include "intercept/queue/signals.h"
#include "intercept/queue/slabs.h"
#include "intercept/queue/submit_lock.h"
#include "intercept/queue/untracked.h"
#include "intercept/queue/waits.h"
#include "intercept/ranges/ranges.h"
#include "intercept/runtime/exits.h"
#include "intercept/runtime/share.h"
#include "intercept/runtime/spawn.h"
#include "intercept/runtime/worker.h"

#include "ring/files.h"
#include "ring/process.h"

#include <rtl/rtl.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* No end of a process is delayed by more than these together and what patience.h says, and by that
 * much only where a thread has no processor, or hangs. */
#define CLOSE_PATIENCE_NS    UINT64_C(200000000) /* submissions under way, at a shut-down */
#define STOP_PATIENCE_S      5u /* the worker, at a shut-down: it must not go on behind it */
#define COUNTERS_PATIENCE_NS UINT64_C(200000000) /* their counter thread, at a shut-down */
#define PIECE                256u                /* records, for which there is to be room */
#define FLUSH_NAP_NS         UINT64_C(200000)    /* until the collector may have made room */

EXPORT bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names);
EXPORT void OnUnload(void);

static struct rtl_config config;
static struct rtl_ring ring;
static _Atomic bool hooked; /* between OnLoad and OnUnload */
static pid_t owner;         /* process that made the ring */
static char own_session[256];

static bool create_signal(void *context, uint64_t *handle)
{
    (void)context;
    hsa_signal_t signal;
    rtl_forks_enter();
    hsa_status_t status =
        rtl_api.hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &signal);
    rtl_forks_leave();
    if (status != HSA_STATUS_SUCCESS) {
        rtl_signal_pool_refused();
        return false;
    }
    *handle = signal.handle;
    rtl_tsan_acquire((const void *)(uintptr_t)signal.handle);
    rtl_signal_tag_as_ours(signal.handle);
    return true;
}

static void destroy_signal(void *context, uint64_t handle)
{
    (void)context;
    hsa_signal_t signal = {handle};
    rtl_api.hsa_signal_destroy(signal);
}

static void describe_process(void)
{
    char command[4096];
    char host[256] = "";
    Dl_info library = {.dli_fname = ""};
    const char *rank = rtl_rank();
    uint16_t major = 0;
    uint16_t minor = 0;
    (void)gethostname(host, sizeof host - 1);
    if (dladdr((void *)(uintptr_t)OnLoad, &library) == 0)
        library.dli_fname = "";
    rtl_api.hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major);
    rtl_api.hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MINOR, &minor);
    struct rtl_wire_process wire = {
        .time_ns = rtl_now(),
        .pid = rtl_process_own(),
        .ppid = (uint32_t)getppid(),
        .mode = (uint32_t)config.mode,
        .interception =
            config.interception == RTL_INTERCEPTION_INTERCEPT ? RTL_INTERCEPTED : RTL_INTERPOSED,
        .core_table = rtl_api.core_size,
        .ext_table = rtl_api.ext_size,
        .hsa_major = major,
        .hsa_minor = minor,
        .command_length = (uint16_t)rtl_threads_title(command, sizeof command),
        .host_length = (uint16_t)strlen(host),
        .library_length = (uint16_t)strlen(library.dli_fname),
        .rank_length = (uint16_t)strlen(rank),
    };
    struct rtl_piece pieces[] = {{&wire, sizeof wire},
                                 {command, wire.command_length},
                                 {host, wire.host_length},
                                 {library.dli_fname, wire.library_length},
                                 {rank, wire.rank_length}};
    rtl_emit_definition(RTL_WIRE_PROCESS, pieces, 5);
}

/* Without a ring: who collects says so, or, if that cannot be left for it, we do. Nobody who runs a
 * program in a session expects output of ours. */
static void refuse(const char *session, int error)
{
    struct rtl_refusal refusal;
    char why[400];
    if (config.session != NULL && rtl_refuse(RTL_REFUSED_RING, error, config.ring_bytes))
        return;
    rtl_refusal_fill(&refusal, session, error, config.ring_bytes);
    rtl_refusal_text(&refusal, session, why, sizeof why);
    rtl_complain("%s: nothing is recorded", why);
}

/* Of signals, which end with the runtime: the next one has others. */
static bool make_pool(void)
{
    struct rtl_pool_backend backend = {create_signal, destroy_signal, NULL};
    if (rtl_signals.handles != NULL)
        return true;
    rtl_signal_pool_resume();
    return rtl_pool_init(&rtl_signals, config.pool_limit, backend);
}

/* ROCr keeps destroyed signals in a list, and ends the program where that cannot grow. */
static void end_pool(void)
{
    if (rtl_share_is_used_up()) {
        rtl_pool_abandon(&rtl_signals);
        return;
    }
    uint32_t left = rtl_pool_end(&rtl_signals);
    rtl_debug("shut down; %u signals still belong to kernels that never completed", left);
}

/* What is of use only where something is recorded: a program that was given little memory has it
 * to itself, and nothing is taken by a library that is just loaded. */
static bool make_tables(void)
{
    return rtl_shapes_begin() && rtl_symbols_begin() && rtl_queues_begin() &&
           rtl_untracked_begin() && rtl_launches_begin() && rtl_handlers_begin() &&
           rtl_harvest_begin() && rtl_copies_begin() && rtl_slabs_init(&rtl_slabs) && make_pool();
}

static bool check_session(const char *session)
{
    uint32_t version = 0;
    int found = rtl_ring_dir_check(session, &version);
    if (found < 0 && (errno == EMFILE || errno == ENFILE))
        refuse(session, errno);
    else if (found < 0 && !rtl_refuse(RTL_REFUSED_SESSION, errno, 0))
        rtl_complain("RTL_SESSION=%s is not a session (%s): nothing is recorded", session,
                     rtl_private_why(errno));
    else if (found == 0 && !rtl_refuse(RTL_REFUSED_BUILD, EPROTO, 0))
        rtl_complain("librtl.so %s speaks version %u and the rtl that collects speaks version %u: "
                     "they are from different builds, nothing is recorded",
                     RTL_VERSION, RTL_WIRE_VERSION, version);
    return found == 1;
}

/* A program with raised privileges (set-user-ID, say), which the HSA runtime has load what its user
 * names: none of that user's settings are read (secure_getenv), and no file of its is made. */
static bool is_privileged(void)
{
    if (getauxval(AT_SECURE) == 0)
        return false;
    rtl_complain("the program runs with raised privileges: nothing is recorded");
    const struct rtl_refusal refusal = {.why = RTL_REFUSED_PRIVILEGED};
    rtl_refuse_show(&refusal);
    return true;
}

/* In a session of the collector that started us, or one of our own, whose folders are `where`. */
static bool join_session(const char *session, const char *where)
{
    if (session != NULL && !check_session(session))
        return false;
    if (!rtl_share_begin(&config) || !make_tables() ||
        !rtl_pages_charge(rtl_ring_file_size(rtl_ring_slots(config.ring_bytes)))) {
        refuse(where, ENOMEM);
        return false;
    }
    return true;
}

static bool open_ring_for_subscribers(void)
{
    errno = ENOMEM;
    if (rtl_share_begin(&config) && make_tables() && rtl_callbacks_open(&ring, config.ring_bytes))
        return true;
    rtl_complain("no memory or no thread for the subscriber's events (%s): nothing is recorded",
                 strerrordesc_np(errno));
    return false;
}

/* Makes the ring, in the session of the collector that started us or in one of our own. */
static bool open_ring(void)
{
    const char *session = config.session;
    if (rtl_callbacks_wanted(&config))
        return open_ring_for_subscribers();
    if (session == NULL && config.embedded) {
        rtl_debug("RTL_EMBEDDED is set, and nobody has subscribed: nothing is recorded");
        return false;
    }
    if (is_privileged() || !join_session(session, session != NULL ? session : "/dev/shm"))
        return false;
    if (session == NULL) {
        char why[1024];
        if (rtl_ring_dir_create_for(own_session, sizeof own_session, config.ring_bytes, why,
                                    sizeof why) != 0) {
            rtl_complain("no session could be made: %s: nothing is recorded", why);
            return false;
        }
        session = own_session;
    }
    if (rtl_ring_create(&ring, session, config.ring_bytes) != 0) {
        refuse(session, errno);
        if (config.session == NULL)
            rtl_ring_dir_remove(session);
        return false;
    }
    if (config.session == NULL && !rtl_spawn_collector(session, config.output)) {
        rtl_ring_dir_remove(session);
        return false;
    }
    if (config.session == NULL)
        (void)rtl_refuse(RTL_REFUSED_NO_SESSION, 0, 0);
    rtl_callbacks_tee(&ring, config.ring_bytes);
    return true;
}

/* All waits of the process's end together. */
static struct rtl_patience exit_patience;

static uint64_t patience_left(void)
{
    return rtl_patience_left(&exit_patience, config.exit_wait_ns);
}

/* Until the ring has room for some kernels, as long as there is patience. */
static void wait_for_room(struct rtl_patience *patience)
{
    while (!rtl_emit_room(PIECE) && rtl_patience_has(patience, &ring, config.exit_wait_ns))
        rtl_nap(FLUSH_NAP_NS);
}

/* Harvests what has completed by now, a piece at a time, since what finds no room is lost. Without
 * patience that waits on. */
static void harvest_queue(struct rtl_queue *queue, struct rtl_patience *patience)
{
    const struct rtl_pending *pending = &queue->pending;
    uint64_t left = atomic_load(&pending->tail) - atomic_load(&pending->head);
    unsigned taken = 1;
    while (left > 0 && taken > 0) {
        if (patience != NULL)
            wait_for_room(patience);
        else if (!rtl_emit_room(PIECE))
            return;
        taken = rtl_harvest(queue, left < PIECE ? (unsigned)left : PIECE, RTL_HARVEST_ALL);
        left -= taken;
    }
}

static void harvest_all(struct rtl_patience *patience)
{
    for (uint32_t i = 0; i < rtl_queues_count(); i++)
        if (!rtl_queue_is_in(rtl_queues_at(i), RTL_QUEUE_FREE))
            harvest_queue(rtl_queues_at(i), patience);
}

/* At the end of the program. */
static void harvest_last(void)
{
    harvest_all(&exit_patience);
    uint64_t left = rtl_harvest_unfinished();
    if (left > 0)
        rtl_emit_note(RTL_NONE,
                      "%" PRIu64
                      " kernels had not completed when the program ended, and were given up",
                      left);
}

static void describe_clocks(void)
{
    for (uint32_t i = 0; i < rtl_queues_count(); i++) {
        struct rtl_queue *queue = rtl_queues_at(i);
        if (!rtl_queue_is_in(queue, RTL_QUEUE_FREE))
            rtl_agents_clock(queue->agent, atomic_load(&queue->last_end_ticks));
    }
    rtl_agents_clock_end();
}

/* All that is done is in the ring then, with the clocks as far as the runtime is there. */
static void quiesce(uint64_t patience_ns)
{
    uint64_t share = patience_ns / 4;
    rtl_counters_drain(share < COUNTERS_PATIENCE_NS ? share : COUNTERS_PATIENCE_NS);
    if (hooked)
        rtl_queues_look();
    rtl_worker_quiesce(patience_ns);
    harvest_all(NULL);
    if (hooked)
        describe_clocks();
}

/* The collector makes room as long as there is patience. What still waits then is counted, and
 * lost.
 */
static void flush_last(void)
{
    bool all = rtl_launches_send();
    all = rtl_emit_flush() && all;
    while (!all && rtl_patience_has(&exit_patience, &ring, config.exit_wait_ns)) {
        all = rtl_launches_send();
        all = rtl_emit_flush() && all;
        if (!all)
            rtl_nap(FLUSH_NAP_NS);
    }
}

/* First of the program's exit handlers to run, since it is among the last that were set up. */
static void at_exit(void)
{
    if (!rtl_recording_is_on() || getpid() != owner)
        return;
    /* What the worker forwarded has let the program end; it may still hold the records. */
    rtl_counters_drain(patience_left() / 3);
    quiesce(patience_left());
    rtl_callbacks_end(patience_left());
}

/* The orderly end. The runtime may be gone, so there are no HSA calls here; and its own exit code
 * may still be to come, so the worker goes on. What it still records counts; what is left when the
 * process is gone, the collector knows as lost to the shutdown. */
__attribute__((destructor)) static void at_unload(void)
{
    if (!rtl_recording_is_on() || getpid() != owner)
        return;
    int saved = errno;
    rtl_counters_drain(patience_left() / 3);
    rtl_worker_quiesce(patience_left());
    rtl_counters_last();
    rtl_launches_drain();
    harvest_last();
    rtl_ranges_end();
    atomic_store(&rtl_calls_state, RTL_CALLS_OFF);
    rtl_threads_end();
    rtl_makers_account();
    flush_last();
    rtl_ring_close(&ring);
    errno = saved;
}

/* Whether host calls are wanted from now on. */
static void decide_calls(void)
{
    bool with_calls = config.mode == RTL_MODE_HIP || config.mode == RTL_MODE_FULL;
    atomic_store(&rtl_calls_state, !rtl_recording_is_on() || !with_calls ? RTL_CALLS_OFF
                                   : rtl_recording_is_stopped()          ? RTL_CALLS_STOPPED
                                                                         : RTL_CALLS_ON);
}

/* Host calls come before there is a queue: the worker, which else begins with that, reserves memory
 * of the ring for them. Last in OnLoad, since it takes memory, and who takes some at the same time
 * waits. */
static void make_room_for_calls(void)
{
    if (atomic_load(&rtl_calls_state) == RTL_CALLS_ON)
        (void)rtl_worker_start(&ring);
}

static void in_child(void)
{
    rtl_recording_set(false);
    decide_calls();
    rtl_thread_context.thread = 0;
    rtl_emit_forked();
    rtl_counters_forked();
    rtl_harvest_forked();
    rtl_worker_forked();
    rtl_submit_lock_forked();
    rtl_adoption_forked();
    rtl_waits_forked();
    rtl_copies_forked();
    rtl_ranges_forked();
    rtl_threads_forked();
    rtl_control_forked();
    rtl_callbacks_forked();
}

/* In the object that the runtime's functions are in. Another tool's may stand in their place. */
static void *find_beside_others(const char *name)
{
    Dl_info object;
    void *address;
    memcpy(&address, &rtl_api.hsa_queue_destroy, sizeof address);
    void *library = address != NULL && dladdr(address, &object) != 0 && object.dli_fname != NULL
                        ? dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                        : NULL;
    void *found = library != NULL ? rtl_dlsym(library, name) : NULL;
    if (library != NULL)
        (void)dlclose(library);
    return found;
}

static void *find_in_runtime(const char *name)
{
    void *found = find_beside_others(name);
    return found != NULL ? found : rtl_dlsym(RTLD_DEFAULT, name);
}

/* Of a function that librtl.so has, too. */
static void *find_next(const char *name)
{
    void *found = rtl_dlsym(RTLD_NEXT, name);
    return found != NULL ? found : find_beside_others(name);
}

/* An image that has no GPU runtime ends the one before it as well. The other: as long as there is
 * one thread it takes no time; else the worker does it. */
__attribute__((constructor)) static void at_load(void)
{
    const char *session = secure_getenv("RTL_SESSION");
    rtl_creation_begin(find_next);
    (void)rtl_clock_begin();
    if (session != NULL && session[0] != '\0')
        rtl_ring_replace_former(session);
    if (__libc_single_threaded)
        (void)rtl_submit_lock_prepare();
}

static void emit_pause(bool stop, enum rtl_pause_why why, uint64_t time_ns)
{
    struct rtl_wire_pause pause = {.time_ns = time_ns, .stopped = stop, .why = why};
    struct rtl_piece piece = {&pause, sizeof pause};
    rtl_emit_definition(RTL_WIRE_PAUSE, &piece, 1);
}

static int apply(bool stop, enum rtl_pause_why why, const char *ending)
{
    if (!rtl_recording_is_on() || getpid() != owner)
        return -1;
    int saved = errno;
    uint64_t before = rtl_now();
    bool changes = rtl_recording_stop(stop);
    rtl_ranges_set(stop ? RTL_RANGES_STOPPED : RTL_RANGES_ON);
    if (!changes)
        return 0;
    decide_calls();
    emit_pause(stop, why, stop ? before : rtl_now());
    rtl_emit_note(RTL_NONE, "recording was %s%s", stop ? "stopped" : "started", ending);
    errno = saved;
    return 0;
}

/* Once in the life of the process. */
static bool begin(void)
{
    rtl_config_read(&config);
    rtl_callbacks_begin(quiesce);
    if (!open_ring()) {
        rtl_callbacks_refuse();
        rtl_ranges_set(RTL_RANGES_NEVER);
        return false;
    }
    owner = getpid();
    rtl_recording_set(true);
    rtl_emit_open(&ring);
    rtl_exits_watch(&ring);
    describe_process();
    if (!rtl_clock_begin())
        rtl_emit_note(RTL_NONE, "it could not be found out whether this process is in a time "
                                "namespace: its times may not be those of the machine's clock");
    rtl_share_tell();
    rtl_makers_open(&config);
    rtl_threads_begin();
    rtl_control_begin(&config, &ring, apply);
    decide_calls();
    rtl_stamp_begin();
    rtl_forks_watch(in_child);
    atexit(at_exit);
    return true;
}

/* Counters need intercept queues. Whether there will be any is known when devices are, which are
 * told after the process. */
static void choose_interception(void)
{
    rtl_counters_begin(&config);
    if (rtl_counters_need_packets())
        rtl_queues_observe(&rtl_counters_observer);
    if (rtl_counters_need_packets() && config.interception == RTL_INTERCEPTION_AUTO) {
        config.interception = RTL_INTERCEPTION_INTERCEPT;
        config.interception_forced = true;
        describe_process();
    }
}

/* Who asked for a queue may have brought a HIP whose calls go past the wrappers. */
static uint32_t creating_queue(const void *caller)
{
    uint32_t maker = rtl_makers_at(caller);
    rtl_hip_follow(false);
    return maker;
}

static const struct rtl_queue_services services = {.start_worker = rtl_worker_start,
                                                   .why_no_worker = rtl_worker_why_not,
                                                   .wake_worker = rtl_worker_wake,
                                                   .creating = creating_queue,
                                                   .created = rtl_makers_queue,
                                                   .find_in_runtime = find_in_runtime};

bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    (void)version;
    (void)failed;
    (void)names;
    static bool begun;
    const char *missing = "";
    int saved = errno;
    rtl_starts_attached(true);
    if (!rtl_api_take(table, &missing)) {
        if (!rtl_refuse(RTL_REFUSED_RUNTIME, 0, 0))
            rtl_complain("this HSA runtime has no %s: nothing is recorded", missing);
    } else if (begun ? rtl_recording_is_on() : (begun = true, begin())) {
        rtl_agents_list();
        rtl_agents_snapshot_clocks();
        if (!make_pool()) {
            (void)rtl_refuse(RTL_REFUSED_RING, ENOMEM, config.ring_bytes);
        } else {
            hooked = true;
            rtl_symbols_hook(rtl_makers_rocclr);
            rtl_signals_hook();
            rtl_waits_hook(rtl_worker_signal_replaced);
            rtl_handlers_hook();
            choose_interception();
            rtl_queues_hook(&config, &ring, &services);
            rtl_creation_hook();
            rtl_copies_hook(&config);
        }
        rtl_hip_follow(false);
        make_room_for_calls();
    }
    if (!rtl_recording_is_on())
        decide_calls();
    errno = saved;
    return true; /* always: ROCr 5.2.3 unloads a tool that says false but keeps its entries */
}

const char *rtlVersion(void)
{
    return RTL_VERSION;
}

void OnUnload(void)
{
    rtl_starts_attached(false);
    if (!hooked || !rtl_recording_is_on() || getpid() != owner)
        return;
    int saved = errno;
    struct rtl_patience patience = {0};
    harvest_all(&patience);
    rtl_queues_close_all(CLOSE_PATIENCE_NS);
    if (rtl_worker_stop(STOP_PATIENCE_S * UINT64_C(1000000000))) {
        (void)rtl_worker_round(); /* accounts for the queues that were just closed */
        rtl_counters_end(COUNTERS_PATIENCE_NS);
        describe_clocks();
        (void)rtl_emit_flush();
        end_pool();
        hooked = false;
    } else {
        rtl_counters_end(COUNTERS_PATIENCE_NS);
        rtl_emit_note(RTL_NONE,
                      "the worker did not stop within %u s at the shut-down of the runtime",
                      STOP_PATIENCE_S);
    }
    errno = saved;
}
