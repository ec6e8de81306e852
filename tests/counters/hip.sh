#!/usr/bin/env bash
# hip.sh BUILD PLUGIN SCENARIO MODE: a HIP program with graphs in ranges. Its output is as without RTL and the trace has all of its
# kernels. In kernel mode those that no graph launched have values of their own, and the others are told as not counted; in range
# mode a range has what was launched in it, graphs included.
source "$(dirname "$0")/../e2e/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth
unset RTL_QUEUE
LD_LIBRARY_PATH=$build/lib/softgpu "$bin/hip_graphs" "$2" >alone.out 2>alone.err || fail "without RTL the program ended with status $?"
rm -f truth
RTL_METRICS=SQ_WAVES RTL_COUNTING=$3 "$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/hip_graphs" "$2" >traced.out 2>traced.err ||
    fail "the program ended with status $?"
cmp -s alone.out traced.out || fail "the program's output differs"
cmp -s alone.err traced.err || fail "the program's errors differ"
"$rtl" check t.db >check.out 2>&1 || fail "rtl check ended with status $?"
python3 "$here/../counters/hip.py" "$rtl" t.db "$3" >same.out 2>same.err || fail "other values than the kernels' grids tell"
