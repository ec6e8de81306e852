/**
 * Which range a time of a thread belongs to, where ranges lie in each other: the one that began
 * last of those that are open. So no time counts twice, and each range has its own part.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_OWN_H
#define RTL_TOOLS_EXPORT_HTML_OWN_H

#include <stddef.h>
#include <stdint.h>

struct html_own_thread;

/** Zeroed memory has no thread. */
struct html_own {
    struct html_own_thread *threads;
    size_t count;
};

/** Called with a part of a range's own time: the range's name, ns. */
typedef void (*html_own_add_t)(void *context, uint32_t name, uint64_t ns);

/** A range of a thread begins; those of a thread come in the order of their begins. Memory that is
 * short ends the program with a sentence. */
void html_own_take(struct html_own *own, uint32_t process, uint32_t thread, uint32_t name,
                   uint64_t start, uint64_t end, html_own_add_t add, void *context);

/** There are no more ranges. */
void html_own_finish(struct html_own *own, html_own_add_t add, void *context);

void html_own_free(struct html_own *own);

#endif
