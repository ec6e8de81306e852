/**
 * The recorded program as a child of rtl: started, waited for, its signals passed on.
 */
#ifndef RTL_TOOLS_CHILD_H
#define RTL_TOOLS_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
    pid_t pid;
    int signals;               /**< signalfd of rtl */
    int go;                    /**< write end: tells the child to exec */
    int failed;                /**< read end: errno of a failed exec */
    sigset_t mask;             /**< signal mask that rtl was started with, the child's */
    struct sigaction on_child; /**< what rtl was started with for SIGCHLD, the child's too */
    bool ended;
    int status;         /**< as of waitpid, once ended */
    bool asked_to_stop; /**< an INT, TERM, HUP or QUIT reached rtl */
};

/** Blocks rtl's signals, once and before there is a child. 0, or -1 with errno. */
int child_prepare(struct child *child);

/** Makes a child that runs the program at once, with the signals that rtl was started with; one
 * that has ended before is forgotten. 0, or the errno of the exec or of what made the process;
 * there is no child then. */
int child_start(struct child *child, const char *path, char **argv, char **environment);

/** The same, but the child waits for child_go, for a caller that needs its pid to get ready. It
 * takes a third of a millisecond more. 0, or -1 with errno. */
int child_fork(struct child *child, const char *path, char **argv, char **environment);

/** Lets the child exec its program. 0, or the errno of the exec; the child is gone then. */
int child_go(struct child *child);

/** Ends a child that was not let go. */
void child_cancel(struct child *child);

/** Waits up to `wait_ms` for signals, or until `other` (-1: none) can be read; passes signals on,
 * stops and goes on with the child, and notices its end. */
void child_wait(struct child *child, unsigned wait_ms, int other);

/** Ends rtl as its child ended: returns the exit status, or dies by the same signal without a core.
 */
int child_end_alike(const struct child *child);

/** Status of an ended child as traces have it: 0 to 255, or 256 + signal. */
int child_trace_status(const struct child *child);

/** A copy of the environment with `name` set to `value`, or unset for NULL; NULL if memory is
 * short. The caller frees it with child_environment_free. */
char **child_environment(char **environment, const char *name, const char *value);

/** NULL is allowed. */
void child_environment_free(char **environment);

#endif
