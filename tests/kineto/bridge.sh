#!/usr/bin/env bash
# bridge.sh BUILD HEADERS CASE [PYTHON]: the bridge, built against a set of headers, and Kineto's part played by
# bridge_driver.
source "$(dirname "$0")/../e2e/lib.sh"
headers=$1 case=$2
unset RTL_QUEUE SOFTGPU_PLUGINS KINETO_PLUGIN_PATH
export HOME=$scratch LD_PRELOAD=$soft
vendor=$build/lib/kineto/libopenreg.so
case $case in
late) vendor=$build/lib/librtl.so ;;
worst) vendor=$build/tests/lib/kineto/worst_vendor.so ;;
two) vendor=$vendor:$build/tests/lib/kineto/worst_vendor.so ;;
esac
[ "$case" = none ] || export KINETO_PLUGIN_PATH=$vendor

# Of which a bridge is opened.
bridge=$headers
if [ "$case" = other ]; then
    [ "$headers" = 2_11 ] && bridge=2026_08 || bridge=2_11
fi

drive() {
    "$bin/bridge_driver_$headers" "$build/tests/lib/kineto/libbridge_$bridge.so" "$case" >run.out 2>run.err ||
        fail "the program ended with status $?"
}

# said TEXT: in one line of what the bridge says.
said() {
    [ "$(grep -c "^kineto_privateuse1: $1" run.err)" = 1 ] || fail "'$1' is not said once"
}

# Other texts with each seed.
drive_worst() {
    local seed records=4096
    for seed in 1 2 3; do
        WORST_SEED=$seed WORST_RECORDS=$records drive
        said "$(sed -n 's/^malformed //p' run.out) records have no name, end before they begin, or have metadata"
        said "$((records / 64)) records are of kinds that are not known here"
        said "$((records / 64 * 2)) of $((records / 64 * 62)) records began before or after the profiled window"
        equal "lines" "$(wc -l <run.err)" 3
        LD_PRELOAD='' "$1" "$here/../kineto/bridge_file.py" trace.json $records 2>check.err ||
            fail "what came of seed $seed is wrong"
    done
}

case $case in
worst) drive_worst "$3" ;;
*) drive ;;
esac
case $case in
worst | two) ;;
window) said "6 of 12 records began before or after the profiled window, and are not shown" ;;
deep) said "1000 scopes were not taken by a vendor: what was launched in them is shown in those around them" ;;
late) grep -q 'kineto_privateuse1: RTL cannot be traced' run.err || fail "the error is not said" ;;
other)
    grep -q '^kineto_privateuse1: the bridge was built for PyTorch 2.*, and GenericTraceActivity has [0-9]* virtual functions here' \
        run.err || fail "the mismatch is not said"
    equal "lines" "$(wc -l <run.err)" 1
    ;;
sessions) grep -q 'another session is running' run.err || fail "the error is not said" ;;
*) nothing_said run.err ;;
esac
