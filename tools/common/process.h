/**
 * Programs that a command runs to look at, one after the other, each as a process group of its own
 * of which nothing is left over. One thread.
 */
#ifndef RTL_TOOLS_PROCESS_H
#define RTL_TOOLS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A process that ended. Times: CLOCK_MONOTONIC, ns. */
struct process {
    int status; /**< as of waitpid */
    bool hung;  /**< it was ended at the limit */
    uint64_t spawned, ended;
    uint64_t peak; /**< greatest resident size of it or of those it waited for, bytes */
};

/** From now on ^C and the like are caught, and processes that programs leave behind are rtl's, so
 * that nothing stays. */
void process_begin(void);

/** True once ^C or the like asked rtl to end; `*signal` tells which. */
bool process_stopped(int *signal);

/** Runs a program, with its output in two files. 0, or -1 with errno when no process could be made;
 * a program that cannot be executed ends with 126. */
int process_run(char *const *words, char **environment, const char *output, const char *errors,
                uint64_t limit_ns, struct process *process);

/** A copy of the environment for such a program, without what it has of a profiler: that would be
 * there with every program. The caller frees it with child_environment_free. Ends the program
 * without memory, as the next two. */
char **process_environment(void);

/** Sets a variable of a copy of the environment, or takes it out for NULL. */
void process_set(char ***environment, const char *name, const char *value);

/** Puts a path in front of those that our own environment has in a variable. */
void process_set_first(char ***environment, const char *name, const char *first);

/** The whole of a small file, NULL if there is none; at most 4 MiB from its end. The caller frees
 * it. */
char *process_read(const char *path);

#endif
