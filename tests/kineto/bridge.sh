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

# Other texts with each seed.
drive_worst() {
    local seed records=4000
    for seed in 1 2 3; do
        WORST_SEED=$seed WORST_RECORDS=$records drive
        nothing_said run.err
        LD_PRELOAD='' "$1" "$here/../kineto/bridge_file.py" trace.json $records 2>check.err ||
            fail "what came of seed $seed is wrong"
    done
}

case $case in
worst) drive_worst "$3" ;;
*) drive ;;
esac
case $case in
late) grep -q 'kineto_privateuse1: RTL cannot be traced' run.err || fail "the error is not said" ;;
other)
    grep -q '^kineto_privateuse1: the bridge was built for PyTorch 2.*, and GenericTraceActivity has [0-9]* virtual functions here' \
        run.err || fail "the mismatch is not said"
    equal "lines" "$(wc -l <run.err)" 1
    ;;
sessions) grep -q 'another session is running' run.err || fail "the error is not said" ;;
*) nothing_said run.err ;;
esac
