#include "store/stored.h"

#include <stdlib.h>

enum column { KERNELS, PACKET_MIN, PACKET_MAX, START_MIN, END_MAX, CHECKSUM, DATA };

static bool has_packet(const struct rtl_wire_kernel *kernels, uint32_t count, uint64_t packet)
{
    for (uint32_t i = 0; i < count; i++)
        if (kernels[i].packet == packet)
            return true;
    return false;
}

static bool chunk_has(struct rtl_codec *codec, sqlite3_stmt *row, struct rtl_chunk chunk,
                      uint64_t packet)
{
    chunk.kernels = (uint32_t)sqlite3_column_int64(row, KERNELS);
    chunk.packet_min = (uint64_t)sqlite3_column_int64(row, PACKET_MIN);
    chunk.packet_max = (uint64_t)sqlite3_column_int64(row, PACKET_MAX);
    chunk.start_min = (uint64_t)sqlite3_column_int64(row, START_MIN);
    chunk.end_max = (uint64_t)sqlite3_column_int64(row, END_MAX);
    chunk.checksum = (uint32_t)sqlite3_column_int64(row, CHECKSUM);
    if (chunk.kernels == 0 || chunk.kernels > RTL_CHUNK_KERNELS_MAX)
        return false;
    struct rtl_wire_kernel *kernels = calloc(chunk.kernels, sizeof *kernels);
    const unsigned char *data = sqlite3_column_blob(row, DATA);
    size_t size = (size_t)sqlite3_column_bytes(row, DATA);
    bool found = kernels && data && rtl_codec_decode(codec, &chunk, data, size, kernels) == 0 &&
                 has_packet(kernels, chunk.kernels, packet);
    free(kernels);
    return found;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql, uint32_t process, uint32_t queue,
                             uint64_t number)
{
    sqlite3_stmt *rows = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) != SQLITE_OK ||
        sqlite3_bind_int64(rows, 1, process) != SQLITE_OK ||
        sqlite3_bind_int64(rows, 2, queue) != SQLITE_OK ||
        sqlite3_bind_int64(rows, 3, (sqlite3_int64)number) != SQLITE_OK) {
        (void)sqlite3_finalize(rows);
        return NULL;
    }
    return rows;
}

bool rtl_stored_kernel(sqlite3 *db, struct rtl_codec *codec, uint32_t process, uint32_t queue,
                       uint64_t packet)
{
    sqlite3_stmt *rows =
        prepare(db,
                "SELECT kernels, packet_min, packet_max, start_min, end_max, checksum, data"
                " FROM kernel_chunks WHERE process = ? AND queue = ? AND ? BETWEEN packet_min AND"
                " packet_max",
                process, queue, packet);
    const struct rtl_chunk chunk = {.process = process, .queue = queue};
    bool found = false;
    while (rows && !found && sqlite3_step(rows) == SQLITE_ROW)
        found = chunk_has(codec, rows, chunk, packet);
    (void)sqlite3_finalize(rows);
    return found;
}

bool rtl_stored_copy(sqlite3 *db, uint32_t process, uint32_t queue, uint64_t ordinal)
{
    sqlite3_stmt *rows =
        prepare(db, "SELECT 1 FROM copies WHERE process = ? AND queue = ? AND ordinal = ?", process,
                queue, ordinal);
    bool found = rows && sqlite3_step(rows) == SQLITE_ROW;
    (void)sqlite3_finalize(rows);
    return found;
}
