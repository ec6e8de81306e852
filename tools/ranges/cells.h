/** Cells of the tables of `rtl ranges`. */
#ifndef RTL_TOOLS_RANGES_CELLS_H
#define RTL_TOOLS_RANGES_CELLS_H

#include "common/table.h"
#include "ranges/view.h"

/** The name, indented by the range's depth. */
void ranges_cell_name(struct table *table, const struct ranges_view *view,
                      const struct range_row *row);

/** Where the ranges are of several processes. */
void ranges_cell_process(struct table *table, const struct ranges_view *view, uint32_t process);

/** "*" if a range was counted together with other work, "~" if not all of its kernels were counted,
 * else "". */
const char *ranges_mark(const struct ranges_view *view, const struct range_row *row);

void ranges_cell_value(struct table *table, const struct rtl_measure *measure,
                       const struct rtl_value *value);

/** A cell for each metric that is shown: its value, its name. */
void ranges_cell_metrics(struct table *table, const struct ranges_view *view,
                         const struct range_row *row);
void ranges_cell_metric_names(struct table *table, const struct ranges_view *view);

#endif
