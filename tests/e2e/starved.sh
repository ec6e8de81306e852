#!/usr/bin/env bash
# starved.sh BUILD PLUGIN POOL LAUNCHES [MOST]: a HIP program with LAUNCHES kernels, at most MOST in flight, some with events,
# while the worker is held back for 100 ms at a time and the pool has at most POOL signals: the program's threads must help
# themselves. Nothing is lost, the program's output is that of a run without RTL, the times of its events are the device's,
# and the trace is what the device executed.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth RTL_POOL=$2
shift 2

LD_PRELOAD=$soft "$bin/launches" "$@" >alone.out 2>alone.err ||
    fail "without RTL the program ended with status $?"
rm -f truth
in_shape librtl-starved.so
"$rtl" trace -q -m full --gpu soft -o t.db -- "$bin/launches" "$@" >starved.out 2>starved.err ||
    fail "the program ended with status $?"
equal "the program's output" "$(cat starved.out)" "$(cat alone.out)"
without_remarks starved.err
equal "the program's errors" "$(cat starved.err)" ""
"$rtl" check --truth truth t.db >check.out 2>check.err || fail "rtl check --truth ended with status $?"
equal "kernels in the trace" \
    "$(ask t.db "SELECT count(*) FROM kernels WHERE name LIKE '%hip_lasts%'")" "$1"
equal "kernels lost" "$(ask t.db "SELECT coalesce(sum(lost), 0) FROM ledger")" 0
# It was as hard as it is meant to be; with signals for all, that depends on how far the device is behind.
[ $# -lt 2 ] || [ "$(ask t.db "SELECT sum(helped) FROM ledger")" -gt 0 ] || fail "the program did not have to help"
