/**
 * The files in a session's folder: how rings are named, ring files that are ready before a process
 * needs one, and what a process leaves that could not have a ring.
 *
 * A process may not be able to make a file as large as a ring (RLIMIT_FSIZE), or find no memory for
 * the first of it: so the collector keeps some ready, `spare.N`, of which a process takes one
 * by giving it another name. The first of them has memory for the header and a small piece. A
 * process that gets no ring all the same leaves a link, `refused.PID.N`, whose target says why:
 * that takes no descriptor and, in memory, no space. One that cannot reach the folder sends the
 * same (report.h). While its GPU runtime starts, and where that fails, there is
 * `starting.PID.SPACE`: of two pid namespaces both may have that pid (process.h).
 * What rtl ctl wants of processes to come are links, too.
 */
#ifndef RTL_RING_FILES_H
#define RTL_RING_FILES_H

#include "ring/ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** True for the name of a file that belongs into a session's folder. */
bool rtl_ring_dir_owns(const char *name);

/** Slots, a power of two, of the largest ring within `bytes`. */
uint32_t rtl_ring_slots(size_t bytes);

/** The same within a quarter of what the session's file system has left, too, and of no more than a
 * file may have (RLIMIT_FSIZE); at least the smallest there is. */
uint32_t rtl_ring_slots_that_fit(const char *session, size_t bytes);

/** Size of a ring's file. */
size_t rtl_ring_file_size(uint32_t slots);

/** Makes up to `most` of the spare rings of so many slots that are not there, the first of them
 * with memory. 0, or -1 with errno for the last that could not be made. The collector's. */
int rtl_spares_make(const char *session, uint32_t slots, unsigned most);

/** Spare rings of a size that there are at most. */
#define RTL_SPARES 8u

/** Takes a spare ring that has from `least` to `most` slots (powers of two), if there is one: its
 * path is `name` then. The descriptor, or -1 with errno. Any process and thread. */
int rtl_spare_take(const char *session, const char *name, uint32_t least, uint32_t most,
                   uint32_t *slots);

/** Makes the file `name` for a ring of so many slots. The descriptor, or -1 with errno: EFBIG where
 * RLIMIT_FSIZE does not allow it. No signal comes of it. */
int rtl_ring_file_make(const char *name, uint32_t slots);

/** Why a process is not in the trace. The numbers are what processes leave. */
enum rtl_refused {
    RTL_REFUSED_RING,       /**< no ring could be made: `error` */
    RTL_REFUSED_SESSION,    /**< what RTL_SESSION names is no session of its user: `error`, `named`
                             */
    RTL_REFUSED_NO_SESSION, /**< RTL_SESSION was taken from it: it makes a trace of its own */
    RTL_REFUSED_BUILD,      /**< its librtl.so is of another build */
    RTL_REFUSED_TOOL,       /**< its GPU runtime has not loaded librtl.so: `tool` */
    RTL_REFUSED_RUNTIME,    /**< its GPU runtime has not what librtl.so needs */
    RTL_REFUSED_NESTED,     /**< it is an rtl trace of its own, and so is what it starts */
    RTL_REFUSED_PRIVILEGED, /**< it runs with raised privileges, and reads no settings */
    RTL_REFUSED_REASONS
};

/** What HSA_TOOLS_LIB was where the runtime has not loaded librtl.so. */
enum rtl_tool { RTL_TOOL_UNSET, RTL_TOOL_OTHER, RTL_TOOL_NAMED };

/** Leaves what processes of the session are to do that begin later: record, or not. `pid` 0: all;
 * else the later images of that process: `pid`, `space` and `start` are as in the head of its ring.
 * The last one counts. 0, or -1 with errno. */
int rtl_ring_request_leave(int folder, enum rtl_ring_request request, uint32_t pid, uint64_t space,
                           uint64_t start);

/** Reads what was left for this process, RTL_RING_REQUEST_NONE if nothing. Takes no descriptor.
 * Keeps errno. */
enum rtl_ring_request rtl_ring_request_read(const char *session);

/** What kept a process from being recorded. */
struct rtl_refusal {
    uint32_t pid;
    enum rtl_refused why;
    int error;       /**< errno */
    uint64_t needed; /**< bytes */
    uint64_t free;   /**< ENOSPC: bytes that the file system had left */
    int resource;    /**< that `limit` is of; EFBIG: RLIMIT_FSIZE, EMFILE: RLIMIT_NOFILE, ENOMEM:
                          RLIMIT_AS or RLIMIT_DATA, the one of which less was left */
    uint64_t limit;  /**< UINT64_MAX: there was none */
    enum rtl_tool tool;
    uint64_t named; /**< rtl_ring_dir_number of its RTL_SESSION */
};

/** Tells whether two processes mean the same session, without its path. */
uint64_t rtl_ring_dir_number(const char *session);

/** Fills in what belongs to `error`, for this process and a ring of so many bytes. */
void rtl_refusal_fill(struct rtl_refusal *refusal, const char *session, int error,
                      size_t ring_bytes);

/** Bytes of a refusal as text, its NUL included. */
#define RTL_REFUSAL_TEXT 128u

/** Writes a refusal, without its pid, as others read it. */
void rtl_refusal_write(const struct rtl_refusal *refusal, char text[RTL_REFUSAL_TEXT]);

/** Reads such a text, anybody's; all but the pid is set. False if it is none. */
bool rtl_refusal_parse(const char *text, struct rtl_refusal *refusal);

/** Leaves it in the session's folder. False if it could not be. Keeps errno. */
bool rtl_refusal_leave(const char *session, const struct rtl_refusal *refusal);

/** Shows it in what the process has mapped (/proc/PID/maps), for whom neither the folder nor the
 * socket is reached: a mapping without access to memory, of a file without a folder, whose name is
 * RTL_REFUSAL_MARK and the text. It ends with the image, and is not a fork's. Keeps errno. */
void rtl_refusal_show(const struct rtl_refusal *refusal);

#define RTL_REFUSAL_MARK "rtl-refused "

/** Reads what a process left under that name in the session's folder; the pid is that of /proc
 * here, where it is there. False: the name is none such, or it says nothing. */
bool rtl_refusal_read(const char *session, const char *name, struct rtl_refusal *refusal);

/** Says in a part of a sentence why the process is not recorded: "/dev/shm/rtl.1 has no room …". */
void rtl_refusal_text(const struct rtl_refusal *refusal, const char *session, char *text,
                      size_t size);

/** How far the start of a GPU runtime has come that is not up. */
#define RTL_START_UNDER_WAY UINT32_MAX

/** Leaves in the session's folder that this process starts its GPU runtime, or (a status of HSA's)
 * how that failed; and takes it back. What cannot be left is not. Keep errno. */
void rtl_start_leave(const char *session, uint32_t status);
void rtl_start_take_back(const char *session);

/** Reads what a process left under that name; false: the name is none such. */
bool rtl_start_read(const char *session, const char *name, uint32_t *pid, uint32_t *status);

#endif
