#include "store/sql_rpd.h"

#include <stddef.h>
#include <stdint.h>

/* Ids. A kernel's op has the id of the kernel, a copy's the negative one of the copy. A host call's
 * api has the id of the call; that of a range is negative, process and range in one number. An
 * api's arguments have its id. Strings are numbered by a hash of their bytes, so that a row can
 * name one without a look-up, and a text has the same number in every trace. */
#define RANGE_ID "-((r.process << 40) + r.id)"

/* In RPD nothing is NULL. */
#define GPU    "coalesce(gpu, -1)"
#define STREAM "printf('0x%x', coalesce(s.handle, 0))"
#define NEVER  " WHERE 0;"

/* A call whose definition was lost is "call N" (reader); RPD's string must be there to be joined.
 */
#define CALL_NAME "CASE WHEN a.name GLOB 'call [0-9]*' THEN 'unknown call' ELSE a.name END"

#define COPY_TYPE                                                                                  \
    "CASE kind WHEN 'host-to-device' THEN 'CopyHostToDevice'"                                      \
    " WHEN 'device-to-host' THEN 'CopyDeviceToHost' WHEN 'host-to-host' THEN 'CopyHostToHost'"     \
    " ELSE 'CopyDeviceToDevice' END"

/* hipMemcpyKind. */
#define COPY_KIND                                                                                  \
    "CASE kind WHEN 'host-to-host' THEN 0 WHEN 'host-to-device' THEN 1"                            \
    " WHEN 'device-to-host' THEN 2 ELSE 3 END"

static const char tables[] =
    "CREATE TEMP VIEW rocpd_metadata(id, tag, value) AS"
    " VALUES (1, 'gpu_stride', '1000'), (2, 'pid_stride', '10000000'), (3, 'schema_version', '3');"

    "CREATE TEMP VIEW rocpd_string(id, string) AS WITH texts(string) AS (VALUES (''),"
    "  ('KernelExecution'), ('CopyHostToDevice'), ('CopyDeviceToHost'), ('CopyDeviceToDevice'),"
    "  ('CopyHostToHost'), ('UserMarker'), ('hip'), ('roctx'), ('unknown kernel'),"
    "  ('unknown call')"
    " UNION SELECT name FROM all_symbols UNION SELECT name FROM stored_calls"
    " UNION SELECT printf('kernel object 0x%llx', kernel_object) FROM main.shapes h"
    "  WHERE NOT EXISTS (SELECT 1 FROM main.symbols y WHERE y.process = h.process"
    "  AND y.symbol = h.symbol))"
    " SELECT rtl_string_id(string), string FROM texts;"

    "CREATE TEMP VIEW rocpd_ustring(id, string) AS SELECT id, args FROM api"
    " UNION ALL SELECT " RANGE_ID ", r.name FROM stored_ranges r WHERE r.start IS NOT NULL;"

    "CREATE TEMP VIEW rocpd_op(id, gpuId, queueId, sequenceId, start, end, description_id,"
    " opType_id) AS"
    " SELECT id, " GPU ", queue, packet, start, end, rtl_string_id(name),"
    "  rtl_string_id('KernelExecution') FROM kernels"
    " UNION ALL SELECT -id, " GPU ", queue, ordinal, start, end, rtl_string_id(''),"
    "  rtl_string_id(" COPY_TYPE ") FROM copies WHERE start IS NOT NULL;"

    /* A range that was never ended lasts until its process ended, or the recording. */
    "CREATE TEMP VIEW rocpd_api(id, pid, tid, start, end, apiName_id, category_id, domain_id,"
    " args_id) AS"
    " SELECT a.id, (SELECT pid FROM main.processes p WHERE p.process = a.process), a.thread,"
    "  a.start, a.end, rtl_string_id(" CALL_NAME "), rtl_string_id(''), rtl_string_id('hip'), a.id"
    "  FROM api a"
    " UNION ALL SELECT " RANGE_ID ", (SELECT pid FROM main.processes p"
    "  WHERE p.process = r.process), r.thread, r.start, coalesce(r.end, (SELECT end"
    "  FROM main.processes p WHERE p.process = r.process), (SELECT value FROM main.meta"
    "  WHERE key = 'end'), r.start), rtl_string_id('UserMarker'), rtl_string_id(''),"
    "  rtl_string_id('roctx'), " RANGE_ID " FROM stored_ranges r WHERE r.start IS NOT NULL;"

    "CREATE TEMP VIEW rocpd_api_ops(id, api_id, op_id) AS"
    " SELECT k.id, a.id, k.id FROM kernels k JOIN api a ON a.process = k.process"
    "  AND a.correlation = k.correlation"
    " UNION ALL SELECT -c.id, a.id, -c.id FROM copies c JOIN api a ON a.process = c.process"
    "  AND a.correlation = c.correlation WHERE c.start IS NOT NULL;"

    "CREATE TEMP VIEW rocpd_monitor(id, deviceType, deviceId, monitorType, start, end, value) AS"
    " SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL" NEVER
    "CREATE TEMP VIEW rocpd_counter(id, value, op_id, name_id) AS"
    " SELECT NULL, NULL, NULL, NULL" NEVER
    "CREATE TEMP VIEW rocpd_stackframe(id, api_ptr_id, depth, name_id) AS"
    " SELECT NULL, NULL, NULL, NULL" NEVER;

