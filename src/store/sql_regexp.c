#include "store/sql_regexp.h"

#include "common/regexp.h"

#include <errno.h>
#include <stdlib.h>

static void release(void *expression)
{
    regfree(expression);
    free(expression);
}

static void refuse(sqlite3_context *result, const char *why)
{
    char *sentence = sqlite3_mprintf("regexp: %s", why);
    if (sentence)
        sqlite3_result_error(result, sentence, -1);
    else
        sqlite3_result_error_nomem(result);
    sqlite3_free(sentence);
}

/* NULL when the result says why. */
static regex_t *compile(sqlite3_context *result, const char *pattern)
{
    char why[RTL_REGEXP_LONGEST + 200];
    regex_t *expression = malloc(sizeof *expression);
    int failed = expression ? rtl_regexp_compile(expression, pattern, why, sizeof why) : ENOMEM;
    if (!failed)
        return expression;
    if (failed == ENOMEM)
        sqlite3_result_error_nomem(result);
    else
        refuse(result, why);
    free(expression);
    return NULL;
}

static void search(sqlite3_context *result, const regex_t *expression, const char *text)
{
    int code = regexec(expression, text, 0, NULL, 0);
    if (code == REG_ESPACE)
        sqlite3_result_error_nomem(result);
    else
        sqlite3_result_int(result, code == 0);
}

void rtl_sql_regexp(sqlite3_context *result, int count, sqlite3_value **values)
{
    (void)count;
    const char *pattern = (const char *)sqlite3_value_text(values[0]);
    const char *text = (const char *)sqlite3_value_text(values[1]);
    if (!pattern || !text)
        return;
    /* Compiled once for all rows of a statement, where the pattern is constant. */
    regex_t *expression = sqlite3_get_auxdata(result, 0);
    if (expression) {
        search(result, expression, text);
        return;
    }
    expression = compile(result, pattern);
    if (!expression)
        return;
    search(result, expression, text);
    sqlite3_set_auxdata(result, 0, expression, release); /* it may free it at once */
}
