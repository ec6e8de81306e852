/**
 * The pages that RTL makes: files that tools/viewer builds, into which a command puts data.
 */
#ifndef RTL_TOOLS_PAGE_H
#define RTL_TOOLS_PAGE_H

#include <jansson.h>

/** What stands before and behind the data. */
struct page_frame {
    char *head;       /**< also holds the tail */
    const char *tail; /**< within `head`, behind its end */
};

/** Reads the file of this name in RTL's library folder. EXIT_FINE, or EXIT_USAGE when a sentence
 * has been said; the caller calls page_frame_free in both cases. Memory that is short ends the
 * program with a sentence. */
int page_frame_read(const char *name, struct page_frame *frame);

void page_frame_free(struct page_frame *frame);

/** Writes the page: its element `rtl-data` is the JSON, deflated, in base64, and behind it is a
 * script, `start`. Returns 0 or an errno. Memory that is short ends the program. */
int page_write(int fd, const struct page_frame *frame, const json_t *value, const char *start);

#endif