/* What the call of a launch or copy said, told by what it led to. A launch of a graph has no row:
 * RPD has one kernel for each. A grid is in groups, as hipLaunchKernel has it. */
static const char calls[] =
    "CREATE TEMP VIEW rpd_launches AS SELECT k.*, a.id AS api_ptr_id,"
    "  " STREAM " AS stream_handle, (k.grid_x + k.block_x - 1) / max(k.block_x, 1) AS groups_x,"
    "  (k.grid_y + k.block_y - 1) / max(k.block_y, 1) AS groups_y,"
    "  (k.grid_z + k.block_z - 1) / max(k.block_z, 1) AS groups_z"
    "  FROM kernels k JOIN api a ON a.process = k.process AND a.correlation = k.correlation"
    "  LEFT JOIN stored_streams s ON s.process = a.process AND s.stream = a.stream"
    "  WHERE k.graph IS NULL AND a.name LIKE '%Launch%';"

    "CREATE TEMP VIEW rpd_copies AS SELECT c.*, a.id AS api_ptr_id, a.name AS api, a.start AS"
    " api_start, a.end AS api_end, a.thread, a.name NOT LIKE '%Async%' AS sync,"
    "  " COPY_KIND " AS kind_number, " STREAM " AS stream_handle,"
    "  (SELECT coalesce(gpu, -1) FROM main.agents g WHERE g.process = c.process"
    "   AND g.agent = c.dst) AS dst_gpu,"
    "  (SELECT coalesce(gpu, -1) FROM main.agents g WHERE g.process = c.process"
    "   AND g.agent = c.src) AS src_gpu"
    "  FROM copies c JOIN api a ON a.process = c.process AND a.correlation = c.correlation"
    "  LEFT JOIN stored_streams s ON s.process = a.process AND s.stream = a.stream"
    "  WHERE a.name LIKE '%Memcpy%';"

    "CREATE TEMP VIEW rocpd_kernelapi(api_ptr_id, stream, gridX, gridY, gridZ, workgroupX,"
    " workgroupY, workgroupZ, groupSegmentSize, privateSegmentSize, kernelName_id) AS"
    " SELECT api_ptr_id, stream_handle, groups_x, groups_y, groups_z, block_x, block_y, block_z,"
    "  group_size, private_size, rtl_string_id(name) FROM rpd_launches;"

    "CREATE TEMP VIEW rocpd_copyapi(api_ptr_id, stream, size, width, height, kind, dst, src,"
    " dstDevice, srcDevice, sync, pinned) AS"
    " SELECT api_ptr_id, stream_handle, sum(bytes), 0, 0, kind_number, '', '',"
    "  coalesce(dst_gpu, -1), coalesce(src_gpu, -1), sync, 0 FROM rpd_copies GROUP BY api_ptr_id;";

/* RPD's views by its columns, made from the trace itself: joins by id are what a compressed trace
 * is worst at. `api` is the trace's own. Times of top are in us, as there. */
