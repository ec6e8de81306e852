/* The cost is that of reading all rows but packed data once: some half a microsecond for each. */
#include "store/digest.h"

#include "store/checksum.h"
#include "store/sums.h"

#include <endian.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The row that stands for what the file's head says: its kind and version. */
#define HEAD "head"

/* All tables and indexes; those that SQLite makes by itself have no text. */
#define OBJECTS "sql IS NOT NULL AND type IN ('table', 'index') AND name NOT LIKE 'sqlite%%'"

/* What goes into a checksum, gathered: it is many values of a few bytes. */
struct feed {
    uint32_t crc;
    size_t used;
    unsigned char bytes[4096];
};

struct digest {
    int64_t rows; /* -1: none are counted */
    uint32_t crc;
};

static void flush(struct feed *feed)
{
    feed->crc = rtl_crc32c(feed->crc, feed->bytes, feed->used);
    feed->used = 0;
}

static void add_bytes(struct feed *feed, const void *bytes, size_t size)
{
    if (size > sizeof feed->bytes - feed->used)
        flush(feed);
    if (size > sizeof feed->bytes) {
        feed->crc = rtl_crc32c(feed->crc, bytes, size);
        return;
    }
    if (size)
        memcpy(feed->bytes + feed->used, bytes, size);
    feed->used += size;
}

static void add_number(struct feed *feed, uint64_t number)
{
    number = htole64(number);
    add_bytes(feed, &number, sizeof number);
}

static void add_sized(struct feed *feed, const void *bytes, int size)
{
    add_number(feed, (uint64_t)size);
    add_bytes(feed, bytes, (size_t)size);
}

/* A letter for the type, and the value. */
static void add_value(struct feed *feed, sqlite3_stmt *row, int column)
{
    static const char letters[] = {[SQLITE_INTEGER] = 'i',
                                   [SQLITE_FLOAT] = 'f',
                                   [SQLITE_TEXT] = 't',
                                   [SQLITE_BLOB] = 'b',
                                   [SQLITE_NULL] = 'n'};
    int type = sqlite3_column_type(row, column);
    const void *bytes = NULL;
    double real;
    uint64_t bits;
    add_bytes(feed, &letters[type], 1);
    switch (type) {
    case SQLITE_INTEGER:
        add_number(feed, (uint64_t)sqlite3_column_int64(row, column));
        break;
    case SQLITE_FLOAT:
        real = sqlite3_column_double(row, column);
        memcpy(&bits, &real, sizeof bits);
        add_number(feed, bits);
        break;
    case SQLITE_TEXT:
        bytes = sqlite3_column_text(row, column);
        add_sized(feed, bytes, sqlite3_column_bytes(row, column));
        break;
    case SQLITE_BLOB:
        bytes = sqlite3_column_blob(row, column);
        add_sized(feed, bytes, sqlite3_column_bytes(row, column));
        break;
    default:
        break;
    }
}

