#!/usr/bin/env bash
# export_counters.sh BUILD KERNELS | kernel | range: a trace with hardware counters of kernels (in two passes) and of ranges (`counted.c`), or a
# program that was recorded with counters of each kernel or each range, in all formats of `rtl export`: what readers of these formats find is
# what SQL's kernel_counters and range_counters have (`export_counters.py`).
source "$(dirname "$0")/lib.sh"
unset RTL_QUEUE
case $1 in
kernel | range)
    skip_without_counters
    SOFTGPU_DURATION=1000 "$rtl" trace -q -m full --gpu soft --metrics waves,gpu_busy,l2_hit --counting "$1" -o t.db -- "$bin/ranges" nest >traced.out 2>traced.err ||
        fail "the program ended with status $?"
    ;;
*) "$bin/counted" t.db "$1" >counted.out 2>counted.err || fail "the trace was not written" ;;
esac
tables=()
[ "$1" = range ] || tables+=(kernel_counters counter_collection)
[ "$1" = kernel ] || tables+=(range_counters)
for table in "${tables[@]}"; do
    [ "$(ask t.db "SELECT count(*) FROM ${table/counter_collection/kernel_counters}")" -gt 0 ] || fail "$table: nothing was counted"
done

# same WHAT FILE...: what the files have; with --from and --to in $window, of a part of the time, with -p in $chosen, of some processes.
window='' chosen=''
same() {
    python3 "$here/export_counters.py" "$1" "$rtl" t.db "$window" "$chosen" "${@:2}" >same.out 2>same.err || fail "$1 ${*:2}: not what the trace has"
}

write() {
    "$rtl" export t.db --format "$@" >export.out 2>export.err || fail "rtl export --format $* ended with status $?"
}

for table in "${tables[@]}"; do
    write csv --table "$table" -o "$table.csv"
    same "$table" "$table.csv"
    write csv --table "$table" --split-size 4K -o parts.csv
    [ "$(find . -name 'parts-*.csv' | wc -l)" -gt 1 ] || fail "$table in parts is one part"
    same "$table" parts-*.csv
    rm parts-*.csv
done
write rpd -o t.rpd
equal "RPD is sound" "$(sqlite3 t.rpd "PRAGMA integrity_check; PRAGMA foreign_key_check")" ok
same rpd t.rpd
write rocpd -o t.rocpd.db
equal "rocpd is sound" "$(sqlite3 t.rocpd.db "PRAGMA integrity_check; PRAGMA foreign_key_check")" ok
same rocpd t.rocpd.db
write rocprofv3 -o v3.json
same rocprofv3 v3.json
python3 "$here/json_schema.py" "$here/schemas/rocprofv3.json" v3.json 2>schema.err || fail "rocprofv3's JSON lacks what its readers ask for"
if [ "$1" != range ]; then
    jq 'del(."rocprofiler-sdk-tool"[0].callback_records.counter_collection[0].records[0].counter_id)' v3.json >less.json
    ! python3 "$here/json_schema.py" "$here/schemas/rocprofv3.json" less.json 2>less.err || fail "nobody misses which counter a record is of"
fi
write chrome -o chrome.json
same chrome chrome.json
write chrome --split-size 100K -o part.json
same chrome part-*.json
python3 "$here/json_schema.py" "$here/schemas/chrome.json" chrome.json 2>schema.err || fail "Chrome's JSON lacks what its readers ask for"

decode() {
    protoc -I "$here" --decode=Trace "$here/perfetto.proto" <"$1" >"$2" 2>protoc.err || fail "$1 is no Perfetto trace"
}
write perfetto -o t.pftrace
decode t.pftrace t.txt
same perfetto t.txt
write perfetto --split-size 50K -o part.pftrace
cat part-*.pftrace >all.pftrace
decode all.pftrace all.txt
same perfetto all.txt

# A part of the time, and some processes.
[ "$1" != kernel ] && [ "$1" != range ] || exit 0
from=$(ask t.db "SELECT start FROM kernels ORDER BY start LIMIT 1 OFFSET $1") to=$(ask t.db "SELECT start FROM kernels ORDER BY start LIMIT 1 OFFSET $(($1 * 2))")
window="$from $to" chosen="2 3"
options=(--from "$from" --to "$to" -p 2 -p 3 -f)
for table in "${tables[@]}"; do
    write csv --table "$table" "${options[@]}" -o part.csv
    same "$table" part.csv
done
write rpd "${options[@]}" -o part.rpd
same rpd part.rpd
write rocpd "${options[@]}" -o part.rocpd.db
equal "a part of rocpd is sound" "$(sqlite3 part.rocpd.db "PRAGMA foreign_key_check")" ""
same rocpd part.rocpd.db
write rocprofv3 "${options[@]}" -o part.json
same rocprofv3 part.json
write chrome "${options[@]}" -o part.json
same chrome part.json
write perfetto "${options[@]}" -o part.pftrace
decode part.pftrace part.txt
same perfetto part.txt