static const char reports[] =
    "CREATE TEMP VIEW op(id, gpuId, queueId, sequenceId, start, end, description, opType) AS"
    " SELECT id, " GPU ", queue, packet, start, end, name, 'KernelExecution' FROM kernels"
    " UNION ALL SELECT -id, " GPU ", queue, ordinal, start, end, '', " COPY_TYPE
    "  FROM copies WHERE start IS NOT NULL;"

    "CREATE TEMP VIEW busy(gpuId, GpuTime, WallTime, Busy) AS WITH"
    " times AS (SELECT gpuId, sum(end - start) AS time, min(start) AS begin, max(end) AS done"
    "  FROM op GROUP BY gpuId),"
    " wall AS (SELECT max(done) - min(begin) AS time FROM times)"
    " SELECT times.gpuId, times.time, wall.time, times.time * 1.0 / wall.time FROM times, wall;"

    "CREATE TEMP VIEW top(Name, TotalCalls, TotalDuration_us, Ave_us, Percentage, TotalDuration,"
    " Ave) AS WITH"
    " named AS (SELECT CASE description WHEN '' THEN opType ELSE description END AS name,"
    "  end - start AS time FROM op),"
    " sums AS (SELECT name, count(*) AS calls, sum(time) AS time FROM named GROUP BY name)"
    " SELECT name, calls, time / 1000, time / calls / 1000.0,"
    "  time * 100.0 / (SELECT sum(time) FROM sums), time / 1000, time / calls / 1000"
    "  FROM sums ORDER BY time DESC;"

    "CREATE TEMP VIEW kernel(id, gpuId, queueId, sequenceId, start, end, duration, stream, gridX,"
    " gridY, gridz, workgroupX, workgroupY, workgroupZ, groupSegmentSize, privateSegmentSize,"
    " kernelName) AS"
    " SELECT id, " GPU ", queue, packet, start, end, duration, stream_handle, groups_x, groups_y,"
    "  groups_z, block_x, block_y, block_z, group_size, private_size, name FROM rpd_launches;"

    "CREATE TEMP VIEW copy(id, pid, tid, start, end, apiName, stream, size, width, height, kind,"
    " dst, src, dstDevice, srcDevice, sync, pinned) AS"
    " SELECT api_ptr_id, (SELECT pid FROM main.processes p WHERE p.process = c.process), thread,"
    "  api_start, api_end, api, stream_handle, sum(bytes), 0, 0, kind_number, '', '',"
    "  coalesce(dst_gpu, -1), coalesce(src_gpu, -1), sync, 0 FROM rpd_copies c"
    "  GROUP BY api_ptr_id;"

    "CREATE TEMP VIEW copyop(id, gpuId, queueId, sequenceId, start, end, duration, stream, size,"
    " width, height, kind, dst, src, dstDevice, srcDevice, sync, pinned, apiName) AS"
    " SELECT -id, " GPU ", queue, ordinal, start, end, duration, stream_handle, bytes, 0, 0,"
    "  kind_number, '', '', coalesce(dst_gpu, -1), coalesce(src_gpu, -1), sync, 0, api"
    "  FROM rpd_copies WHERE start IS NOT NULL;";

/* FNV-1a of 64 bits (Fowler, Noll, Vo), without its sign. */
static void string_id(sqlite3_context *result, int count, sqlite3_value **values)
{
    const unsigned char *text = sqlite3_value_text(values[0]);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    (void)count;
    if (!text)
        return;
    for (; *text; text++)
        hash = (hash ^ *text) * UINT64_C(0x100000001b3);
    sqlite3_result_int64(result, (sqlite3_int64)(hash >> 1));
}

int rtl_sql_register_rpd(sqlite3 *db)
{
    static const char *const parts[] = {tables, calls, reports};
    int result = sqlite3_create_function_v2(db, "rtl_string_id", 1,
                                            SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                            NULL, string_id, NULL, NULL, NULL);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && result == SQLITE_OK; i++)
        result = sqlite3_exec(db, parts[i], NULL, NULL, NULL);
    return result;
}
