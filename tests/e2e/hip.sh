#!/usr/bin/env bash
# hip.sh BUILD PLUGIN PROGRAM [ARGUMENTS...]: a HIP program that checks its own data and times, alone and under
# `rtl trace` in full mode: the same output and status, and a trace that is what the device executed.
source "$(dirname "$0")/lib.sh"
export SOFTGPU_PLUGINS=$1 SOFTGPU_TRUTH=$scratch/truth
shift

alone=0 traced=0
LD_PRELOAD=$soft "$@" >alone.out 2>alone.err || alone=$?
rm -f truth
"$rtl" trace -q -m full --gpu soft -o t.db -- "$@" >traced.out 2>traced.err || traced=$?
equal "exit status under rtl trace" "$traced" "$alone"
cmp -s alone.out traced.out || fail "the program's output differs"
without_remarks alone.err traced.err
cmp -s alone.err traced.err || fail "the program's errors differ"
equal "the way into the queues" "$(ask t.db "SELECT DISTINCT way FROM queues WHERE way <> 'copies'")" "$way"
"$rtl" check --truth truth t.db >check.out 2>check.err || fail "rtl check --truth ended with status $?"
