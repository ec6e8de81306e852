/**
 * Writing a trace file.
 *
 * One writer per file, one thread per writer. Definitions and kernels come in ring order, per
 * process; the writer gathers the kernels of each queue into chunks and stores them, with
 * everything else that is new, at each checkpoint (one transaction). What was checkpointed survives
 * a kill -9. The structures of ring/wire.h are taken as they are.
 */
#ifndef RTL_STORE_WRITER_H
#define RTL_STORE_WRITER_H

#include "common/exchange.h"
#include "ring/wire.h"

#include <stdbool.h>
#include <stddef.h>

struct rtl_writer;

struct rtl_writer_options {
    const char *command; /**< command line of `rtl trace`, NULL if unknown */
    /** An existing trace or empty file may be replaced, unless somebody records into it; it stays
     * until the new one could be made. Other files are never replaced. */
    bool replace;
    /** What is replaced stays, under another name beside, until rtl_writer_begun; with
     * rtl_writer_discard it comes back. */
    bool keep;
};

/** Makes the file (mode 0600) and its schema. NULL on failure, with one sentence in `error` that
 * names the file: it exists, folder missing or not writable, disk full, … */
struct rtl_writer *rtl_writer_open(const char *path, const struct rtl_writer_options *options,
                                   char *error, size_t error_size);

/** What is to be recorded has begun: what the trace has replaced is removed. */
void rtl_writer_begun(struct rtl_writer *writer);

/** Frees the writer and removes its file, as if it had never been: what it has replaced has its
 * name again. Not after rtl_writer_begun. 0, or -1 with a sentence in `error`. */
int rtl_writer_discard(struct rtl_writer *writer, char *error, size_t error_size);

/** Adds a process; returns its id in the trace (from 1). Texts are not terminated. */
uint32_t rtl_writer_process(struct rtl_writer *writer, const struct rtl_wire_process *process,
                            const char *texts);

/** The process has said again what it is: its way into queues may be another one than at first; all
 * else stays. */
void rtl_writer_process_again(struct rtl_writer *writer, uint32_t process,
                              const struct rtl_wire_process *body, const char *texts);

void rtl_writer_agent(struct rtl_writer *, uint32_t process, const struct rtl_wire_agent *,
                      const char *texts);
void rtl_writer_queue(struct rtl_writer *, uint32_t process, const struct rtl_wire_queue *);
void rtl_writer_queue_end(struct rtl_writer *, uint32_t process, const struct rtl_wire_queue_end *);
void rtl_writer_symbol(struct rtl_writer *, uint32_t process, const struct rtl_wire_symbol *,
                       const char *texts);
void rtl_writer_shape(struct rtl_writer *, uint32_t process, const struct rtl_wire_shape *);
void rtl_writer_clock(struct rtl_writer *, uint32_t process, const struct rtl_wire_clock *);
void rtl_writer_clock_snapshot(struct rtl_writer *, uint32_t process,
                               const struct rtl_wire_clock_snapshot *);
void rtl_writer_note(struct rtl_writer *, uint32_t process, const struct rtl_wire_note *,
                     const char *texts);

/** The hot one: appends a kernel to its queue's chunk. */
void rtl_writer_kernel(struct rtl_writer *, uint32_t process, const struct rtl_wire_kernel *);

/** Adds a copy. */
void rtl_writer_copy(struct rtl_writer *, uint32_t process, const struct rtl_wire_copy *);

/** True if the kernel of a packet, or a copy by its ordinal in its queue, was added before. Slow,
 * for the few of which that is in doubt. */
bool rtl_writer_has_kernel(struct rtl_writer *, uint32_t process, uint32_t queue, uint64_t packet);
bool rtl_writer_has_copy(struct rtl_writer *, uint32_t process, uint32_t queue, uint64_t ordinal);

/** Adds the definition of a host call; the calls themselves may have come before it. */
void rtl_writer_call(struct rtl_writer *, uint32_t process, const struct rtl_wire_call *,
                     const char *texts);

/** Adds a host call with its arguments: `words` has api->words words of 64 bits. */
void rtl_writer_api(struct rtl_writer *, uint32_t process, const struct rtl_wire_api *,
                    const void *words);

/** Begin and end of a range, in either order; a range without an end stays open. */
void rtl_writer_range(struct rtl_writer *, uint32_t process, const struct rtl_wire_range *,
                      const char *texts);
void rtl_writer_range_end(struct rtl_writer *, uint32_t process, const struct rtl_wire_range_end *);

/** A stream was made or destroyed. */
void rtl_writer_stream(struct rtl_writer *, uint32_t process, const struct rtl_wire_stream *);

/** Adds a name; a later one of the same object takes its place. */
void rtl_writer_name(struct rtl_writer *, uint32_t process, const struct rtl_wire_name *,
                     const char *texts);

/** Adds a graph or a node of it (`rest`: what follows its body), and a launch. Which node each
 * kernel is, is found out from these and the kernels (graph/graphs.h). */
