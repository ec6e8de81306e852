/* regexp, median and percentile in SQL: results worked out by hand. */
#include "fixture.h"
#include "store/sql.h"

#include <string.h>

static const char *open_trace(char path[FIXTURE_PATH])
{
    char error[512];
    CHECK(fixture_path(path));
    struct rtl_writer *writer = fixture_open(path);
    (void)fixture_define(writer, 1, 1);
    CHECK(rtl_writer_close(writer, 0, error, sizeof error) == 0);
    return NULL;
}

static const char *begin(char path[FIXTURE_PATH], sqlite3 **db)
{
    char error[512] = "";
    CHECK_DONE(open_trace(path));
    CHECK(rtl_sql_open(path, db, error, sizeof error) == RTL_OK);
    return NULL;
}

static const char *end(const char *path, sqlite3 *db)
{
    CHECK(sqlite3_close(db) == SQLITE_OK);
    fixture_remove(path);
    return NULL;
}

/* The first column of the first row as text; "NULL"; or what is wrong. */
static const char *ask(sqlite3 *db, const char *query)
{
    static char text[512];
    sqlite3_stmt *statement = NULL;
    (void)snprintf(text, sizeof text, "NULL");
    if (sqlite3_prepare_v2(db, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
        (void)snprintf(text, sizeof text, "%s", (const char *)sqlite3_column_text(statement, 0));
    if (sqlite3_finalize(statement) != SQLITE_OK)
        (void)snprintf(text, sizeof text, "%s", sqlite3_errmsg(db));
    return text;
}

static bool is(sqlite3 *db, const char *query, const char *wanted)
{
    const char *got = ask(db, query);
    if (strcmp(got, wanted) != 0)
        (void)fprintf(stderr, "%s: %s, not %s\n", query, got, wanted);
    return strcmp(got, wanted) == 0;
}

const char *Functions_Regexp(void)
{
    char path[FIXTURE_PATH];
    sqlite3 *db = NULL;
    CHECK_DONE(begin(path, &db));
    CHECK(is(db, "SELECT 'gemm_f16' REGEXP '^gemm_(f16|bf16)$'", "1"));
    CHECK(is(db, "SELECT 'gemm_f32' REGEXP '^gemm_(f16|bf16)$'", "0"));
    CHECK(is(db, "SELECT regexp('m+_', 'gemm_f32')", "1"));
    CHECK(is(db, "SELECT 'gemm' NOT REGEXP 'x'", "1"));
    CHECK(is(db, "SELECT 120 REGEXP '^[0-9]{3}$'", "1"));
    CHECK(is(db, "SELECT NULL REGEXP 'x'", "NULL"));
    CHECK(is(db, "SELECT 'x' REGEXP NULL", "NULL"));
    CHECK(is(db, "SELECT '' REGEXP ''", "1"));
    /* A pattern of its own for each row, and one for all. */
    CHECK(is(db,
             "WITH t(text, pattern) AS (VALUES ('ab', 'a.'), ('ab', 'b.'), ('cd', 'd$'))"
             " SELECT group_concat(text REGEXP pattern) FROM t",
             "1,0,1"));
    CHECK(is(db,
             "WITH t(text) AS (VALUES ('ab'), ('b'), ('cab'))"
             " SELECT group_concat(text REGEXP '^.?ab') FROM t",
             "1,0,1"));
    return end(path, db);
}

/* 1000 bytes: 498 parentheses, an `a`, and their ends. */
#define NESTED                                                                                     \
    "replace(hex(zeroblob(249)), '0', '(') || 'a{1}' || replace(hex(zeroblob(249)), '0', ')')"

const char *Functions_RegexpSaysWhatIsWrong(void)
{
    char path[FIXTURE_PATH];
    sqlite3 *db = NULL;
    CHECK_DONE(begin(path, &db));
    CHECK(is(db, "SELECT 'x' REGEXP 'a('",
             "regexp: 'a(' is no regular expression: Unmatched ( or \\("));
    CHECK(strstr(ask(db, "SELECT 'x' REGEXP '[z-a]'"), "'[z-a]' is no regular expression: "));
    CHECK(is(db, "SELECT 'x' REGEXP 'x'", "1"));
    /* What is nested deeply would need more of the stack than there is. */
    CHECK(is(db, "SELECT 'a' REGEXP " NESTED, "1"));
    CHECK(
        is(db, "SELECT 'a' REGEXP " NESTED " || 'b'", "regexp: a pattern has 1000 bytes at most"));
    return end(path, db);
}

#define FOUR "WITH t(x, g) AS (VALUES (40, 1), (10, 2), (NULL, 1), (30, 1), (20, 2)) "

const char *Functions_Quantiles(void)
{
    char path[FIXTURE_PATH];
    sqlite3 *db = NULL;
    CHECK_DONE(begin(path, &db));
    CHECK(is(db, FOUR "SELECT median(x) FROM t", "25.0"));
    CHECK(is(db, FOUR "SELECT median(x) FROM t WHERE x > 10", "30.0"));
    CHECK(is(db, FOUR "SELECT percentile(x, 0) FROM t", "10.0"));
    CHECK(is(db, FOUR "SELECT percentile(x, 100) FROM t", "40.0"));
    CHECK(is(db, FOUR "SELECT percentile(x, 25) FROM t", "17.5"));   /* place 0.75 of 0 to 3 */
    CHECK(is(db, FOUR "SELECT percentile(x, '90') FROM t", "37.0")); /* place 2.7 */
    CHECK(is(db, FOUR "SELECT group_concat(m) FROM (SELECT median(x) AS m FROM t GROUP BY g)",
             "35.0,15.0"));
    CHECK(is(db, "SELECT median(-1.5)", "-1.5"));
    CHECK(is(db, "SELECT median(NULL)", "NULL"));
    CHECK(is(db, FOUR "SELECT percentile(x, 50) FROM t WHERE x > 99", "NULL"));
    /* More than there is room for at first, the largest first. */
    CHECK(is(db,
             "WITH RECURSIVE t(x) AS (VALUES (10000) UNION ALL SELECT x - 1 FROM t WHERE x > 0)"
             " SELECT percentile(x, 99) FROM t",
             "9900.0"));
    return end(path, db);
}

const char *Functions_QuantilesSayWhatIsWrong(void)
{
    static const char not_in_range[] = "percentile(x, p): p is a number from 0 to 100";
    static const char no_number[] = "median and percentile are of numbers";
    char path[FIXTURE_PATH];
    sqlite3 *db = NULL;
    if (sqlite3_compileoption_used("ENABLE_PERCENTILE"))
        return NULL; /* its own are used, with sentences of their own */
    CHECK_DONE(begin(path, &db));
    CHECK(is(db, FOUR "SELECT percentile(x, -1) FROM t", not_in_range));
    CHECK(is(db, FOUR "SELECT percentile(x, 100.1) FROM t", not_in_range));
    CHECK(is(db, FOUR "SELECT percentile(x, 'p') FROM t", not_in_range));
    CHECK(is(db, FOUR "SELECT percentile(x, NULL) FROM t", not_in_range));
    CHECK(is(db, FOUR "SELECT percentile(x, g) FROM t",
             "percentile(x, p): p is not the same for all rows"));
    CHECK(is(db, "SELECT median('fast')", no_number));
    CHECK(is(db, "SELECT percentile(9e999, 50)", no_number));
    CHECK(is(db, FOUR "SELECT median(x) FROM t", "25.0"));
    return end(path, db);
}

static void theirs(sqlite3_context *result, int count, sqlite3_value **values)
{
    (void)count;
    (void)values;
    sqlite3_result_text(result, "theirs", -1, SQLITE_STATIC);
}

/* What the program, or its SQLite, has already is not replaced. */
const char *Functions_LeaveThoseThatAreThere(void)
{
    static const char *const names[] = {"regexp", "percentile"};
    char path[FIXTURE_PATH];
    char error[512] = "";
    sqlite3 *db = NULL;
    CHECK_DONE(open_trace(path));
    CHECK(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    for (size_t i = 0; i < 2; ++i)
        CHECK(sqlite3_create_function_v2(db, names[i], 2, SQLITE_UTF8, NULL, theirs, NULL, NULL,
                                         NULL) == SQLITE_OK);
    CHECK(rtl_sql_attach(db, path, error, sizeof error) == RTL_OK);
    CHECK(is(db, "SELECT 'a' REGEXP 'a'", "theirs"));
    CHECK(is(db, "SELECT percentile(1, 2)", "theirs"));
    CHECK(is(db, "SELECT median(2)", "2.0"));
    return end(path, db);
}
