/**
 * Processes of a recorded program that are still there and have no ring, and may want one yet: a
 * daemon that has just been started, say.
 */
#ifndef RTL_COLLECT_LEFT_H
#define RTL_COLLECT_LEFT_H

#include <stdbool.h>
#include <stdint.h>

/** How many living processes, apart from the calling one, were started with this session in their
 * environment, as far as this user may see it; `*first` is one of them. Looks at all processes of
 * the machine. */
unsigned rtl_left_count(const char *session, uint32_t *first);

#endif
