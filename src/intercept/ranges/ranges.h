/**
 * Ranges and marks that the program sets, and names that it gives.
 *
 * Each thread has a stack of ranges; ranges that are started may be stopped by any thread. Levels
 * and ids are what the program would get without RTL, whether anything is recorded or not.
 *
 * A range is in the trace if recording was on at some moment of it, with its own times: what began
 * before recording did is kept with its text, and sent when recording begins or resumes. A mark is
 * in the trace if recording was on when it was set. What finds no room in the ring, whose last
 * eighth is for kernels, waits in memory (emit.h); where too much does, it is tried again when the
 * range ends, then lost. What is left out or lost is counted (account.h).
 *
 * Any thread may call any of these. They keep errno. Only what begins and resumes recording takes a
 * lock that another thread may hold for longer than it takes to enter one range.
 */
#ifndef RTL_INTERCEPT_RANGES_RANGES_H
#define RTL_INTERCEPT_RANGES_RANGES_H

#include "intercept/base/config.h"
#include "ring/wire.h"

#include <stdbool.h>
#include <stdint.h>

/** Begins a range in the calling thread; sets rtl_thread_context.range. NULL is an empty text; one
 * of more than 65535 bytes is cut. Returns its level, from 0. */
int rtl_range_push(const char *text, enum rtl_range_by by);

/** A range that was taken off a thread's stack. */
struct rtl_popped {
    uint64_t id; /**< 0: it had found no memory, nothing else is known */
    uint64_t parent, start_ns, end_ns;
    uint32_t thread;
    bool ended; /**< else it was one of rtl_range_open, and goes on: only `id` is known */
};

/** Ends the innermost range of the calling thread. Returns its level, or -1 if there was none.
 * `popped` (NULL: nobody wants to know) is filled unless there was none. */
int rtl_range_pop(struct rtl_popped *popped);

/** Begins a range that any thread may end. Returns its number: 1, 2, 3 … in the process. */
uint64_t rtl_range_start(const char *text);

/** Ends the range of that number; nothing happens if there is none (any more). */
void rtl_range_stop(uint64_t number);

/** As rtl_range_start, but the range goes by its id (rtlRangeStart): returns that, 0 if memory is
 * short. */
uint64_t rtl_range_open(const char *text);

/** Puts the calling thread into an open range of rtl_range_open, on its stack: rtl_range_pop takes
 * it off and does not end it. Returns its level, or -1 if there is no such range. */
int rtl_range_enter(uint64_t id);

/** Ends a range of rtl_range_open. Returns 0, or -1 if there is none (any more). */
int rtl_range_close(uint64_t id);

/** Called with the id of each range that ends, in the thread that ends it, under a lock of
 * ranges.c; NULL: nobody wants to know. Set while no range is of interest yet. */
extern void (*_Atomic rtl_range_ended)(uint64_t id);

/** The range at a level of the calling thread's stack, from the outermost, 0, on, those that are
 * aside left out; `joined`: it was started, and the thread has entered it. False if there is none.
 */
bool rtl_range_at(uint32_t level, uint64_t *id, bool *joined);

/** Sets a mark. */
void rtl_range_mark(const char *text);

/** Stops or resumes the recording of what the calling thread does; sets rtl_thread_context.paused.
 * Its ranges are then as while recording is stopped. */
void rtl_range_pause(bool paused);

/** Names something; the last name of a thing counts. Before recording has begun up to 1024 things
 * can be named. */
void rtl_range_name(enum rtl_named kind, uint64_t handle, const char *text);

enum rtl_ranges_state {
    RTL_RANGES_BEFORE = 0, /**< recording may begin one day */
    RTL_RANGES_ON = 1,
    RTL_RANGES_STOPPED = 2, /**< recording may resume */
    RTL_RANGES_NEVER = 3    /**< this process will not be recorded (any more) */
};

/** Recording begins, stops, resumes, or will never begin. rtl_emit must be open for ON and STOPPED.
 */
void rtl_ranges_set(enum rtl_ranges_state state);

/** In a forked child of a process that is recorded: as RTL_RANGES_NEVER; takes no lock. A child
 * that is forked before recording began may be recorded itself. */
void rtl_ranges_forked(void);

/** Sends what had found no room. At the end of the process. */
void rtl_ranges_end(void);

#endif
