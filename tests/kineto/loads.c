/* loads: has the loader load, twice, and says what came of it. */
#include "kineto/loader.h"

#include <stdio.h>

static void say(void *context, pu1_severity_t severity, const char *sentence)
{
    static const char *const names[] = {"info", "warning", "fault"};
    (void)context;
    (void)printf("%s: %s\n", names[severity], sentence);
}

int main(void)
{
    const pu1_vendors_t *vendors = pu1_load(say, NULL);
    size_t first = vendors->count;
    if (pu1_load(say, NULL) != vendors || vendors->count != first)
        return 1;
    for (size_t i = 0; i < vendors->count; i++) {
        if (vendors->items[i].api.getDeviceProperties != NULL)
            (void)printf("%s tells of its devices\n", vendors->items[i].api.vendor);
        (void)printf("vendor %s %u.%u %s\n", vendors->items[i].api.vendor,
                     PU1_MAJOR_OF(vendors->items[i].version),
                     PU1_MINOR_OF(vendors->items[i].version), vendors->items[i].path);
    }
    return 0;
}
