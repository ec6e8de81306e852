/**
 * What a query says about a virtual table, as far as it saves work: private to the tables over the
 * reader. SQLite checks every row itself, so a choice only has to be wide enough.
 */
#ifndef RTL_STORE_SQL_PLAN_H
#define RTL_STORE_SQL_PLAN_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How a value of the query restricts what is read; one letter of idxStr each. */
enum rtl_sql_restriction {
    RTL_SQL_ID = 'i',
    RTL_SQL_PROCESS = 'p',
    RTL_SQL_QUEUE = 'q',
    RTL_SQL_THREAD = 'h',
    RTL_SQL_CORRELATION = 'c',
    RTL_SQL_STARTS_FROM = 's', /**< start > or >= value */
    RTL_SQL_ENDS_FROM = 'e',   /**< end > or >= value */
    RTL_SQL_STARTS_TO = 't',   /**< start < or <= value */
    RTL_SQL_STARTS_AT = 'a',   /**< start = value */
    RTL_SQL_GRAPH = 'g',
    RTL_SQL_GENERATION = 'v',
    RTL_SQL_NODE = 'n',
    RTL_SQL_LAUNCH = 'l',
    RTL_SQL_LAUNCH_FROM = 'm', /**< launch > or >= value */
    RTL_SQL_LAUNCH_TO = 'u',   /**< launch < or <= value */
    RTL_SQL_BEGUN_FROM = 'S',  /**< time > or >= value */
    RTL_SQL_BEGUN_TO = 'T',    /**< time < or <= value */
    RTL_SQL_BEGUN_AT = 'A',    /**< time = value */
    RTL_SQL_KERNEL = 'k',
    RTL_SQL_NAME = 'x', /**< a text, by rtl_sql_plan_text */
    RTL_SQL_BY = 'y',   /**< what rows are told apart by */
    RTL_SQL_SYMBOL = 'y',
    RTL_SQL_OWNER = 'o',      /**< packet or range */
    RTL_SQL_OWNER_FROM = 'f', /**< the same, > or >= value */
    RTL_SQL_OWNER_TO = 'b'    /**< the same, < or <= value */
};

/** Which conditions are good for a restriction. */
enum rtl_sql_condition { RTL_SQL_EQUAL, RTL_SQL_ABOVE, RTL_SQL_BELOW };

struct rtl_sql_rule {
    int column; /**< -1: the row id */
    enum rtl_sql_condition condition;
    enum rtl_sql_restriction restriction;
    double share; /**< guess of how much it leaves: enough to make SQLite use it */
};

/** Takes the conditions that a rule is for: sets idxStr to their letters, their values in the same
 * order, and the cost. An SQLite result code. */
int rtl_sql_plan(sqlite3_index_info *info, const struct rtl_sql_rule *rules, size_t count);

/** After rtl_sql_plan: takes `column = 'text'` with a text that the query itself has, as a further
 * restriction. All rows are read as before and most are not shown to SQLite; so the value of a join
 * or of IN, for each of which all would be read again, is left to SQLite, and so is another
 * collation than BINARY. Where SQLite is older than 3.38, which does not tell, nothing is taken. */
void rtl_sql_plan_text(sqlite3_index_info *info, int column, enum rtl_sql_restriction restriction);

/** True if the query wants its rows by `column` alone, upwards. */
bool rtl_sql_ordered_by(const sqlite3_index_info *info, int column);

/** The number at or below a value, within 0 and INT64_MAX; false if it is no number. */
bool rtl_sql_number(sqlite3_value *value, uint64_t *number);

/** True if one of the values is NULL: then no row fulfils its condition. */
bool rtl_sql_any_null(sqlite3_value *const *values, int count);

/** Narrows [from, to), where a `to` of 0 is no end, by a restriction of a start or end; false if it
 * is another one. */
bool rtl_sql_narrow(int restriction, uint64_t value, uint64_t *from, uint64_t *to);

#endif
