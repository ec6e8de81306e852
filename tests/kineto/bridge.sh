#!/usr/bin/env bash
# bridge.sh BUILD HEADERS CASE: the bridge, built against a set of headers, and Kineto's part played by bridge_driver.
source "$(dirname "$0")/../e2e/lib.sh"
headers=$1 case=$2
unset RTL_QUEUE SOFTGPU_PLUGINS KINETO_PLUGIN_PATH
export HOME=$scratch LD_PRELOAD=$soft
vendor=$build/lib/kineto/libopenreg.so
[ "$case" != late ] || vendor=$build/lib/librtl.so
[ "$case" = none ] || export KINETO_PLUGIN_PATH=$vendor
"$bin/bridge_driver_$headers" "$build/tests/lib/kineto/libbridge_$headers.so" "$case" >run.out 2>run.err ||
    fail "the program ended with status $?"
case $case in
late) grep -q 'kineto_privateuse1: RTL cannot be traced' run.err || fail "the error is not said" ;;
sessions) grep -q 'another session is running' run.err || fail "the error is not said" ;;
*) nothing_said run.err ;;
esac
