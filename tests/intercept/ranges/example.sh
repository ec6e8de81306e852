#!/usr/bin/env bash
# example.sh BUILD: the example says of its steps what is known of it, with a session, alone and beside a trace, and `rtl ranges` says the same of the trace.
source "$(dirname "$0")/../../e2e/lib.sh"
unset RTL_QUEUE
# Eight kernels in a graph that is launched once a step; before it, as many more as the number of the step. All groups are full.
wanted='prepare 0 0 -
step 0 8 1 100.0 %
step 1 9 1 100.0 %
step 2 10 1 100.0 %
step 3 11 1 100.0 %
all steps 38 4 100.0 %'

# columns FILE: without the times, which are numbers.
columns() {
    sed -E '1d; s/ +[0-9]+\.[0-9] +[0-9]+\.[0-9]$//; s/ +/ /g' "$1"
}
LD_PRELOAD=$soft LD_LIBRARY_PATH=$build/lib "$bin/ranges_example" >alone.out 2>alone.err || fail "the example ended with status $?"
equal "the first line" "$(sed -E '1!d; s/ +/ /g' alone.out)" "range kernels graphs lane use busy us idle us"
equal "what the session says" "$(columns alone.out)" "$wanted"
"$rtl" trace -q --gpu soft -o t.db -- "$bin/ranges_example" >traced.out 2>traced.err || fail "the example ended with status $? under rtl trace"
equal "what the session says beside the trace" "$(columns traced.out)" "$wanted"
equal "what the trace says" "$("$rtl" ranges t.db --json --metrics lane_use | python3 -c '
import json, sys
for row in sorted(json.load(sys.stdin)["ranges"], key=lambda row: row["end_ns"]):
    use = row["metrics"]["lane_use"]
    print(row["name"], row["kernels"], row["graph_launches"], "-" if use is None else f"{use:.1f} %")')" "$wanted"
