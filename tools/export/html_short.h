/**
 * The page's short names of kernels: by the rule of terminal tables (shorten.h), so that both show
 * the same of a name.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_SHORT_H
#define RTL_TOOLS_EXPORT_HTML_SHORT_H

#include "export/html_page.h"

#include <jansson.h>

/** Of each kernel's name that is too long for a table or a label: its place among the texts, and
 * its short names for a table and for a label. Different names have different ones. Memory that is
 * short ends the program with a sentence. */
json_t *html_short_json(const struct html_page *page);

#endif
