#!/usr/bin/env bash
# export_parts.sh BUILD PLUGIN: exports in parts (--split-size) whose files have their events kind by kind: rpd, rocpd, rocprofv3. What is in the
# parts together is what `rtl sql` has (export_parts.py), of graphs with ranges and copies, of many host calls, and of hardware counters.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth HIP_GRAPHS_EXPECTED=$scratch/expected

# Of a whole file the schema asks for a kernel, a call and so on, which not every part has.
sed 's/"minItems": 1/"minItems": 0/' "$here/schemas/rocprofv3.json" >parts.schema.json

# parts TRACE FORMAT EVENTS: in files with room for so many bytes of events; what each repeats is what the refusal of a small size says.
parts() {
    local trace=$1 format=$2 least size
    ! "$rtl" export "$trace.db" -F "$format" --split-size 1 -o refused 2>least.err || fail "$format has files of one byte"
    least=$(sed -n 's/.* repeats \([0-9.]*\) KiB in each file.*/\1/p' least.err)
    [ -n "$least" ] || fail "nobody says what $format repeats"
    size=$(awk "BEGIN { printf \"%d\", $least * 1024 + $3 }")
    rm -f p-*."$format"
    "$rtl" export "$trace.db" -F "$format" --split-size "$size" -o "p.$format" >parts.out 2>parts.err || fail "$format in parts ended with status $?"
    mapfile -t files <parts.out
    equal "files" "$(find . -name "p-*.$format" | wc -l)" ${#files[@]}
    python3 "$here/export_parts.py" "$format" "$rtl" "$trace.db" "$size" "${files[@]}" >check.out 2>check.err || fail "$format of $trace in parts"
    [ "$format" != rocprofv3 ] || for file in "${files[0]}" "${files[-1]}"; do
        python3 "$here/json_schema.py" parts.schema.json "$file" 2>schema.err || fail "$file lacks what readers of rocprofv3's JSON ask for"
    done
}

"$rtl" trace -q -m full --gpu soft -o graphs.db -- "$bin/hip_graphs" built >traced.out 2>traced.err || fail "hip_graphs ended with status $?"
"$rtl" trace -q -m full --gpu soft -o many.db -- "$bin/launches" 1000 >traced.out 2>traced.err || fail "launches ended with status $?"
"$bin/counted" counted.db 60 >counted.out 2>counted.err || fail "the trace of counters was not written"
parts graphs rpd 10000
parts graphs rocpd 10000
parts graphs rocprofv3 8000
parts many rpd 60000
parts many rocpd 150000
parts many rocprofv3 150000
parts counted rpd 5000
parts counted rocpd 10000
parts counted rocprofv3 25000

# A part of the time in parts, and the ranks in theirs.
from=$(ask many.db "SELECT start FROM kernels ORDER BY start LIMIT 1 OFFSET 300") to=$(ask many.db "SELECT start FROM kernels ORDER BY start LIMIT 1 OFFSET 700")
"$rtl" export many.db -F rpd --from "$from" --to "$to" --split-size 100K -o time.rpd >time.out 2>time.err || fail "a part of the time in parts"
[ "$(find . -name 'time-*.rpd' | wc -l)" -gt 1 ] || fail "a part of the time is one part"
equal "kernels of a time" "$(for part in time-*.rpd; do sqlite3 "$part" "SELECT start FROM op WHERE opType = 'KernelExecution'"; done | sort)" \
    "$(ask many.db "SELECT start FROM kernels WHERE start < $to AND end > $from" | sort)"
"$rtl" merge both.db many.db graphs.db >merge.out 2>&1 || fail "rtl merge ended with status $?"
"$rtl" export both.db -F rocprofv3 --per-rank --split-size 100K -o rank.json >rank.out 2>rank.err || fail "processes in parts"
for process in 1 2; do
    equal "kernels of process $process" "$(jq -s '[.[]."rocprofiler-sdk-tool"[0].buffer_records.kernel_dispatch[]] | length' rank-process$process-*.json)" \
        "$(ask both.db "SELECT count(*) FROM kernels WHERE process = $process")"
done

# Many files are refused, and none is left.
status=0
"$rtl" export many.db -F csv --table api --split-size 200 -o small.csv >small.out 2>small.err || status=$?
equal "status of more files than there may be" $status 2
equal "what is said of them" "$(cat small.err)" "rtl: --split-size: files of 200 B would be more than 1000: choose a larger size"
equal "files that are left" "$(find . -name 'small*csv*')" ""
