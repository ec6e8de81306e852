#!/usr/bin/env bash
# other_schemas.sh BUILD PLUGIN: a program with graphs, copies and ranges, recorded, and what other tools see of it: the
# extension in SQLite's shell and in Python, exports to RPD, rocpd and rocprofv3, and a trace made of the RPD file again.
# Rows are compared with those of `rtl sql`.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth HIP_GRAPHS_EXPECTED=$scratch/expected
extension=$build/lib/librtlsqlite.so

"$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/hip_graphs" built >traced.out 2>traced.err ||
    fail "the program ended with status $?"
kernels=$(ask t.db "SELECT count(*) FROM kernels")
copies=$(ask t.db "SELECT count(*) FROM copies")
apis=$(ask t.db "SELECT count(*) FROM api")
ranges=$(ask t.db "SELECT count(*) FROM ranges")
for count in $kernels $copies $apis $ranges; do
    [ "$count" -gt 0 ] || fail "the trace has $kernels kernels, $copies copies, $apis calls, $ranges ranges"
done

# same WHAT QUERY-OF-RTL FILE QUERY: both give the same rows.
same() {
    ask t.db "$2" >mine
    sqlite3 "$3" "$4" >theirs 2>theirs.err || fail "$1: sqlite3 ended with status $?"
    [ -s mine ] || fail "$1: no rows"
    cmp -s mine theirs || { diff mine theirs | head -n 20 >diff.out; fail "$1"; }
}

# The extension.
queries="SELECT * FROM kernels ORDER BY start; SELECT * FROM copies; SELECT * FROM api; SELECT * FROM ranges;
         SELECT * FROM graph_launches; SELECT * FROM ledger; SELECT * FROM rocpd_op; SELECT * FROM rocpd_api;
         SELECT * FROM rocpd_api_ops; SELECT * FROM top; SELECT * FROM busy"
ask t.db "$queries" >mine
sqlite3 -readonly t.db -cmd ".load $extension" "$queries" >shell.rows 2>shell.err ||
    fail "SQLite's shell ended with status $?"
cmp -s mine shell.rows || fail "SQLite's shell sees other rows"
equal "loaded twice" "$(sqlite3 t.db ".load $extension" ".load $extension" "SELECT count(*) FROM kernels")" "$kernels"
! sqlite3 :memory: ".load $extension" >memory.out 2>&1 || fail "the extension accepts a database that is not there"
grep -q 'open a trace first' memory.out || fail "what the extension says of an empty database"
sqlite3 other.db "CREATE TABLE t(x)"
! sqlite3 other.db ".load $extension" >other.out 2>&1 || fail "the extension accepts a database that is no trace"
grep -q 'not an RTL trace' other.out || fail "what the extension says of another database"
/usr/bin/python3 - "$extension" "$kernels" <<'PYTHON' 2>python.err || fail "Python's sqlite3"
import re
import sqlite3
import statistics
import sys

db = sqlite3.connect("file:t.db?mode=ro", uri=True)
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
assert db.execute("SELECT count(*) FROM kernels").fetchone() == (int(sys.argv[2]),)
start, = db.execute("SELECT max(start) FROM kernels").fetchone()
assert db.execute("SELECT count(*) FROM kernels WHERE start >= ?", (start,)).fetchone() == (1,)
durations = [row[0] for row in db.execute("SELECT duration FROM kernels")]
assert db.execute("SELECT median(duration) FROM kernels").fetchone() == (statistics.median(durations),)
tenths = statistics.quantiles(durations, n=10, method="inclusive")
assert abs(db.execute("SELECT percentile(duration, 90) FROM kernels").fetchone()[0] - tenths[8]) < 1e-6
names = [row[0] for row in db.execute("SELECT name FROM api")]
pattern = "^hip(Graph|Stream).*e$"
wanted = sum(re.search(pattern, name) is not None for name in names)
assert 0 < wanted < len(names)
assert db.execute("SELECT count(*) FROM api WHERE name REGEXP ?", (pattern,)).fetchone() == (wanted,)
PYTHON

# RPD: its own tables, without a NULL, and what its tools ask.
"$rtl" export t.db --format rpd -o t.rpd >rpd.out 2>rpd.err || fail "rtl export --format rpd ended with status $?"
equal "RPD is sound" "$(sqlite3 t.rpd "PRAGMA integrity_check; PRAGMA foreign_key_check")" ok
equal "version" "$(sqlite3 t.rpd "SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'")" 3
ops="SELECT gpuId, queueId, sequenceId, start, end, description, opType FROM op ORDER BY start, queueId, sequenceId"
same "ops" "$ops" t.rpd "$ops"
same "top" "SELECT * FROM top" t.rpd "SELECT * FROM top"
same "busy" "SELECT * FROM busy" t.rpd "SELECT * FROM busy"
same "kernel" "SELECT start, end, duration, stream, gridX, gridY, gridz, workgroupX, workgroupY, workgroupZ, groupSegmentSize,
                      privateSegmentSize, kernelName FROM kernel ORDER BY start" t.rpd \
    "SELECT start, end, duration, stream, gridX, gridY, gridz, workgroupX, workgroupY, workgroupZ, groupSegmentSize,
            privateSegmentSize, kernelName FROM kernel ORDER BY start"
