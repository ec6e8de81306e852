/**
 * The pages that RTL makes: files that tools/viewer builds, into which a command puts data.
 */
#ifndef RTL_TOOLS_PAGE_H
#define RTL_TOOLS_PAGE_H

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

#endif