/* Takes the text, which sqlite3_mprintf has made. */
static int prepare(sqlite3 *db, char *sql, sqlite3_stmt **statement)
{
    int result = sql ? sqlite3_prepare_v2(db, sql, -1, statement, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return result;
}

static int run(sqlite3 *db, char *sql)
{
    int result = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return result;
}

static bool is_left_out(const char *table, const char *column)
{
    const struct rtl_sum *sum = rtl_sum_by_blob(table, column);
    return sum && !sum->digested;
}

/* All columns but those that a checksum covers, which is among the columns. */
static int select_rows(sqlite3 *db, const char *schema, const char *table, sqlite3_stmt **rows)
{
    sqlite3_stmt *columns = NULL;
    sqlite3_str *sql = sqlite3_str_new(db);
    int count = 0;
    int result = prepare(
        db,
        sqlite3_mprintf("SELECT name FROM pragma_table_info(%Q, %Q) ORDER BY cid", table, schema),
        &columns);
    while (result == SQLITE_OK && (result = sqlite3_step(columns)) == SQLITE_ROW) {
        const char *column = (const char *)sqlite3_column_text(columns, 0);
        if (column && !is_left_out(table, column))
            sqlite3_str_appendf(sql, "%s\"%w\"", count++ ? ", " : "SELECT ", column);
        result = SQLITE_OK;
    }
    (void)sqlite3_finalize(columns);
    sqlite3_str_appendf(sql, " FROM \"%w\".\"%w\" NOT INDEXED", schema, table);
    char *text = sqlite3_str_finish(sql);
    if (result == SQLITE_DONE && count > 0)
        return prepare(db, text, rows);
    sqlite3_free(text);
    return result == SQLITE_DONE ? SQLITE_CORRUPT : result;
}

static int add_rows(sqlite3 *db, const char *schema, const char *table, struct feed *feed,
                    int64_t *count)
{
    sqlite3_stmt *row = NULL;
    int result = select_rows(db, schema, table, &row);
    int columns = result == SQLITE_OK ? sqlite3_column_count(row) : 0;
    *count = 0;
    while (result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++)
            add_value(feed, row, i);
        ++*count;
        result = SQLITE_OK;
    }
    (void)sqlite3_finalize(row);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

/* Of a table or index, whose name, type, table and text are four columns of a row from `first` on.
 * The digests have none of themselves. */
static int digest_of(sqlite3 *db, const char *schema, sqlite3_stmt *row, int first,
                     struct digest *digest)
{
    const char *name = (const char *)sqlite3_column_text(row, first);
    const char *type = (const char *)sqlite3_column_text(row, first + 1);
    struct feed feed;
    int result = SQLITE_OK;
    feed.crc = 0;
    feed.used = 0;
    digest->rows = -1;
    for (int i = 0; i < 4; i++)
        add_value(&feed, row, first + i);
    if (!name || !type)
        return SQLITE_NOMEM;
    if (strcmp(type, "table") == 0 && strcmp(name, "digests") != 0)
        result = add_rows(db, schema, name, &feed, &digest->rows);
    flush(&feed);
    digest->crc = feed.crc;
    return result;
}

static int ask_number(sqlite3 *db, char *sql, int64_t *number)
{
    sqlite3_stmt *statement = NULL;
    int result = prepare(db, sql, &statement);
    *number = -1;
    if (result == SQLITE_OK && (result = sqlite3_step(statement)) == SQLITE_ROW) {
        if (sqlite3_column_type(statement, 0) != SQLITE_NULL)
            *number = sqlite3_column_int64(statement, 0);
        result = SQLITE_DONE;
    }
    (void)sqlite3_finalize(statement);
    return result == SQLITE_DONE ? SQLITE_OK : result;
}

static int digest_of_head(sqlite3 *db, const char *schema, struct digest *digest)
{
    int64_t id;
    int64_t version = 0;
    int result = ask_number(db, sqlite3_mprintf("PRAGMA \"%w\".application_id", schema), &id);
    if (result == SQLITE_OK)
        result = ask_number(db, sqlite3_mprintf("PRAGMA \"%w\".user_version", schema), &version);
    digest->rows = -1;
    const uint64_t numbers[] = {(uint64_t)id, (uint64_t)version};
    digest->crc = rtl_checksum_row(numbers, 2, NULL, 0);
    return result;
}

/* Storing. */

static int store(sqlite3_stmt *insert, const char *name, const struct digest *digest)
{
    (void)sqlite3_bind_text(insert, 1, name, -1, SQLITE_TRANSIENT);
    if (digest->rows >= 0)
        (void)sqlite3_bind_int64(insert, 2, digest->rows);
    else
        (void)sqlite3_bind_null(insert, 2);
    (void)sqlite3_bind_int64(insert, 3, digest->crc);
    (void)sqlite3_step(insert);
    return sqlite3_reset(insert);
}

static int store_all(sqlite3 *db, sqlite3_stmt *objects, sqlite3_stmt *insert)
{
    struct digest digest;
    int result = SQLITE_OK;
    while (result == SQLITE_OK && (result = sqlite3_step(objects)) == SQLITE_ROW) {
        result = digest_of(db, "main", objects, 0, &digest);
        if (result == SQLITE_OK)
            result = store(insert, (const char *)sqlite3_column_text(objects, 0), &digest);
    }
    if (result != SQLITE_DONE)
        return result;
    result = digest_of_head(db, "main", &digest);
    return result == SQLITE_OK ? store(insert, HEAD, &digest) : result;
}

int rtl_digest_store(sqlite3 *db)
{
    sqlite3_stmt *objects = NULL;
    sqlite3_stmt *insert = NULL;
    /* Their number is a fact of meta, which has a digest as well. */
    int result = run(db, sqlite3_mprintf("DELETE FROM main.digests;"
                                         "INSERT OR REPLACE INTO main.meta SELECT 'digests',"
                                         " count(*) + 1 FROM main.sqlite_master WHERE " OBJECTS));
    if (result == SQLITE_OK)
        result =
            prepare(db,
                    sqlite3_mprintf(
                        "SELECT name, type, tbl_name, sql FROM main.sqlite_master WHERE " OBJECTS),
                    &objects);
    if (result == SQLITE_OK)
        result = prepare(db, sqlite3_mprintf("INSERT INTO main.digests VALUES(?, ?, ?)"), &insert);
    if (result == SQLITE_OK)
        result = store_all(db, objects, insert);
    (void)sqlite3_finalize(objects);
    (void)sqlite3_finalize(insert);
    return result;
}

int rtl_digest_renew(sqlite3 *db, const char *table)
{
    sqlite3_stmt *object = NULL;
    sqlite3_stmt *update = NULL;
    struct digest digest = {0};
    int result = prepare(db,
                         sqlite3_mprintf("SELECT name, type, tbl_name, sql FROM main.sqlite_master"
                                         " WHERE type = 'table' AND name = %Q",
                                         table),
                         &object);
    if (result == SQLITE_OK)
        result = prepare(db, sqlite3_mprintf("INSERT OR REPLACE INTO main.digests VALUES(?, ?, ?)"),
                         &update);
    if (result == SQLITE_OK && (result = sqlite3_step(object)) == SQLITE_ROW)
        result = digest_of(db, "main", object, 0, &digest);
    if (result == SQLITE_OK)
        result = store(update, table, &digest);
    (void)sqlite3_finalize(object);
    (void)sqlite3_finalize(update);
    return result;
}

/* Comparing. */

struct search {
    sqlite3 *db;
    const char *schema;
    rtl_digest_tell tell;
    void *context;
};

static void tell(const struct search *search, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void tell(const struct search *search, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang-tidy 14 misses va_start here */
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    search->tell(search->context, what);
}

/* Damage is what is looked for; all else goes to the caller. */
static int unless_damaged(const struct search *search, const char *name, int result)
{
    int kind = result & 0xff;
    if (kind != SQLITE_CORRUPT && kind != SQLITE_ERROR && kind != SQLITE_NOTADB)
        return result;
    tell(search, "%s cannot be read: %s", name, sqlite3_errmsg(search->db));
    return SQLITE_OK;
}

/* A row of the digests, with the table or index that it is about. */
static int compare_row(const struct search *search, sqlite3_stmt *row)
{
    const char *name = (const char *)sqlite3_column_text(row, 0);
    const char *type = (const char *)sqlite3_column_text(row, 4);
    bool counted = sqlite3_column_type(row, 1) == SQLITE_INTEGER;
    int64_t rows = counted ? sqlite3_column_int64(row, 1) : -1;
    struct digest digest;
    bool is_head = name && strcmp(name, HEAD) == 0;
    if (!name || (!is_head && !type)) {
        tell(search, "the %s %s is missing", type ? type : "table", name ? name : "without a name");
        return SQLITE_OK;
    }
    int result = is_head ? digest_of_head(search->db, search->schema, &digest)
                         : digest_of(search->db, search->schema, row, 3, &digest);
    if (result != SQLITE_OK)
        return unless_damaged(search, name, result);
    if (digest.rows == rows && sqlite3_column_type(row, 2) == SQLITE_INTEGER &&
        sqlite3_column_int64(row, 2) == (int64_t)digest.crc)
        return SQLITE_OK;
    if (is_head)
        tell(search, "the version in its head is not the one that was written");
    else
        tell(search, "the %s %s does not hold what was recorded", type, name);
    return SQLITE_OK;
}

static int compare_all(const struct search *search, int64_t expected)
{
    sqlite3_stmt *row = NULL;
    int64_t count = 0;
    int result = prepare(
        search->db,
        sqlite3_mprintf("SELECT d.name, d.rows, d.digest, m.name, m.type, m.tbl_name, m.sql FROM"
                        " \"%w\".digests d LEFT JOIN \"%w\".sqlite_master m"
                        " ON m.name = d.name AND m.type IN ('table', 'index')",
                        search->schema, search->schema),
        &row);
    while (result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
        count++;
        result = compare_row(search, row);
    }
    (void)sqlite3_finalize(row);
    if (result != SQLITE_DONE)
        return unless_damaged(search, "the table digests", result);
    if (count != expected)
        tell(search, "of its digests %lld are there, and %lld were written", (long long)count,
             expected < 0 ? 0 : (long long)expected);
    return SQLITE_OK;
}

int rtl_digest_compare(sqlite3 *db, const char *schema, bool *known, rtl_digest_tell tell_of,
                       void *context)
{
    const struct search search = {db, schema, tell_of, context};
    int64_t there;
    int64_t any = 0;
    int64_t expected;
    int result = ask_number(
        db,
        sqlite3_mprintf("SELECT count(*) FROM \"%w\".sqlite_master WHERE name = 'digests'", schema),
        &there);
    if (result == SQLITE_OK)
        result = ask_number(
            db, sqlite3_mprintf("SELECT value FROM \"%w\".meta WHERE key = 'digests'", schema),
            &expected);
    if (result == SQLITE_OK && there)
        result =
            ask_number(db, sqlite3_mprintf("SELECT count(*) FROM \"%w\".digests", schema), &any);
    *known = result != SQLITE_OK || any > 0 || expected >= 0;
    if (result != SQLITE_OK)
        return unless_damaged(&search, "the table digests", result);
    if (!*known)
        return SQLITE_OK;
    if (!there) {
        tell(&search, "the table digests is missing");
        return SQLITE_OK;
    }
    return compare_all(&search, expected);
}
