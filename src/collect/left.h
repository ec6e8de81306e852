/**
 * Processes of a recorded program that are still there and have no ring, and may want one yet: a
 * daemon that has just been started, say.
 */
#ifndef RTL_COLLECT_LEFT_H
#define RTL_COLLECT_LEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How many living processes, apart from the calling one, were started with this session in their
 * environment, as far as this user may see it, or are the caller's for another reason (NULL: none
 * are); `*first` is one of them. Looks at all processes of the machine. */
unsigned rtl_left_count(const char *session, bool (*is_ours)(void *context, uint32_t pid),
                        void *context, uint32_t *first);

/** Bytes of an environment that are looked at. */
#define LEFT_ENVIRONMENT ((size_t)256 << 10)

/** Whether a process was started with such a variable, `NAME=VALUE`, as far as this user may see
 * its environment, which goes to `text`. */
bool left_has(uint32_t pid, const char *variable, char text[LEFT_ENVIRONMENT]);

#endif
