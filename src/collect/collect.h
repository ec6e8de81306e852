/**
 * The collector: empties the rings of a session into a trace.
 *
 * A session is a folder of rings, one for each process image that loaded librtl (ring/ring.h). The
 * collector finds new rings, hands their records to the writer (store/writer.h), copies their
 * ledgers, stores all of it at least each second, and settles the account of an image when it ends:
 * what it had seen and not handed over is counted as lost, at its shut-down if it closed its ring
 * (RTL_LOST_SHUTDOWN), else as killed (RTL_LOST_KILLED). An image that an exec has replaced is told
 * from one that died: the next one says so where it has librtl, and else /proc does as long as the
 * process lives. Ring files are removed as they end.
 *
 * One thread drives it by rounds and sleeps between them as it is told; nothing here blocks on the
 * profiled processes.
 */
#ifndef RTL_COLLECT_H
#define RTL_COLLECT_H

#include "ring/report.h"
#include "store/writer.h"

#include <stdbool.h>
#include <stdint.h>

struct rtl_collector;

/** What a caller may want to show or decide on. Counts are of the whole session so far. */
struct rtl_collector_status {
    uint64_t kernels;    /**< handed to the writer */
    uint64_t lost;       /**< lost with any reason, as the ledgers say */
    unsigned processes;  /**< rings found, refused ones included */
    unsigned open;       /**< of these: rings that still may get records, or whose process runs
                              another program now and may make another ring */
    unsigned alive;      /**< of these: rings whose process still exists, open or not */
    unsigned refused;    /**< rings of another build */
    unsigned unrecorded; /**< processes that are not recorded and should be */
    unsigned unstarted;  /**< processes whose GPU runtime has not come up, as far as they have been
                              looked for */
    int store_failed;    /**< 1 if the last checkpoint failed; rtl_writer_error says why */
};

/** Takes a sentence (no newline) for the user. Called from rtl_collector_round. */
typedef void (*rtl_collector_say)(void *context, const char *sentence);

/** A collector for the folder `session`, which must exist; `writer` stays the caller's and must
 * outlive it. `say` may be NULL: the sentences are in the trace as notes in any case. NULL if
 * memory is short. */
struct rtl_collector *rtl_collector_new(const char *session, struct rtl_writer *writer,
                                        rtl_collector_say say, void *context);

/** Keeps some rings of so many bytes ready for processes to come (ring/files.h), from the next
 * round on. */
void rtl_collector_provide(struct rtl_collector *collector, size_t ring_bytes);

/** Takes what processes send that cannot reach the session, as well (ring/report.h). `end` stays
 * the caller's and must outlive the collector. */
void rtl_collector_listen(struct rtl_collector *collector, const struct rtl_report_end *end);

/** Looks, with each round, at the processes of a program, too, which may use a GPU without a ring
 * of theirs (watch.h): from before the program is made, and once it is. */
void rtl_collector_watch(struct rtl_collector *collector);
void rtl_collector_program(struct rtl_collector *collector, uint32_t pid);

/** A descriptor that wakes who waits for the next round when there may be something to look at; or
 * -1. */
int rtl_collector_descriptor(const struct rtl_collector *collector);

/** Processes of the program, or with the session in their environment, that live; `*first` is one
 * of them. Looks at all processes of the machine. */
unsigned rtl_collector_left(struct rtl_collector *collector, uint32_t *first);

/** One round: finds new rings, reads what is there, stores if a second has passed. Returns how long
 * to wait until the next round, in milliseconds: 0 while a ring fills quickly, up to 10 when
 * nothing happens. */
unsigned rtl_collector_round(struct rtl_collector *collector);

/** Finds new rings and ended processes at once, for a caller that is about to decide on the status.
 */
void rtl_collector_look(struct rtl_collector *collector);

/** Tells of processes that use a GPU, or still may, and have no ring, and of those whose GPU
 * runtime has begun to start and is not up, for a caller that is about to end: until then they may
 * get one.
 */
void rtl_collector_conclude(struct rtl_collector *collector);

/** The state after the last round. */
void rtl_collector_status(const struct rtl_collector *collector,
                          struct rtl_collector_status *status);

/** Puts up to `most` process ids of open rings into `pids`; returns how many there are. */
unsigned rtl_collector_open_pids(const struct rtl_collector *collector, uint32_t *pids,
                                 unsigned most);

/** Adds a sentence about the session to the trace: about its first process, or about process 0 (the
 * whole trace) if there is none. */
void rtl_collector_note(struct rtl_collector *collector, const char *sentence);

/** Reads what is left (rtl_collector_conclude included), settles rings whose
 * process is gone, leaves the others as "running", stores. Frees the collector; the session folder
 * is not removed. NULL is allowed. */
void rtl_collector_end(struct rtl_collector *collector);

/** Only frees the collector: no process was started that could have left anything. NULL is allowed.
 */
void rtl_collector_drop(struct rtl_collector *collector);

#endif
