/**
 * What Linux calls a profiled process and its threads, looked up while it lives (private to
 * the collector): programs rename themselves and their threads when they like, and who is killed
 * tells nothing at its end.
 */
#ifndef RTL_COLLECT_NAMES_H
#define RTL_COLLECT_NAMES_H

#include "store/writer.h"

#include <stdbool.h>

/** The threads that a process has told of. Zeroed memory is empty. */
struct names {
    struct named_thread *threads;
    uint32_t count, capacity;
    uint32_t next;             /**< that is looked at next */
    uint64_t look_at, wait_ns; /**< when, and how long after that again */
    uint64_t image;            /**< as RTL_NAMED_START has it */
    bool over;                 /**< the process runs another image by now, or nobody can say */
    char *title;               /**< command line as it was last, NULL: not known */
};

void names_free(struct names *names);

/** The process has told a name. A thread of which it tells what Linux calls it is looked after
 * from now on, as far as memory allows. */
void names_met(struct names *names, const struct rtl_wire_name *name, const char *text);

/** Looks at a living process if it is time, soon after its first thread was met and once a second
 * in the end, and tells the writer what has changed: at a bounded number of threads. `pid` must be
 * that of the process that wrote the ring; an exec of it is noticed. */
void names_look(struct names *names, uint32_t pid, struct rtl_writer *writer, uint32_t process);

#endif
