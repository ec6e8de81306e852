/* Golden traces, damaged as the input says. */
#include "fuzz_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Traces as files: of the newest version, and of the last one without chunks of launches. */
static struct whole {
    const char *path;
    unsigned char *bytes;
    sqlite3_int64 size;
} wholes[] = {{FUZZ_TRACES "/trace-1.7.sql", NULL, 0}, {FUZZ_TRACES "/trace-1.2.sql", NULL, 0}};

uint8_t fuzz_byte(struct fuzz_input *input)
{
    if (input->size == 0)
        return 0;
    input->size--;
    return *input->data++;
}

uint64_t fuzz_number(struct fuzz_input *input)
{
    static const uint64_t ends[] = {0,
                                    1,
                                    2,
                                    65535,
                                    65536,
                                    65537,
                                    INT32_MAX,
                                    UINT32_MAX - 1,
                                    UINT32_MAX,
                                    (uint64_t)UINT32_MAX + 1,
                                    INT64_MAX - 1,
                                    INT64_MAX,
                                    (uint64_t)INT64_MAX + 1,
                                    UINT64_MAX - 1,
                                    UINT64_MAX};
    uint64_t number = 0;
    uint8_t kind = fuzz_byte(input);
    if (kind < sizeof ends / sizeof *ends)
        return ends[kind];
    for (unsigned i = 0; i < 1 + kind % 8u; i++)
        number = number << 8 | fuzz_byte(input);
    return number;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    fuzz_must(file != NULL, "the golden trace is there");
    fuzz_must(fseek(file, 0, SEEK_END) == 0, "it has an end");
    long size = ftell(file);
    rewind(file);
    char *text = size > 0 ? malloc((size_t)size + 1) : NULL;
    fuzz_must(text && fread(text, 1, (size_t)size, file) == (size_t)size, "it can be read");
    text[size] = '\0';
    (void)fclose(file);
    return text;
}

static void make_whole(struct whole *whole)
{
    sqlite3 *db = NULL;
    char *sql = read_text(whole->path);
    fuzz_must(sqlite3_open(":memory:", &db) == SQLITE_OK, "SQLite opens");
    fuzz_must(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "the golden trace is SQL");
    whole->bytes = sqlite3_serialize(db, "main", &whole->size, 0);
    fuzz_must(whole->bytes != NULL, "there is memory");
    (void)sqlite3_close(db);
    free(sql);
}

/* A connection to `size` bytes, which become its own. */
static sqlite3 *open_bytes(unsigned char *bytes, size_t size)
{
    sqlite3 *db = NULL;
    fuzz_must(sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ==
                  SQLITE_OK,
              "SQLite opens");
    fuzz_must(sqlite3_deserialize(db, "main", bytes, (sqlite3_int64)size, (sqlite3_int64)size,
                                  SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE) ==
                  SQLITE_OK,
              "SQLite takes a file");
    /* As rtl_trace_connect does. */
    (void)sqlite3_exec(db, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON", NULL, NULL,
                       NULL);
    return db;
}

static unsigned char *copy(const unsigned char *bytes, sqlite3_int64 size)
{
    unsigned char *made = sqlite3_malloc64((sqlite3_uint64)size);
    fuzz_must(made != NULL, "there is memory");
    return memcpy(made, bytes, (size_t)size);
}

/* Damages rows first; the file is what that leaves. */
sqlite3 *fuzz_damaged(struct fuzz_input *input)
{
    uint8_t kind = fuzz_byte(input);
    struct whole *whole = &wholes[kind & 128 ? 1 : 0];
    if (!whole->bytes)
        make_whole(whole);
    sqlite3_int64 size = whole->size;
    sqlite3 *db = open_bytes(copy(whole->bytes, size), (size_t)size);
    if (kind % 4)
        fuzz_damage_rows(db, input);
    if (kind % 8 > 1)
        return db;
    unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
    (void)sqlite3_close(db);
    fuzz_must(bytes != NULL, "there is memory");
    return open_bytes(bytes, fuzz_damage_bytes(bytes, (size_t)size, input));
}
