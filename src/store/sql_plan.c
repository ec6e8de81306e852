#include "store/sql_plan.h"

#include <math.h>
#include <string.h>

#define TELLS_VALUES 3038000 /* the version of SQLite that has sqlite3_vtab_rhs_value */

static bool fulfils(const struct sqlite3_index_constraint *constraint,
                    enum rtl_sql_condition condition)
{
    switch (condition) {
    case RTL_SQL_EQUAL:
        return constraint->op == SQLITE_INDEX_CONSTRAINT_EQ;
    case RTL_SQL_ABOVE:
        return constraint->op == SQLITE_INDEX_CONSTRAINT_GT ||
               constraint->op == SQLITE_INDEX_CONSTRAINT_GE;
    case RTL_SQL_BELOW:
        return constraint->op == SQLITE_INDEX_CONSTRAINT_LT ||
               constraint->op == SQLITE_INDEX_CONSTRAINT_LE;
    }
    return false;
}

/* The rule for a constraint; NULL if there is none. */
static const struct rtl_sql_rule *rule_of(const struct sqlite3_index_constraint *constraint,
                                          const struct rtl_sql_rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (constraint->usable && rules[i].column == constraint->iColumn &&
            fulfils(constraint, rules[i].condition))
            return &rules[i];
    return NULL;
}

int rtl_sql_plan(sqlite3_index_info *info, const struct rtl_sql_rule *rules, size_t count)
{
    double share = 1;
    int used = 0;
    char *plan = sqlite3_malloc(info->nConstraint + 2); /* one more by rtl_sql_plan_text */
    if (!plan)
        return SQLITE_NOMEM;
    for (int i = 0; i < info->nConstraint; i++) {
        const struct rtl_sql_rule *rule = rule_of(&info->aConstraint[i], rules, count);
        if (!rule)
            continue;
        plan[used++] = (char)rule->restriction;
        info->aConstraintUsage[i].argvIndex = used;
        share *= rule->share;
    }
    plan[used] = '\0';
    info->idxStr = plan;
    info->needToFreeIdxStr = 1;
    info->estimatedCost = 1e7 * share;
    info->estimatedRows = (sqlite3_int64)(1e6 * share) + 1;
    return SQLITE_OK;
}

#if SQLITE_VERSION_NUMBER >= TELLS_VALUES
static bool is_given_text(sqlite3_index_info *info, int i, int column)
{
    const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];
    sqlite3_value *value = NULL;
    return constraint->usable && constraint->iColumn == column &&
           constraint->op == SQLITE_INDEX_CONSTRAINT_EQ &&
           sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") == 0 &&
           sqlite3_vtab_rhs_value(info, i, &value) == SQLITE_OK &&
           sqlite3_value_type(value) == SQLITE_TEXT;
}
#else
static bool is_given_text(sqlite3_index_info *info, int i, int column)
{
    (void)info, (void)i, (void)column;
    return false;
}
#endif

void rtl_sql_plan_text(sqlite3_index_info *info, int column, enum rtl_sql_restriction restriction)
{
    int used = (int)strlen(info->idxStr);
    if (sqlite3_libversion_number() < TELLS_VALUES)
        return;
    for (int i = 0; i < info->nConstraint; i++) {
        if (!is_given_text(info, i, column))
            continue;
        info->idxStr[used++] = (char)restriction;
        info->idxStr[used] = '\0';
        info->aConstraintUsage[i].argvIndex = used;
        info->estimatedRows = info->estimatedRows / 100 + 1;
        return;
    }
}

bool rtl_sql_ordered_by(const sqlite3_index_info *info, int column)
{
    return info->nOrderBy == 1 && info->aOrderBy[0].iColumn == column && !info->aOrderBy[0].desc;
}

bool rtl_sql_number(sqlite3_value *value, uint64_t *number)
{
    double real = 0;
    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        *number = sqlite3_value_int64(value) < 0 ? 0 : (uint64_t)sqlite3_value_int64(value);
        return true;
    case SQLITE_FLOAT:
        real = floor(sqlite3_value_double(value));
        *number = real < 0 ? 0 : real >= 0x1p63 ? INT64_MAX : (uint64_t)real;
        return true;
    default:
        return false;
    }
}

bool rtl_sql_any_null(sqlite3_value *const *values, int count)
{
    for (int i = 0; i < count; i++)
        if (sqlite3_value_type(values[i]) == SQLITE_NULL)
            return true;
    return false;
}

static void raise_from(uint64_t *from, uint64_t value)
{
    if (value > *from)
        *from = value;
}

static void lower_to(uint64_t *to, uint64_t value)
{
    if (*to == 0 || value < *to)
        *to = value;
}

bool rtl_sql_narrow(int restriction, uint64_t value, uint64_t *from, uint64_t *to)
{
    switch (restriction) {
    case RTL_SQL_STARTS_FROM:
        raise_from(from, value);
        return true;
    case RTL_SQL_ENDS_FROM:
        raise_from(from, value ? value - 1 : 0);
        return true;
    case RTL_SQL_STARTS_AT:
        raise_from(from, value);
        lower_to(to, value + 1);
        return true;
    case RTL_SQL_STARTS_TO:
        lower_to(to, value + 1);
        return true;
    default:
        return false;
    }
}
