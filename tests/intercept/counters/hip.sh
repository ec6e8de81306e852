#!/usr/bin/env bash
# hip.sh BUILD PLUGIN MODE GRAPHS PROGRAM [ARGUMENTS...]: a HIP program with GRAPHS (yes or no) that are replayed. Its output is as
# without RTL and the trace has all of its kernels. In kernel mode those that no graph launched have values of their own, and the
# others are told as not counted; in range mode a range has what was launched in it, graphs included.
source "$(dirname "$0")/../../e2e/lib.sh"
skip_without_counters
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth
mode=$2 graphs=$3
shift 3
unset RTL_QUEUE
LD_PRELOAD=$soft "$@" >alone.out 2>alone.err || fail "without RTL the program ended with status $?"
rm -f truth
RTL_METRICS=SQ_WAVES RTL_COUNTING=$mode "$rtl" trace -q -m full --gpu soft -o t.db -- "$@" >traced.out 2>traced.err ||
    fail "the program ended with status $?"
cmp -s alone.out traced.out || fail "the program's output differs"
cmp -s alone.err traced.err || fail "the program's errors differ"
"$rtl" check t.db >check.out 2>&1 || fail "rtl check ended with status $?"
equal "whether graphs were replayed" "$(ask t.db "SELECT CASE count(graph) WHEN 0 THEN 'no' ELSE 'yes' END FROM kernels")" "$graphs"
python3 "$here/../intercept/counters/hip.py" "$rtl" t.db "$mode" >same.out 2>same.err || fail "other values than the kernels' grids tell"
