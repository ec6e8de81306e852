#!/usr/bin/env bash
# export_readers.sh BUILD PLUGIN: rocpd and RPD as their readers take them (export_readers.py): a graph that was built and one that was captured,
# ranges, allocations.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth HIP_GRAPHS_EXPECTED=$scratch/expected

# check FORMAT TRACE PROGRAM
check() {
    "$rtl" export "$2.db" --format "$1" -o "$2.$1" >export.out 2>export.err || fail "rtl export --format $1 of $2 ended with status $?"
    equal "$1 of $2 is sound" "$(sqlite3 "$2.$1" "PRAGMA integrity_check; PRAGMA foreign_key_check")" ok
    python3 "$here/export_readers.py" "$1" "$rtl" "$2.db" "$2.$1" "$3" >check.out 2>check.err || fail "$1 of $2 is not what its readers take"
}

for mode in built captured; do
    "$rtl" trace -q -m full --gpu soft -o $mode.db -- "$bin/hip_graphs" $mode >traced.out 2>traced.err || fail "the program ended with status $?"
    check rocpd $mode $mode
    check rpd $mode $mode
done
"$rtl" trace -q -m full --gpu soft -o memory.db -- "$bin/memory" >traced.out 2>traced.err || fail "the program ended with status $?"
check rocpd memory memory
SOFTGPU_PLUGINS=$build/tests/lib/e2e_plugin.so "$rtl" trace -q -m full --gpu soft -o marks.db -- "$bin/roctx_linked" >traced.out 2>traced.err ||
    fail "the program ended with status $?"
check rocpd marks marks
SOFTGPU_DEVICES=2 "$rtl" trace -q -m full --gpu soft -o devices.db -- "$bin/memory" devices >traced.out 2>traced.err || fail "the program ended with status $?"
check rocpd devices devices

# Several files at once: readers join threads and processes by their ids alone.
for table in process thread; do
    equal "ids of ${table}s in two files" "$(sqlite3 built.rocpd "ATTACH 'captured.rocpd' AS other;
        SELECT count(*) FROM main.rocpd_info_$table m JOIN other.rocpd_info_$table o USING (id)")" 0
done

# The other way: what RPD's file says of streams comes back from arguments.
"$rtl" import captured.rpd -o again.db >import.out 2>import.err || fail "rtl import ended with status $?"
equal "streams of launches of graphs" "$(ask again.db "SELECT start, s.handle FROM api a JOIN streams s USING (process, stream)
    WHERE a.name = 'hipGraphLaunch' ORDER BY 1")" "$(ask captured.db "SELECT start, s.handle FROM api a JOIN streams s USING (process, stream)
    WHERE a.name = 'hipGraphLaunch' ORDER BY 1")"