same "host calls" "SELECT pid, thread, a.start, a.end, name FROM api a JOIN processes USING (process) ORDER BY 3, 2" t.rpd \
    "SELECT pid, tid, start, end, apiName FROM api WHERE apiName <> 'UserMarker' ORDER BY start, tid"
same "markers" "SELECT thread, start, name FROM ranges ORDER BY start" t.rpd \
    "SELECT tid, start, args FROM api WHERE apiName = 'UserMarker' ORDER BY start"
same "kernels and their calls" \
    "SELECT k.start, a.start, a.name FROM kernels k JOIN api a USING (process, correlation) ORDER BY 1" t.rpd \
    "SELECT o.start, a.start, a.apiName FROM rocpd_api_ops l JOIN op o ON o.id = l.op_id JOIN api a ON a.id = l.api_id
     WHERE o.opType = 'KernelExecution' ORDER BY 1"
# What RPD publishes of its views, joined here from the tables alone: over the file, and over the trace under RPD's names.
joined=("SELECT o.gpuId, o.queueId, o.sequenceId, o.start, o.end, d.string, t.string FROM rocpd_op o
         JOIN rocpd_string d ON d.id = o.description_id JOIN rocpd_string t ON t.id = o.opType_id ORDER BY o.start, o.queueId, o.sequenceId"
    "SELECT a.pid, a.tid, a.start, a.end, n.string FROM rocpd_api a JOIN rocpd_string n ON n.id = a.apiName_id ORDER BY a.start, a.tid"
    "SELECT gpu.gpuId, gpu.time, wall.time, gpu.time * 1.0 / wall.time FROM (SELECT gpuId, sum(end - start) AS time FROM rocpd_op
         GROUP BY gpuId) gpu, (SELECT max(end) - min(start) AS time FROM rocpd_op) wall"
    "SELECT o.start, o.end - o.start, k.stream, k.gridX, k.gridY, k.workgroupX, k.groupSegmentSize, n.string FROM rocpd_api_ops l
         JOIN rocpd_op o ON o.id = l.op_id JOIN rocpd_kernelapi k ON k.api_ptr_id = l.api_id JOIN rocpd_string n ON n.id = k.kernelName_id
         ORDER BY o.start"
    "SELECT a.start, o.start - a.end FROM rocpd_api_ops l JOIN rocpd_api a ON a.id = l.api_id JOIN rocpd_op o ON o.id = l.op_id ORDER BY 1, 2")
for query in "${joined[@]}"; do
    same "$query" "$query" t.rpd "$query"
done
same "op, and its tables" "$ops" t.rpd "${joined[0]}"
same "busy, and its tables" "SELECT * FROM busy" t.rpd "${joined[2]}"
same "launches of graphs" "SELECT count(*) FROM graph_launches" t.rpd "SELECT count(*) FROM api WHERE apiName = 'hipGraphLaunch'"

# rocpd: a kernel that one of its inner joins loses is not in `kernels`.
"$rtl" export t.db --format rocpd -o r.db >rocpd.out 2>rocpd.err || fail "rtl export --format rocpd ended with status $?"
equal "rocpd is sound" "$(sqlite3 r.db "PRAGMA integrity_check; PRAGMA foreign_key_check")" ok
same "kernels" "SELECT pid, name, k.start, k.end, duration, grid_x, grid_y, grid_z, block_x, block_y, block_z, group_size,
                       coalesce(graph, 0), coalesce(node + 1, 0), coalesce(correlation, 0)
                FROM kernels k JOIN processes USING (process) ORDER BY k.start" r.db \
    "SELECT pid, name, start, end, duration, grid_x, grid_y, grid_z, workgroup_x, workgroup_y, workgroup_z, lds_size,
            graph_exec_id, graph_node_id, corr_id FROM kernels ORDER BY start"
same "copies" "SELECT start, end, bytes FROM copies ORDER BY start" r.db "SELECT start, end, size FROM memory_copies ORDER BY start"
same "regions" "SELECT thread, name, start, end, correlation FROM api
                UNION ALL SELECT thread, name, start, end, id FROM ranges ORDER BY 3, 5" r.db \
    "SELECT tid, name, start, end, corr_id FROM regions ORDER BY start, corr_id"
