#include "common/regexp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int rtl_regexp_compile(regex_t *expression, const char *pattern, char *why, size_t size)
{
    char reason[128] = "";
    if (strlen(pattern) > RTL_REGEXP_LONGEST) {
        (void)snprintf(why, size, "a pattern has %d bytes at most", RTL_REGEXP_LONGEST);
        return EINVAL;
    }
    int code = regcomp(expression, pattern, REG_EXTENDED | REG_NOSUB);
    if (code == 0)
        return 0;
    if (code == REG_ESPACE)
        return ENOMEM;
    (void)regerror(code, expression, reason, sizeof reason);
    (void)snprintf(why, size, "'%s' is no regular expression: %s", pattern, reason);
    return EINVAL;
}
