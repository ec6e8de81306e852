/**
 * A page or a window of it, made by a process of its own: its memory goes with it, and it can be
 * ended when nobody waits for what it makes any more.
 */
#ifndef RTL_TOOLS_VIEW_JOB_H
#define RTL_TOOLS_VIEW_JOB_H

#include "export/served.h"

#include <stdbool.h>
#include <stddef.h>

struct job {
    int argc;
    char **argv;                  /**< as of export_served, the output is the standard output */
    struct export_served *served; /**< in memory that processes share (job_share) */
    int signals;                  /**< signalfd: when it can be read the job is given up; -1 */
    int client;                   /**< socket: when its other end is closed, too; -1 */
    char *said; /**< gets the first line of what it says of an error; NULL: it may say it */
    size_t said_size;
};

enum job_end { JOB_DONE, JOB_FAILED, JOB_GIVEN_UP };

/** Memory that this process and its jobs share, zeroed; NULL with errno. Never freed. */
struct export_served *job_share(void);

/** Does a job, waiting for it. Its result is in a file without a name, the caller closes it; -1
 * unless it is done. `status` gets its exit status. A failure before there is a process is said, or
 * put into `said`. */
enum job_end job_do(const struct job *job, int *file, int *status);

#endif
