/**
 * A page or a window of it, made by a process of its own: its memory goes with it, and it can be
 * ended when nobody waits for what it makes any more.
 */
#ifndef RTL_TOOLS_VIEW_JOB_H
#define RTL_TOOLS_VIEW_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct job {
    int (*work)(void *context); /**< in the process: what it prints is the result; exit status */
    void *context;
    int signals; /**< signalfd: when it can be read the job is given up; -1 */
    int client;  /**< socket: when its other end is closed, too; -1 */
    char *said;  /**< gets the first line of what it says of an error; NULL: it may say it */
    size_t said_size;
};

/** A job under way. */
struct job_process {
    pid_t pid;
    int ended; /**< can be read (POLLHUP) when it has ended */
    int output, errors;
};

enum job_end { JOB_DONE, JOB_FAILED, JOB_GIVEN_UP };

/** Begins a job. False when there is no process, and why has been said, or put into `said`. */
bool job_begin(const struct job *job, struct job_process *process);

/** The end of one that was begun: waits for it, or kills it if it is not `wanted`. Its result is in
 * a file without a name, the caller closes it; -1 unless it is done. `status` gets its exit
 * status. */
enum job_end job_end(const struct job *job, struct job_process *process, bool wanted, int *file,
                     int *status);

/** Does a job, waiting for it, as job_begin and job_end. */
enum job_end job_do(const struct job *job, int *file, int *status);

/** Zeroed memory that this process and its jobs share; NULL with errno. Never freed. */
void *job_share(size_t size);

#endif
