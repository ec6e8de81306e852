#include "diff/whole.h"

#include "analysis/account.h"
#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

rtl_status_t diff_whole_read(rtl_trace_t *trace, struct diff_whole *whole)
{
    struct verdict verdict;
    char line[1024];
    rtl_status_t status = account_verdict(trace, &verdict);
    if (status != RTL_OK)
        return status;
    account_line(&verdict, line, sizeof line);
    *whole = (struct diff_whole){verdict.complete, verdict.unknown, strdup(line)};
    if (!whole->line)
        memory_is_short();
    return RTL_OK;
}

bool diff_whole_lacks(const struct diff_whole *whole)
{
    return !whole->complete && !whole->unknown;
}

void diff_whole_free(struct diff_whole *whole)
{
    free(whole->line);
    *whole = (struct diff_whole){0};
}
