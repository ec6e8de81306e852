/**
 * Which process has made which, as Linux tells it (the process connector; private to the
 * collector).
 *
 * Linux tells of all processes of the machine, in the initial namespaces only: root always,
 * other users since Linux 6.6. Where it does not, /proc has to do (tree.h).
 */
#ifndef RTL_COLLECT_FORKS_H
#define RTL_COLLECT_FORKS_H

#include <stdbool.h>
#include <stdint.h>

/** Listens from now on. A descriptor, or -1 if Linux does not tell. */
int forks_open(void);

/** Takes a process that `parent` has made. Called in the order of events. */
typedef void forks_met(void *context, uint32_t parent, uint32_t child);

/** Takes what has come, a bounded number of events at a time, without waiting. False if some came
 * too fast and are lost. */
bool forks_take(int file, forks_met *met, void *context);

#endif
