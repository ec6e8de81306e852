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

drive() {
    "$bin/bridge_driver_$headers" "$build/tests/lib/kineto/libbridge_$headers.so" "$case" >run.out 2>run.err ||
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
sessions) grep -q 'another session is running' run.err || fail "the error is not said" ;;
*) nothing_said run.err ;;
esac