same "launches" "SELECT graph, start, end, kernels FROM graph_launches ORDER BY start" r.db \
    "SELECT graph_exec_id, start, end, kernel_dispatch_count FROM rocpd_graph_launch ORDER BY start"
equal "tables without the file's suffix" "$(sqlite3 r.db "SELECT count(*) FROM sqlite_master WHERE type = 'table'
    AND name LIKE 'rocpd%' AND name NOT LIKE '%' || (SELECT value FROM rocpd_metadata WHERE tag = 'uuid')")" 0
equal "rows of another guid" "$(sqlite3 r.db "SELECT count(*) FROM rocpd_kernel_dispatch
    WHERE guid <> (SELECT value FROM rocpd_metadata WHERE tag = 'guid')")" 0

# rocprofv3's JSON: the keys that TraceLens reads.
"$rtl" export t.db --format rocprofv3 -o v3.json >v3.out 2>v3.err || fail "rtl export --format rocprofv3 ended with status $?"
python3 "$here/json_schema.py" "$here/schemas/rocprofv3.json" v3.json 2>schema.err || fail "rocprofv3's JSON lacks what its readers ask for"
jq 'del(."rocprofiler-sdk-tool"[0].buffer_records.kernel_dispatch[0].stream_id)' v3.json >less.json
! python3 "$here/json_schema.py" "$here/schemas/rocprofv3.json" less.json 2>schema.err || fail "nobody misses the stream of a kernel"
jq -r '.["rocprofiler-sdk-tool"][0] | [.kernel_symbols[] | {(.kernel_id | tostring): .formatted_kernel_name}] as $names
    | ($names | add) as $name | .buffer_records.kernel_dispatch[]
    | [$name[.dispatch_info.kernel_id | tostring], .start_timestamp, .end_timestamp, .thread_id, .correlation_id.internal,
       .stream_id.handle, .dispatch_info.grid_size.x, .dispatch_info.workgroup_size.x] | join("|")' v3.json >theirs
ask t.db "SELECT k.name, k.start, k.end, a.thread, k.correlation, k.stream, k.grid_x, k.block_x
          FROM kernels k JOIN api a USING (process, correlation) ORDER BY k.start" >mine
cmp -s mine theirs || { diff mine theirs | head -n 20 >diff.out; fail "kernels of the JSON"; }
jq -r '.["rocprofiler-sdk-tool"][0] | .strings.buffer_records as $kinds | .buffer_records.hip_api[]
    | [$kinds[.kind].operations[.operation], .start_timestamp, .end_timestamp] | join("|")' v3.json >theirs
ask t.db "SELECT name, start, end FROM api ORDER BY start" >mine
cmp -s mine theirs || fail "host calls of the JSON"
equal "copies of the JSON" "$(jq '.["rocprofiler-sdk-tool"][0].buffer_records.memory_copy | length' v3.json)" "$copies"
equal "markers of the JSON" "$(jq -r '.["rocprofiler-sdk-tool"][0].strings.marker_api[].value' v3.json)" \
    "$(ask t.db "SELECT name FROM ranges ORDER BY start")"
jq -e '.["rocprofiler-sdk-tool"][0] | .metadata.pid > 0 and .metadata.init_time < .metadata.fini_time
    and (.metadata.node.hostname | length > 0) and (.agents | length > 0)' v3.json >jq.out || fail "metadata of the JSON"

# And back.
"$rtl" import t.rpd -o i.db >import.out 2>import.err || fail "rtl import ended with status $?"
for query in "SELECT name, start, end, queue, gpu, correlation, packet FROM kernels ORDER BY start, queue" \
    "SELECT start, end, kind, queue, gpu, correlation, ordinal FROM copies ORDER BY start" \
    "SELECT thread, name, start, end, correlation, range FROM api ORDER BY start, thread" \
    "SELECT id, thread, name, start, end, parent FROM ranges ORDER BY start"; do
    same_rows=$(ask t.db "$query" | cksum)
    equal "imported: $query" "$(ask i.db "$query" | cksum)" "$same_rows"
done
status=0
"$rtl" check i.db >check.out 2>check.err || status=$?
equal "rtl check of the imported trace: status" $status 1
grep -q '^UNKNOWN: .* imported: what is missing is not known$' check.out || fail "the verdict says more than is known"
cp i.db another.db
another_process another.db
"$rtl" merge both.db t.db another.db >merge.out 2>&1 || fail "rtl merge of the imported trace ended with status $?"
! "$rtl" check both.db >both.out || fail "a trace with an imported one in it is called complete"
grep -q '^UNKNOWN: ' both.out || fail "the verdict of both is another"
grep -q 'imported from an RPD file' check.out || fail "what rtl check says of the imported trace"
