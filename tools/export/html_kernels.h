/**
 * Kernels of the page. What many have in common is looked up once: a name and an item for each
 * shape, a GPU for each run.
 */
#ifndef RTL_TOOLS_EXPORT_HTML_KERNELS_H
#define RTL_TOOLS_EXPORT_HTML_KERNELS_H

#include "export/html_page.h"

/** Begins a run. EXIT_FINE, or EXIT_USAGE when a sentence has been said. */
int html_kernels_begin(struct html_page *page, const struct rtl_runs *runs,
                       const struct rtl_run *run);

/** Adds a kernel of the run. As html_kernels_begin. */
int html_kernels_add(struct html_page *page, struct rtl_runs *runs, const struct rtl_run *run,
                     const struct rtl_run_kernel *from);

/** Frees what the page keeps of its kernels. */
void html_kernels_free(struct html_page *page);

#endif