void rtl_writer_graph(struct rtl_writer *, uint32_t process, const struct rtl_wire_graph *);
void rtl_writer_node(struct rtl_writer *, uint32_t process, const struct rtl_wire_node *,
                     const void *rest);
void rtl_writer_launch(struct rtl_writer *, uint32_t process, const struct rtl_wire_launch *);

/** Recording was stopped or goes on. */
void rtl_writer_pause(struct rtl_writer *, uint32_t process, const struct rtl_wire_pause *);

/** The process reads hardware counters; one of them, which some pass reads; what they counted
 * during a kernel or range (`values` has sample->values numbers of 64 bits), whether the kernel has
 * come or not; and how much was not counted, of which the last holds. */
void rtl_writer_counting(struct rtl_writer *, uint32_t process, const struct rtl_wire_counting *,
                         const char *texts);
void rtl_writer_counter(struct rtl_writer *, uint32_t process, const struct rtl_wire_counter *,
                        const char *texts);
void rtl_writer_sample(struct rtl_writer *, uint32_t process, const struct rtl_wire_sample *,
                       const void *values);
void rtl_writer_uncounted(struct rtl_writer *, uint32_t process, const struct rtl_wire_uncounted *);
void rtl_writer_hip_queue(struct rtl_writer *, uint32_t process, const struct rtl_wire_hip_queue *,
                          const char *texts);

/** Sets a queue's account as read from the ring (absolute values, copied by the caller). */
struct rtl_writer_account {
    uint64_t packets, seen, skipped, stopped, withheld, recorded, forwarded, borrowed, helped;
    uint64_t lost[RTL_LOST_REASONS];
    uint64_t opaque[RTL_OPAQUE_KINDS], opaque_of_graphs[RTL_OPAQUE_KINDS];
};
void rtl_writer_ledger(struct rtl_writer *, uint32_t process, uint32_t queue,
                       const struct rtl_writer_account *account);

/** A record of a kind is about to be given; to be called for each of a process whose account is set
 * by rtl_writer_kinds. */
void rtl_writer_recorded(struct rtl_writer *, uint32_t process, enum rtl_kind kind);

/** How many of a kind were. */
uint64_t rtl_writer_recorded_so_far(const struct rtl_writer *, uint32_t process,
                                    enum rtl_kind kind);

/** Sets what of each kind was not handed over (absolute values). */
struct rtl_writer_kind {
    uint64_t waiting, stopped, withheld;
    uint64_t lost[RTL_LOST_REASONS];
};
void rtl_writer_kinds(struct rtl_writer *, uint32_t process,
                      const struct rtl_writer_kind kinds[RTL_KINDS]);

/** So many processes could not be read. Told of the first process, if there is one. */
void rtl_writer_miss_processes(struct rtl_writer *, uint64_t count);

/** Reads a queue's account as it is now; false if the one that was set last still holds. */
typedef bool (*rtl_writer_ask)(void *context, uint32_t process, uint32_t queue,
                               struct rtl_writer_account *account);

/** Whom to ask for accounts whenever kernels or copies are stored, between checkpoints too, so that
 * no trace has more than its ledger says; NULL: nobody. */
void rtl_writer_ask_for_accounts(struct rtl_writer *, rtl_writer_ask ask, void *context);

/** Ends a process: `state` "closed", "exited", "died", "replaced", "refused" (librtl of another
 * build), "unrecorded" (no ring), "not_started" (no GPU runtime) or "imported" (from
 * a format that does not tell what is missing); `torn` slots lost in the ring;
 * time in ns (CLOCK_BOOTTIME). */
void rtl_writer_process_end(struct rtl_writer *, uint32_t process, const char *state, uint64_t time,
                            uint64_t torn);

/** Adds an exchange of packets with another host's clock. */
void rtl_writer_exchange(struct rtl_writer *, const struct rtl_exchange *exchange);

/** Stores what is new, in one transaction. 0, or -1: rtl_writer_error says why (disk full, …); what
 * was stored before stays readable, all else is kept (within 101 MB) and may be tried again. A
 * file that a reader has locked is no failure: the next checkpoint stores what this one could not.
 */
int rtl_writer_checkpoint(struct rtl_writer *);

/** Stores definitions if many are waiting, in a transaction of their own: at the next checkpoint it
 * would take so long that rings run full meanwhile. A failure shows at that. */
void rtl_writer_relieve(struct rtl_writer *);

/** How many kernels were given to the writer, for progress lines. */
uint64_t rtl_writer_kernels(const struct rtl_writer *);

/** The first error in one sentence, "" if none. */
const char *rtl_writer_error(const struct rtl_writer *);

/** Last checkpoint; marks the trace finished, makes it one file, frees the writer (also on
 * failure). `exit_status` as in rtl_trace_info_t. 0, or -1 with the sentence in `error`, also when
 * kernels were left out because an earlier checkpoint failed. With 0 there is a sentence (else
 * `error` stays as it is) if the trace is whole and could not be made one file. */
int rtl_writer_close(struct rtl_writer *, int exit_status, char *error, size_t error_size);

#endif
