/**
 * Moments of a page: ns since its begin.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_TIME_H
#define RTL_TOOLS_EXPORT_HTML_TIME_H

#include <stdint.h>

/** The last moment that a page has, 104 days after its begin: JavaScript's numbers are exact so far
 * (ECMA-262, Number.MAX_SAFE_INTEGER). */
#define HTML_TIME_LAST ((UINT64_C(1) << 53) - 1)

/** Where a time on the trace's clock is in a page that begins at `zero`: not before its begin and
 * not behind its last moment. */
static inline uint64_t html_time(uint64_t time, uint64_t zero)
{
    uint64_t since = time > zero ? time - zero : 0;
    return since < HTML_TIME_LAST ? since : HTML_TIME_LAST;
}

#endif
