/**
 * A host of PrivateUse1 tracing for programs without Kineto: libpu1host.so.
 *
 * Preloaded with PU1_TRACE=FILE it traces the whole program and writes FILE at its end, in the
 * format of Chrome's tracing (Perfetto reads it); `%p` in FILE is the process. A process
 * without records writes nothing. Without PU1_TRACE nothing is loaded. A program that links it may
 * trace by sessions of its own instead.
 *
 *     LD_PRELOAD=librtl.so:libpu1host.so KINETO_PLUGIN_PATH=librtl.so PU1_TRACE=t.json ./program
 */
#ifndef RTL_KINETO_HOST_H
#define RTL_KINETO_HOST_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PU1_HOST_API __attribute__((visibility("default")))
#else
#define PU1_HOST_API
#endif

/** Loads the vendors and begins a session with all kinds. Returns the number of vendors that take
 * part; 0 if there is none, or a session is running. What goes wrong is said on stderr. Any thread.
 */
PU1_HOST_API int pu1HostBegin(void);

/** Ends the session, waits for what was launched, and writes `path`. 0, or -1 with a sentence on
 * stderr. Any thread. */
PU1_HOST_API int pu1HostEnd(const char *path);

/** A piece of the program with a name: a row in the trace, whose id is carried by what its thread
 * launches in it. They nest. Any thread; nothing happens while no session runs. */
PU1_HOST_API void pu1HostPush(const char *name);
PU1_HOST_API void pu1HostPop(void);

#ifdef __cplusplus
}
#endif

#endif
