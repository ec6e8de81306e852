#!/usr/bin/env bash
# launch_ranges.sh BUILD PLUGIN SCENARIO: graphs that are captured in ranges and launched in others. Each way to ask for the kernels of a
# range (SQL, `rtl ranges`, `rtl summary`, Chrome's format) says what the program knows, in the modes lite and full alike.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth HIP_GRAPHS_EXPECTED=$scratch/expected
scenario=$2
for mode in lite full; do
    rm -f truth
    [ $mode = lite ] && graphs=() || graphs=(--graphs)
    # shellcheck disable=SC2016 # the variable is the traced program's
    "$rtl" trace -q -m $mode --gpu soft -o $mode.db -- sh -c 'LD_PRELOAD=$2${LD_PRELOAD:+:$LD_PRELOAD} exec "$0" "$1"' \
        "$bin/hip_graphs" "$scenario" "$build/lib/roctx/libroctx64.so.4" >traced.out 2>traced.err ||
        fail "the program ended with status $? in mode $mode"
    "$rtl" export $mode.db -F chrome -o $mode.json >export.out 2>export.err || fail "rtl export ended with status $?"
    python3 "$here/launch_ranges.py" "$rtl" $mode.db expected $mode.json "${graphs[@]}" >same.out 2>same.err || fail "ranges in mode $mode"
done
