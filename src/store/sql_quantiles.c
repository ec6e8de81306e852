#include "store/sql_quantiles.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* What SQLite's extension takes for the same p. */
#define SAME_P 0.001

struct quantile {
    double *values;
    uint64_t count, capacity;
    double percent;
    bool begun; /* percent is known */
};

static bool is_number(int type)
{
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

static bool has_room(struct quantile *quantile)
{
    if (quantile->count < quantile->capacity)
        return true;
    uint64_t capacity = quantile->capacity ? 2 * quantile->capacity : 256;
    double *values = sqlite3_realloc64(quantile->values, capacity * sizeof *values);
    if (!values)
        return false;
    quantile->values = values;
    quantile->capacity = capacity;
    return true;
}

static void add(sqlite3_context *result, struct quantile *quantile, sqlite3_value *value)
{
    int type = sqlite3_value_type(value);
    double number = sqlite3_value_double(value);
    if (type == SQLITE_NULL)
        return;
    if (!is_number(type) || !isfinite(number))
        sqlite3_result_error(result, "median and percentile are of numbers", -1);
    else if (!has_room(quantile))
        sqlite3_result_error_nomem(result);
    else
        quantile->values[quantile->count++] = number;
}

/* NULL when the result says why. */
static struct quantile *quantile_at(sqlite3_context *result, double percent)
{
    struct quantile *quantile = sqlite3_aggregate_context(result, sizeof *quantile);
    if (!quantile) {
        sqlite3_result_error_nomem(result);
        return NULL;
    }
    if (quantile->begun && fabs(quantile->percent - percent) > SAME_P) {
        sqlite3_result_error(result, "percentile(x, p): p is not the same for all rows", -1);
        return NULL;
    }
    quantile->percent = quantile->begun ? quantile->percent : percent;
    quantile->begun = true;
    return quantile;
}

void rtl_sql_median_step(sqlite3_context *result, int count, sqlite3_value **values)
{
    (void)count;
    struct quantile *quantile = quantile_at(result, 50);
    if (quantile)
        add(result, quantile, values[0]);
}

void rtl_sql_percentile_step(sqlite3_context *result, int count, sqlite3_value **values)
{
    (void)count;
    int type = sqlite3_value_numeric_type(values[1]);
    double percent = sqlite3_value_double(values[1]);
    if (!is_number(type) || !(percent >= 0 && percent <= 100)) {
        sqlite3_result_error(result, "percentile(x, p): p is a number from 0 to 100", -1);
        return;
    }
    struct quantile *quantile = quantile_at(result, percent);
    if (quantile)
        add(result, quantile, values[0]);
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double interpolate(const struct quantile *quantile)
{
    double at = quantile->percent * (double)(quantile->count - 1) * 0.01;
    uint64_t low = (uint64_t)at;
    uint64_t high = at == (double)low || low == quantile->count - 1 ? low : low + 1;
    double value = quantile->values[low];
    return value + (quantile->values[high] - value) * (at - (double)low);
}

void rtl_sql_quantile_final(sqlite3_context *result)
{
    struct quantile *quantile = sqlite3_aggregate_context(result, 0);
    if (!quantile)
        return;
    if (quantile->count) {
        qsort(quantile->values, quantile->count, sizeof *quantile->values, by_size);
        sqlite3_result_double(result, interpolate(quantile));
    }
    sqlite3_free(quantile->values);
    *quantile = (struct quantile){0};
}
