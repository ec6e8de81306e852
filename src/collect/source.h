/**
 * One ring on its way into the trace (private to the collector).
 */
#ifndef RTL_COLLECT_SOURCE_H
#define RTL_COLLECT_SOURCE_H

#include "collect/names.h"
#include "ring/maker.h"
#include "ring/process.h"
#include "ring/ring.h"
#include "store/writer.h"

/** Launches that may have come between a launch and a draft of it that was decided meanwhile. */
#define SOURCE_LAUNCHES 4096u

enum source_state {
    SOURCE_OPEN,    /**< may still get records */
    SOURCE_ENDED,   /**< closed or died; settled */
    SOURCE_REFUSED, /**< ring of another build */
};

struct source {
    struct rtl_ring ring; /**< mapped until it is settled */
    enum source_state state;
    bool file_stays; /**< of an ended one: its file could not be removed */
    bool replaced;   /**< of an ended one: by an exec */
    bool was_open;   /**< it was no ring of another build */
    bool met;        /**< its process was seen with the GPU runtime */
    bool gone;       /**< its process is, as far as is known; then it is not asked for again */
    uint32_t pid, ordinal; /**< pid: the maker's; of a ring of another build, of its name */
    struct rtl_ring_maker maker;
    struct rtl_process_id id;
    uint32_t taken_for; /**< of a maker that is out of sight: the pid that it is taken to have */
    uint64_t process_start, made_ns, image; /**< these and `id` as in the ring's header */
    uint64_t same_image;   /**< facts that differ from the header's, and do not count */
    uint32_t process;      /**< id in the trace, 0 before it has one */
    uint64_t torn;         /**< slots that the process reserved and never wrote */
    uint64_t closed_since; /**< when the ring was first found closed, ns; 0: open */
    uint64_t malformed;    /**< records that contradict themselves */
    uint64_t clock_points; /**< of GPUs; below two, ticks are not to be translated */
    uint64_t timed;        /**< kernels and copies with ticks of a GPU as times */
    uint64_t lost;         /**< sum over the ledger, as last copied */
    uint64_t received[RTL_LEDGER_ROWS]; /**< kernels and copies by ledger row */
    uint64_t broken[RTL_KINDS];         /**< malformed ones, by what they claim to be */
    uint64_t unread[RTL_KINDS];         /**< for which memory was short here */
    /** Of a dead process: what may have come another time. */
    struct rtl_wire_kernel *kernel_drafts;
    struct rtl_wire_copy *copy_drafts;
    struct rtl_wire_launch *launch_drafts; /**< of which none has */
    size_t kernel_draft_count, copy_draft_count, launch_draft_count;
    uint32_t
        launches[SOURCE_LAUNCHES]; /**< ids of the last ones that came, by id % SOURCE_LAUNCHES */
    char *path;                    /**< of the ring's file */
    struct rtl_writer *writer;
    struct names names;
};

/** Makes a source of a ring file. Returns NULL if the file cannot be opened (try again later) or
 * memory is short. A ring of another build gives a source in state SOURCE_REFUSED, with one
 * sentence for the user in `sentence`. */
struct source *source_open(const char *path, uint32_t pid, uint32_t ordinal,
                           struct rtl_writer *writer, char *sentence, size_t sentence_size);

/** Reads up to `most` slots into the writer. Returns slots consumed. */
uint64_t source_drain(struct source *source, uint64_t most);

/** Looks at what a living process and its threads are called, if it is time. */
void source_look(struct source *source);

/** Copies the ledger into the writer. */
void source_ledger(struct source *source);

/** Reads the account of a queue; at least what came from the ring counts as recorded. False if it
 * has no row of its own, or the source is settled. */
bool source_account(const struct source *source, uint32_t queue,
                    struct rtl_writer_account *account);

/** What has become of the image that made a ring. */
enum source_image {
    SOURCE_IMAGE_LIVES,
    SOURCE_IMAGE_REPLACED, /**< by an exec, as the next image told, or /proc does */
    SOURCE_IMAGE_GONE      /**< with its process, or nobody knows how */
};

/** Looks what has become of the image that made an open ring. */
enum source_image source_image(struct source *source);

/** True if `later` is the ring of an image that came after that of `source` in the same process. */
bool source_is_later(const struct source *source, const struct source *later);

/** How an image ended for the trace. */
enum source_end {
    SOURCE_CLOSED,   /**< it closed its ring: what it still owed is counted as lost at the shut-down
                      */
    SOURCE_REPLACED, /**< by an exec: what it still owed is counted as killed */
    SOURCE_EXITED,   /**< it ended by _exit, _Exit or quick_exit: likewise */
    SOURCE_DIED,     /**< it is gone and has not told: likewise */
};

/** Reads up to `most` slots of a ring that nobody writes any more, over what was never written.
 * Returns slots consumed: 0 when nothing is left. */
uint64_t source_empty(struct source *source, uint64_t most);

/** How a process whose ring is not closed has ended that is gone. */
enum source_end source_how_gone(const struct source *source);

/** Settles an empty ring that nobody writes any more: drafts of what is not in the trace otherwise,
 * the ledger, the end. Removes the ring's file, and unmaps it. */
void source_settle(struct source *source, enum source_end end);

/** True while the process that made the ring exists, whichever image it runs. */
bool source_alive(struct source *source);

/** Frees it; an open ring is unmapped and its file stays. */
void source_free(struct source *source);

#endif
