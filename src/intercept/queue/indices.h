/**
 * The write indices that producers see: the virtual one of a queue that RTL follows, the real one
 * of any other.
 */
#ifndef RTL_INTERCEPT_QUEUE_INDICES_H
#define RTL_INTERCEPT_QUEUE_INDICES_H

/** Hooks the twelve write-index entries. Once per load, before the program has queues. */
void rtl_indices_hook(void);

#endif
