#!/usr/bin/env bash
# filters.sh BUILD PLUGIN: a server whose plan is known, and the demo with its two streams, and both in one trace: what
# commands show of a part of them is what SQL has of it, row by row, and what the server did.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1

RANK=3 "$rtl" trace -q -m full --gpu soft -o serve.db -- "$bin/steps" serve >serve.out 2>serve.err ||
    fail "the server ended with status $?"
SOFTGPU_PLUGINS=$build/lib/softgpu/decode_plugin.so RANK=5 "$rtl" trace -q -m full --gpu soft -o demo.db -- \
    "$build/bin/rtl-demo-decode" --tokens 60 --layers 3 >demo.out 2>demo.err || fail "the demo ended with status $?"
"$rtl" merge -f both.db serve.db demo.db >merge.out 2>merge.err || fail "the traces could not be merged: status $?"
for trace in serve demo both; do
    "$rtl" check $trace.db >check.out || fail "the trace $trace.db is not complete"
done
/usr/bin/python3 "$here/filters.py" "$rtl" serve.db demo.db both.db ||
    fail "what filters leave is not what SQL has of it"

# A stream by the name that its program gave it: known has "grid|name" of the kernel of each.
LD_LIBRARY_PATH=$build/lib/roctx LABELS_EXPECTED=$scratch/known "$rtl" trace -q -m full --gpu soft -o labels.db -- \
    "$bin/labels" streams 2 3 >labels.out 2>labels.err || fail "the program with names ended with status $?"
named=0
while IFS='|' read -r grid name; do
    [ -n "$name" ] || continue
    named=$((named + 1))
    equal "grids of the stream '$name'" "$("$rtl" export labels.db -F csv --stream "$name" -o - 2>said.err |
        tail -n +2 | cut -d, -f10 | sort -u)" "$grid"
done <known
[ $named -gt 1 ] || fail "the program has named $named streams"

# refused PATTERN COMMAND...: status 2, and one sentence that says so.
refused() {
    local status=0
    "$rtl" "${@:2}" >refused.out 2>refused.err || status=$?
    equal "status of ${*:2}" $status 2
    equal "what ${*:2} says" "$(cat refused.err)" "rtl: $1"
}
cp serve.db again.db
another_process again.db
cp serve.db same.db
refused "cannot merge same.db: process $(ask serve.db "SELECT pid FROM processes") is in another one of the traces already" merge -f none.db serve.db same.db
"$rtl" merge -f twice.db serve.db again.db >merge.out 2>merge.err ||
    fail "a trace could not be merged with its copy: status $?"
pid=$(ask serve.db "SELECT pid FROM processes")
refused "twice.db has several processes steps: 1 (pid $pid, steps), 2 (pid $pid, steps)" summary twice.db --process steps
refused "twice.db has several processes $pid: 1 (pid $pid, steps), 2 (pid $pid, steps)" idle twice.db --process "$pid"
refused "both.db has no process of both --process and --rank" summary both.db --process 1 --rank 5
phase() {
    "$rtl" steps --json serve.db | jq -r ".threads[].phases[] | select(.phase == $1) | .what"
}
for command in summary steps timeline "graph list"; do
    # shellcheck disable=SC2086
    refused "serve.db has several phases graph: 1 ($(phase 1)), 2 ($(phase 2))" $command serve.db --phase graph
    # shellcheck disable=SC2086
    refused "serve.db has no phase 7: it has 1 ($(phase 1)), 2 ($(phase 2))" $command serve.db --phase 7
done
refused "serve.db has no stream 9: it has $(ask serve.db "SELECT group_concat(stream, ', ') FROM streams")" summary serve.db --stream 9
refused "serve.db has no GPU 1: it has 0" idle serve.db --gpu 1
refused "--layers has blocks of all kernels: --kernel is for nodes" graph show demo.db 1 --layers --kernel norm

# Nothing at all is left: status 1, and no file.
status=0
"$rtl" export demo.db -F csv -o none.csv --phase 1 --from 1h >refused.out 2>refused.err || status=$?
equal "status of an export of nothing" $status 1
equal "what it says" "$(cat refused.err)" "rtl: nothing of demo.db is left: only the work of phase 1 (graph 1) from 60.00 min"
[ ! -e none.csv ] || fail "an export of nothing made a file"
# Nor of a kernel that is not there, whatever calls and ranges there are.
[ "$(ask demo.db 'SELECT count(*) FROM api')" -gt 0 ] || fail "demo.db has no calls"
for command in "export -F chrome" "export -F rocpd" "view --no-open"; do
    status=0
    # shellcheck disable=SC2086 # words
    "$rtl" $command demo.db -o none.out --kernel nosuch >refused.out 2>refused.err || status=$?
    equal "status of $command without a kernel" $status 1
    equal "what $command says" "$(cat refused.err)" "rtl: no kernel of demo.db is left: only kernels /nosuch/"
    [ ! -e none.out ] || fail "$command of no kernel made a file"
done
