/**
 * How something gets into the page: into its row of the timeline, its table, and the segment of its
 * time. Things come by their start.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_PUT_H
#define RTL_TOOLS_EXPORT_HTML_PUT_H

#include "export/html_page.h"

/** Where something is, and its part of the tables. */
struct html_place {
    struct html_key key;
    enum html_table table; /**< HTML_TABLES: none */
    uint32_t name;         /**< text of the page */
};

extern const struct html_key html_no_key;

/** The number of a text of the page; UINT32_MAX when memory is short. */
uint32_t html_number(struct html_page *page, const char *text);

/** Comes before what begins at `start` on the trace's clock: the page begins with the first, and a
 * segment that is full is ended. EXIT_FINE, or EXIT_USAGE when a sentence has been said. */
int html_before(struct html_page *page, uint64_t start);

/** Sets the begin of the page, if it is not set. */
void html_begin_at(struct html_page *page, uint64_t start);

/** Begins what is asked for of a page that is served: times are those of that page. */
void html_begin_window(struct html_page *page, const struct export_served *window);

/** Puts what lasts from `start` to `end` on the trace's clock; the rest of the slice is set. False
 * when memory is short. */
bool html_put(struct html_page *page, const struct html_place *place, struct html_slice *slice,
              uint64_t start, uint64_t end);

/** Puts what is known only now that it is over, so that its segment may have ended; `slice->item`
 * is its name. Unless it is an event it only gets into the bins of its row. */
bool html_put_late(struct html_page *page, const struct html_key *key, struct html_slice *slice,
                   uint64_t start, uint64_t end, bool event);

#endif
