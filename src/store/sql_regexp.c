#include "store/sql_regexp.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

/* Bytes. The C library compiles what is nested by calling itself: some 13 000 parentheses were more
 * than a stack of 8 MiB, and those of threads are smaller. */
#define LONGEST_PATTERN 1000u

static void release(void *expression)
{
    regfree(expression);
    free(expression);
}

static void refuse(sqlite3_context *result, const char *pattern, const regex_t *expression,
                   int code)
{
    char why[256] = "";
    (void)regerror(code, expression, why, sizeof why);
    char *sentence = sqlite3_mprintf("regexp: '%s' is no regular expression: %s", pattern, why);
    if (sentence)
        sqlite3_result_error(result, sentence, -1);
    else
        sqlite3_result_error_nomem(result);
    sqlite3_free(sentence);
}

/* NULL when the result says why. */
static regex_t *compile(sqlite3_context *result, const char *pattern)
{
    if (strlen(pattern) > LONGEST_PATTERN) {
        sqlite3_result_error(result, "regexp: a pattern has 1000 bytes at most", -1);
        return NULL;
    }
    regex_t *expression = malloc(sizeof *expression);
    if (!expression) {
        sqlite3_result_error_nomem(result);
        return NULL;
    }
    int code = regcomp(expression, pattern, REG_EXTENDED | REG_NOSUB);
    if (code == 0)
        return expression;
    refuse(result, pattern, expression, code);
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
